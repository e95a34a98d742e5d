#include "solver/sweepers/richardson_parameters.h"

#include <cmath>
#include <stdexcept>

namespace weft::solver {

RichardsonParameters richardson_parameters(double rho) {
  if (!(rho >= 0 && rho < 1))
    throw std::invalid_argument(
        "the spectral radius of Jacobi's iteration matrix is to be in [0, 1)");
  const double root = rho / (1 + std::sqrt(1 - rho * rho));
  return {1 + root * root, root * root};
}

}  // namespace weft::solver
