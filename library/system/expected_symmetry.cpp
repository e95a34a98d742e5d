#include "library/system/expected_symmetry.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "library/solve/solvable_system.h"
#include "spmv/matrix/sparse_operator.h"

namespace weft::library {

void collective_expect_symmetry(LinearSystem& system) {
  const std::string name = system.name().empty() ? "" : system.name() + ": ";
  if (!system.matrix_operator())
    throw comm_thread::InputError(name + "found " + system.format_name() +
                                  "; expected a stored matrix");
  const auto traits = collective_find_given_traits(*system.matrix_operator(),
                                                   system.context().collective_given_row);
  if (traits.asymmetry)
    throw comm_thread::InputError(name + traits.asymmetry->text() +
                                  "; expected a symmetric matrix");
  using Limits = std::numeric_limits<double>;
  const double norm = system.matrix_operator()->collective_norm();
  if (!std::isfinite(norm) || (norm != 0 && norm < Limits::min()))
    throw comm_thread::InputError(
        fmt::format("{}found a row whose absolute values add up to {:.3g}, the greatest such sum; "
                    "expected one from {:.2g} to {:.2g}",
                    name, norm, Limits::min(), Limits::max()));
}

}  // namespace weft::library
