#include "solver/multigrid/sweepers/grid_values.h"

#include <algorithm>
#include <cmath>

#include "comm_thread/engine/reproducible_sum.h"
#include "comm_thread/mpi/error_agreement.h"
#include "solver/multigrid/grids/box_exchange.h"
#include "solver/multigrid/grids/level_cuts.h"
#include "spmv/grid/shares.h"
#include "spmv/sums/binned_sum.h"

namespace weft::solver {
namespace {

using comm_thread::TeamThread;

/// Of the message with b: cycles count theirs from 2000 and 2500.
constexpr int tag = 3000;

/// Throws on all ranks alike.
std::vector<spmv::GridNeighbour> neighbours_of(const spmv::StencilOperator& op, int depth) {
  std::vector<spmv::GridNeighbour> neighbours;
  comm_thread::collective_attempt(op.communicator(), [&] {
    neighbours = op.partition().neighbours(op.communicator().rank(), depth, true);
  });
  return neighbours;
}

}  // namespace

GridValues::GridValues(spmv::StencilOperator& op, std::span<const double> b, int depth)
    : op_(op),
      boxes_(neighbours_of(op, depth)),
      neighbours_(spmv::halo_of(boxes_)),
      layout_(op.layout().own(), depth),
      b_(layout_.element_count()),
      x_(layout_.element_count()) {
  const LevelCuts cuts(op.partition());
  const BoxExchange<double>::Side side{cuts, depth, layout_, b_.data()};
  BoxExchange<double> halo(op.communicator(), op.partition().domain(), side, side,
                           op.team().thread_count(), tag);
  op.communicator().barrier();  // both ends of every pair exist
  op.team().run([&](const TeamThread& thread) {
    for_each_row_of(
        thread, layout_, layout_.own(),
        [&](std::size_t first, std::size_t place, std::size_t count) {
          const auto row = static_cast<spmv::GlobalIndex>(place / count);
          const spmv::GridBox& own = layout_.own();
          std::copy_n(b.data() + op.layout().index(own.begin[0], own.begin[1] + row % own.size(1),
                                                   own.begin[2] + row / own.size(1)),
                      count, b_.data() + first);
        });
    thread.barrier();
    halo.pack(thread.index);
    thread.barrier();
    if (thread.is_primary() && !halo.messages().is_empty())
      halo.messages().post(op.comm_thread()).wait();
    thread.barrier();
    halo.unpack(thread);
  });
}

double GridValues::collective_b_square() const {
  comm_thread::ReproducibleSum sum(op_.communicator(), op_.comm_thread(), team().thread_count(), 1);
  std::vector<double> largest(static_cast<std::size_t>(team().thread_count()));
  const auto for_each_value = [&](const TeamThread& thread, const auto& use) {
    for_each_row_of(thread, layout_, layout_.own(),
                    [&](std::size_t first, std::size_t, std::size_t count) {
                      for (std::size_t i = 0; i < count; ++i) use(b_[first + i]);
                    });
  };
  team().run([&](const TeamThread& thread) {
    double most = 0;
    for_each_value(thread, [&](double value) { most = std::max(most, std::abs(value)); });
    largest[static_cast<std::size_t>(thread.index)] = most;
  });
  const double most = op_.communicator().max(*std::ranges::max_element(largest));
  const double bound = most * most * static_cast<double>(op_.global_row_count());
  team().run([&](const TeamThread& thread) {
    spmv::BinnedSum square(bound);
    for_each_value(thread, [&](double value) { square.add(value * value); });
    square.flush(sum.part(thread.index));
    sum.collective_reduce(thread);
  });
  return sum.result();
}

void GridValues::pack(const TeamThread& thread, const double* values, const spmv::GridBox& box,
                      std::span<double> out) const {
  for_each_row_of(thread, layout_, box,
                  [&](std::size_t first, std::size_t place, std::size_t count) {
                    std::copy_n(values + first, count, out.data() + place);
                  });
}

void GridValues::unpack(const TeamThread& thread, double* values, const spmv::GridBox& box,
                        std::span<const double> in) const {
  for_each_row_of(thread, layout_, box,
                  [&](std::size_t first, std::size_t place, std::size_t count) {
                    std::copy_n(in.data() + place, count, values + first);
                  });
}

void GridValues::record(const TeamThread& thread) {
  if (recorded_.size() == 0) {
    thread.barrier();
    if (thread.is_primary()) recorded_ = Array(layout_.element_count());
    thread.barrier();
  }
  for_each_row_of(thread, layout_, layout_.own(),
                  [&](std::size_t first, std::size_t, std::size_t count) {
                    std::copy_n(x_.data() + first, count, recorded_.data() + first);
                  });
}

}  // namespace weft::solver
