#include "tools/system/program_system.h"

#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "library/system/memory_forecast.h"
#include "spmv/files/remarks.h"
#include "tools/job/printed_remarks.h"

namespace weft::tools {

namespace {

void collective_check(const Job& job, const spmv::Problem& problem,
                      const library::MatrixSettings& options, bool is_matrix_free) {
  library::collective_check_memory(
      job, problem.name(),
      library::collective_forecast_system(job.world(), problem, options, is_matrix_free));
}

}  // namespace

std::unique_ptr<library::LinearSystem> collective_make_system(Job& job,
                                                              const spmv::Problem& problem,
                                                              const library::MatrixSettings& given,
                                                              bool is_matrix_free, bool is_solved) {
  library::MatrixSettings options = given;
  options.order = options.order_of(problem);
  collective_check(job, problem, options, is_matrix_free);
  const auto print = printing_remarks(job);
  auto system =
      std::make_unique<library::LinearSystem>(job.crew(), problem, options, is_matrix_free);
  if (is_solved && !system->half().empty()) throw comm_thread::InputError(system->half());
  system->tell_remarks(print);
  if (!system->half().empty()) print(system->half());
  return system;
}

library::LinearSystem::OnRemark printing_remarks(const Job& job) {
  return [&job](const std::string& remark) { print_remarks(job, {remark}); };
}

spmv::DistributedMatrix collective_load_for_file(const Job& job, const spmv::Problem& problem,
                                                 const library::MatrixSettings& options) {
  collective_check(job, problem, options, false);
  spmv::Remarks remarks;
  auto loaded =
      library::collective_load_matrix(job.world(), job.team(), problem, options, true, remarks);
  if (!loaded.half.empty()) remarks.push_back(loaded.half);
  print_remarks(job, remarks);
  return std::move(loaded.matrix);
}

void report_matrix(const library::LinearSystem& system, Json& report) {
  report["problem"] = {{"name", system.name()},
                       {"rows", system.op().global_row_count()},
                       {"nonzeros", system.nonzero_count()}};
}

void print_matrix(const Json& report) {
  const Json& problem = report["problem"];
  fmt::print("problem      {}: {} rows, {} nonzeros\n", problem["name"], problem["rows"],
             problem["nonzeros"]);
  if (report.contains("ordering")) print_ordering(report["ordering"]);
}

Json ordering_report(const library::RowOrdering& ordering) {
  if (!ordering.order) return nullptr;
  const library::OrderingGains& gains = ordering.gains;
  return {{"order", ordering.word()},
          {"partition", ordering.partition},
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
      report["order"], report["partition"], count("bandwidth_given"), count("bandwidth"),
      kilobytes("halo_bytes_given"), kilobytes("halo_bytes"), report["seconds"]);
}

}  // namespace weft::tools
