#pragma once

#include <string>

#include "solver/precondition/schwarz_preconditioner.h"

namespace weft::library {

/// True if an option is `schwarz`, alone or followed by a colon and parameters.
bool is_schwarz(const std::string& text);

/// `schwarz[:overlap=G,subdomains=S,partition=P,kind=K,shift=P]`. `by_default`: where no kind is
/// given. Throws comm_thread::InputError.
solver::SchwarzPreconditioner::Options parse_schwarz(
    const std::string& text, solver::SchwarzPreconditioner::Kind by_default);

}  // namespace weft::library
