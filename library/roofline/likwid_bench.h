#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "perfmodel/stream_kernels.h"

namespace weft::library {

/// LIKWID's own bandwidth benchmark, as a program beside this one.
class LikwidBench {
 public:
  /// `threads_of_domain`: compute threads in every NUMA domain of this node. `pus`: where they are.
  LikwidBench(std::map<unsigned, int> threads_of_domain, std::span<const unsigned> pus);

  /// True if the program exists in a folder of PATH.
  bool is_installed() const { return is_installed_; }

  enum class Place { memory, cache };

  /// "copy_mem_sse": its name of the loop. In caches it is that of the vectors that the loops here
  /// have. In memory wider instructions read several lines before they write as many: on two cores
  /// of an EPYC copy_avx512 moves 0.76 times and stream_avx512 0.79 times as much as copy_sse and
  /// stream_sse, which go line by line, as the loops here do.
  static std::string kernel_name(perfmodel::Stream stream, Place place);

  /// Runs it `passes` times on arrays of `array_bytes`, all threads together; bytes per second as
  /// it counts them (without write-allocate). Nothing where it cannot be run. Takes about a second.
  std::optional<double> bytes_per_second(perfmodel::Stream stream, Place place,
                                         std::size_t array_bytes, std::int64_t passes) const;

 private:
  std::map<unsigned, int> threads_of_domain_;
  std::string pus_;
  bool is_installed_;
};

}  // namespace weft::library
