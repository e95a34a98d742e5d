#include "comm_thread/probe/progress_probe.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "comm_thread/engine/recursive_doubling.h"
#include "comm_thread/mpi/mpi_error.h"

namespace weft::comm_thread {
namespace {

/// On a shared core: polls of a put before the communication thread naps between them.
constexpr int looks_before_nap = 20;
constexpr std::chrono::microseconds nap{200};

/// Within a node, MPICH 4.0.2 puts to wrong addresses if sizes of parts of an allocated window are
/// not multiples of 16 bytes.
constexpr std::size_t window_granularity = 64;

constexpr int to_the_left = 1;  // tags
constexpr int to_the_right = 2;

/// The rank at half of all ranks' distance: on another node if ranks fill node after node.
int half_way(int rank_count) { return std::max(1, rank_count / 2); }

}  // namespace

ProgressProbe::ProgressProbe(const Communicator& communicator, CommThread& comm_thread,
                             ProgressOperation operation, std::size_t bytes, WaitPolicy idle)
    : communicator_(communicator.collective_duplicate()),
      comm_thread_(comm_thread),
      operation_(operation),
      idle_(idle),
      sent_(bytes / sizeof(Word)),
      target_(rank_after(half_way(communicator_.size()))),
      origin_(rank_after(-half_way(communicator_.size()))) {
  if (operation == ProgressOperation::put_flush) {
    open_window();
  } else {
    landing_ = perfmodel::HugePageBuffer<Word>(sent_.size());
    received_ = landing_.span();
  }
  if (operation == ProgressOperation::all_reduce)
    partial_ = perfmodel::HugePageBuffer<Word>(sent_.size());
  plan_messages();
  schedule_ = build_schedule();
  collective_refill();
}

ProgressProbe::~ProgressProbe() {
  schedule_.reset();  // completes its run
  if (window_ == MPI_WIN_NULL) return;
  MPI_Win_unlock_all(window_);
  MPI_Win_free(&window_);
}

int ProgressProbe::rank_after(int distance) const {
  const int size = communicator_.size();
  return (communicator_.rank() + distance + size) % size;
}

void ProgressProbe::open_window() {
  Word* memory = nullptr;
  const std::size_t bytes = (sent_.size() * sizeof(Word) + window_granularity - 1) /
                            window_granularity * window_granularity;
  check_mpi(MPI_Win_allocate(static_cast<MPI_Aint>(bytes), sizeof(Word), MPI_INFO_NULL,
                             communicator_.handle(), &memory, &window_),
            "allocate a window");
  check_mpi(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "open an epoch");
  received_ = {memory, sent_.size()};
}

void ProgressProbe::plan_messages() {
  const std::size_t count = sent_.size();
  const std::size_t half = count / 2;
  if (operation_ == ProgressOperation::isend_irecv) {
    messages_ = {{true, 0, count, origin_, 0}, {false, 0, count, target_, 0}};
  } else if (operation_ == ProgressOperation::neighbour_exchange) {
    const int left = rank_after(-1);
    const int right = rank_after(1);
    messages_ = {{true, 0, half, right, to_the_left},
                 {true, half, count - half, left, to_the_right},
                 {false, 0, half, left, to_the_left},
                 {false, half, count - half, right, to_the_right}};
  }
}

std::unique_ptr<Schedule> ProgressProbe::build_schedule() {
  Schedule::Builder builder(communicator_, name(operation_));
  for (const Message& message : messages_) {
    const std::size_t bytes = message.word_count * sizeof(Word);
    if (message.is_receive)
      builder.receive(received_.data() + message.first_word, bytes, message.rank, message.tag);
    else
      builder.send(sent_.data() + message.first_word, bytes, message.rank, message.tag);
  }
  if (operation_ == ProgressOperation::all_reduce) add_all_reduce(builder);
  if (operation_ == ProgressOperation::put_flush) {
    // The target's library may have to take part: its thread progresses until all have arrived.
    builder.end_round([this] { put_and_flush(); });
    builder.receive(nullptr, 0, origin_).send(nullptr, 0, target_);
  }
  return builder.build();
}

void ProgressProbe::add_all_reduce(Schedule::Builder& builder) {
  builder.end_round(
      [this] { std::copy(sent_.span().begin(), sent_.span().end(), received_.begin()); });
  add_recursive_doubling(builder, communicator_, std::as_writable_bytes(received_),
                         std::as_writable_bytes(partial_.span()), [this] {
                           for (std::size_t i = 0; i < received_.size(); ++i)
                             received_[i] += partial_[i];
                         });
}

void ProgressProbe::start(ProgressMethod method) {
  if (method == ProgressMethod::communication_thread)
    pending_ = comm_thread_.post(*schedule_);
  else
    start_plain();
}

void ProgressProbe::start_plain() {
  const int count = static_cast<int>(sent_.size());
  if (operation_ == ProgressOperation::put_flush)
    check_mpi(MPI_Rput(sent_.data(), count, MPI_UINT32_T, target_, 0, count, MPI_UINT32_T, window_,
                       &requests_.emplace_back()),
              "put");
  if (operation_ == ProgressOperation::all_reduce)
    check_mpi(MPI_Iallreduce(sent_.data(), received_.data(), count, MPI_UINT32_T, MPI_SUM,
                             communicator_.handle(), &requests_.emplace_back()),
              "start an all-reduce");
  for (const Message& message : messages_) {
    MPI_Request* const request = &requests_.emplace_back();
    const int words = static_cast<int>(message.word_count);
    check_mpi(message.is_receive
                  ? MPI_Irecv(received_.data() + message.first_word, words, MPI_UINT32_T,
                              message.rank, message.tag, communicator_.handle(), request)
                  : MPI_Isend(sent_.data() + message.first_word, words, MPI_UINT32_T, message.rank,
                              message.tag, communicator_.handle(), request),
              "start a message");
  }
}

void ProgressProbe::put_and_flush() {
  start_plain();
  // A flush that waits inside the library would take the core from a compute thread.
  for (int look = 0; !test_requests(); ++look)
    if (idle_ == WaitPolicy::yield && look > looks_before_nap) std::this_thread::sleep_for(nap);
  check_mpi(MPI_Win_flush(target_, window_), "flush a put");
}

bool ProgressProbe::test_requests() {
  int are_complete = 0;
  check_mpi(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &are_complete,
                        MPI_STATUSES_IGNORE),
            "progress messages");
  if (are_complete) requests_.clear();
  return are_complete;
}

void ProgressProbe::wait() {
  if (pending_) {
    pending_->wait();
    pending_.reset();
    return;
  }
  // The library's own waiting yields without end where a core is shared (see `relax`).
  for (std::uint64_t round = 0; !test_requests(); ++round) relax(idle_, round);
  if (window_ != MPI_WIN_NULL) check_mpi(MPI_Win_flush(target_, window_), "flush a put");
}

ProgressProbe::Word ProgressProbe::word_of(int rank, std::size_t index) const {
  return static_cast<Word>(rank + 1) * 0x9E3779B1U + static_cast<Word>(index) * 0x85EBCA6BU +
         seed_ * 0xC2B2AE35U;
}

ProgressProbe::Word ProgressProbe::expected_word(std::size_t index) const {
  if (operation_ == ProgressOperation::all_reduce) {
    // Σ word_of(rank, index): the part that depends on the rank is linear in it.
    const auto size = static_cast<Word>(communicator_.size());
    const Word rank_part = word_of(0, index) - word_of(-1, index);
    return size * word_of(-1, index) + size * (size + 1) / 2 * rank_part;
  }
  if (operation_ == ProgressOperation::neighbour_exchange)
    return word_of(rank_after(index < sent_.size() / 2 ? 1 : -1), index);
  return word_of(origin_, index);
}

void ProgressProbe::collective_refill() {
  ++seed_;
  for (std::size_t i = 0; i < sent_.size(); ++i) sent_[i] = word_of(communicator_.rank(), i);
  for (std::size_t i = 0; i < received_.size(); ++i) received_[i] = ~expected_word(i);
  if (window_ != MPI_WIN_NULL) MPI_Win_sync(window_);
  communicator_.barrier();
}

std::int64_t ProgressProbe::collective_wrong_words() {
  communicator_.barrier();  // puts into this rank are complete when their origins have come here
  if (window_ != MPI_WIN_NULL) MPI_Win_sync(window_);
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < received_.size(); ++i) wrong += received_[i] != expected_word(i);
  return communicator_.sum(wrong);
}

double collective_latency_seconds(const Communicator& communicator) {
  return collective_latency(communicator).median;
}

Latency collective_latency(const Communicator& communicator) {
  constexpr int trip_count = 201;
  std::array<double, trip_count> seconds{};
  const int partner = half_way(communicator.size());
  double word = 0;
  const auto send = [&](int rank) {
    check_mpi(MPI_Send(&word, 1, MPI_DOUBLE, rank, 0, communicator.handle()), "send");
  };
  const auto receive = [&](int rank) {
    check_mpi(MPI_Recv(&word, 1, MPI_DOUBLE, rank, 0, communicator.handle(), MPI_STATUS_IGNORE),
              "receive");
  };
  communicator.barrier();
  for (double& trip : seconds) {
    const double begin = MPI_Wtime();
    if (communicator.rank() == 0) {
      send(partner);
      receive(partner);
    } else if (communicator.rank() == partner) {
      receive(0);
      send(0);
    }
    trip = MPI_Wtime() - begin;
  }
  std::ranges::sort(seconds);
  const auto on_all = [&](double trip) {
    return communicator.max(communicator.is_root() ? trip / 2 : 0.0);
  };
  return {on_all(seconds[trip_count / 2]), on_all(seconds.front())};
}

}  // namespace weft::comm_thread
