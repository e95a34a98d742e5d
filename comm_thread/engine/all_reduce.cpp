#include "comm_thread/engine/all_reduce.h"

#include <algorithm>
#include <utility>

namespace weft::comm_thread {

AllReduce::AllReduce(const MessageSpace& space, std::span<const ReduceOperation> operations,
                     int tag, Hooks hooks)
    : tree_(space.rank(), space.size()),
      operations_(operations.begin(), operations.end()),
      hooks_(std::move(hooks)),
      values_(operations.size()),
      received_(tree_.children.size() * operations.size()) {
  build_schedule(space, tag);
}

AllReduce::AllReduce(const MessageSpace& space, ReduceOperation operation, std::size_t count,
                     int tag)
    : AllReduce(space, std::vector<ReduceOperation>(count, operation), tag, {}) {}

void AllReduce::build_schedule(const MessageSpace& space, int tag) {
  Schedule::Builder builder(space, "all-reduce");
  const std::size_t count = values_.size();
  const std::size_t bytes = count * sizeof(double);
  for (int child = 0; child < tree_.child_count; ++child) {
    const auto index = static_cast<std::size_t>(child);
    builder.receive(received_.data() + index * count, bytes, tree_.children[index], tag);
  }
  builder.end_round([this] { combine_with_children(); });
  if (!tree_.is_root())
    builder.receive(received_.data(), bytes, tree_.parent, tag)
        .send(values_.data(), bytes, tree_.parent, tag)
        .end_round([this] { take_from_parent(); });
  for (int child = 0; child < tree_.child_count; ++child)
    builder.send(values_.data(), bytes, tree_.children[static_cast<std::size_t>(child)], tag);
  schedule_ = builder.build();
}

void AllReduce::combine_with_children() {
  if (hooks_.take) hooks_.take(values_);
  const std::size_t count = values_.size();
  for (std::size_t child = 0; child < static_cast<std::size_t>(tree_.child_count); ++child)
    for (std::size_t i = 0; i < count; ++i)
      values_[i] = combine(operations_[i], values_[i], received_[child * count + i]);
  if (tree_.is_root() && hooks_.publish) hooks_.publish(values_);
}

void AllReduce::take_from_parent() {
  std::copy_n(received_.begin(), values_.size(), values_.begin());
  if (hooks_.publish) hooks_.publish(values_);
}

}  // namespace weft::comm_thread
