#include "comm_thread/probe/progress_verdict.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace weft::comm_thread {
namespace {

/// Smaller messages are sent completely at their start, whoever progresses.
constexpr std::size_t large_bytes = 1'000'000;
/// Overlap from which on a message counts as hidden, and up to which as not hidden.
constexpr double hidden = 0.8;
constexpr double not_hidden = 0.2;
/// Slowdown of the computation by MPI's progress thread from which on it is reported.
constexpr double slowed = 1.2;
/// Gain of the communication thread that justifies another mode.
constexpr double worthwhile = 0.1;

bool is_evidence(const OverlapResult& result, std::size_t bytes) {
  return result.bytes == bytes && (result.operation == ProgressOperation::isend_irecv ||
                                   result.operation == ProgressOperation::neighbour_exchange);
}

/// Mean of `value` over the evidence of one method; empty if there is none.
template <class Value>
std::optional<double> mean(std::span<const OverlapResult> results, std::size_t bytes,
                           ProgressMethod method, const Value& value) {
  double sum = 0;
  int count = 0;
  for (const OverlapResult& result : results) {
    if (result.method != method || !is_evidence(result, bytes)) continue;
    sum += value(result.times);
    ++count;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

/// Duration of the computation relative to the communication; the same for all methods unless one
/// slows it down.
double relative_computation(const OverlapTimes& times) { return times.compute / times.pure; }

std::string conclusion(double plain, std::optional<double> thread) {
  if (plain >= hidden)
    return "this MPI progresses large messages on its own; overlap mode suffices";
  const std::string finding = plain < not_hidden
                                  ? "this MPI does not progress large messages on its own"
                                  : "this MPI progresses large messages only in part";
  if (!thread) return finding + "; no communication thread was there to do better";
  if (*thread >= plain + worthwhile) return finding + "; use task mode";
  return finding +
         ", nor does the communication thread hide them here; give it a core of its own or use "
         "vector mode";
}

}  // namespace

std::string progress_verdict(std::span<const OverlapResult> results) {
  std::size_t largest = 0;
  for (const OverlapResult& result : results) largest = std::max(largest, result.bytes);
  if (largest < large_bytes)
    return fmt::format("no verdict on large messages: the largest one was {}, it takes {}",
                       bytes_as_text(largest), bytes_as_text(large_bytes));
  const auto mean_of = [&](ProgressMethod method, const auto& value) {
    return mean(results, largest, method, value);
  };
  const auto plain = mean_of(ProgressMethod::plain, overlap);
  const auto library = mean_of(ProgressMethod::mpi_progress_thread, overlap);
  const auto thread = mean_of(ProgressMethod::communication_thread, overlap);
  if (!plain)
    return "no verdict: MPI was not measured without its progress thread; merge this report into "
           "that of such a run";
  std::string evidence = fmt::format("{}: overlap {:.2f} plain", bytes_as_text(largest), *plain);
  if (library) {
    evidence += fmt::format(", {:.2f} with MPI's progress thread", *library);
    const double slowdown = *mean_of(ProgressMethod::mpi_progress_thread, relative_computation) /
                            *mean_of(ProgressMethod::plain, relative_computation);
    if (slowdown >= slowed)
      evidence += fmt::format(", which slows the computation by a factor of {:.1f}", slowdown);
  }
  if (thread) evidence += fmt::format(", {:.2f} with the communication thread", *thread);
  return conclusion(*plain, thread) + " (" + evidence + ")";
}

}  // namespace weft::comm_thread
