#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "comm_thread/engine/crew.h"
#include "comm_thread/engine/neighbour_exchange.h"
#include "comm_thread/mpi/sparse_exchange.h"
#include "comm_thread/placement/compute_team.h"

namespace weft::spmv {

/// Moves a vector from one way in which ranks own its entries to another, and back. Only ranks that
/// have something for each other talk; on one rank it copies.
///
///     10 rows, 2 ranks     one side:     0 1 2 3 4 | 5 6 7 8 9
///                          other side:   0 1 2 3 | 4 5 6 7 8 9      row 4 travels
///
/// `Value`: of the other side and of messages, float or double; the one side is double. Lifetime:
/// what `crew` refers to outlives it.
template <class Value>
class Redistribution {
 public:
  /// Consecutive entries of this rank on both sides.
  struct Line {
    std::size_t one = 0;
    std::size_t other = 0;
    std::size_t count = 0;
  };
  /// Consecutive entries that this rank has on one of the sides, and another rank on the other.
  struct Piece {
    std::size_t begin = 0;
    std::size_t count = 0;
  };

  /// `kept`: entries of this rank on both sides. `leaving`: of the one side, by the rank that has
  /// them on the other; `arriving`: of the other side, by the rank that has them on the one. Both
  /// ends have the entries of a pair in the same order. Every rank makes the same calls, which take
  /// two tags; both ends of every pair must exist before either is used.
  Redistribution(const comm_thread::Crew& crew, std::vector<Line> kept,
                 const comm_thread::Lists<Piece>& leaving,
                 const comm_thread::Lists<Piece>& arriving, const std::string& name);

  /// other = factor·one. Thread: every thread of a team, after a barrier; ends with one.
  /// Collective. Throws comm_thread::MpiError.
  void collective_there(const comm_thread::TeamThread& thread, const double* one, double factor,
                        Value* other);
  /// one = factor·other. Thread: as above.
  void collective_back(const comm_thread::TeamThread& thread, const Value* other, double factor,
                       double* one);

 private:
  comm_thread::Crew crew_;
  std::vector<Line> kept_;
  std::vector<Line> leaving_;  // other: in leaving_buffer_
  std::vector<Line> arriving_;  // one: in arriving_buffer_
  std::vector<Value> leaving_buffer_;
  std::vector<Value> arriving_buffer_;
  std::optional<comm_thread::NeighbourExchange> there_;
  std::optional<comm_thread::NeighbourExchange> back_;
};

}  // namespace weft::spmv
