#include "library/measure/mode_costs.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "comm_thread/probe/median_seconds.h"
#include "comm_thread/probe/progress_probe.h"
#include "perfmodel/huge_page_buffer.h"
#include "perfmodel/phase_times.h"
#include "perfmodel/stopwatch.h"
#include "spmv/modes/local_rows.h"

namespace weft::library {
namespace {

using comm_thread::TeamThread;

constexpr int sample_count = 7;
constexpr std::size_t long_message_bytes = 1 << 20;
constexpr std::size_t longest_short_message_bytes = long_message_bytes / 4;
constexpr double handover_seconds = 3e-6;  // measured by comm_thread_cost, on a shared core

/// One message each way between every rank and the one half of all ranks further.
double collective_message_seconds(comm_thread::Job& job, std::size_t bytes) {
  const bool has_own_core = job.placement().comm_core == comm_thread::CommCore::own_core;
  comm_thread::ProgressProbe probe(
      job.comm_thread_world(), job.comm_thread(), comm_thread::ProgressOperation::isend_irecv,
      bytes, has_own_core ? comm_thread::WaitPolicy::spin : comm_thread::WaitPolicy::yield);
  return comm_thread::collective_median_seconds(job.world(), sample_count, [&] {
    probe.start(comm_thread::ProgressMethod::communication_thread);
    probe.wait();
  });
}

/// `message_bytes`: of the halo's messages, on average.
Link collective_measure_link(comm_thread::Job& job, std::int64_t message_bytes) {
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

/// The exchange by the model of the link.
void collective_model_halo(comm_thread::Job& job, const comm_thread::HaloTraffic& traffic,
                           MeasuredModeCosts& measured) {
  measured.messages = job.world().max(traffic.receive_count);
  measured.bytes = job.world().max(std::max(traffic.received_bytes, traffic.sent_bytes));
  measured.link =
      collective_measure_link(job, measured.bytes / std::max<std::int64_t>(1, measured.messages));
  measured.costs.halo = perfmodel::halo_seconds(
      static_cast<double>(measured.messages), static_cast<double>(measured.bytes),
      measured.link.start_up_seconds, measured.link.bytes_per_second);
  measured.costs.handover = handover_seconds;
}

void pack_and_unpack(const spmv::LinearOperator& op, spmv::Operand& x) {
  op.team().run([&](const TeamThread& thread) {
    x.pack(thread.index);
    thread.barrier();
    x.unpack(thread);
  });
}

}  // namespace

MeasuredModeCosts collective_measure_mode_costs(comm_thread::Job& job, spmv::LinearOperator& op) {
  const auto x = op.collective_make_operand();
  perfmodel::HugePageBuffer<double> y(op.element_count());
  const auto multiply = [&](spmv::RowSet set) {
    op.team().run([&](const TeamThread& thread) {
      op.local_rows().multiply(set, thread, x->values(), y.data(), {});
    });
  };
  const auto median_of = [&](const auto& work) {
    return comm_thread::collective_median_seconds(job.world(), sample_count, work);
  };
  const auto seconds_of = [&](spmv::RowSet set) { return median_of([&] { multiply(set); }); };
  MeasuredModeCosts measured;
  measured.costs.product = seconds_of(spmv::RowSet::all);
  if (job.world().size() == 1) {
    measured.costs.interior = measured.costs.product;
    return measured;
  }
  measured.costs.interior = seconds_of(spmv::RowSet::interior);
  measured.costs.boundary = seconds_of(spmv::RowSet::boundary);
  measured.costs.pack = median_of([&] { pack_and_unpack(op, *x); });
  const bool has_neighbours = x->exchange().has_neighbours();
  measured.halo_measured_seconds = median_of([&] {
    if (has_neighbours) x->exchange().post(op.comm_thread()).wait();
  });
  const auto multiply_beside_halo = [&] {
    const perfmodel::Stopwatch watch;
    std::optional<comm_thread::Pending> halo;
    if (has_neighbours) halo = x->exchange().post(op.comm_thread());
    multiply(spmv::RowSet::interior);
    const double seconds = watch.seconds();
    if (halo) halo->wait();
    return seconds;
  };
  if (job.placement().comm_core != comm_thread::CommCore::own_core)
    measured.costs.carrying =
        std::max(0.0, median_of(multiply_beside_halo) - measured.costs.interior);
  collective_model_halo(job, x->exchange().traffic(), measured);
  return measured;
}

}  // namespace weft::library
