// sweep_speed [N [SWEEPS]]: how fast Jacobi sweeps over an N x N x N grid are, beside the bandwidth
// of the same run: the compiler's own loop, single sweeps, and sweeps blocked in time. On as many
// threads as OMP_NUM_THREADS says.
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/placement/compute_team.h"
#include "perfmodel/bandwidth_kernels.h"
#include "perfmodel/huge_page_buffer.h"
#include "perfmodel/statistics.h"
#include "perfmodel/stopwatch.h"
#include "spmv/grid/average_sweep.h"
#include "spmv/grid/grid_layout.h"
#include "spmv/grid/time_blocking.h"

namespace {

using weft::comm_thread::ComputeTeam;
using weft::comm_thread::share_of;
using weft::comm_thread::TeamThread;
using weft::spmv::GridBox;
using weft::spmv::GridLayout;
using weft::spmv::TimeBlocking;

constexpr int sample_count = 7;

/// The plain loop, left to the compiler: one row after the other.
void sweep_plainly(const GridLayout& layout, const double* from, double* to, const GridBox& box) {
  const std::ptrdiff_t row = layout.row_stride();
  const std::ptrdiff_t plane = layout.plane_stride();
  for (auto z = box.begin[2]; z < box.end[2]; ++z)
    for (auto y = box.begin[1]; y < box.end[1]; ++y) {
      const double* const u = from + layout.index(0, y, z);
      double* const result = to + layout.index(0, y, z);
      for (std::ptrdiff_t x = 0; x < box.size(0); ++x)
        result[x] =
            (((u[x - 1] + u[x + 1]) + (u[x - row] + u[x + row])) + (u[x - plane] + u[x + plane])) *
            (1.0 / 6.0);
    }
}

struct Bench {
  Bench(std::int64_t n, int threads)
      : layout({{0, 0, 0}, {n, n, n}}, 1), team(threads, weft::comm_thread::WaitPolicy::spin) {
    for (auto& array : arrays) {
      array = weft::perfmodel::HugePageBuffer<double>(layout.element_count());
      team.run([&](const TeamThread& thread) {
        const auto mine =
            share_of(static_cast<std::int64_t>(array.size()), thread.index, thread.count);
        std::fill(array.data() + mine.begin, array.data() + mine.end, 1.0);
      });
    }
  }

  GridBox planes_of(const TeamThread& thread) const {
    GridBox box = layout.own();
    const auto mine = share_of(box.size(2), thread.index, thread.count);
    box.begin[2] = mine.begin;
    box.end[2] = mine.end;
    return box;
  }

  template <class Sweep>
  void single_sweeps(int count, const Sweep& sweep) {
    team.run([&](const TeamThread& thread) {
      for (int i = 0; i < count; ++i) {
        sweep(arrays[static_cast<std::size_t>(i % 2)].data(),
              arrays[static_cast<std::size_t>((i + 1) % 2)].data(), planes_of(thread));
        thread.barrier();
      }
    });
  }

  void blocked_sweeps(int count, int height) {
    const TimeBlocking blocking(layout, height);
    const std::vector<GridBox> boxes(static_cast<std::size_t>(count), layout.own());
    const std::array<double*, 2> pointers{arrays[0].data(), arrays[1].data()};
    team.run([&](const TeamThread& thread) { blocking.sweep(thread, pointers, boxes); });
  }

  /// Bytes per second of loads.
  double load_bandwidth() {
    const weft::perfmodel::Stopwatch watch;
    team.run([&](const TeamThread& thread) {
      const auto mine =
          share_of(static_cast<std::int64_t>(arrays[0].size()), thread.index, thread.count);
      [[maybe_unused]] volatile const double sum =
          weft::perfmodel::load_probe(arrays[0].data() + mine.begin, mine.end - mine.begin);
    });
    return static_cast<double>(arrays[0].size() * sizeof(double)) / watch.seconds();
  }

  GridLayout layout;
  ComputeTeam team;
  std::array<weft::perfmodel::HugePageBuffer<double>, 2> arrays;
};

/// `rates`: samples of points a second.
void print_rates(const std::vector<std::pair<std::string, std::function<void()>>>& ways,
                 const std::vector<std::vector<double>>& rates, double load) {
  const double plain = weft::perfmodel::median(rates[0]);
  fmt::print("{:<20}{:>10}{:>16}{:>24}\n", "", "GLUP/s", "of the first", "x 24 bytes / loads");
  for (std::size_t way = 0; way < ways.size(); ++way) {
    const double rate = weft::perfmodel::median(rates[way]);
    fmt::print("{:<20}{:>10.2f}{:>16.2f}{:>24.2f}\n", ways[way].first, rate * 1e-9, rate / plain,
               rate * 24 / load);
  }
}

}  // namespace

int main(int count, char** arguments) {
  const std::int64_t n = count > 1 ? std::atoll(arguments[1]) : 400;
  const int sweeps = count > 2 ? std::atoi(arguments[2]) : 16;
  if (n < 8 || sweeps < 1) {
    fmt::print(stderr, "sweep_speed: expected: sweep_speed [N >= 8 [SWEEPS >= 1]]\n");
    return 2;
  }
  Bench bench(n, omp_get_max_threads());
  std::vector<std::pair<std::string, std::function<void()>>> ways{
      {"compiler's loop",
       [&] {
         bench.single_sweeps(sweeps, [&](const double* from, double* to, const GridBox& box) {
           sweep_plainly(bench.layout, from, to, box);
         });
       }},
      {"single sweeps", [&] {
         bench.single_sweeps(sweeps, [&](const double* from, double* to, const GridBox& box) {
           sweep_average(bench.layout, from, to, box);
         });
       }}};
  for (const int height : {2, 4, 6, 8, 12, 16})
    ways.emplace_back(fmt::format("time blocks of {}", height),
                      [&bench, sweeps, height] { bench.blocked_sweeps(sweeps, height); });

  std::vector<std::vector<double>> rates(ways.size());
  std::vector<double> loads;
  for (int sample = 0; sample < sample_count; ++sample)
    for (std::size_t way = 0; way < ways.size(); ++way) {
      loads.push_back(bench.load_bandwidth());
      const weft::perfmodel::Stopwatch watch;
      ways[way].second();
      rates[way].push_back(static_cast<double>(n * n * n) * sweeps / watch.seconds());
    }
  const double load = weft::perfmodel::median(loads);
  fmt::print("{}^3 points, {} threads, {} sweeps a sample; loads {:.1f} GB/s\n\n", n,
             bench.team.thread_count(), sweeps, load * 1e-9);
  print_rates(ways, rates, load);
}
