#pragma once

#include <string>

#include "solver/amg/settings.h"

namespace weft::library {

/// True if an option is `amg`, alone or followed by a colon and parameters.
bool is_amg(const std::string& text);

/// `V`, `W` or `auto`. Throws comm_thread::InputError.
solver::amg::Settings::Form parse_cycle(const std::string& text);
std::string name_of(solver::amg::Settings::Form form);

/// `amg[:strength=S,degree=K,direct=N,gather=R|auto,precision=P,cycle=C]`; what is left out stays
/// as in `settings`. Throws comm_thread::InputError.
solver::amg::Settings parse_amg(const std::string& text, solver::amg::Settings settings = {});

}  // namespace weft::library
