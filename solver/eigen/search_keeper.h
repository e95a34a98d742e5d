#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "solver/checkpoint/checkpoint_file.h"
#include "solver/checkpoint/checkpoints.h"
#include "solver/panels/search_steps.h"
#include "spmv/modes/linear_operator.h"

namespace weft::solver {

/// What is kept beside the state of a search by what runs it as one of its parts.
struct KeptBeside {
  std::string recurrence{};  // name of the state in the place of that of the search
  std::vector<double> numbers{};
  std::vector<std::vector<double>> vectors{};  // each [element_count]
};

/// What ends a search for eigenvalues while it goes on, and what keeps its state.
struct SearchHooks {
  /// True if the search is to end after this step; the same on all ranks. Collective. Thread: the
  /// main thread, outside the team.
  std::function<bool()> stops{};
  Checkpoints* checkpoints = nullptr;  // null: nothing is kept; outlives the search
  /// Null: nothing. A search that continues from a checkpoint fills it: it has as many numbers and
  /// vectors as were kept. Outlives the search.
  KeptBeside* beside = nullptr;

  /// True if there is a state of that name to continue from.
  bool has_state_of(std::string_view recurrence) const {
    return checkpoints && checkpoints->state_name() == recurrence;
  }
  /// Of lanczos: gets what the search does. Null: nothing does. It outlives the search.
  SearchSteps* steps = nullptr;
};

/// The state of a search: panels of vectors that stand together row by row, and numbers that are
/// the same on all ranks.
struct SearchState {
  std::vector<double*> panels{};
  std::vector<double> numbers{};
};

/// Asks between the steps of a search whether it is to end, and keeps its state in checkpoints.
///
/// A file has the columns of the panels as its vectors, those of `SearchHooks::beside`, and behind
/// them the numbers, which fill vectors of their own: number i in row i, so that each rank writes
/// some of them. Its header says how many panels and numbers there are.
///
///     vectors    panel 0: 0 … width − 1 | panel 1: … | beside | numbers 0 … rows − 1 | … 0 0
///
/// Functions are collective. Thread: the main thread, outside the team. Lifetime: `op` outlives it.
class SearchKeeper {
 public:
  /// Most vectors of a state.
  struct Size {
    int width = 1;
    int panels = 0;
    std::size_t numbers = 0;
    std::size_t vectors = 0;  // beside the panels

    std::size_t vector_count(std::int64_t rows) const;
  };

  SearchKeeper(SearchHooks hooks, spmv::LinearOperator& op) : hooks_(std::move(hooks)), op_(op) {}

  SearchSteps* steps() const { return hooks_.steps; }
  /// True if a state is kept, or one is continued from.
  bool is_used() const { return hooks_.checkpoints && hooks_.checkpoints->is_used(); }
  /// True if there is a state that `collective_restore` has not taken.
  bool has_state() const { return hooks_.checkpoints && hooks_.checkpoints->has_state(); }

  /// The name of a state, `own` unless the search is a part of something.
  std::string recurrence(const char* own) const {
    return hooks_.beside ? hooks_.beside->recurrence : own;
  }

  /// Where it is used, before a search. `size`: without what is beside. Where there is a state to
  /// continue from, that of the state takes its place. Throws comm_thread::InputError on every rank
  /// where the file is of something else.
  void collective_open(const SolveIdentity& identity, const Size& size);
  /// For states that are another size from now on. There is no state to continue from.
  void collective_resize(const Size& size) { collective_open(identity_, size); }
  bool is_open() const { return is_open_; }
  /// Of the state, with what is beside.
  const Size& size() const { return size_; }
  /// Fills the panels and the numbers of `state`, of which there are as many as `Size` says.
  void collective_restore(SearchState& state);

  /// After a step: true if the search is to end. `make_state` is called where the state is kept,
  /// which is so besides where the search `is_over`, too. None: nothing is kept.
  bool collective_ends(std::int64_t step, bool is_over,
                       const std::function<SearchState()>& make_state);

 private:
  /// A vector of a file in memory; null: zeros.
  struct Column {
    double* start;
    std::size_t stride;
  };

  std::size_t of_panels() const {
    return static_cast<std::size_t>(size_.width) * static_cast<std::size_t>(size_.panels);
  }
  std::size_t numbers_beside() const { return hooks_.beside ? hooks_.beside->numbers.size() : 0; }
  Size size_of_state(const SolveIdentity& identity, Size size) const;
  Column column(const SearchState& state, std::size_t vector) const;
  void collective_keep(std::int64_t step, const SearchState& state);
  template <class Work>
  void for_each_number(const comm_thread::TeamThread& thread, const PackedRows& rows,
                       std::size_t vector, const Work& work) const;

  SearchHooks hooks_;
  spmv::LinearOperator& op_;
  SolveIdentity identity_;
  Size size_;
  bool is_open_ = false;
};

}  // namespace weft::solver
