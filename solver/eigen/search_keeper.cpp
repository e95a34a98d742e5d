#include "solver/eigen/search_keeper.h"

#include <bit>
#include <string>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
#include "solver/checkpoint/packed_rows.h"

namespace weft::solver {

using comm_thread::TeamThread;

std::size_t SearchKeeper::Size::vector_count(std::int64_t rows) const {
  const auto of_panels = static_cast<std::size_t>(width) * static_cast<std::size_t>(panels);
  const auto each = static_cast<std::size_t>(rows);
  return of_panels + (numbers + each - 1) / each;
}

void SearchKeeper::collective_open(const SolveIdentity& identity, const Size& size) {
  size_ = size;
  const std::size_t vectors = size.vector_count(op_.global_row_count());
  if (vectors > CheckpointHeader::most_vectors)
    throw comm_thread::InputError(comm_thread::option_name("checkpoint") + ": found a state of " +
                                  std::to_string(vectors) + " vectors; expected at most " +
                                  std::to_string(CheckpointHeader::most_vectors));
  hooks_.checkpoints->collective_open(op_, identity, vectors);
}

/// Calls work(place in the packed copy, number) for the numbers in the rows of `thread`, and with
/// numbers beyond the last one. `vector`: from the first that has numbers.
template <class Work>
void SearchKeeper::for_each_number(const TeamThread& thread, const PackedRows& rows,
                                   std::size_t vector, const Work& work) const {
  const std::size_t before = vector * static_cast<std::size_t>(op_.global_row_count());
  rows.for_each_piece(thread, [&](std::size_t element, std::size_t place, std::size_t count) {
    const std::size_t first = before + static_cast<std::size_t>(op_.global_row(element));
    for (std::size_t i = 0; i < count; ++i) work(place + i, first + i);
  });
}

void SearchKeeper::collective_keep(std::int64_t step, const SearchState& state) {
  const auto width = static_cast<std::size_t>(size_.width);
  const std::size_t of_panels = width * static_cast<std::size_t>(size_.panels);
  op_.team().run([&](const TeamThread& thread) {
    hooks_.checkpoints->collective_keep_by(
        thread, step, {}, [&](const PackedRows& rows, std::size_t vector, double* packed) {
          if (vector >= of_panels)
            return for_each_number(
                thread, rows, vector - of_panels, [&](std::size_t place, std::size_t number) {
                  packed[place] = number < state.numbers.size() ? state.numbers[number] : 0;
                });
          const bool is_there = vector / width < state.panels.size();
          const double* const column =
              is_there ? state.panels[vector / width] + vector % width : nullptr;
          rows.for_each_piece(thread,
                              [&](std::size_t element, std::size_t place, std::size_t count) {
                                for (std::size_t i = 0; i < count; ++i)
                                  packed[place + i] = column ? column[(element + i) * width] : 0;
                              });
        });
  });
}

void SearchKeeper::collective_restore(SearchState& state) {
  const auto width = static_cast<std::size_t>(size_.width);
  const std::size_t of_panels = width * static_cast<std::size_t>(size_.panels);
  std::vector<std::int64_t> bits(size_.numbers);
  op_.team().run([&](const TeamThread& thread) {
    hooks_.checkpoints->collective_restore_by(
        thread, {}, [&](const PackedRows& rows, std::size_t vector, const double* packed) {
          if (vector >= of_panels)
            return for_each_number(thread, rows, vector - of_panels,
                                   [&](std::size_t place, std::size_t number) {
                                     if (number < bits.size())
                                       bits[number] = std::bit_cast<std::int64_t>(packed[place]);
                                   });
          double* const column = state.panels[vector / width] + vector % width;
          rows.for_each_piece(thread,
                              [&](std::size_t element, std::size_t place, std::size_t count) {
                                for (std::size_t i = 0; i < count; ++i)
                                  column[(element + i) * width] = packed[place + i];
                              });
        });
  });
  op_.communicator().sum(bits);  // each number is on one rank
  state.numbers.clear();
  for (const std::int64_t number : bits) state.numbers.push_back(std::bit_cast<double>(number));
}

bool SearchKeeper::collective_ends(std::int64_t step, bool is_over,
                                   const std::function<SearchState()>& make_state) {
  using Wish = Checkpoints::Wish;
  const Wish wish = hooks_.checkpoints ? hooks_.checkpoints->after_iteration(step) : Wish::none;
  const bool is_asked = hooks_.stops && hooks_.stops();
  const bool is_end = is_asked || wish == Wish::keep_and_stop;
  if (is_used() && (is_end || is_over || wish == Wish::keep)) collective_keep(step, make_state());
  return is_end;
}

}  // namespace weft::solver
