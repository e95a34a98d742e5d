#include "tools/mode_choice.h"

#include <fmt/format.h>

#include "perfmodel/mode_model.h"
#include "tools/mode_costs.h"

namespace weft::tools {
namespace {

/// By how much task mode has to win by the model.
constexpr double least_gain = 0.02;
/// By how much overlap with tests may lose by the model. Measured on two hosts with one core each,
/// ten settings of link and problem, and on one node with two ranks, five problems, against the
/// quickest of all four modes: within 3 % in 14 of 15; vector mode in 5.
constexpr double most_loss = 0.02;

}  // namespace

ModeChoice collective_choose_mode(Job& job, spmv::LinearOperator& op) {
  if (job.world().size() == 1) return {spmv::Mode::vector, "one rank has nothing to hide"};
  const MeasuredModeCosts measured = collective_measure_mode_costs(job, op);
  const perfmodel::ModeTimes times = perfmodel::predict_modes(measured.costs);
  const bool has_own_core = job.placement().comm_core == comm_thread::CommCore::own_core;
  const spmv::Mode hiding = has_own_core ? spmv::Mode::task : spmv::Mode::overlap_test;
  const double hiding_seconds = has_own_core ? times.task : times.overlap_test;
  const double limit = has_own_core ? 1 - least_gain : 1 + most_loss;
  // Measured on every rank alike but for rounding of averages: rank 0 decides.
  const bool hides =
      job.world().max(job.is_root() && hiding_seconds < limit * times.vector ? std::int64_t{1}
                                                                             : std::int64_t{0}) > 0;
  const spmv::Mode mode = hides ? hiding : spmv::Mode::vector;
  std::string why = fmt::format(
      "{}: the model predicts {:.4f} ms for a product in vector mode, {:.4f} in {} mode, the "
      "communication thread {}; a message takes {:.1f} us and its bytes {:.4g} MB/s",
      spmv::name(mode), 1e3 * times.vector, 1e3 * hiding_seconds, spmv::name(hiding),
      has_own_core ? "having a core of its own" : "sharing a core",
      1e6 * measured.link.start_up_seconds, 1e-6 * measured.link.bytes_per_second);
  return {mode, std::move(why)};
}

}  // namespace weft::tools
