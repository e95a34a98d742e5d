#include "library/system/expected_symmetry.h"

#include "comm_thread/mpi/input_error.h"
#include "library/solve/solvable_system.h"

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
}

}  // namespace weft::library
