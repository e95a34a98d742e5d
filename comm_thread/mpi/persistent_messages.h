#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

#include "comm_thread/mpi/message_space.h"

namespace weft::comm_thread {

/// Persistent requests of MPI, contiguous in memory in the order of the drafts.
class PersistentMessages final : public PreparedMessages {
 public:
  /// `communicator` outlives it. Throws MpiError.
  PersistentMessages(MPI_Comm communicator, std::span<const MessageDraft> drafts);
  ~PersistentMessages() override;
  PersistentMessages(const PersistentMessages&) = delete;
  PersistentMessages& operator=(const PersistentMessages&) = delete;

  void start(std::size_t first, std::size_t count) override;
  std::size_t test(std::size_t first, std::size_t count, std::span<int> completed) override;

 private:
  std::vector<MPI_Request> requests_;
};

}  // namespace weft::comm_thread
