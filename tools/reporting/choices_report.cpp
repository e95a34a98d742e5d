#include "tools/reporting/choices_report.h"

#include <fmt/format.h>

namespace weft::tools {
namespace {

Choice partition_of(const ChosenSystem& system) {
  if (system.ranks == 1) return {"partition", system.partition, "one rank has all rows"};
  return {
      "partition", system.partition,
      fmt::format("consecutive rows have the same bits on any number of ranks; {:.1f} % of them "
                  "wait for other ranks",
                  100 * system.boundary_share)};
}

Choice storage_of(const ChosenSystem& system) {
  const std::string& format = system.format;
  if (system.storage_times)
    return {"format", format == "CRS" ? "crs" : "sell",
            "the lengths of rows vary, and products were timed in both forms: " +
                spmv::storage_text(format, system.storage_times)};
  if (system.has_undecided_storage)
    return {"format", "auto",
            fmt::format("CRS; the lengths of rows vary, but SELL-8 is tried only where {} more "
                        "products are expected",
                        spmv::StorageTrial::least_products)};
  if (format == "CRS")
    return {"format", "crs", "rows have about the same length, and do not repeat"};
  if (format.starts_with("CRS"))
    return {
        "format", "auto",
        "CRS, and one set of columns for eight rows that have those of the row before plus one"};
  return {"format", "auto", "rows repeat, so that they are kept as a " + format};
}

Choice precision_of(const std::string& preconditioner) {
  const bool has_levels = preconditioner.starts_with("amg");
  if (has_levels && preconditioner.find("precision=double") == std::string::npos)
    return {"precision", "double",
            "but single for the levels of amg, which only precondition: half the bytes"};
  return {"precision", "double", "as the vectors are given"};
}

}  // namespace

std::vector<Choice> choices_of(const ChosenSystem& system) {
  std::vector<Choice> choices;
  if (!system.order_choice.empty()) choices.push_back({"order", system.order, system.order_choice});
  if (system.partition == "rows") choices.push_back(partition_of(system));
  if (system.asked_format == "auto") choices.push_back(storage_of(system));
  if (!system.mode_choice.empty()) choices.push_back({"mode", system.mode, system.mode_choice});
  choices.push_back(precision_of(system.preconditioner));
  return choices;
}

std::string options_of(const std::vector<Choice>& choices) {
  std::string options;
  for (const Choice& choice : choices)
    if (choice.what != "precision") options += fmt::format(" --{} {}", choice.what, choice.value);
  return options;
}

Json choices_report(const std::vector<Choice>& choices) {
  Json report = Json::array();
  for (const Choice& choice : choices)
    report.push_back({{"what", choice.what}, {"value", choice.value}, {"why", choice.why}});
  return report;
}

void print_choices(const Json& report) {
  for (const Json& choice : report)
    fmt::print("             {} {}: {}\n", choice["what"], choice["value"], choice["why"]);
}

}  // namespace weft::tools
