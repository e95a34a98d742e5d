#include "spmv/rows/halo_block.h"

#include <algorithm>
#include <cstdint>

namespace weft::spmv {
namespace {

std::vector<comm_thread::HaloNeighbour> widened(std::vector<comm_thread::HaloNeighbour> neighbours,
                                                std::int64_t width) {
  for (comm_thread::HaloNeighbour& neighbour : neighbours) {
    neighbour.send_begin *= width;
    neighbour.send_count *= width;
    neighbour.receive_begin *= width;
    neighbour.receive_count *= width;
  }
  return neighbours;
}

}  // namespace

HaloBlock::HaloBlock(const comm_thread::Communicator& communicator, const HaloPlan& plan,
                     std::span<const LocalIndex> thread_rows, const comm_thread::ComputeTeam& team,
                     int width, int tag)
    : width_(width),
      entries_((static_cast<std::size_t>(thread_rows.back()) +
                static_cast<std::size_t>(plan.halo_count)) *
               static_cast<std::size_t>(width)),
      exchange_(communicator, widened(plan.neighbours, width),
                entries_.span().subspan(static_cast<std::size_t>(thread_rows.back()) *
                                        static_cast<std::size_t>(width)),
                tag),
      sent_by_thread_(thread_rows.size() - 1) {
  team.run([&](const comm_thread::TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    std::fill(entries_.data() + std::ptrdiff_t{thread_rows[index]} * width,
              entries_.data() + std::ptrdiff_t{thread_rows[index + 1]} * width, 0.0);
  });
  for (std::size_t i = 0; i < plan.send_list.size(); ++i) {
    const LocalIndex row = plan.send_list[i];
    const auto owner = std::upper_bound(thread_rows.begin(), thread_rows.end(), row) - 1;
    sent_by_thread_[static_cast<std::size_t>(owner - thread_rows.begin())].push_back(
        {row, static_cast<LocalIndex>(i)});
  }
}

void HaloBlock::pack(int thread) {
  double* const buffer = exchange_.send_buffer().data();
  for (const SendEntry& entry : sent_by_thread_[static_cast<std::size_t>(thread)])
    std::copy_n(entries_.data() + std::ptrdiff_t{entry.row} * width_, width_,
                buffer + std::ptrdiff_t{entry.place} * width_);
}

}  // namespace weft::spmv
