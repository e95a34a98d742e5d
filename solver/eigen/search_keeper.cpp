#include "solver/eigen/search_keeper.h"

#include <array>
#include <bit>
#include <cstddef>
#include <span>
#include <string>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
#include "solver/checkpoint/packed_rows.h"

namespace weft::solver {

using comm_thread::TeamThread;

std::size_t SearchKeeper::Size::vector_count(std::int64_t rows) const {
  const auto of_panels = static_cast<std::size_t>(width) * static_cast<std::size_t>(panels);
  const auto each = static_cast<std::size_t>(rows);
  return of_panels + vectors + (numbers + each - 1) / each;
}

/// What the header of a file of the same name says, which may be of another search all the same.
SearchKeeper::Size SearchKeeper::size_of_state(const SolveIdentity& identity, Size size) const {
  const std::span<const double> said = hooks_.checkpoints->state_scalars();
  constexpr auto most_panels = static_cast<double>(CheckpointHeader::most_vectors);
  constexpr double most_numbers = 1e15;
  const bool is_said = said.size() == 2 && hooks_.has_state_of(identity.recurrence.data()) &&
                       said[0] >= 0 && said[0] <= most_panels && said[1] >= 0 &&
                       said[1] <= most_numbers;
  if (!is_said) return size;
  size.panels = static_cast<int>(said[0]);
  size.numbers = static_cast<std::size_t>(said[1]);
  return size;
}

void SearchKeeper::collective_open(const SolveIdentity& identity, const Size& size) {
  identity_ = identity;
  size_ = size;
  size_.numbers += numbers_beside();
  if (hooks_.beside) size_.vectors = hooks_.beside->vectors.size();
  size_ = size_of_state(identity, size_);
  const std::size_t vectors = size_.vector_count(op_.global_row_count());
  if (vectors > CheckpointHeader::most_vectors)
    throw comm_thread::InputError(comm_thread::option_name("checkpoint") + ": found a state of " +
                                  std::to_string(vectors) + " vectors; expected at most " +
                                  std::to_string(CheckpointHeader::most_vectors));
  hooks_.checkpoints->collective_open(op_, identity, vectors);
  is_open_ = true;
}

SearchKeeper::Column SearchKeeper::column(const SearchState& state, std::size_t vector) const {
  const auto width = static_cast<std::size_t>(size_.width);
  if (vector >= of_panels()) return {hooks_.beside->vectors[vector - of_panels()].data(), 1};
  if (vector / width >= state.panels.size()) return {nullptr, width};
  return {state.panels[vector / width] + vector % width, width};
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
  std::vector<double> numbers = state.numbers;
  numbers.resize(size_.numbers - numbers_beside());
  if (hooks_.beside)
    numbers.insert(numbers.end(), hooks_.beside->numbers.begin(), hooks_.beside->numbers.end());
  auto panel_count = static_cast<double>(size_.panels);
  auto number_count = static_cast<double>(size_.numbers);
  const std::array<double* const, 2> scalars{&panel_count, &number_count};
  const std::size_t first_number = of_panels() + size_.vectors;
  op_.team().run([&](const TeamThread& thread) {
    hooks_.checkpoints->collective_keep_by(
        thread, step, scalars, [&](const PackedRows& rows, std::size_t vector, double* packed) {
          if (vector >= first_number)
            return for_each_number(thread, rows, vector - first_number,
                                   [&](std::size_t place, std::size_t number) {
                                     packed[place] = number < numbers.size() ? numbers[number] : 0;
                                   });
          const Column from = column(state, vector);
          rows.for_each_piece(
              thread, [&](std::size_t element, std::size_t place, std::size_t count) {
                for (std::size_t i = 0; i < count; ++i)
                  packed[place + i] = from.start ? from.start[(element + i) * from.stride] : 0;
              });
        });
  });
}

void SearchKeeper::collective_restore(SearchState& state) {
  std::vector<std::int64_t> bits(size_.numbers);
  const std::size_t first_number = of_panels() + size_.vectors;
  op_.team().run([&](const TeamThread& thread) {
    hooks_.checkpoints->collective_restore_by(
        thread, {}, [&](const PackedRows& rows, std::size_t vector, const double* packed) {
          if (vector >= first_number)
            return for_each_number(thread, rows, vector - first_number,
                                   [&](std::size_t place, std::size_t number) {
                                     if (number < bits.size())
                                       bits[number] = std::bit_cast<std::int64_t>(packed[place]);
                                   });
          const Column to = column(state, vector);
          rows.for_each_piece(thread,
                              [&](std::size_t element, std::size_t place, std::size_t count) {
                                for (std::size_t i = 0; i < count; ++i)
                                  to.start[(element + i) * to.stride] = packed[place + i];
                              });
        });
  });
  op_.communicator().sum(bits);  // each number is on one rank
  state.numbers.clear();
  for (const std::int64_t number : bits) state.numbers.push_back(std::bit_cast<double>(number));
  if (!hooks_.beside) return;
  const auto beside = state.numbers.end() - static_cast<std::ptrdiff_t>(numbers_beside());
  hooks_.beside->numbers.assign(beside, state.numbers.end());
  state.numbers.erase(beside, state.numbers.end());
}

bool SearchKeeper::collective_ends(std::int64_t step, bool is_over,
                                   const std::function<SearchState()>& make_state) {
  using Wish = Checkpoints::Wish;
  const Wish wish = hooks_.checkpoints ? hooks_.checkpoints->after_iteration(step) : Wish::none;
  const bool is_asked = hooks_.stops && hooks_.stops();
  const bool is_end = is_asked || wish == Wish::keep_and_stop;
  const bool is_due = is_end || is_over || wish == Wish::keep;
  if (is_used() && make_state && is_due) collective_keep(step, make_state());
  return is_end;
}

}  // namespace weft::solver
