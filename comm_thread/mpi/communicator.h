#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "comm_thread/mpi/message_space.h"

namespace weft::comm_thread {

/// Private group of ranks with its own duplicated MPI communicator, so its messages cannot match
/// others.
///
/// The blocking collectives here serve set-up and reporting; iterations use schedules.
/// Thread: one thread at a time per object. Lifetime: inside an MpiSession.
/// Throws MpiError if the library fails.
class Communicator final : public MessageSpace {
 public:
  /// All ranks of the job. Collective.
  static Communicator collective_world();

  /// The ranks of a communicator of the caller, whose messages, attributes and error handler stay
  /// as they are. Collective over `callers`.
  static Communicator collective_duplicate_of(MPI_Comm callers);

  /// The same, or nothing where another rank has not come within `limit_seconds`; weft may then
  /// duplicate none of this process any more.
  static std::optional<Communicator> collective_duplicate_within(MPI_Comm callers,
                                                                 double limit_seconds);

  /// This rank alone. Not collective.
  static Communicator self();

  ~Communicator() override;
  Communicator(Communicator&& other) noexcept;
  Communicator& operator=(Communicator&& other) noexcept;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  /// Returns the same ranks with a separate message space. Collective.
  Communicator collective_duplicate() const;

  std::unique_ptr<MessageSpace> collective_duplicate_space() const override;
  std::unique_ptr<PreparedMessages> prepare(std::span<const MessageDraft> drafts) const override;
  std::unique_ptr<PreparedReduction> prepare_reduction(
      std::span<const ReduceOperation> operations) const override;

  /// A tag for messages that no other messages of this communicator have, as long as fewer tags are
  /// in use than MPI has. Every rank makes the same calls.
  int new_tag() const;

  /// Returns the ranks of this node (those that can share memory). Collective.
  Communicator collective_split_node() const;

  /// MPI's handle, for comm_thread/ only.
  MPI_Comm handle() const { return handle_; }

  // All of these are collective.
  void barrier() const;
  std::int64_t sum(std::int64_t value) const;
  std::int64_t min(std::int64_t value) const;
  std::int64_t max(std::int64_t value) const;
  double min(double value) const;
  double max(double value) const;
  double sum(double value) const;
  /// Sum over the ranks, element by element, in place, on every rank.
  void sum(std::span<std::int64_t> values) const;
  /// The largest of the ranks' numbers, element by element, in place, on every rank.
  void max(std::span<double> values) const;
  /// Sum of `value` over the ranks before this one.
  std::int64_t exclusive_prefix_sum(std::int64_t value) const;
  void broadcast(std::string& text, int root) const;
  void broadcast(std::span<std::int64_t> values, int root) const;
  /// Every rank's text in rank order on rank 0, empty elsewhere. For reports: only rank 0 stores a
  /// text per rank.
  std::vector<std::string> gather(std::string_view text) const;
  /// Every rank's number in rank order, on every rank.
  std::vector<std::int64_t> all_gather(std::int64_t value) const;
  /// Every rank's list in rank order, on every rank. For groups that stay small (one node).
  std::vector<std::vector<std::int64_t>> all_gather(std::span<const std::int64_t> values) const;

 private:
  explicit Communicator(MPI_Comm handle);

  MPI_Comm handle_ = MPI_COMM_NULL;
  mutable int next_tag_ = 0;
};

}  // namespace weft::comm_thread
