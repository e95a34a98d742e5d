#include "solver/threads/plane_worker.h"

#include <algorithm>
#include <utility>

#include "comm_thread/waiting/team_barrier.h"
#include "perfmodel/marked_region.h"
#include "perfmodel/thread_trace.h"
#include "solver/report/histogram_count.h"

namespace weft::solver {

using comm_thread::ExactAccumulator;
using comm_thread::Share;

PlaneWorker::PlaneWorker(PlaneBlock& block, const std::array<Link, 2>& links,
                         Disturbance disturbance)
    : block_(block), links_(links), disturbance_(std::move(disturbance)) {}

void PlaneWorker::begin(std::int64_t sweep_count) {
  sweep_count_ = sweep_count;
  for (const Side side : {Side::below, Side::above}) {
    link(side).newest = sweep_count;
    if (link(side).outgoing) block_.publish(side, *link(side).outgoing, sweep_count);
  }
}

void PlaneWorker::start_clock() {
  last_lap_ = Clock::now();
  if (auto* const trace = perfmodel::ThreadTrace::of_this_thread())
    trace->start_laps(perfmodel::ThreadTrace::nanoseconds(last_lap_));
}

void PlaneWorker::lap(double IterationTimes::* part) {
  const auto now = Clock::now();
  times_.*part += std::chrono::duration<double>(now - last_lap_).count();
  last_lap_ = now;
  if (auto* const trace = perfmodel::ThreadTrace::of_this_thread())
    trace->lap(name(part), perfmodel::ThreadTrace::nanoseconds(now));
}

void PlaneWorker::take(Side side) {
  Link& from = link(side);
  if (!from.incoming) return;
  const std::int64_t sweep = block_.take(side, *from.incoming);
  const std::int64_t published_count = sweep - std::exchange(from.newest, sweep);
  if (published_count > 0) {
    has_new_planes_ = true;
    traffic_.received_count += static_cast<std::uint64_t>(published_count);
    count(traffic_.batches, published_count);
  }
  lap(&IterationTimes::pack);
}

void PlaneWorker::publish(Side side) {
  if (!link(side).outgoing) return;
  block_.publish(side, *link(side).outgoing, sweep_count_ + 1);
  ++traffic_.sent_count;
  lap(&IterationTimes::pack);
}

void PlaneWorker::sweep(const Share& planes, ExactAccumulator* residual_square) {
  if (planes.begin == planes.end) return;
  const perfmodel::MarkedRegion region("sweep");
  block_.sweep(planes, residual_square);
  lap(&IterationTimes::sweep);
}

void PlaneWorker::make_sweep(ExactAccumulator* residual_square) {
  const double cpu_before = disturbance_.is_active() ? thread_cpu_seconds() : 0;
  const auto [begin, end] = block_.planes();
  const std::int64_t lowest_end = begin + (link(Side::below).incoming ? 1 : 0);
  const std::int64_t highest_begin =
      std::max(lowest_end, end - (link(Side::above).incoming ? 1 : 0));
  // A plane with neighbours on both sides is made as the lowest one.
  const bool is_single = end - begin == 1;

  take(Side::below);
  if (is_single) take(Side::above);
  sweep({begin, lowest_end}, residual_square);
  publish(Side::below);
  sweep({lowest_end, highest_begin}, residual_square);
  if (!is_single) take(Side::above);
  sweep({highest_begin, end}, residual_square);
  publish(Side::above);

  for (const Link& each : links_)
    if (each.incoming) count(traffic_.staleness, sweep_count_ - each.newest);
  if (disturbance_.is_active()) disturb(thread_cpu_seconds() - cpu_before);
}

void PlaneWorker::disturb(double swept_seconds) {
  disturbance_.after_sweep(swept_seconds);
  lap(&IterationTimes::injected);
}

void PlaneWorker::finish_sweep() {
  block_.finish_sweep();
  ++sweep_count_;
}

void PlaneWorker::give_way() {
  const bool has_neighbour = link(Side::below).incoming || link(Side::above).incoming;
  const bool is_fruitful = std::exchange(has_new_planes_, false) || !has_neighbour;
  fruitless_count_ = is_fruitful ? 0 : fruitless_count_ + 1;
  if (is_fruitful) return;
  comm_thread::relax(comm_thread::WaitPolicy::yield, fruitless_count_);
  lap(&IterationTimes::wait);
}

void PlaneWorker::take_planes() {
  take(Side::below);
  take(Side::above);
}

}  // namespace weft::solver
