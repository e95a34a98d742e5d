#pragma once

#include <span>
#include <string>

#include "library/solve/solvable_system.h"
#include "perfmodel/huge_page_buffer.h"
#include "solver/krylov/method.h"
#include "solver/report/solve_report.h"
#include "solver/report/stop_criterion.h"

namespace weft::library {

/// The right-hand side and the guess of one solve, brought into range (value_range.h) for the
/// system in range, and the way back of x.
/// Thread: the main thread, outside the team. Lifetime: what it is made of outlives it.
class VectorsInRange {
 public:
  /// `stop`: of the given system. Collective.
  VectorsInRange(const SolvableSystem& system, std::span<const double> b,
                 const solver::Guess& guess, const solver::StopCriterion& stop);

  std::span<const double> b() const { return b_; }
  const solver::Guess& guess() const { return guess_; }
  const solver::StopCriterion& stop() const { return stop_; }
  /// Why no method can solve the system; empty where one may.
  const std::string& unmendable() const { return unmendable_; }
  bool scales_solution() const { return x_exponent_ != 0; }

  /// x of the given system from what has been `solved`, where it is another; notes in the report
  /// why nothing could be solved, and what doubles cannot hold. Shape: solved, x: [element_count].
  /// Collective.
  void collective_scale_back(std::span<const double> solved, std::span<double> x,
                             solver::SolveReport& report) const;

 private:
  using Array = perfmodel::HugePageBuffer<double>;

  std::span<const double> scaled(std::span<const double> vector, int exponent, Array& room) const;
  std::string collective_find_unmendable(const solver::Guess& guess) const;

  const SolvableSystem& system_;
  int b_exponent_;
  int x_exponent_;
  double largest_;  // magnitude of b in range
  Array b_room_;
  Array guess_room_;
  std::span<const double> b_;
  solver::Guess guess_;
  solver::StopCriterion stop_;
  std::string unmendable_;
};

}  // namespace weft::library
