#include "tools/reporting/storage_report.h"

namespace weft::tools {

void add_storage_times(const std::optional<spmv::StorageTimes>& times, Json& performance) {
  if (!times) return;
  performance["product_seconds"] = {{"CRS", times->crs_seconds}, {"SELL-8", times->sell_seconds}};
}

std::string storage_phrase(const Json& performance) {
  const auto format = performance["matrix_format"].get<std::string>();
  if (format.find("no matrix") != std::string::npos) return format;
  std::optional<spmv::StorageTimes> times;
  const Json seconds = performance.value("product_seconds", Json::object());
  if (seconds.contains("CRS")) {
    times = {seconds["CRS"].get<double>(), seconds["SELL-8"].get<double>()};
  }
  return "matrix as " + spmv::storage_text(format, times);
}

}  // namespace weft::tools
