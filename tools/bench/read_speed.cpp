// read_speed FILE...: how fast all ranks read a matrix or a vector, beside what is the most: each
// rank reads its share of the bytes with a buffer of 1 MiB that it uses again (dd bs=1M); into
// pages that are new, as anything that keeps the numbers has to; and into new pages that it touches
// once more while they are in a cache, in pieces of 256 KiB, to turn the bytes of each number
// round. There are as many of these pages as weft keeps: offsets of rows have 64 bits in memory.
// Alternating, from the page cache.
#include <fcntl.h>
#include <omp.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/mpi_session.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/huge_page_buffer.h"
#include "perfmodel/simd.h"
#include "perfmodel/statistics.h"
#include "perfmodel/stopwatch.h"
#include "spmv/formats/matrix_file.h"
#include "spmv/rows/partition.h"

namespace {

using weft::comm_thread::Communicator;
using weft::comm_thread::ComputeTeam;
using weft::perfmodel::HugePageBuffer;

constexpr int sample_count = 7;
constexpr std::int64_t buffer_bytes = 1 << 20;
constexpr std::int64_t cached_bytes = 256 << 10;  // a piece that is still in a cache when touched

/// Reads this rank's share of a file by pieces into to(place in the share), and calls
/// touch(piece).
template <class To, class Touch>
void read_share(const Communicator& world, const std::string& path, std::int64_t piece_bytes,
                const To& to, const Touch& touch) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(path));
  const auto [begin, end] = weft::comm_thread::share_of(size, world.rank(), world.size());
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t wanted = std::min(piece_bytes, end - at);
    std::byte* const piece = to(at - begin);
    const ssize_t got = pread(file, piece, static_cast<std::size_t>(wanted), at);
    if (got <= 0) break;
    touch(std::span(piece, static_cast<std::size_t>(got)));
    at += got;
  }
  close(file);
}

constexpr auto nothing = [](std::span<std::byte>) {};

void read_like_dd(const Communicator& world, const std::string& path) {
  static HugePageBuffer<std::byte> buffer(buffer_bytes);
  read_share(world, path, buffer_bytes, [&](std::int64_t) { return buffer.data(); }, nothing);
}

void read_to_new_pages(const Communicator& world, const std::string& path) {
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(path));
  HugePageBuffer<std::byte> pages(static_cast<std::size_t>(size / world.size() + 1));
  read_share(
      world, path, buffer_bytes, [&](std::int64_t place) { return pages.data() + place; }, nothing);
}

/// As big-endian doubles need it.
void turn_bytes(std::span<std::byte> piece) {
  const std::span words(reinterpret_cast<std::uint64_t*>(piece.data()), piece.size() / 8);
  weft::perfmodel::on_widest_simd([=]() __attribute__((always_inline)) {
    for (std::uint64_t& word : words) word = __builtin_bswap64(word);
  });
}

/// `kept_bytes`: as many pages as that, where the share has fewer.
void read_and_turn(const Communicator& world, const std::string& path, std::int64_t kept_bytes) {
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(path));
  const std::int64_t share = size / world.size() + 1;
  HugePageBuffer<std::byte> pages(static_cast<std::size_t>(std::max(share, kept_bytes)));
  read_share(
      world, path, cached_bytes, [&](std::int64_t place) { return pages.data() + place; },
      turn_bytes);
  std::ranges::fill(pages.span().subspan(static_cast<std::size_t>(share)), std::byte{});
}

/// Returns how many bytes this rank keeps.
std::int64_t read_numbers(const Communicator& world, const ComputeTeam& team,
                          const std::string& path) {
  const weft::spmv::FileContents contents = weft::spmv::collective_look_into(world, path);
  if (contents.is_matrix) {
    const auto matrix =
        weft::spmv::collective_read_matrix_file(world, team, path, weft::spmv::PartitionBy::rows);
    return std::int64_t{8} * (matrix.rows.row_count + 1) + 12 * matrix.rows.nonzero_count();
  }
  const auto partition = weft::spmv::RowPartition::by_rows(contents.row_count, world.size());
  weft::spmv::Remarks unread;
  return 8 * std::ssize(weft::spmv::collective_read_vector_file(world, partition, path, unread));
}

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct Seconds {
  std::vector<double> passed;  // on the slowest rank
  std::vector<double> processor;  // a rank, on average

  void add(const Communicator& world, const std::function<void()>& work) {
    world.sum(0.0);
    const double before = processor_seconds();
    const weft::perfmodel::Stopwatch watch;
    work();
    const double passed_here = watch.seconds();
    processor.push_back(world.sum(processor_seconds() - before) / world.size());
    passed.push_back(world.max(passed_here));
  }
};

}  // namespace

int main(int count, char** arguments) {
  const weft::comm_thread::MpiSession session;
  const Communicator world = Communicator::collective_world();
  const ComputeTeam team(omp_get_max_threads(), weft::comm_thread::WaitPolicy::yield);
  constexpr std::size_t way_count = 4;
  if (world.is_root())
    fmt::print(
        "{} ranks x {} threads; GB/s of the file, medians of {}; below: by processor time of a "
        "rank\n"
        "\n{:<16}{:>9}{:>9}{:>12}{:>12}{:>9}{:>12}{:>14}{:>12}\n",
        world.size(), team.thread_count(), sample_count, "", "MB", "dd", "new pages", "kept",
        "weft", "weft / dd", "/ new pages", "/ kept");
  for (const std::string path : std::span(arguments + 1, static_cast<std::size_t>(count - 1))) {
    const std::string file = weft::spmv::file_of(path);
    const std::int64_t kept_bytes = read_numbers(world, team, path);
    const std::array<std::function<void()>, way_count> ways{
        [&] { read_like_dd(world, file); },
        [&] { read_to_new_pages(world, file); },
        [&] { read_and_turn(world, file, kept_bytes); },
        [&] { read_numbers(world, team, path); },
    };
    std::array<Seconds, way_count> seconds;
    for (int sample = 0; sample < sample_count; ++sample)
      for (std::size_t way = 0; way < ways.size(); ++way) seconds[way].add(world, ways[way]);
    const auto bytes = static_cast<double>(std::filesystem::file_size(file));
    const auto print = [&](const std::string& name, std::vector<double> Seconds::* which) {
      std::array<double, way_count> rates{};
      for (std::size_t way = 0; way < ways.size(); ++way)
        rates[way] = 1e-9 * bytes / weft::perfmodel::median(seconds[way].*which);
      if (world.is_root())
        fmt::print("{:<16}{:>9.1f}{:>9.2f}{:>12.2f}{:>12.2f}{:>9.2f}{:>12.2f}{:>14.2f}{:>12.2f}\n",
                   name, bytes * 1e-6, rates[0], rates[1], rates[2], rates[3], rates[3] / rates[0],
                   rates[3] / rates[1], rates[3] / rates[2]);
    };
    print(std::filesystem::path(path).filename().string(), &Seconds::passed);
    print("", &Seconds::processor);
  }
}
