#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace weft::comm_thread {

/// Communication that runs beside the computation.
enum class ProgressOperation { isend_irecv, put_flush, all_reduce, neighbour_exchange };

/// Agent that progresses the communication.
enum class ProgressMethod {
  plain,  ///< the MPI library as it is
  mpi_progress_thread,  ///< the MPI library's own progress thread
  communication_thread,  ///< weft's communication thread
};

/// "isend-irecv", "put-flush", "all-reduce", "neighbour-exchange".
std::string name(ProgressOperation operation);
/// "plain", "mpi-progress-thread", "communication-thread".
std::string name(ProgressMethod method);
std::optional<ProgressOperation> parse_progress_operation(std::string_view name);
std::optional<ProgressMethod> parse_progress_method(std::string_view name);

/// Times of a communication, a computation and both at once, in seconds.
struct OverlapTimes {
  double pure = 0;  // started and waited for
  double compute = 0;
  double overlapped = 0;  // started, computed, waited for
};

/// Share of the shorter one that was hidden behind the other: 1 all of it, 0 nothing. Noise, and
/// computation slowed down by communication, can take it out of this range.
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
