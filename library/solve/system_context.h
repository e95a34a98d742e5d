#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "library/solve/symmetry_check.h"
#include "solver/precondition/preconditioner.h"
#include "spmv/problems/problem.h"

namespace weft::library {

/// What a solver is told about a linear system besides its operator.
struct SystemContext {
  std::string name{};  // begins messages; empty: none
  spmv::Problem problem{};  // the operator's, for its grid; a file where nothing is known
  /// This rank's part of a vector from a file, in the layout of the operator; null: there are no
  /// files. Collective. Throws comm_thread::InputError.
  std::function<std::vector<double>(const std::string& path)> collective_read{};
  CollectiveGivenRow collective_given_row{};  // null: rows are numbered as given
  /// Makes the preconditioner of a caller, in the place of that of the settings. Collective.
  std::function<std::unique_ptr<solver::Preconditioner>()> collective_make_preconditioner{};
};

}  // namespace weft::library
