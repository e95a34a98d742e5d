#include "comm_thread/mpi/persistent_messages.h"

#include "comm_thread/mpi/message_type.h"
#include "comm_thread/mpi/mpi_error.h"

namespace weft::comm_thread {

PersistentMessages::PersistentMessages(MPI_Comm communicator,
                                       std::span<const MessageDraft> drafts) {
  requests_.reserve(drafts.size());
  for (const MessageDraft& draft : drafts) {
    const MessageType type(draft.bytes);
    MPI_Request* const request = &requests_.emplace_back(MPI_REQUEST_NULL);
    check_mpi(draft.is_receive ? MPI_Recv_init(draft.data, type.count(), type.handle(), draft.rank,
                                               draft.tag, communicator, request)
                               : MPI_Send_init(draft.data, type.count(), type.handle(), draft.rank,
                                               draft.tag, communicator, request),
              "prepare a message");
  }
}

PersistentMessages::~PersistentMessages() {
  for (MPI_Request& request : requests_)
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

void PersistentMessages::start(std::size_t first, std::size_t count) {
  check_mpi(MPI_Startall(static_cast<int>(count), requests_.data() + first),
            "start the messages of a schedule");
}

std::size_t PersistentMessages::test(std::size_t first, std::size_t count,
                                     std::span<int> completed) {
  int completed_count = 0;
  check_mpi(MPI_Testsome(static_cast<int>(count), requests_.data() + first, &completed_count,
                         completed.data(), MPI_STATUSES_IGNORE),
            "progress the messages of a schedule");
  return completed_count == MPI_UNDEFINED ? 0 : static_cast<std::size_t>(completed_count);
}

}  // namespace weft::comm_thread
