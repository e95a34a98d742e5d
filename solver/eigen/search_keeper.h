#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "solver/checkpoint/checkpoint_file.h"
#include "solver/checkpoint/checkpoints.h"
#include "spmv/modes/linear_operator.h"

namespace weft::solver {

/// What ends a search for eigenvalues while it goes on, and what keeps its state.
struct SearchHooks {
  /// True if the search is to end after this step; the same on all ranks. Collective. Thread: the
  /// main thread, outside the team.
  std::function<bool()> stops{};
  Checkpoints* checkpoints = nullptr;  // null: nothing is kept; outlives the search
};

/// The state of a search: panels of vectors that stand together row by row, and numbers that are
/// the same on all ranks.
struct SearchState {
  std::vector<double*> panels{};
  std::vector<double> numbers{};
};

/// Asks between the steps of a search whether it is to end, and keeps its state in checkpoints.
///
/// A file has the columns of the panels as its vectors, and behind them the numbers, which fill
/// vectors of their own: number i in row i, so that each rank writes some of them.
///
///     vectors    panel 0: 0 … width − 1 | panel 1: … | numbers 0 … rows − 1 | numbers rows … | 0 0
///
/// Functions are collective. Thread: the main thread, outside the team. Lifetime: `op` outlives it.
class SearchKeeper {
 public:
  /// Most vectors of a state.
  struct Size {
    int width = 1;
    int panels = 0;
    std::size_t numbers = 0;

    std::size_t vector_count(std::int64_t rows) const;
  };

  SearchKeeper(SearchHooks hooks, spmv::LinearOperator& op) : hooks_(std::move(hooks)), op_(op) {}

  /// True if a state is kept, or one is continued from.
  bool is_used() const { return hooks_.checkpoints && hooks_.checkpoints->is_used(); }
  /// True if there is a state that `collective_restore` has not taken.
  bool has_state() const { return hooks_.checkpoints && hooks_.checkpoints->has_state(); }

  /// Where it is used, before a search. Throws comm_thread::InputError on every rank where the file
  /// is of something else.
  void collective_open(const SolveIdentity& identity, const Size& size);
  /// Fills the panels and the numbers of `state`, of which there are as many as `Size` says.
  void collective_restore(SearchState& state);

  /// After a step: true if the search is to end. `make_state` is called where the state is kept,
  /// which is so besides where the search `is_over`, too.
  bool collective_ends(std::int64_t step, bool is_over,
                       const std::function<SearchState()>& make_state);

 private:
  void collective_keep(std::int64_t step, const SearchState& state);
  template <class Work>
  void for_each_number(const comm_thread::TeamThread& thread, const PackedRows& rows,
                       std::size_t vector, const Work& work) const;

  SearchHooks hooks_;
  spmv::LinearOperator& op_;
  Size size_;
};

}  // namespace weft::solver
