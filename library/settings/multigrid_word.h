#pragma once

#include <string>

#include "solver/krylov/multigrid_settings.h"

namespace weft::library {

/// `steps=S,start=zero|full,precision=single|double,gather=N|auto`, in any order; what is left out
/// stays as in `settings`. Throws comm_thread::InputError.
solver::MultigridSettings parse_multigrid(const std::string& text,
                                          solver::MultigridSettings settings = {});

}  // namespace weft::library
