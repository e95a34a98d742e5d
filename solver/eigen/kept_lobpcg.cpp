#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include <fmt/format.h>

#include "solver/checkpoint/packed_rows.h"
#include "solver/checkpoint/system_checksum.h"
#include "solver/eigen/lobpcg.h"
#include "solver/eigen/search_keeper.h"

// What checkpoints keep of Lobpcg.

namespace weft::solver {
namespace {

constexpr int scalar_count = 5;  // beside the values

}  // namespace

/// Of what a checkpoint keeps: X and P with their images, the values and some numbers.
SearchKeeper::Size Lobpcg::state_size(int width, int panels, bool has_mass) {
  return {.width = width,
          .panels = (has_mass ? 6 : 4) * panels,
          .numbers = static_cast<std::size_t>(scalar_count + panels * width)};
}

/// The state after a step.
SearchState Lobpcg::state() {
  SearchState kept;
  for (const Block* const block : {&x_, &p_}) {
    for (const Image image : {&Block::vectors, &Block::of_a})
      kept.panels.insert(kept.panels.end(), (block->*image).begin(), (block->*image).end());
    if (mass_) kept.panels.insert(kept.panels.end(), block->of_b.begin(), block->of_b.end());
  }
  // `age_` is that of the next step.
  kept.numbers = {static_cast<double>(iterations_), static_cast<double>(age_ + 1),
                  is_fresh_ ? 1.0 : 0.0, static_cast<double>(p_panels_),
                  static_cast<double>(products_before_ + times_a_.product_count())};
  kept.numbers.insert(kept.numbers.end(), values_.begin(), values_.end());
  return kept;
}

/// What M makes of a vector, as a checksum.
std::uint64_t Lobpcg::collective_preconditioner_checksum() {
  preconditioner_->begin_solve();
  op_.team().run([&](const comm_thread::TeamThread& thread) {
    fill_with_probe(thread, op_, r_.data());
    thread.barrier();
    preconditioner_->apply(thread, r_.data(), z_.data());
  });
  return collective_checksum(op_, z_.data());
}

/// Prepares checkpoints, and takes the state that a search continues from. False if there is none.
bool Lobpcg::collective_take_state() {
  if (!keeper_.is_used()) return false;
  SolveIdentity identity = identity_of("lobpcg for eigenvalues", op_.global_row_count());
  const std::uint64_t of_a = collective_matrix_checksum(op_, options_.mode);
  const std::uint64_t of_b = mass_ ? collective_matrix_checksum(*mass_, options_.mode) : 0;
  identity.matrix = text_checksum(fmt::format("{} {}", of_a, of_b));
  const std::uint64_t of_m = preconditioner_ ? collective_preconditioner_checksum() : 0;
  identity.preconditioner = text_checksum(
      fmt::format("{} {} of {} by {}", options_.count, name(options_.end), width(), of_m));
  keeper_.collective_open(identity, state_size(width(), panel_count_, mass_ != nullptr));
  if (!keeper_.has_state()) return false;
  values_.assign(static_cast<std::size_t>(block()), 0.0);
  SearchState kept = state();
  keeper_.collective_restore(kept);
  iterations_ = static_cast<int>(kept.numbers[0]);
  age_ = static_cast<int>(kept.numbers[1]);
  is_fresh_ = kept.numbers[2] != 0;
  p_panels_ = static_cast<int>(kept.numbers[3]);
  products_before_ = static_cast<std::int64_t>(kept.numbers[4]);
  std::copy_n(kept.numbers.begin() + scalar_count, block(), values_.begin());
  if (preconditioner_) preconditioner_->begin_solve();
  return true;
}

}  // namespace weft::solver
