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

/// True if an option is one of `ilu0` and `block-lu`, alone or with parameters.
bool is_block_factor(const std::string& text);

/// `ilu0[:overlap=G,subdomains=S,partition=P,kind=K]` or the same with `block-lu`; no overlap by
/// default. Throws comm_thread::InputError.
solver::SchwarzPreconditioner::Options parse_block_factor(const std::string& text);

}  // namespace weft::library
