#include "tools/roofline/core_report.h"

#include <array>
#include <string>

#include <fmt/format.h>

#include "perfmodel/core_probes.h"

namespace weft::tools {
namespace {

/// A kind of operation: its field in reports and its title in tables.
struct Operation {
  const char* field;
  const char* title;
};
constexpr std::array operations{Operation{"loads", "load"},
                                Operation{"shifted_loads", "(shifted)"},
                                Operation{"stores", "store"},
                                Operation{"additions", "add"},
                                Operation{"multiplications", "multiply"},
                                Operation{"arithmetic", "both"},
                                Operation{"integer_additions", "integer"},
                                Operation{"shuffles", "shuffle"}};

Json operation_rates_report(const perfmodel::OperationRates& rates) {
  return {{"loads", 1e-9 * rates.each.loads},
          {"shifted_loads", 1e-9 * rates.each.shifted_loads},
          {"stores", 1e-9 * rates.each.stores},
          {"additions", 1e-9 * rates.each.additions},
          {"multiplications", 1e-9 * rates.each.multiplications},
          {"arithmetic", 1e-9 * rates.arithmetic},
          {"integer_additions", 1e-9 * rates.each.integer_additions},
          {"shuffles", 1e-9 * rates.each.shuffles}};
}

void print_rates(const std::string& label, const Json& rates) {
  fmt::print("  {:<22}", label);
  for (const Operation& operation : operations) fmt::print("{:>10.1f}", rates[operation.field]);
  fmt::print("\n");
}

}  // namespace

Json core_rates_report(const perfmodel::CoreRates& rates) {
  return {{"vector_bytes", perfmodel::probe_vector_bytes()},
          {"vectors", operation_rates_report(rates.vectors)},
          {"scalars", operation_rates_report(rates.scalars)},
          {"chained_additions", 1e-9 * rates.chained_additions}};
}

Json probe_report(const perfmodel::ProbeSpeed& speed) {
  const auto fault = perfmodel::fault_of_probes(speed);
  return {{"l1_gb_per_second", 1e-9 * speed.cache_bytes_per_second},
          {"memory_gb_per_second", 1e-9 * speed.memory_bytes_per_second},
          {"ratio", speed.cache_bytes_per_second / speed.memory_bytes_per_second},
          {"least_ratio", perfmodel::least_cache_to_memory(speed.vector_bytes)},
          {"fault", fault ? Json(*fault) : Json(nullptr)}};
}

Json core_bounds_report(const std::vector<perfmodel::CoreBound>& bounds) {
  Json list = Json::array();
  for (const perfmodel::CoreBound& bound : bounds)
    list.push_back({{"resource", bound.resource},
                    {"element", bound.element},
                    {"per_element", bound.per_element},
                    {"giga_per_second", 1e-9 * bound.per_second},
                    {"seconds", bound.seconds}});
  return list;
}

void print_cores(const Json& rates, const Json& probe) {
  fmt::print("\n{:<24}", "10^9 doubles/s, cores");
  for (const Operation& operation : operations) fmt::print("{:>10}", operation.title);
  fmt::print("\n");
  print_rates(fmt::format("vectors of {} bytes", rates["vector_bytes"]), rates["vectors"]);
  print_rates("one by one", rates["scalars"]);
  fmt::print("  additions that wait for the one before: {:.2f}\n", rates["chained_additions"]);
  fmt::print("  one core loads {:.1f} GB/s from L1, {:.1f} times the {:.1f} from memory\n",
             probe["l1_gb_per_second"], probe["ratio"], probe["memory_gb_per_second"]);
  if (probe["fault"].is_string()) fmt::print("  no kernel is judged: {}\n", probe["fault"]);
}

}  // namespace weft::tools
