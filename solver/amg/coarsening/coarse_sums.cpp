#include "solver/amg/coarsening/coarse_sums.h"

namespace weft::solver::amg {

using spmv::LocalIndex;

bool are_in_blocks(const CoarseColumns& columns, std::size_t block) {
  const auto size = static_cast<LocalIndex>(block);
  if (columns.own_count() % size != 0 || columns.count() % size != 0) return false;
  for (LocalIndex column = columns.own_count(); column < columns.count(); ++column) {
    const LocalIndex first = column / size * size;
    if (columns.global(column) != columns.global(first) + (column - first)) return false;
  }
  return true;
}

}  // namespace weft::solver::amg
