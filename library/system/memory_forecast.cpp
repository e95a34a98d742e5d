#include "library/system/memory_forecast.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
#include "comm_thread/placement/node_memory.h"
#include "perfmodel/huge_page_buffer.h"
#include "spmv/files/matrix_market_header.h"
#include "spmv/formats/matrix_file.h"
#include "spmv/grid/grid_layout.h"
#include "spmv/grid/grid_partition.h"
#include "spmv/order/order_choice.h"
#include "spmv/problems/generator.h"

namespace weft::library {
namespace {

using comm_thread::bytes_in_words;
using comm_thread::Communicator;
using comm_thread::resident_bytes;
using spmv::GlobalIndex;

// Measured with 1 and 2 ranks of MPICH 4.0.2: what MPI, the OpenMP runtime and small buffers take
// between the forecast and the peak; the search for stencil patterns; text in pieces, and entries
// on their way to other ranks.
constexpr double later_bytes = 4e6;
constexpr double matrix_later_bytes = 4e6;
constexpr double most_exchange_bytes = 14e6;
constexpr double exchange_bytes_per_nonzero = 16;
constexpr double bytes_per_nonzero = 12.4;  // 12, and pages of 2 MiB
// Beside those: SELL, with padding, and 16-bit columns for about half of the windows.
constexpr double sliced_bytes_per_nonzero = 11.6;
// Beside CRS: columns of shifted rows, and of the chunks at the ends of lines of 100 points.
constexpr double shifted_bytes_per_nonzero = 0.9;
constexpr double shifted_bytes_per_row = 1.2;
constexpr double number_bytes_per_nonzero = 2;  // of values, beside CRS
constexpr double bytes_per_row = 8.5;  // row offsets and the numbers of stencil patterns
// Of all nonzeros and rows, on rank 0, while the order, of a symmetric pattern, or the partition is
// found.
constexpr double order_bytes_per_nonzero = 4;
constexpr double order_bytes_per_row = 30;
constexpr double partition_bytes_per_nonzero = 19.3;
constexpr double partition_bytes_per_row = 55;
constexpr double random_partition_bytes_per_nonzero = 62;  // whose coarser graphs are no smaller
// Columns, the sets that find them, send lists and messages; the vectors' own entries come on top.
constexpr double bytes_per_halo_entry = 80;

struct RowSample {
  double mean_nonzeros = 0;
  bool has_varying_lengths = false;  // as SlicedRows::pays has it
};

constexpr GlobalIndex windows = 37;  // no divisor of what grids are usually made of
constexpr GlobalIndex rows_of_window = 64;

/// Rows that may be coupled to one of random rows, on either side.
double neighbours_of(const spmv::Problem& problem) {
  return static_cast<double>(std::min(problem.reach(), problem.row_count() - 1));
}

/// True if a sample would take seconds: all neighbours of each window are drawn.
bool is_slow_to_sample(const spmv::Problem& problem) {
  constexpr double most_draws = 1e7;
  return problem.kind == spmv::ProblemKind::irregular &&
         windows * (rows_of_window + 2 * neighbours_of(problem)) *
                 static_cast<double>(problem.irregular.nonzeros_per_row) >
             most_draws;
}

/// What is expected of random rows: each proposes as many couplings as it is proposed, and some of
/// these are the same.
RowSample expected_rows(const spmv::Problem& problem) {
  const double neighbours = 2 * neighbours_of(problem);
  const double proposed =
      std::min(0.5 * static_cast<double>(problem.irregular.nonzeros_per_row - 1), neighbours);
  return {1 + 2 * proposed - proposed * proposed / neighbours, true};
}

/// Rows all over the matrix. Collective: a generator that reads a file may fail on one rank.
RowSample collective_sample_rows(const Communicator& ranks, const spmv::Problem& problem) {
  if (is_slow_to_sample(problem)) return expected_rows(problem);
  const GlobalIndex rows = problem.row_count();
  std::int64_t seen = 0;
  std::int64_t nonzeros = 0;
  std::int64_t changes = 0;
  std::int64_t last_length = 0;
  comm_thread::collective_attempt(ranks, [&] {
    for (GlobalIndex window = 0; window < windows; ++window) {
      const auto share = static_cast<double>(window) / static_cast<double>(windows);
      const auto begin = static_cast<GlobalIndex>(share * static_cast<double>(rows));
      spmv::visit_rows(
          problem, begin, std::min(rows, begin + rows_of_window),
          [&](GlobalIndex, std::span<const GlobalIndex> columns, std::span<const double>) {
            ++seen;
            nonzeros += std::ssize(columns);
            changes += std::ssize(columns) != std::exchange(last_length, std::ssize(columns));
          });
    }
  });
  if (seen == 0) return {};
  return {static_cast<double>(nonzeros) / static_cast<double>(seen), 4 * changes >= seen};
}

/// Ranks next to one with consecutive rows.
double sides_of(int ranks) { return std::min(ranks - 1, 2); }

/// Entries of x that a rank with consecutive rows needs from others, at most.
double halo_of(const spmv::Problem& problem, double rows_of_rank, int ranks) {
  if (ranks == 1) return 0;
  const double others = static_cast<double>(problem.row_count()) - rows_of_rank;
  return std::min(others, sides_of(ranks) * static_cast<double>(problem.reach()));
}

double rows_per_rank(const SystemSize& size) { return std::ceil(size.rows / size.rank_count); }

/// Elements of a grid's vector on a rank; of a plane without those of the two beside it.
double grid_elements(const spmv::GridBox& own) {
  const auto elements = static_cast<double>(spmv::GridLayout(own, 1).element_count());
  return own.size(2) > 1 ? elements : elements / 3;
}

double sum_of(const std::vector<MemoryForecast::Part>& parts) {
  double sum = 0;
  for (const auto& part : parts) sum += part.bytes;
  return sum;
}

SystemSize collective_size_of_file(const Communicator& communicator, const spmv::Problem& problem,
                                   const MatrixSettings& options) {
  const int ranks = communicator.size();
  SystemSize size;
  size.rank_count = ranks;
  const auto found = spmv::collective_matrix_file_size(communicator, problem.path,
                                                       spmv::parse_index_base(options.base));
  size.rows = static_cast<double>(found.row_count);
  const bool is_doubled = options.triangle == "mirrored";
  size.nonzeros = (is_doubled ? 2 : 1) * static_cast<double>(found.nonzero_count);
  size.may_be_sliced = found.has_varying_rows;
  // Lines in order are read by the ranks that need them, or others near to these.
  const bool is_dealt =
      problem.path.ends_with(".gz") || static_cast<double>(found.reach) >= size.rows;
  size.sends_text = is_dealt && spmv::is_text_file(problem.path);
  size.is_random = found.is_random;
  size.reach = static_cast<double>(found.reach);
  const double others = std::min(size.rows - rows_per_rank(size), size.nonzeros / ranks);
  // Where the order is not known: a quarter of what a random one makes, where a good one makes
  // hardly any.
  size.halo_per_rank = std::min(others * (size.is_random ? 1.0 : 0.25),
                                sides_of(ranks) * static_cast<double>(found.reach));
  size.elements_per_rank = rows_per_rank(size);
  return size;
}

/// What a rank has beside its matrix of `matrix` bytes while rows are ordered or mirrored. The
/// given rows stay until the ordered ones are complete; before that rank 0 has the graph.
double ordering_bytes(const Communicator& communicator, const SystemSize& size,
                      const MatrixSettings& options, double matrix) {
  const bool is_cut = options.partition == "metis";
  const bool may_be_ordered =
      options.order == "auto" ? size.nonzeros <= static_cast<double>(spmv::most_nonzeros_unasked) &&
                                    (size.is_random || !spmv::is_close(size.rows, size.reach))
                              : options.order != "given";
  // Half of a matrix stays until the whole one is there, too.
  if (!may_be_ordered && !is_cut) return options.triangle == "mirrored" ? matrix / 2 : 0;
  if (!communicator.is_root()) return matrix;
  if (!is_cut || communicator.size() == 1)
    return std::max(matrix,
                    order_bytes_per_nonzero * size.nonzeros + order_bytes_per_row * size.rows);
  if (size.is_random) return std::max(matrix, random_partition_bytes_per_nonzero * size.nonzeros);
  return std::max(
      matrix, partition_bytes_per_nonzero * size.nonzeros + partition_bytes_per_row * size.rows);
}

}  // namespace

double MemoryForecast::solve_bytes() const { return sum_of(parts); }

double MemoryForecast::bytes() const {
  constexpr double of_small_buffers = 0.5e6;
  return std::max({reached + of_small_buffers, sum_of(set_up), sum_of(parts)});
}

const std::vector<MemoryForecast::Part>& MemoryForecast::largest() const {
  return sum_of(set_up) > sum_of(parts) ? set_up : parts;
}

SystemSize collective_system_size(const Communicator& communicator, const spmv::Problem& problem,
                                  const MatrixSettings& options, bool is_matrix_free) {
  if (problem.is_file()) return collective_size_of_file(communicator, problem, options);
  const int ranks = communicator.size();
  SystemSize size;
  size.rank_count = ranks;
  size.rows = static_cast<double>(problem.row_count());
  const RowSample sample = collective_sample_rows(communicator, problem);
  size.nonzeros = size.rows * sample.mean_nonzeros;
  size.may_be_sliced = sample.has_varying_lengths;
  size.halo_per_rank = halo_of(problem, size.rows / ranks, ranks);
  size.is_random = problem.kind == spmv::ProblemKind::irregular;
  size.elements_per_rank = rows_per_rank(size);
  if (is_matrix_free && problem.has_grid()) {
    const spmv::GridBox own = spmv::GridPartition(problem.grid, ranks).box(communicator.rank());
    size.elements_per_rank = grid_elements(own);
    size.is_grid = true;
    size.is_plane = own.size(2) == 1;
  }
  return size;
}

MemoryForecast forecast_operator(const Communicator& communicator, const SystemSize& size,
                                 const MatrixSettings& options, bool is_matrix_free) {
  MemoryForecast forecast;
  forecast.reached = comm_thread::peak_resident_bytes();
  forecast.parts.push_back({"started", resident_bytes() + later_bytes});
  if (is_matrix_free) return forecast;
  const int ranks = communicator.size();
  const double stored =
      bytes_per_nonzero * size.nonzeros / ranks + bytes_per_row * rows_per_rank(size);
  const double matrix = stored + std::min(stored, matrix_later_bytes);
  forecast.parts.push_back({"matrix", matrix});
  forecast.set_up = forecast.parts;
  const double reading =
      size.sends_text && ranks > 1
          ? std::min(exchange_bytes_per_nonzero * size.nonzeros / ranks, most_exchange_bytes)
          : 0;
  const double ordering = ordering_bytes(communicator, size, options, matrix);
  const bool is_sliced = options.format == "sell" ||
                         (options.format == "auto" && size.may_be_sliced && size.has_many_products);
  const double sliced = is_sliced ? sliced_bytes_per_nonzero * size.nonzeros / ranks : 0;
  if (sliced > 0) forecast.parts.push_back({"SELL", sliced});
  if (options.format == "auto" && !size.may_be_sliced && size.may_be_shifted)
    forecast.parts.push_back(
        {"columns of shifted rows", shifted_bytes_per_nonzero * size.nonzeros / ranks +
                                        shifted_bytes_per_row * rows_per_rank(size)});
  else if (options.format == "auto" && size.may_be_numbered)
    forecast.parts.push_back(
        {"numbers of values", number_bytes_per_nonzero * size.nonzeros / ranks});
  if (reading > 0 || ordering > 0)
    forecast.set_up.push_back(
        {reading > ordering ? "reading" : "ordering", std::max(reading, ordering)});
  forecast.parts.push_back({"halo", bytes_per_halo_entry * size.halo_per_rank});
  return forecast;
}

MemoryForecast collective_forecast_system(const Communicator& communicator,
                                          const spmv::Problem& problem,
                                          const MatrixSettings& settings, bool is_matrix_free) {
  const SystemSize size = collective_system_size(communicator, problem, settings, is_matrix_free);
  MemoryForecast forecast = forecast_operator(communicator, size, settings, is_matrix_free);
  add_vectors(size, 2, is_matrix_free ? 0 : 1, 0, forecast);
  return forecast;
}

void add_vectors(const SystemSize& size, double arrays, double with_halo, double plain_arrays,
                 MemoryForecast& forecast) {
  const auto in_memory = [&](double elements) {
    const double bytes = 8 * elements;
    return size.is_plane ? perfmodel::bytes_of_pages(bytes, 2 * bytes, 3 * bytes)
                         : perfmodel::bytes_of_pages(0, bytes, bytes);
  };
  const double elements = size.elements_per_rank;
  const double plain = size.is_grid ? in_memory(elements) : 8 * rows_per_rank(size);
  forecast.parts.push_back({"vectors", (arrays - with_halo) * in_memory(elements) +
                                           with_halo * in_memory(elements + size.halo_per_rank) +
                                           plain_arrays * plain});
}

void note_factors(double bytes, MemoryForecast& forecast) {
  forecast.parts.push_back(
      {"subdomains", std::max(0.0, resident_bytes() - forecast.solve_bytes())});
  forecast.parts.push_back({"factors", bytes});
}

void collective_check_memory(const comm_thread::Job& job, const std::string& name,
                             const MemoryForecast& forecast) {
  const double wanted = job.node().sum(forecast.bytes() - resident_bytes());
  const comm_thread::NodeMemory memory = job.node_memory();
  comm_thread::collective_attempt(job.world(), [&] {
    if (wanted <= memory.available_bytes) return;
    double largest = 0;
    std::string most;
    for (const auto& part : forecast.largest())
      if (part.bytes > largest) {
        largest = part.bytes;
        most = part.name;
      }
    throw comm_thread::InputError(fmt::format(
        "{}: needs {} more on a node, {} for rank {} ({}: {}), where {} {}; expected less: more "
        "nodes, a smaller problem, or on a grid {}",
        name, bytes_in_words(wanted), bytes_in_words(forecast.bytes()), job.world().rank(), most,
        bytes_in_words(largest), memory.limited_by, bytes_in_words(memory.available_bytes),
        comm_thread::option_name("operator", "stencil")));
  });
}

}  // namespace weft::library
