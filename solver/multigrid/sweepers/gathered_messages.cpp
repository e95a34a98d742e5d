#include "solver/multigrid/sweepers/gathered_messages.h"

namespace weft::solver {

using comm_thread::ChannelSpec;

CoarseMessages GatheredMessages::messages_of(int rank) const {
  return {CoarseBoxes(levels_, partition_, rank, halo_depth_, steps_, gathered_), partition_, rank,
          halo_depth_};
}

std::vector<CoarseMessages> GatheredMessages::messages_of_all(int rank_count) const {
  std::vector<CoarseMessages> messages;
  for (int rank = 0; rank < rank_count; ++rank) messages.push_back(messages_of(rank));
  return messages;
}

std::vector<ChannelSpec> GatheredMessages::specs_of(
    const comm_thread::Communicator& communicator) const {
  if (!communicator.is_root()) {
    const CoarseMessages own = messages_of(communicator.rank());
    return {{.neighbour = 0,
             .send_count = own.question_size(),
             .receive_count = own.answer_size(),
             .max_in_flight = 1}};
  }
  std::vector<ChannelSpec> specs;
  for (int other = 1; other < communicator.size(); ++other) {
    const CoarseMessages messages = messages_of(other);
    specs.push_back({.neighbour = other,
                     .send_count = messages.answer_size(),
                     .receive_count = messages.question_size(),
                     .max_in_flight = 1});
  }
  return specs;
}

}  // namespace weft::solver
