#include "comm_thread/mpi/communicator.h"

#include <numeric>
#include <utility>

#include "comm_thread/mpi/library_all_reduce.h"
#include "comm_thread/mpi/mpi_error.h"
#include "comm_thread/mpi/patient_wait.h"
#include "comm_thread/mpi/persistent_messages.h"

namespace weft::comm_thread {
namespace {

/// Runs a non-blocking collective to completion.
template <class Collective, class... Arguments>
void run(Collective collective, const char* doing, Arguments... arguments) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(collective(arguments..., &request), doing);
  wait_patiently(request, doing);
}

template <class Value>
Value all_reduce(Value value, MPI_Datatype type, MPI_Op operation, MPI_Comm handle) {
  Value result{};
  run(MPI_Iallreduce, "reduce over the ranks", &value, &result, 1, type, operation, handle);
  return result;
}

}  // namespace

Communicator::Communicator(MPI_Comm handle) : handle_(handle) {
  MPI_Comm_set_errhandler(handle_, MPI_ERRORS_RETURN);
  MPI_Comm_rank(handle_, &rank_);
  MPI_Comm_size(handle_, &size_);
}

Communicator Communicator::collective_world() {
  MPI_Comm handle = MPI_COMM_NULL;
  run(MPI_Comm_idup, "duplicate the world communicator", MPI_COMM_WORLD, &handle);
  return Communicator(handle);
}

Communicator Communicator::collective_duplicate_of(MPI_Comm callers) {
  MPI_Comm handle = MPI_COMM_NULL;
  run(MPI_Comm_idup, "duplicate the caller's communicator", callers, &handle);
  return Communicator(handle);
}

std::optional<Communicator> Communicator::collective_duplicate_within(MPI_Comm callers,
                                                                      double limit_seconds) {
  // MPI goes on to write where no other rank came in time.
  auto handle = std::make_unique<MPI_Comm>(MPI_COMM_NULL);
  MPI_Request request = MPI_REQUEST_NULL;
  constexpr auto doing = "duplicate the caller's communicator";
  check_mpi(MPI_Comm_idup(callers, handle.get(), &request), doing);
  if (wait_patiently_for(request, limit_seconds, doing)) return Communicator(*handle);
  static_cast<void>(handle.release());
  return std::nullopt;
}

Communicator Communicator::self() {
  MPI_Comm handle = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(MPI_COMM_SELF, &handle), "duplicate the communicator of one rank");
  return Communicator(handle);
}

Communicator::~Communicator() {
  if (handle_ != MPI_COMM_NULL) MPI_Comm_free(&handle_);
}

Communicator::Communicator(Communicator&& other) noexcept
    : MessageSpace(other),
      handle_(std::exchange(other.handle_, MPI_COMM_NULL)),
      next_tag_(other.next_tag_) {}

Communicator& Communicator::operator=(Communicator&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(rank_, other.rank_);
  std::swap(size_, other.size_);
  std::swap(next_tag_, other.next_tag_);
  return *this;
}

Communicator Communicator::collective_duplicate() const {
  MPI_Comm handle = MPI_COMM_NULL;
  run(MPI_Comm_idup, "duplicate a communicator", handle_, &handle);
  return Communicator(handle);
}

std::unique_ptr<MessageSpace> Communicator::collective_duplicate_space() const {
  return std::make_unique<Communicator>(collective_duplicate());
}

std::unique_ptr<PreparedMessages> Communicator::prepare(
    std::span<const MessageDraft> drafts) const {
  return std::make_unique<PersistentMessages>(handle_, drafts);
}

std::unique_ptr<PreparedReduction> Communicator::prepare_reduction(
    std::span<const ReduceOperation> operations) const {
  return std::make_unique<LibraryAllReduce>(handle_, operations);
}

int Communicator::new_tag() const {
  int* largest = nullptr;
  int is_known = 0;
  check_mpi(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &largest, &is_known),
            "ask for the largest tag");
  constexpr int least_largest = 32767;  // of every library
  const int tag = next_tag_;
  next_tag_ = tag < (is_known ? *largest : least_largest) ? tag + 1 : 0;
  return tag;
}

Communicator Communicator::collective_split_node() const {
  // The library spins until the last rank is there, and has no form of this that does not wait.
  barrier();
  MPI_Comm handle = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(handle_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &handle),
            "find the ranks of this node");
  return Communicator(handle);
}

void Communicator::barrier() const { run(MPI_Ibarrier, "wait in a barrier", handle_); }

std::int64_t Communicator::sum(std::int64_t value) const {
  return all_reduce(value, MPI_INT64_T, MPI_SUM, handle_);
}

std::int64_t Communicator::min(std::int64_t value) const {
  return all_reduce(value, MPI_INT64_T, MPI_MIN, handle_);
}

std::int64_t Communicator::max(std::int64_t value) const {
  return all_reduce(value, MPI_INT64_T, MPI_MAX, handle_);
}

double Communicator::min(double value) const {
  return all_reduce(value, MPI_DOUBLE, MPI_MIN, handle_);
}

double Communicator::max(double value) const {
  return all_reduce(value, MPI_DOUBLE, MPI_MAX, handle_);
}

double Communicator::sum(double value) const {
  return all_reduce(value, MPI_DOUBLE, MPI_SUM, handle_);
}

void Communicator::sum(std::span<std::int64_t> values) const {
  run(MPI_Iallreduce, "reduce over the ranks", MPI_IN_PLACE, values.data(),
      static_cast<int>(values.size()), MPI_INT64_T, MPI_SUM, handle_);
}

void Communicator::max(std::span<double> values) const {
  run(MPI_Iallreduce, "reduce over the ranks", MPI_IN_PLACE, values.data(),
      static_cast<int>(values.size()), MPI_DOUBLE, MPI_MAX, handle_);
}

std::int64_t Communicator::exclusive_prefix_sum(std::int64_t value) const {
  std::int64_t before = 0;
  run(MPI_Iexscan, "form a prefix sum", &value, &before, 1, MPI_INT64_T, MPI_SUM, handle_);
  return rank_ == 0 ? 0 : before;
}

void Communicator::broadcast(std::string& text, int root) const {
  auto length = static_cast<std::int64_t>(text.size());
  broadcast(std::span(&length, 1), root);
  text.resize(static_cast<std::size_t>(length));
  run(MPI_Ibcast, "broadcast a text", text.data(), static_cast<int>(length), MPI_CHAR, root,
      handle_);
}

void Communicator::broadcast(std::span<std::int64_t> values, int root) const {
  run(MPI_Ibcast, "broadcast numbers", values.data(), static_cast<int>(values.size()), MPI_INT64_T,
      root, handle_);
}

std::vector<std::string> Communicator::gather(std::string_view text) const {
  const int length = static_cast<int>(text.size());
  std::vector<int> lengths(is_root() ? static_cast<std::size_t>(size_) : 0);
  run(MPI_Igather, "gather text lengths", &length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0,
      handle_);
  std::vector<int> offsets(lengths.size());
  std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
  std::string all(lengths.empty() ? 0 : static_cast<std::size_t>(offsets.back() + lengths.back()),
                  '\0');
  run(MPI_Igatherv, "gather texts", text.data(), length, MPI_CHAR, all.data(), lengths.data(),
      offsets.data(), MPI_CHAR, 0, handle_);
  std::vector<std::string> texts;
  for (std::size_t r = 0; r < lengths.size(); ++r)
    texts.push_back(
        all.substr(static_cast<std::size_t>(offsets[r]), static_cast<std::size_t>(lengths[r])));
  return texts;
}

std::vector<std::int64_t> Communicator::all_gather(std::int64_t value) const {
  std::vector<std::int64_t> all(static_cast<std::size_t>(size_));
  run(MPI_Iallgather, "gather numbers", &value, 1, MPI_INT64_T, all.data(), 1, MPI_INT64_T,
      handle_);
  return all;
}

std::vector<std::vector<std::int64_t>> Communicator::all_gather(
    std::span<const std::int64_t> values) const {
  const auto ranks = static_cast<std::size_t>(size_);
  const int length = static_cast<int>(values.size());
  std::vector<int> lengths(ranks);
  run(MPI_Iallgather, "gather list lengths", &length, 1, MPI_INT, lengths.data(), 1, MPI_INT,
      handle_);
  std::vector<int> offsets(ranks);
  std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
  std::vector<std::int64_t> all(static_cast<std::size_t>(offsets.back() + lengths.back()));
  run(MPI_Iallgatherv, "gather lists", values.data(), length, MPI_INT64_T, all.data(),
      lengths.data(), offsets.data(), MPI_INT64_T, handle_);
  std::vector<std::vector<std::int64_t>> lists(ranks);
  for (std::size_t r = 0; r < ranks; ++r)
    lists[r].assign(all.begin() + offsets[r], all.begin() + offsets[r] + lengths[r]);
  return lists;
}

}  // namespace weft::comm_thread
