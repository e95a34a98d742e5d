#include "spmv/rows/halo_vector.h"

#include <algorithm>

namespace weft::spmv {

HaloVector::HaloVector(const comm_thread::Communicator& communicator, const HaloPlan& plan,
                       std::span<const LocalIndex> thread_rows,
                       const comm_thread::ComputeTeam& team, int tag)
    : row_count_(static_cast<std::size_t>(thread_rows.back())),
      entries_(row_count_ + static_cast<std::size_t>(plan.halo_count) + 2 * spare),
      exchange_(communicator, plan.neighbours, entries_.span().subspan(spare + row_count_), tag),
      sent_by_thread_(thread_rows.size() - 1) {
  team.run([&](const comm_thread::TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    std::fill(own().data() + thread_rows[index], own().data() + thread_rows[index + 1], 0.0);
  });
  for (std::size_t i = 0; i < plan.send_list.size(); ++i) {
    const LocalIndex row = plan.send_list[i];
    const auto owner = std::upper_bound(thread_rows.begin(), thread_rows.end(), row) - 1;
    sent_by_thread_[static_cast<std::size_t>(owner - thread_rows.begin())].push_back(
        {row, static_cast<LocalIndex>(i)});
  }
}

void HaloVector::pack(int thread) {
  const double* const x = data();
  double* const buffer = exchange_.send_buffer().data();
  for (const SendEntry& entry : sent_by_thread_[static_cast<std::size_t>(thread)])
    buffer[entry.place] = x[entry.row];
}

}  // namespace weft::spmv
