#include "library/roofline/likwid_bench.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "perfmodel/core_probes.h"

namespace weft::library {
namespace {

using perfmodel::Stream;

/// Standard output of `command`.
std::string output_of(const std::string& command) {
  const auto close = [](FILE* pipe) { pclose(pipe); };
  const std::unique_ptr<FILE, decltype(close)> pipe(popen(command.c_str(), "r"), close);
  std::string output;
  char piece[4096];
  while (pipe && std::fgets(piece, sizeof(piece), pipe.get())) output += piece;
  return output;
}

}  // namespace

LikwidBench::LikwidBench(std::map<unsigned, int> threads_of_domain, std::span<const unsigned> pus)
    : threads_of_domain_(std::move(threads_of_domain)),
      pus_(fmt::format("{}", fmt::join(pus, ","))),
      is_installed_(!output_of("command -v likwid-bench").empty()) {}

std::string LikwidBench::kernel_name(Stream stream, Place place) {
  constexpr std::array names{"load", "store",    "store_mem", "update",
                             "copy", "copy_mem", "stream",    "stream_mem"};
  const std::string loop = names[static_cast<std::size_t>(stream)];
  const std::size_t vector_bytes = place == Place::cache ? perfmodel::probe_vector_bytes() : 16;
  return loop + (vector_bytes == 64 ? "_avx512" : vector_bytes == 32 ? "_avx" : "_sse");
}

std::optional<double> LikwidBench::bytes_per_second(Stream stream, Place place,
                                                    std::size_t array_bytes,
                                                    std::int64_t passes) const {
  if (!is_installed()) return std::nullopt;
  const std::string kernel = kernel_name(stream, place);
  const int arrays = kernel.starts_with("stream") ? 3 : kernel.starts_with("copy") ? 2 : 1;
  const std::size_t domain_count = threads_of_domain_.size();
  // The calling thread is pinned to one of its threads' PUs, where all threads of the child would
  // crowd. Large pages, as for the arrays here: 3 % more.
  std::string command =
      fmt::format("GLIBC_TUNABLES=glibc.malloc.hugetlb=1 taskset -c {} likwid-bench -t {} -i {}",
                  pus_, kernel, passes);
  for (const auto& [domain, threads] : threads_of_domain_)
    command +=
        fmt::format(" -w M{}:{}kB:{}", domain,
                    array_bytes * static_cast<std::size_t>(arrays) / 1000 / domain_count, threads);
  const std::string output = output_of(command + " 2>/dev/null");
  const std::string label = "MByte/s:";
  const auto found = output.find(label);
  if (found == std::string::npos) return std::nullopt;
  const double megabytes = std::strtod(output.c_str() + found + label.size(), nullptr);
  return megabytes > 0 ? std::optional(megabytes * 1e6) : std::nullopt;
}

}  // namespace weft::library
