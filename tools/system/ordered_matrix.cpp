#include "tools/system/ordered_matrix.h"

#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"

namespace weft::tools {

library::OrderedMatrix collective_load_ordered_matrix(const Job& job, const spmv::Problem& problem,
                                                      const library::MatrixSettings& options,
                                                      MatrixUse use) {
  auto given = collective_load_matrix(job, problem, options, use);
  try {
    return library::collective_order_matrix(job.world(), job.team(), std::move(given),
                                            options.order, options.partition);
  } catch (const comm_thread::InputError& error) {
    throw comm_thread::InputError(problem.name() + ": " + error.what());
  }
}

Json ordering_report(const library::OrderedMatrix& ordered,
                     const library::MatrixSettings& options) {
  if (!ordered.order) return nullptr;
  const library::OrderingGains& gains = ordered.gains;
  return {{"order", ordered.has_cuthill_mckee ? "rcm" : "given"},
          {"partition", options.partition},
          {"bandwidth_given", gains.bandwidth_given},
          {"bandwidth", gains.bandwidth},
          {"halo_bytes_given", gains.halo_bytes_given},
          {"halo_bytes", gains.halo_bytes},
          {"seconds", gains.seconds}};
}

void print_ordering(const Json& report) {
  if (report.is_null()) return;
  const auto count = [&](const char* field) { return report[field].get<std::int64_t>(); };
  const auto kilobytes = [&](const char* field) {
    return 1e-3 * static_cast<double>(count(field));
  };
  fmt::print(
      "order        {}, partition {}: bandwidth {} -> {}, halo {:.1f} -> {:.1f} kB a product, "
      "in {:.3f} s\n",
      report["order"].get<std::string>(), report["partition"].get<std::string>(),
      count("bandwidth_given"), count("bandwidth"), kilobytes("halo_bytes_given"),
      kilobytes("halo_bytes"), report["seconds"].get<double>());
}

}  // namespace weft::tools
