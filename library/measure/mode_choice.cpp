#include "library/measure/mode_choice.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "library/measure/mode_costs.h"
#include "library/measure/mode_race.h"
#include "perfmodel/mode_model.h"
#include "spmv/modes/run_in_mode.h"

namespace weft::library {
namespace {

using spmv::Mode;

/// Error of the model's comparison of two modes: up to 10 % in the products of
/// docs/tutorial/modes-experiment.md, more for products below 2 ms.
constexpr double model_error = 0.15;
/// Duration and number of turns of a race of modes with close predictions. (The model's
/// measurements take about 25 products.)
constexpr double race_seconds = 0.5;
constexpr double least_turns = 3;
constexpr double most_turns = 100;
/// The turns of a trial, and the rows of a rank from which a product takes longer than a message.
constexpr int trial_turns = 3;
constexpr std::int64_t least_rows_for_trial = 5000;

struct Prediction {
  Mode mode;
  double seconds;
};

std::vector<Prediction> predict(const perfmodel::ModeCosts& costs) {
  std::vector<Prediction> predictions;
  for (const Mode mode : spmv::all_modes())
    predictions.push_back({mode, spmv::predicted_seconds(mode, costs)});
  return predictions;
}

/// The modes that may be the quickest. Predictions are measured on every rank alike but for
/// rounding of averages: rank 0 decides. Collective.
std::vector<Mode> collective_candidates(const comm_thread::Job& job,
                                        std::span<const Prediction> predictions) {
  const auto best = std::ranges::min_element(predictions, {}, &Prediction::seconds);
  std::int64_t close = 0;  // a bit for each
  for (std::size_t i = 0; i < predictions.size(); ++i)
    if (predictions[i].seconds <= (1 + model_error) * best->seconds) close |= std::int64_t{1} << i;
  close = job.world().max(job.is_root() ? close : 0);
  std::vector<Mode> modes;
  for (std::size_t i = 0; i < predictions.size(); ++i)
    if (close >> i & 1) modes.push_back(predictions[i].mode);
  return modes;
}

std::string milliseconds(std::span<const Prediction> of_modes) {
  std::string text;
  for (const Prediction& one : of_modes)
    text += fmt::format("{}{} {:.4f}", text.empty() ? "" : ", ", spmv::name(one.mode),
                        1e3 * one.seconds);
  return text;
}

/// Medians of the slowest rank. Collective.
std::vector<Prediction> collective_race(const comm_thread::Job& job, spmv::LinearOperator& op,
                                        const std::vector<Mode>& modes, int turns) {
  op.expect_products(0);  // another form of storage would count for one of the modes
  ModeRace race(job, op, modes, false);
  race.collective_run(turns);
  op.expect_products(std::nullopt);
  std::vector<Prediction> raced;
  for (std::size_t i = 0; i < modes.size(); ++i)
    raced.push_back({modes[i], race.seconds(i).median});
  return raced;
}

Mode quickest_of(std::span<const Prediction> of_modes) {
  return std::ranges::min_element(of_modes, {}, &Prediction::seconds)->mode;
}

}  // namespace

ModeChoice collective_choose_mode(comm_thread::Job& job, spmv::LinearOperator& op) {
  if (job.world().size() == 1) return {Mode::vector, "one rank has nothing to hide"};
  const MeasuredModeCosts measured = collective_measure_mode_costs(job, op);
  const auto predictions = predict(measured.costs);
  const std::vector<Mode> candidates = collective_candidates(job, predictions);
  const std::string model = fmt::format(
      "the model predicts, ms for a product: {}; a message takes {:.1f} us and its bytes {:.4g} "
      "MB/s",
      milliseconds(predictions), 1e6 * measured.link.start_up_seconds,
      1e-6 * measured.link.bytes_per_second);
  if (candidates.size() == 1)
    return {candidates.front(), fmt::format("{}: {}", spmv::name(candidates.front()), model)};

  const double turn_seconds =
      static_cast<double>(candidates.size()) * (measured.costs.product + measured.costs.halo);
  const double turns = std::clamp(race_seconds / turn_seconds, least_turns, most_turns);
  const auto raced = collective_race(job, op, candidates,
                                     static_cast<int>(job.world().max(job.is_root() ? turns : 0)));
  const Mode quickest = quickest_of(raced);
  return {quickest, fmt::format("{}, the quickest in turn, ms: {}; {}", spmv::name(quickest),
                                milliseconds(raced), model)};
}

ModeChoice collective_try_modes(comm_thread::Job& job, spmv::LinearOperator& op) {
  const int ranks = job.world().size();
  if (ranks == 1) return {Mode::vector, "one rank has nothing to hide"};
  if (op.global_row_count() < ranks * least_rows_for_trial)
    return {Mode::task, "rows are too few for a trial to tell; the communication thread is there"};
  const auto raced =
      collective_race(job, op, {Mode::vector, Mode::overlap, Mode::task}, trial_turns);
  return {quickest_of(raced), fmt::format("the quickest of {} products each, ms: {}", trial_turns,
                                          milliseconds(raced))};
}

std::string collective_settle_mode(comm_thread::Job& job, spmv::LinearOperator& op,
                                   std::string& mode, bool by_trial) {
  if (mode != "auto") return "";
  const ModeChoice choice =
      by_trial ? collective_try_modes(job, op) : collective_choose_mode(job, op);
  mode = spmv::name(choice.mode);
  return choice.why;
}

}  // namespace weft::library
