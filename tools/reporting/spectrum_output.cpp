#include "tools/reporting/spectrum_output.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "spmv/files/matrix_market_output.h"
#include "spmv/formats/matrix_file.h"
#include "spmv/rows/partition.h"

namespace weft::tools {
namespace {

constexpr int most_rows = 16;
constexpr int bar_size = 32;

Json density_report(const solver::SpectrumReport& found) {
  Json report{{"energy", found.energies}, {"density", found.density}};
  report["error"] = found.error.empty() ? Json(nullptr) : Json(found.error);
  return report;
}

Json count_report(const solver::EigenvalueCount& count) {
  return {{"from", count.begin},
          {"to", count.end},
          {"value", count.value},
          {"uncertainty", count.uncertainty()},
          {"random_error", count.random_error},
          {"blur", count.blur}};
}

}  // namespace

Json spectrum_report(const library::SpectrumSettings& settings, const solver::SpectrumReport& found,
                     const std::string& unit, int vectors) {
  Json report{{"kernel", settings.kernel},
              {"unit", unit},
              {"vectors", vectors},
              {"width", found.width},
              {"interval", {found.interval.least, found.interval.greatest}},
              {"is_widest", found.is_widest},
              {"resolution", found.resolution},
              {"products", found.products}};
  report["count"] = found.count ? count_report(*found.count) : Json(nullptr);
  report["moments"] = found.moments;
  report["density"] = density_report(found);
  return report;
}

void print_spectrum(const solver::SpectrumReport& found, const std::string& unit) {
  const std::size_t rows = std::min<std::size_t>(most_rows, found.energies.size());
  const std::vector<solver::SpectrumPiece> parts = solver::pieces_of(found, rows);
  double most = 0;
  for (const solver::SpectrumPiece& part : parts) most = std::max(most, part.content);
  const int digits = solver::digits_to_tell(parts);
  const int width = digits + 8;  // of a column of ends
  fmt::print("{:>{}}{:>{}}{:>16}{:>12}\n", "from", width, "to", width, unit,
             found.error.empty() ? "" : "+-");
  for (const solver::SpectrumPiece& part : parts) {
    const double share = most > 0 ? std::clamp(part.content / most, 0.0, 1.0) : 0.0;
    const std::string error = found.error.empty() ? "" : fmt::format("{:.2g}", part.error);
    fmt::print("{:>{}.{}g}{:>{}.{}g}{:>16.6g}{:>12}  {}\n", part.begin, width, digits, part.end,
               width, digits, part.content, error,
               std::string(static_cast<std::size_t>(share * bar_size + 0.5), '#'));
  }
}

void collective_check_spectrum_file(const comm_thread::Communicator& world,
                                    const std::string& path) {
  if (!path.ends_with(".npy") && !path.ends_with(".csv") && !path.ends_with(".json"))
    throw comm_thread::InputError("--output: found " + path +
                                  "; expected a name that ends in .npy, .csv or .json");
  spmv::collective_check_writable(world, path);
}

void collective_write_spectrum(const Job& job, const solver::SpectrumReport& found,
                               const std::string& path) {
  if (path.ends_with(".json")) {
    ReportFile(job, path).collective_write(density_report(found));
    return;
  }
  const auto partition = spmv::RowPartition::by_rows(
      static_cast<spmv::GlobalIndex>(found.energies.size()), job.world().size());
  const int rank = job.world().rank();
  const auto first = static_cast<std::size_t>(partition.begin(rank));
  const bool has_error = !found.error.empty();
  if (path.ends_with(".csv"))
    return spmv::collective_write_text(
        job.world(), path,
        {.header = has_error ? "energy,density,error\n" : "energy,density\n",
         .count = partition.size(rank),
         .append = [&](std::int64_t item, std::string& text) {
           const std::size_t i = first + static_cast<std::size_t>(item);
           text += fmt::format("{},{}", found.energies[i], found.density[i]);
           text += has_error ? fmt::format(",{}\n", found.error[i]) : "\n";
         }});
  std::vector<double> own;
  for (std::size_t i = first; i < static_cast<std::size_t>(partition.end(rank)); ++i) {
    own.push_back(found.energies[i]);
    own.push_back(found.density[i]);
    if (has_error) own.push_back(found.error[i]);
  }
  spmv::collective_write_columns_file(job.world(), partition, own, has_error ? 3 : 2, path);
}

}  // namespace weft::tools
