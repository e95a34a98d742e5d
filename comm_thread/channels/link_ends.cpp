#include "comm_thread/channels/link_ends.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/sparse_exchange.h"

namespace weft::comm_thread {
namespace {

struct LinkEnd {
  std::int64_t send_tag = 0;
  std::int64_t receive_tag = 0;
  std::uint64_t send_bytes = 0;
  std::uint64_t receive_bytes = 0;
  std::uint64_t slot_count = 0;
  std::uint64_t delivery = 0;
  std::uint64_t offset = 0;
};

/// The largest tag that every MPI library allows (MPI 4.0, section 3.2.3).
constexpr int largest_tag = 32767;

[[noreturn]] void refuse(const LinkPlan& plan, const std::string& complaint) {
  throw InputError("channel to rank " + std::to_string(plan.neighbour) + ": " + complaint);
}

void check_plan(const LinkPlan& plan) {
  constexpr std::size_t most = std::numeric_limits<int>::max();
  if (plan.send_bytes > most || plan.receive_bytes > most)
    refuse(plan, "found messages above 2 GiB; expected less");
  for (const int tag : {plan.send_tag, plan.receive_tag})
    if (tag < 0 || tag > largest_tag)
      refuse(plan, "tag: found " + std::to_string(tag) + "; expected 0 to " +
                       std::to_string(largest_tag));
}

/// The single entry of `ends` that belongs to `plan`.
const LinkEnd& other_end(const LinkPlan& plan, const std::vector<LinkEnd>& ends) {
  const auto belongs = [&plan](const LinkEnd& end) {
    return end.send_tag == plan.receive_tag && end.receive_tag == plan.send_tag;
  };
  const auto count = std::ranges::count_if(ends, belongs);
  if (count != 1)
    refuse(plan, "found " + std::to_string(count) + " other ends for send tag " +
                     std::to_string(plan.send_tag) + " and receive tag " +
                     std::to_string(plan.receive_tag) + "; expected one");
  return *std::ranges::find_if(ends, belongs);
}

void check_agreement(const LinkPlan& plan, const LinkEnd& other) {
  const auto expect = [&plan](const char* what, std::uint64_t here, std::uint64_t there) {
    if (here != there)
      refuse(plan, std::string(what) + ": found " + std::to_string(here) + " here and " +
                       std::to_string(there) + " at the other end; expected the same");
  };
  expect("bytes sent", plan.send_bytes, other.receive_bytes);
  expect("bytes received", plan.receive_bytes, other.send_bytes);
  expect("most messages in flight", plan.slot_count, other.slot_count);
  expect("delivery", plan.delivery, other.delivery);
}

}  // namespace

std::vector<std::uint64_t> collective_exchange_link_ends(
    const Communicator& communicator, std::span<const LinkPlan> plans,
    std::span<const std::uint64_t> own_offsets) {
  collective_attempt(communicator, [&] { std::ranges::for_each(plans, check_plan); });
  Lists<LinkEnd> mine;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const LinkPlan& plan = plans[i];
    mine[plan.neighbour].push_back({plan.send_tag, plan.receive_tag, plan.send_bytes,
                                    plan.receive_bytes, plan.slot_count, plan.delivery,
                                    own_offsets[i]});
  }
  const Lists<LinkEnd> received = collective_sparse_exchange(communicator, std::move(mine));

  std::vector<std::uint64_t> offsets;
  collective_attempt(communicator, [&] {
    for (const LinkPlan& plan : plans) {
      const auto from = received.find(plan.neighbour);
      const auto ends = from == received.end() ? std::vector<LinkEnd>() : from->second;
      const LinkEnd& other = other_end(plan, ends);
      check_agreement(plan, other);
      offsets.push_back(other.offset);
    }
  });
  return offsets;
}

}  // namespace weft::comm_thread
