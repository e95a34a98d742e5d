#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/exact_accumulator.h"
#include "comm_thread/engine/halo_exchange.h"
#include "comm_thread/engine/schedule.h"
#include "comm_thread/simulation/simulated_network.h"
#include "comm_thread/simulation/simulated_space.h"
#include "solver/simulation/krylov_simulation.h"
#include "solver/simulation/part_shape.h"

namespace weft::solver {

/// One simulated rank of conjugate gradients: its part of the vectors, and the halo exchange, the
/// all-reduce and the communication thread of the real program. The caller decides when what
/// happens.
///
/// Thread: that of the simulation. Lifetime: inside those of the network and the shape.
class KrylovPart {
 public:
  /// Tag of the halo's messages; those of the all-reduce have another.
  static constexpr int halo_tag = 1;

  KrylovPart(comm_thread::SimulatedNetwork& network, const PartShape& shape, int rank,
             SimulatedKrylov method);

  /// Rounds of the communication thread until nothing moves.
  void poll() {
    while (comm_thread_.poll()) continue;
  }

  /// Sends the boundary of the vector that is multiplied next.
  void post_halo();
  bool has_halo() const { return !halo_pending_ || halo_pending_->test(); }
  /// The product. Before: `has_halo`.
  void multiply();

  /// Adds up what the method sums at this place of its iteration and posts the all-reduce.
  void post_sums();
  bool has_sums() const { return !sums_pending_ || sums_pending_->test(); }

  /// The pass over the vectors that follows a product's all-reduce; of `cg`, x and r.
  void update();
  /// Makes the next direction of `cg`, after the all-reduce of the residual.
  void turn();

  /// Square of the residual by the last all-reduce that had it, the same bits on all ranks;
  /// infinite before.
  double residual_square() const { return residual_square_; }
  /// The solution; of `spmv` the last product.
  std::span<const double> result() const {
    return method_ == SimulatedKrylov::spmv ? product_ : x_;
  }

 private:
  void build_sums();
  void add_product(std::size_t which, std::span<const double> a, std::span<const double> b);
  double sum(std::size_t which) const;
  bool is_textbook() const { return method_ == SimulatedKrylov::cg; }

  const PartShape& shape_;
  SimulatedKrylov method_;
  comm_thread::SimulatedClock clock_;
  comm_thread::SimulatedSpace space_;
  comm_thread::CommThread comm_thread_;

  std::vector<std::uint8_t> faces_;  // those with a neighbour, in the order of the neighbours
  std::vector<double> halo_;
  std::unique_ptr<comm_thread::HaloExchange<double>> halo_exchange_;
  std::optional<comm_thread::Pending> halo_pending_;

  std::vector<std::int64_t> words_;  // of the exact sums
  std::vector<std::int64_t> received_words_;
  std::unique_ptr<comm_thread::Schedule> sums_;  // empty on one rank
  std::optional<comm_thread::Pending> sums_pending_;

  std::vector<double> ghosted_;  // the vector that is multiplied, with its halo
  std::vector<double> product_;  // own points, as all that follow
  std::vector<double> x_;
  std::vector<double> r_;
  std::vector<double> p_;
  std::vector<double> s_;  // A·p of methods with one all-reduce
  std::vector<double> w_;  // A·r of the pipelined method
  std::vector<double> z_;  // A·s
  bool has_product_ = false;  // that has not been used yet
  bool is_first_update_ = true;
  double alpha_ = 0;
  double residual_square_;
};

}  // namespace weft::solver
