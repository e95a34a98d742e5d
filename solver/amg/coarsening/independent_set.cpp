#include "solver/amg/coarsening/independent_set.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "perfmodel/page_vector.h"
#include "spmv/problems/random_numbers.h"

namespace weft::solver::amg {
namespace {

using comm_thread::TeamThread;
using spmv::GlobalIndex;
using spmv::LocalIndex;

constexpr int dependent_bits = 6;
constexpr int most_dependents = (1 << dependent_bits) - 1;

/// The priority of a row that is not decided, above `row_bits` bits for the row.
std::uint64_t priority(int dependents, int round, GlobalIndex row, int row_bits) {
  const int random_bits = std::max(0, 64 - dependent_bits - row_bits);
  const auto last =
      static_cast<std::uint64_t>(most_dependents - std::min(dependents, most_dependents));
  const std::uint64_t random =
      random_bits == 0
          ? 0
          : spmv::random_bits(static_cast<std::uint64_t>(round), row) >> (64 - random_bits);
  return (last << random_bits | random) << row_bits;
}

}  // namespace

IndependentSet::IndependentSet(const comm_thread::Crew& crew, const LevelMatrix& level,
                               const StrongRows& strong)
    : words_(crew, level.plan, level.thread_rows, outside) {
  // The least word among a row and its neighbours; `outside` once one of them is a root.
  RowValues<Word> least(crew, level.plan, level.thread_rows, outside);
  const auto row_bits = static_cast<int>(
      std::bit_width(static_cast<std::uint64_t>(level.matrix.partition.row_count()) + 1));
  const GlobalIndex first_row = level.matrix.first_row();
  std::vector<std::int64_t> open(static_cast<std::size_t>(crew.team().thread_count()));
  std::int64_t open_everywhere = 1;
  crew.team().run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    perfmodel::PageVector<LocalIndex> undecided;
    undecided.reserve(
        static_cast<std::size_t>(level.thread_rows[index + 1] - level.thread_rows[index]));
    for (LocalIndex row = level.thread_rows[index]; row < level.thread_rows[index + 1]; ++row)
      if (!strong.is_alone(static_cast<std::size_t>(row))) undecided.push_back(row);
    perfmodel::PageVector<LocalIndex> uncovered =
        undecided;  // rows whose neighbours have no root yet
    for (int round = 0; open_everywhere > 0; ++round) {
      for (const LocalIndex row : undecided) {
        const auto i = static_cast<std::size_t>(row);
        const auto global = first_row + row;
        words_[i] = priority(strong.dependent_count(i), round, global, row_bits) |
                    (static_cast<Word>(global) + 1);
      }
      words_.collective_renew(thread);
      for (const LocalIndex row : uncovered) {
        const auto i = static_cast<std::size_t>(row);
        Word smallest = words_[i];
        for (const auto& [value, column] : strong.couplings(i))
          smallest = std::min(smallest, words_[static_cast<std::size_t>(column)]);
        least[i] = smallest == root ? outside : smallest;
      }
      std::erase_if(uncovered, [&](LocalIndex row) {
        return least[static_cast<std::size_t>(row)] == outside;
      });
      least.collective_renew(thread);
      for (const LocalIndex row : undecided) {
        const auto i = static_cast<std::size_t>(row);
        const Word own = words_[i];
        bool is_covered = least[i] == outside;
        bool is_least = least[i] >= own;
        for (const auto& [value, column] : strong.couplings(i)) {
          const Word there = least[static_cast<std::size_t>(column)];
          is_covered = is_covered || there == outside;
          // Not "==": where couplings are strong in one direction only, a neighbour may not see
          // this row, and the row with the least priority of all must still be decided.
          is_least = is_least && there >= own;
        }
        if (is_covered)
          words_[i] = outside;
        else if (is_least)
          words_[i] = root;
      }
      std::erase_if(undecided, [&](LocalIndex row) {
        const Word word = words_[static_cast<std::size_t>(row)];
        return word == root || word == outside;
      });
      open[index] = std::ssize(undecided);
      thread.barrier();
      if (thread.is_primary()) {
        std::int64_t sum = 0;
        for (const std::int64_t count : open) sum += count;
        open_everywhere = crew.communicator().sum(sum);
      }
      thread.barrier();
    }
    words_.collective_renew(thread);
  });
}

}  // namespace weft::solver::amg
