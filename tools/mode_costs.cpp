#include "tools/mode_costs.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "comm_thread/progress_probe.h"
#include "perfmodel/huge_page_buffer.h"
#include "perfmodel/phase_times.h"
#include "spmv/local_rows.h"
#include "tools/statistics.h"
#include "tools/stopwatch.h"

namespace weft::tools {
namespace {

using comm_thread::TeamThread;

constexpr int sample_count = 7;
constexpr std::size_t link_bytes = 1 << 20;
constexpr double handover_seconds = 3e-6;  // measured by comm_thread_cost, on a shared core

/// Median over the samples of the slowest rank's time; the first warms up.
double collective_median(const Job& job, const std::function<void()>& work) {
  std::vector<double> seconds;
  for (int i = 0; i <= sample_count; ++i) {
    job.world().barrier();
    const Stopwatch watch;
    work();
    const double slowest = job.world().max(watch.seconds());
    if (i > 0) seconds.push_back(slowest);
  }
  return summarise(seconds).median;
}

}  // namespace

Link collective_measure_link(Job& job) {
  if (job.world().size() == 1) return {};
  Link link;
  link.latency_seconds = comm_thread::collective_latency_seconds(job.world());
  const bool has_own_core = job.placement().comm_core == comm_thread::CommCore::own_core;
  comm_thread::ProgressProbe probe(
      job.comm_thread_world(), job.comm_thread(), comm_thread::ProgressOperation::isend_irecv,
      link_bytes, has_own_core ? comm_thread::WaitPolicy::spin : comm_thread::WaitPolicy::yield);
  const double seconds = collective_median(job, [&] {
    probe.start(comm_thread::ProgressMethod::communication_thread);
    probe.wait();
  });
  link.bytes_per_second =
      static_cast<double>(link_bytes) / std::max(1e-9, seconds - link.latency_seconds);
  return link;
}

MeasuredModeCosts collective_measure_mode_costs(const Job& job, spmv::LinearOperator& op,
                                                const Link& link) {
  const auto x = op.collective_make_operand();
  perfmodel::HugePageBuffer<double> y(op.element_count());
  const auto multiply = [&](spmv::RowSet set) {
    return collective_median(job, [&] {
      op.team().run([&](const TeamThread& thread) {
        op.local_rows().multiply(set, thread, x->values(), y.data(), {});
      });
    });
  };
  MeasuredModeCosts measured;
  measured.costs.product = multiply(spmv::RowSet::all);
  if (job.world().size() == 1) {
    measured.costs.interior = measured.costs.product;
    return measured;
  }
  measured.costs.interior = multiply(spmv::RowSet::interior);
  measured.costs.boundary = multiply(spmv::RowSet::boundary);
  measured.costs.pack = collective_median(job, [&] {
    op.team().run([&](const TeamThread& thread) {
      x->pack(thread.index);
      thread.barrier();
      x->unpack(thread);
    });
  });
  const double cpu_before = op.comm_thread().cpu_seconds();
  measured.halo_measured_seconds = collective_median(job, [&] {
    if (x->exchange().has_neighbours()) x->exchange().post(op.comm_thread()).wait();
  });
  const double carrying = (op.comm_thread().cpu_seconds() - cpu_before) / (sample_count + 1);
  const bool has_own_core = job.placement().comm_core == comm_thread::CommCore::own_core;
  measured.costs.carrying = has_own_core ? 0 : job.world().max(carrying);
  const comm_thread::HaloTraffic traffic = x->exchange().traffic();
  measured.messages = job.world().max(traffic.receive_count);
  measured.bytes = job.world().max(std::max(traffic.received_bytes, traffic.sent_bytes));
  measured.costs.halo = perfmodel::halo_seconds(static_cast<double>(measured.messages),
                                                static_cast<double>(measured.bytes),
                                                link.latency_seconds, link.bytes_per_second);
  measured.costs.handover = handover_seconds;
  return measured;
}

}  // namespace weft::tools
