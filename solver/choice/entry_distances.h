#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "comm_thread/mpi/communicator.h"
#include "spmv/problems/problem.h"
#include "spmv/rows/index.h"

namespace weft::solver {

/// How far behind the diagonal the entries of a matrix stand, as long as there are three distances
/// at most: those of a grid of points are 1, NX and NX·NY.
class EntryDistances {
 public:
  /// `distance`: column minus row; only those above 0 count.
  void note(spmv::GlobalIndex distance) {
    if (distance <= 0 || has_more_) return;
    for (std::size_t i = 0; i < count_; ++i)
      if (found_[i] == distance) return;
    if (count_ == found_.size())
      has_more_ = true;
    else
      found_[count_++] = distance;
  }
  void note(const EntryDistances& other) {
    for (std::size_t i = 0; i < other.count_; ++i) note(other.found_[i]);
    has_more_ = has_more_ || other.has_more_;
  }
  /// Sets the sign of the lanes of `strange` that are `selected` and whose distance is above 0 and
  /// has not been noted. By signs: GCC 12 takes several comparisons lane by lane.
  template <class Integers>
  [[gnu::always_inline]] void add_strange(const Integers& distances, const Integers& selected,
                                          Integers& strange) const {
    Integers found = selected & -distances;
    for (const spmv::GlobalIndex known : found_) {
      const Integers difference = distances ^ static_cast<long long>(known);
      found = found & (difference | -difference);  // below 0 but where the difference is 0
    }
    strange = strange | found;
  }
  /// True if there are more than three: the rows are no grid then.
  bool has_more() const { return has_more_; }

  /// The grid of `row_count` points to which the distances of all ranks belong; nothing where they
  /// are others. Collective.
  std::optional<spmv::GridSize> collective_grid(const comm_thread::Communicator& communicator,
                                                spmv::GlobalIndex row_count) const;

 private:
  std::array<spmv::GlobalIndex, 3> found_{};
  std::size_t count_ = 0;
  bool has_more_ = false;
};

}  // namespace weft::solver
