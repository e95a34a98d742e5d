#include <nlohmann/json.hpp>

#include "library/include/weft/weft.hpp"

namespace weft {
inline namespace v0 {

const char* name(Status status) {
  switch (status) {
    case Status::converged:
      return "converged";
    case Status::not_converged:
      return "not-converged";
    case Status::breakdown:
      return "breakdown";
    case Status::stopped:
      return "stopped";
    case Status::out_of_time:
      return "out-of-time";
    case Status::diverged:
      break;
  }
  return "diverged";
}

std::string Report::json() const {
  nlohmann::ordered_json report{{"weft", WEFT_VERSION},
                                {"status", name(status)},
                                {"method", method},
                                {"preconditioner", preconditioner},
                                {"mode", mode},
                                {"iterations", iterations},
                                {"restarts", restarts},
                                {"relative_residual", relative_residual},
                                {"recurrence_residual", recurrence_residual},
                                {"seconds", {{"setup", setup_seconds}, {"solve", solve_seconds}}}};
  if (scaled_residual) report["scaled_residual"] = *scaled_residual;
  if (!explanation.empty()) report["explanation"] = explanation;
  if (!method_choice.empty()) report["method_choice"] = method_choice;
  if (!decisions.empty()) report["decisions"] = decisions;
  if (!null_space.empty()) report["null_space"] = null_space;
  report["performance"]["matrix_format"] = matrix_format;
  for (const auto& [format, seconds] : product_seconds)
    report["performance"]["product_seconds"][format] = seconds;
  for (const auto& [phase, seconds] : phase_seconds) report["phases"][phase] = seconds;
  if (!history.empty()) report["history"] = history;
  // A name of a file may be anything.
  return report.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace v0
}  // namespace weft
