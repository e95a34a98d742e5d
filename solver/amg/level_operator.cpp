#include "solver/amg/level_operator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "comm_thread/mpi/input_error.h"

namespace weft::solver::amg {

using spmv::LocalIndex;

template <class Value>
void LevelOperator<Value>::allocate(std::int64_t total) {
  if (total > std::int64_t{std::numeric_limits<Offset>::max()})
    throw comm_thread::InputError("a rank has " + std::to_string(total) +
                                  " entries of a level of amg; expected less than 4294967296: use "
                                  "more ranks");
  columns_ = perfmodel::HugePageBuffer<LocalIndex>(static_cast<std::size_t>(total));
  values_ = perfmodel::HugePageBuffer<Value>(static_cast<std::size_t>(total));
}

template <class Value>
void LevelOperator<Value>::split(Part& part, LocalIndex begin, LocalIndex end,
                                 LocalIndex own_columns) const {
  if (begin < end) part.all.push_back({begin, end});
  bool last_was_interior = false;
  for (LocalIndex row = begin; row < end; ++row) {
    const auto i = static_cast<std::size_t>(row);
    const bool is_interior =
        std::all_of(columns_.data() + offsets_[i], columns_.data() + offsets_[i + 1],
                    [&](LocalIndex column) { return column < own_columns; });
    std::vector<Run>& runs = is_interior ? part.interior : part.boundary;
    if (row > begin && is_interior == last_was_interior)
      runs.back().end = row + 1;
    else
      runs.push_back({row, row + 1});
    last_was_interior = is_interior;
  }
}

template <class Value>
std::int64_t LevelOperator<Value>::boundary_row_count() const {
  std::int64_t count = 0;
  for (const Part& part : parts_)
    for (const Run& run : part.boundary) count += run.end - run.begin;
  return count;
}

template <class Value>
double LevelOperator<Value>::largest_row_sum() const {
  double largest = 0;
  for (std::size_t row = 0; row + 1 < offsets_.size(); ++row) {
    double sum = 0;
    for (Offset k = offsets_[row]; k < offsets_[row + 1]; ++k)
      sum += std::abs(static_cast<double>(values_[k]));
    largest = std::max(largest, sum);
  }
  return largest;
}

template class LevelOperator<float>;
template class LevelOperator<double>;

}  // namespace weft::solver::amg
