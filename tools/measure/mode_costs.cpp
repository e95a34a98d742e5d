#include "tools/measure/mode_costs.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "comm_thread/probe/progress_probe.h"
#include "perfmodel/huge_page_buffer.h"
#include "perfmodel/phase_times.h"
#include "spmv/modes/local_rows.h"
#include "tools/job/statistics.h"

namespace weft::tools {
namespace {

using comm_thread::TeamThread;

constexpr int sample_count = 7;
constexpr std::size_t long_message_bytes = 1 << 20;
constexpr std::size_t longest_short_message_bytes = long_message_bytes / 4;
constexpr double handover_seconds = 3e-6;  // measured by comm_thread_cost, on a shared core

/// One message each way between every rank and the one half of all ranks further.
double collective_message_seconds(Job& job, std::size_t bytes) {
  const bool has_own_core = job.placement().comm_core == comm_thread::CommCore::own_core;
  comm_thread::ProgressProbe probe(
      job.comm_thread_world(), job.comm_thread(), comm_thread::ProgressOperation::isend_irecv,
      bytes, has_own_core ? comm_thread::WaitPolicy::spin : comm_thread::WaitPolicy::yield);
  return collective_median(job, [&] {
    probe.start(comm_thread::ProgressMethod::communication_thread);
    probe.wait();
  });
}

/// `message_bytes`: of the halo's messages, on average.
Link collective_measure_link(Job& job, std::int64_t message_bytes) {
  const std::size_t bytes = std::clamp(static_cast<std::size_t>(message_bytes), sizeof(double),
                                       longest_short_message_bytes);
  const double seconds = collective_message_seconds(job, bytes);
  const double long_seconds = collective_message_seconds(job, long_message_bytes);
  Link link;
  link.latency_seconds = comm_thread::collective_latency_seconds(job.world());
  link.bytes_per_second =
      static_cast<double>(long_message_bytes - bytes) / std::max(1e-9, long_seconds - seconds);
  link.start_up_seconds =
      std::max(link.latency_seconds, seconds - static_cast<double>(bytes) / link.bytes_per_second);
  return link;
}

}  // namespace

double collective_median(const Job& job,
                         const std::function<double(const perfmodel::Stopwatch&)>& work) {
  std::vector<double> seconds;
  for (int i = 0; i <= sample_count; ++i) {
    job.world().barrier();
    const double slowest = job.world().max(work(perfmodel::Stopwatch()));
    if (i > 0) seconds.push_back(slowest);
  }
  return summarise(seconds).median;
}

double collective_median(const Job& job, const std::function<void()>& work) {
  return collective_median(job, [&](const perfmodel::Stopwatch& watch) {
    work();
    return watch.seconds();
  });
}

MeasuredModeCosts collective_measure_mode_costs(Job& job, spmv::LinearOperator& op) {
  const auto x = op.collective_make_operand();
  perfmodel::HugePageBuffer<double> y(op.element_count());
  const auto multiply = [&](spmv::RowSet set) {
    op.team().run([&](const TeamThread& thread) {
      op.local_rows().multiply(set, thread, x->values(), y.data(), {});
    });
  };
  const auto seconds_of = [&](spmv::RowSet set) {
    return collective_median(job, [&] { multiply(set); });
  };
  MeasuredModeCosts measured;
  measured.costs.product = seconds_of(spmv::RowSet::all);
  if (job.world().size() == 1) {
    measured.costs.interior = measured.costs.product;
    return measured;
  }
  measured.costs.interior = seconds_of(spmv::RowSet::interior);
  measured.costs.boundary = seconds_of(spmv::RowSet::boundary);
  measured.costs.pack = collective_median(job, [&] {
    op.team().run([&](const TeamThread& thread) {
      x->pack(thread.index);
      thread.barrier();
      x->unpack(thread);
    });
  });
  const bool has_neighbours = x->exchange().has_neighbours();
  measured.halo_measured_seconds = collective_median(job, [&] {
    if (has_neighbours) x->exchange().post(op.comm_thread()).wait();
  });
  if (job.placement().comm_core != comm_thread::CommCore::own_core) {
    const double beside_halo = collective_median(job, [&](const perfmodel::Stopwatch& watch) {
      std::optional<comm_thread::Pending> halo;
      if (has_neighbours) halo = x->exchange().post(op.comm_thread());
      multiply(spmv::RowSet::interior);
      const double seconds = watch.seconds();
      if (halo) halo->wait();
      return seconds;
    });
    measured.costs.carrying = std::max(0.0, beside_halo - measured.costs.interior);
  }
  const comm_thread::HaloTraffic traffic = x->exchange().traffic();
  measured.messages = job.world().max(traffic.receive_count);
  measured.bytes = job.world().max(std::max(traffic.received_bytes, traffic.sent_bytes));
  measured.link =
      collective_measure_link(job, measured.bytes / std::max<std::int64_t>(1, measured.messages));
  measured.costs.halo = perfmodel::halo_seconds(
      static_cast<double>(measured.messages), static_cast<double>(measured.bytes),
      measured.link.start_up_seconds, measured.link.bytes_per_second);
  measured.costs.handover = handover_seconds;
  return measured;
}

}  // namespace weft::tools
