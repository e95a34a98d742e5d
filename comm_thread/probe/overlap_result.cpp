#include "comm_thread/probe/overlap_result.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace weft::comm_thread {
namespace {

constexpr std::array operations{ProgressOperation::isend_irecv, ProgressOperation::put_flush,
                                ProgressOperation::all_reduce,
                                ProgressOperation::neighbour_exchange};
constexpr std::array methods{ProgressMethod::plain, ProgressMethod::mpi_progress_thread,
                             ProgressMethod::communication_thread};

template <class Value, std::size_t count>
std::optional<Value> find_by_name(const std::array<Value, count>& values, std::string_view wanted) {
  for (const Value value : values)
    if (name(value) == wanted) return value;
  return std::nullopt;
}

}  // namespace

std::string name(ProgressOperation operation) {
  constexpr std::array names{"isend-irecv", "put-flush", "all-reduce", "neighbour-exchange"};
  return names[static_cast<std::size_t>(operation)];
}

std::string name(ProgressMethod method) {
  constexpr std::array names{"plain", "mpi-progress-thread", "communication-thread"};
  return names[static_cast<std::size_t>(method)];
}

std::optional<ProgressOperation> parse_progress_operation(std::string_view name) {
  return find_by_name(operations, name);
}

std::optional<ProgressMethod> parse_progress_method(std::string_view name) {
  return find_by_name(methods, name);
}

double overlap(const OverlapTimes& times) {
  const double shorter = std::min(times.pure, times.compute);
  return shorter > 0 ? (times.pure + times.compute - times.overlapped) / shorter : 0;
}

std::string bytes_as_text(std::size_t bytes) {
  constexpr std::array units{"B", "kB", "MB", "GB"};
  auto number = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; number >= 1000 && unit + 1 < units.size(); ++unit) number /= 1000;
  return fmt::format("{:.3g} {}", number, units[unit]);
}

}  // namespace weft::comm_thread
