#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
#include "solver/eigen/column_place.h"
#include "solver/eigen/filtered_lanczos.h"
#include "solver/eigen/lobpcg.h"
#include "solver/panels/powers_of_two.h"
#include "spmv/problems/random_numbers.h"

// What Lobpcg begins with.

namespace weft::solver {
/// Looks for the least eigenvalue of B: none may be zero or below.
void Lobpcg::collective_expect_definite() {
  constexpr double rough = 1e-3;
  EigenOptions search;
  search.tolerance = rough;
  search.max_restarts = 20;
  search.mode = options_.mode;
  FilteredLanczos lanczos(*mass_, search);
  const EigenReport found = lanczos.collective_solve();
  const double least = found.pairs.front().value;
  if (!(least > 1e-14 * found.norm))
    throw comm_thread::InputError(
        fmt::format("{}: found a matrix with the eigenvalue {:.3g}; expected a positive definite "
                    "one",
                    comm_thread::option_name("mass"), least));
  least_of_b_ = std::max(least - found.pairs.front().residual, least / 2) / unit_of_b_;
}

/// The first columns of W become those of the caller, scaled to a norm from ½ to 1 or so.
void Lobpcg::collective_take_start_vectors() {
  collective_place(op_, start_, [this](int column, std::size_t row) -> double& {
    return ColumnPlace(w_.vectors, column, width()).at(row);
  });
}

/// X becomes random numbers, smoothed by M where `is_smooth`, or vectors of the caller, and then
/// its Ritz vectors; of a whole matrix the unit vectors instead of random ones. False if they
/// depend on each other.
bool Lobpcg::collective_start_randomly(bool is_smooth) {
  const bool is_unit = is_whole() && start_.count == 0;
  op_.team().run([&](const comm_thread::TeamThread& thread) {
    for (int column = 0; column < block(); ++column) {
      const ColumnPlace to(w_.vectors, column, width());
      op_.for_each_element(thread.index, [&](std::size_t row) {
        const auto global = op_.global_row(row);
        const double random = 2 * spmv::uniform(static_cast<std::uint64_t>(column), global) - 1;
        to.at(row) = !is_unit ? random : global == column ? 1 : 0;
      });
    }
  });
  if (is_smooth) {
    std::vector<int> all(static_cast<std::size_t>(block()));
    std::iota(all.begin(), all.end(), 0);
    norms_of_r_ =
        products_.collective_norms(joined(std::array<const Block*, 1>{&w_}, &Block::vectors));
    collective_precondition(all);
  }
  if (start_.count > 0) collective_take_start_vectors();
  std::swap(x_.vectors, w_.vectors);
  if (!mass_) std::swap(x_.of_b, w_.of_b);
  collective_multiply_by_a(x_);
  collective_multiply_by_b(x_);
  return collective_project(part_of(w_, 0), {});
}

void Lobpcg::collective_start() {
  p_panels_ = 0;
  values_.assign(static_cast<std::size_t>(block()), 0.0);
  if (preconditioner_) preconditioner_->begin_solve();
  const bool has_started = preconditioner_ && !is_whole() && collective_start_randomly(true);
  if (!has_started && !collective_start_randomly(false) && start_.count > 0)
    throw comm_thread::InputError(comm_thread::option_name("start") +
                                  ": found vectors that depend on each other; expected others");
}

}  // namespace weft::solver
