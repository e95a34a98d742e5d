#include "comm_thread/channels/link_layout.h"

#include "comm_thread/channels/link_ends.h"

namespace weft::comm_thread {

LinkLayout collective_lay_out_links(const Communicator& communicator,
                                    std::span<const LinkPlan> plans,
                                    const std::function<std::uint64_t(const LinkPlan&)>& bytes_of) {
  LinkLayout layout;
  for (const LinkPlan& plan : plans) {
    layout.here.push_back(layout.bytes);
    layout.bytes += bytes_of(plan);
  }
  layout.there = collective_exchange_link_ends(communicator, plans, layout.here);
  return layout;
}

}  // namespace weft::comm_thread
