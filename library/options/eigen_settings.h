#pragma once

#include "library/options/option.h"
#include "solver/eigen/filtered_lanczos.h"

namespace weft::library {

/// The options of `weft eigen` about the search itself.
const OptionTable<solver::EigenOptions>& eigen_options();

}  // namespace weft::library
