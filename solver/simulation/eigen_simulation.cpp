#include "solver/simulation/eigen_simulation.h"

#include <algorithm>
#include <cstddef>

#include "solver/simulation/lockstep_ranks.h"
#include "solver/simulation/machine_model.h"

namespace weft::solver {
namespace {

/// Bytes that a sweep moves for a point: what MachineModel takes for the speed of memory.
constexpr double bytes_per_point = 24;
constexpr double value_bytes = sizeof(double);

class EigenRun {
 public:
  EigenRun(const HaloGraph& graph, const EigenSimulationOptions& options)
      : graph_(graph),
        options_(options),
        model_(polling_machine(options.machine), graph.rank_count(), options.seed),
        ranks_(model_, graph) {}

  EigenSimulationResult run(const SearchSteps& steps);

 private:
  void step(const SearchStep& step);
  void multiply(const SearchStep& step);
  void compute_product(const SearchStep& step, bool has_interior, bool has_boundary);
  double seconds(double bytes, double flops) const {
    const Machine& machine = options_.machine;
    return std::max(bytes * machine.seconds_per_point / bytes_per_point,
                    flops * machine.seconds_per_flop);
  }
  void end_space();
  void collect();

  const HaloGraph& graph_;
  EigenSimulationOptions options_;
  MachineModel model_;
  LockstepRanks ranks_;
  EigenSimulationResult result_;
  double space_begin_ = 0;
};

void EigenRun::compute_product(const SearchStep& step, bool has_interior, bool has_boundary) {
  ranks_.compute([&](int rank) {
    const HaloGraph::Part& part = graph_.part(rank);
    if (part.rows == 0) return 0.0;
    const double rows = static_cast<double>(part.rows);
    const double nonzeros = static_cast<double>(part.nonzeros);
    const double interior = static_cast<double>(part.interior_rows) / rows;
    const double fraction = (has_interior ? interior : 0) + (has_boundary ? 1 - interior : 0);
    return fraction *
           seconds(nonzeros * options_.bytes_per_nonzero + rows * step.values * value_bytes,
                   2 * nonzeros * step.width + rows * step.flops);
  });
}

void EigenRun::multiply(const SearchStep& step) {
  const auto entry_bytes = static_cast<std::size_t>(step.width) * sizeof(double);
  const bool overlaps = options_.mode != spmv::Mode::vector;
  if (options_.mode == spmv::Mode::overlap) compute_product(step, true, false);
  ranks_.post_halos(entry_bytes);
  if (options_.mode == spmv::Mode::task) compute_product(step, true, false);
  ranks_.wait_for_halos();
  compute_product(step, !overlaps, true);
  result_.shares.product += ranks_.take_computed();
  ++result_.block_products;
  result_.products += step.width;
}

void EigenRun::end_space() {
  result_.space_seconds.push_back(ranks_.seconds() - space_begin_);
  space_begin_ = ranks_.seconds();
}

void EigenRun::step(const SearchStep& step) {
  switch (step.kind) {
    case SearchStep::Kind::product:
      return multiply(step);
    case SearchStep::Kind::pass:
      ranks_.compute([&](int rank) {
        const double rows = static_cast<double>(graph_.part(rank).rows);
        return seconds(rows * step.values * value_bytes, rows * step.flops);
      });
      result_.shares.pass += ranks_.take_computed();
      return;
    case SearchStep::Kind::sum:
      ++result_.sums;
      return ranks_.all_reduce(step.bytes);
    case SearchStep::Kind::dense:
      ranks_.compute([&](int) { return step.flops * options_.machine.seconds_per_dense_flop; });
      result_.shares.dense += ranks_.take_computed();
      return;
    case SearchStep::Kind::space:
      return end_space();
  }
}

EigenSimulationResult EigenRun::run(const SearchSteps& steps) {
  for (const SearchStep& each : steps.all()) step(each);
  end_space();
  collect();
  return result_;
}

void EigenRun::collect() {
  result_.seconds = ranks_.seconds();
  const double rank_seconds = result_.seconds * graph_.rank_count();
  result_.shares.halo_wait = ranks_.halo_wait();
  result_.shares.sum_wait = ranks_.sum_wait();
  for (double EigenSimulationResult::Shares::* share :
       {&EigenSimulationResult::Shares::product, &EigenSimulationResult::Shares::halo_wait,
        &EigenSimulationResult::Shares::pass, &EigenSimulationResult::Shares::sum_wait,
        &EigenSimulationResult::Shares::dense})
    result_.shares.*share = rank_seconds > 0 ? result_.shares.*share / rank_seconds : 0;
  // The first search space tells where the spectrum ends, and what follows the last is no space.
  result_.restarts = std::max(0, static_cast<int>(result_.space_seconds.size()) - 2);
  result_.halo_messages = result_.block_products * graph_.message_count();
  result_.sum_messages = ranks_.message_count() - result_.halo_messages;
  result_.message_bytes = ranks_.message_bytes();
}

}  // namespace

EigenSimulationResult simulate_eigen(const SearchSteps& steps, const HaloGraph& graph,
                                     const EigenSimulationOptions& options) {
  expect_between("slow rank", options.machine.slow_rank, -1, graph.rank_count() - 1);
  check(options.machine);
  return EigenRun(graph, options).run(steps);
}

}  // namespace weft::solver
