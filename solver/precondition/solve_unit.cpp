#include "solver/precondition/solve_unit.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace weft::solver {
namespace {

/// Powers of two up to this have an inverse, and a product with values of an ordinary size.
constexpr int most_exponent = 1000;

}  // namespace

SolveUnit::SolveUnit(const comm_thread::Communicator& communicator, int thread_count)
    : communicator_(communicator), largest_(static_cast<std::size_t>(thread_count)) {}

double SolveUnit::of(double largest, double scale) {
  if (!(largest > 0 && std::isfinite(largest))) return 1;
  return std::ldexp(
      1.0, std::clamp(std::ilogb(scale) - std::ilogb(largest), -most_exponent, most_exponent));
}

void SolveUnit::collective_choose_by(const comm_thread::TeamThread& thread, int vector,
                                     double scale, double largest) {
  largest_[static_cast<std::size_t>(thread.index)] = largest;
  thread.barrier();
  if (thread.is_primary()) {
    const double all = communicator_.max(*std::ranges::max_element(largest_));
    if (all > 0 && std::isfinite(all)) units_[static_cast<std::size_t>(vector)] = of(all, scale);
  }
  thread.barrier();
}

}  // namespace weft::solver
