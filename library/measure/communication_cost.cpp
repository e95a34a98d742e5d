#include "library/measure/communication_cost.h"

#include <algorithm>

#include "comm_thread/engine/reproducible_sum.h"
#include "comm_thread/placement/compute_team.h"
#include "comm_thread/probe/median_seconds.h"

namespace weft::library {
namespace {

constexpr int communication_samples = 12;

}  // namespace

CommunicationCost collective_measure_communication(const comm_thread::Job& job,
                                                   spmv::LinearOperator& op) {
  CommunicationCost cost;
  if (job.world().size() == 1) return cost;
  const auto x = op.collective_make_operand();
  cost.halo_seconds =
      comm_thread::collective_median_seconds(job.world(), communication_samples, [&] {
        if (x->exchange().has_neighbours()) x->exchange().post(op.comm_thread()).wait();
      });
  comm_thread::ReproducibleSum sum(op.communicator(), op.comm_thread(), 1, 3);
  const comm_thread::ComputeTeam alone(1, comm_thread::WaitPolicy::yield);
  cost.reduction_seconds =
      comm_thread::collective_median_seconds(job.world(), communication_samples, [&] {
        alone.run([&](const comm_thread::TeamThread& thread) { sum.collective_reduce(thread); });
      });
  return cost;
}

double collective_measure_exchange(const comm_thread::Job& job,
                                   comm_thread::CommThread& comm_thread, spmv::Halo* halo) {
  if (job.world().size() == 1) return 0;
  return comm_thread::collective_median_seconds(job.world(), communication_samples, [&] {
    if (halo && !halo->messages().is_empty()) halo->messages().post(comm_thread).wait();
  });
}

double hidden_fraction(double waited_seconds, double count, double alone_seconds) {
  const double alone = count * alone_seconds;
  return alone > 0 ? std::clamp(1 - waited_seconds / alone, 0.0, 1.0) : 0;
}

}  // namespace weft::library
