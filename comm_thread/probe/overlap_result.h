#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace weft::comm_thread {

/// What is communicated while the compute team computes.
enum class ProgressOperation { isend_irecv, put_flush, all_reduce, neighbour_exchange };

/// Who moves the data meanwhile.
enum class ProgressMethod {
  plain,  ///< nobody but the MPI library, as it is
  mpi_progress_thread,  ///< a progress thread of the MPI library's own
  communication_thread,  ///< weft's
};

/// "isend-irecv", "put-flush", "all-reduce", "neighbour-exchange".
std::string name(ProgressOperation operation);
/// "plain", "mpi-progress-thread", "communication-thread".
std::string name(ProgressMethod method);
std::optional<ProgressOperation> parse_progress_operation(std::string_view name);
std::optional<ProgressMethod> parse_progress_method(std::string_view name);

/// How long a communication, a computation and both at once take, in seconds.
struct OverlapTimes {
  double pure = 0;  // started and waited for
  double compute = 0;
  double overlapped = 0;  // started, computed, waited for
};

/// The share of the shorter one that was hidden behind the other: 1 all of it, 0 nothing. Noise,
/// and computation that communication slows down, take it out of this range.
/// Source: Yamazaki et al. 2019, Table 1.
double overlap(const OverlapTimes& times);

/// One line of the progress test.
struct OverlapResult {
  ProgressOperation operation = ProgressOperation::isend_irecv;
  std::size_t bytes = 0;  // that each rank sends
  ProgressMethod method = ProgressMethod::plain;
  OverlapTimes times;
};

/// "4 B", "64 kB", "1.5 MB"; 1 kB is 1000 bytes.
std::string bytes_as_text(std::size_t bytes);

}  // namespace weft::comm_thread
