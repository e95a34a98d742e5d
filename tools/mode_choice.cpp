#include "tools/mode_choice.h"

#include <fmt/format.h>

#include "perfmodel/mode_model.h"
#include "tools/mode_costs.h"

namespace weft::tools {
namespace {

constexpr double least_gain = 0.02;

}  // namespace

ModeChoice collective_choose_mode(Job& job, spmv::LinearOperator& op) {
  if (job.world().size() == 1) return {spmv::Mode::vector, "one rank has nothing to hide"};
  const Link link = collective_measure_link(job);
  const MeasuredModeCosts measured = collective_measure_mode_costs(job, op, link);
  const perfmodel::ModeTimes times = perfmodel::predict_modes(measured.costs);
  // Measured on every rank alike but for rounding of averages: rank 0 decides.
  const bool hides = job.world().max(job.is_root() && times.task < (1 - least_gain) * times.vector
                                         ? std::int64_t{1}
                                         : std::int64_t{0}) > 0;
  std::string why = fmt::format(
      "{}: the model predicts {:.4f} ms for a product in vector and overlap mode, {:.4f} in task "
      "mode; link {:.1f} us, {:.4g} MB/s",
      hides ? "task" : "vector", 1e3 * times.vector, 1e3 * times.task, 1e6 * link.latency_seconds,
      1e-6 * link.bytes_per_second);
  return {hides ? spmv::Mode::task : spmv::Mode::vector, std::move(why)};
}

}  // namespace weft::tools
