#include "tools/system/ordered_matrix.h"

#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "perfmodel/stopwatch.h"
#include "spmv/order/reordering.h"
#include "tools/system/linear_system.h"

namespace weft::tools {
namespace {

/// Bytes that all ranks together receive for one product.
std::int64_t collective_halo_bytes(const Job& job, const spmv::DistributedMatrix& matrix) {
  return job.world().sum(std::ssize(matrix.halo_columns)) *
         static_cast<std::int64_t>(sizeof(double));
}

spmv::RowOrder collective_find_order(const Job& job, const spmv::Problem& problem,
                                     const spmv::DistributedMatrix& matrix,
                                     const spmv::OrderingChoice& choice) {
  try {
    return collective_order_rows(job.world(), matrix, choice);
  } catch (const comm_thread::InputError& error) {
    throw comm_thread::InputError(problem.name() + ": " + error.what());
  }
}

}  // namespace

OrderedMatrix collective_load_ordered_matrix(const Job& job, const spmv::Problem& problem,
                                             const SystemOptions& options) {
  auto given = collective_load_matrix(job, problem, options);
  const spmv::OrderingChoice choice{.has_cuthill_mckee = options.order == "rcm",
                                    .has_graph_partition = options.partition == "metis",
                                    .partition_by = options.parsed_partition()};
  if (!choice.has_cuthill_mckee && !choice.has_graph_partition)
    return {std::move(given), std::nullopt, nullptr};

  const perfmodel::Stopwatch watch;
  auto order = collective_find_order(job, problem, given, choice);
  auto matrix = collective_reorder(job.world(), job.team(), given, order);
  Json report{{"order", options.order},
              {"partition", options.partition},
              {"bandwidth_given", collective_bandwidth(job.world(), given)},
              {"bandwidth", collective_bandwidth(job.world(), matrix)},
              {"halo_bytes_given", collective_halo_bytes(job, given)},
              {"halo_bytes", collective_halo_bytes(job, matrix)},
              {"seconds", job.world().max(watch.seconds())}};
  return {std::move(matrix), std::move(order), std::move(report)};
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
