#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/channels/one_sided_transport.h"
#include "comm_thread/channels/openshmem_transport.h"
#include "comm_thread/channels/transport.h"
#include "comm_thread/channels/two_sided_transport.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/waiting/team_barrier.h"
#include "tests/support/mpi_main.h"

namespace weft::comm_thread {
namespace {

using Plans = std::vector<LinkPlan>;

struct Candidate {
  std::string name;
  std::function<std::unique_ptr<Transport>(const Communicator&, std::span<const LinkPlan>)> make;
};

/// Every transport that this build has.
std::vector<Candidate> candidates() {
  std::vector<Candidate> all{{"two-sided", collective_make_two_sided_transport}};
  const auto add_one_sided = [&all](const char* name, OneSidedVariant variant) {
    all.push_back({name, [variant](const Communicator& communicator, std::span<const LinkPlan> p) {
                     return collective_make_one_sided_transport(communicator, p, variant);
                   }});
  };
  add_one_sided("one-sided:flush", OneSidedVariant::flush);
  add_one_sided("one-sided:flush-local", OneSidedVariant::flush_local);
  add_one_sided("one-sided:overlap", OneSidedVariant::overlap);
  add_one_sided("one-sided:overlap-local", OneSidedVariant::overlap_local);
  const auto add_shmem = [&all](const char* name, OpenShmemVariant variant) {
    all.push_back({name, [variant](const Communicator& communicator, std::span<const LinkPlan> p) {
                     return collective_make_openshmem_transport(communicator, p, variant);
                   }});
  };
  if (has_openshmem()) {
    add_shmem("shmem:put", OpenShmemVariant::put);
    add_shmem("shmem:put-overlap", OpenShmemVariant::put_overlap);
  }
  return all;
}

std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// Contents of message `number` sent with tag `tag` by rank `source`.
std::uint64_t word_at(int source, int tag, std::uint64_t number, std::size_t i) {
  return mix((number << 20) + i +
             mix(1000 * static_cast<std::uint64_t>(source) + static_cast<std::uint64_t>(tag)));
}

void fill(std::span<std::byte> message, int source, int tag, std::uint64_t number) {
  const MessageHeader header{.number = number, .iteration = number * 3, .kind = number % 5};
  std::memcpy(message.data(), &header, sizeof header);
  for (std::size_t at = sizeof header; at < message.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t value = word_at(source, tag, number, at);
    std::memcpy(message.data() + at, &value, sizeof value);
  }
}

bool is_right(std::span<const std::byte> message, int source, int tag, std::uint64_t number) {
  MessageHeader header;
  std::memcpy(&header, message.data(), sizeof header);
  bool right =
      header.number == number && header.iteration == number * 3 && header.kind == number % 5;
  for (std::size_t at = sizeof header; at < message.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t value = 0;
    std::memcpy(&value, message.data() + at, sizeof value);
    right = right && value == word_at(source, tag, number, at);
  }
  return right;
}

/// One link in use: sends as fast as it may, checks arriving messages, and counts errors.
class Traffic {
 public:
  Traffic(Transport& transport, std::size_t link, const LinkPlan& plan, int rank)
      : transport_(transport), link_(link), plan_(plan), rank_(rank) {}

  /// Starts the next message if there is room.
  bool send() {
    const std::uint64_t acknowledged = transport_.acknowledged(link_);
    wrong_ += acknowledged < acknowledged_ || acknowledged > started_;
    acknowledged_ = acknowledged;
    if (started_ - acknowledged_ >= plan_.slot_count) return false;
    const std::span<std::byte> slot = transport_.send_slot(link_, ++started_);
    wrong_ += slot.size() != plan_.send_bytes;
    fill(slot, rank_, plan_.send_tag, started_);
    transport_.start(link_, started_);
    return true;
  }

  /// Checks the next message, if it has arrived; returns true then.
  bool look() {
    const auto message = transport_.arrived(link_);
    if (!message) return false;
    wrong_ += message->size() != plan_.receive_bytes ||
              !is_right(*message, plan_.neighbour, plan_.receive_tag, released_ + 1);
    return true;
  }

  bool receive() {
    if (!look()) return false;
    transport_.release(link_);
    ++released_;
    return true;
  }

  /// One attempt at everything until `count` messages went each way.
  bool step(std::uint64_t count) {
    const bool sent = started_ < count ? send() : update_acknowledged();
    const bool received = released_ < count && receive();
    return sent || received;
  }

  bool is_done(std::uint64_t count) const { return acknowledged_ == count && released_ == count; }

  /// Nothing else is there, and everything was acknowledged.
  void check_end(std::uint64_t count) {
    CHECK(!transport_.arrived(link_).has_value());
    CHECK(transport_.acknowledged(link_) == count);
    CHECK(started_ == count);
    CHECK(wrong_ == 0);
  }

  std::uint64_t started() const { return started_; }

 private:
  bool update_acknowledged() {
    const std::uint64_t before = std::exchange(acknowledged_, transport_.acknowledged(link_));
    return acknowledged_ != before;
  }

  Transport& transport_;
  std::size_t link_;
  LinkPlan plan_;
  int rank_;
  std::uint64_t started_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t released_ = 0;
  std::uint64_t wrong_ = 0;
};

std::vector<Traffic> traffic_on(Transport& transport, const Plans& plans, int rank) {
  std::vector<Traffic> links;
  for (std::size_t i = 0; i < plans.size(); ++i) links.emplace_back(transport, i, plans[i], rank);
  return links;
}

void no_pause() {}

/// Sends `count` messages on every link and receives as many, until all are acknowledged.
void drive(Transport& transport, std::vector<Traffic>& links, std::uint64_t count,
           const std::function<void()>& pause = no_pause) {
  std::uint64_t fruitless = 0;
  const auto is_done = [count](const Traffic& link) { return link.is_done(count); };
  while (!std::ranges::all_of(links, is_done)) {
    transport.progress();
    bool moved = false;
    for (Traffic& link : links) {
      moved = link.step(count) || moved;
      pause();
    }
    fruitless = moved ? 0 : fruitless + 1;
    relax(WaitPolicy::yield, fruitless);
  }
}

/// Opens, sends `count` messages each way on every link, and closes. Other ranks may look a last
/// time while this one closes, hence the barrier.
void exchange(const Communicator& world, const Candidate& candidate, const Plans& plans,
              std::uint64_t count, const std::function<void()>& pause = no_pause) {
  const auto transport = candidate.make(world, plans);
  std::vector<Traffic> links = traffic_on(*transport, plans, world.rank());
  drive(*transport, links, count, pause);
  for (Traffic& link : links) link.check_end(count);
  world.barrier();
  transport->collective_close();
}

/// Links to the rank before and after in a ring, which may be the same rank or this one. Messages
/// that go up have another size than those that go down.
Plans ring(const Communicator& world, std::size_t slot_count, std::size_t up_bytes,
           std::size_t down_bytes, int tag = 0) {
  const int size = world.size();
  const LinkPlan before{.neighbour = (world.rank() + size - 1) % size,
                        .send_tag = tag,
                        .receive_tag = tag + 1,
                        .send_bytes = down_bytes,
                        .receive_bytes = up_bytes,
                        .slot_count = slot_count};
  const LinkPlan after{.neighbour = (world.rank() + 1) % size,
                       .send_tag = tag + 1,
                       .receive_tag = tag,
                       .send_bytes = up_bytes,
                       .receive_bytes = down_bytes,
                       .slot_count = slot_count};
  return {before, after};
}

/// A pause now and then, so that ranks drift apart.
class RandomPauses {
 public:
  explicit RandomPauses(int rank) : random_(static_cast<unsigned>(rank)) {}
  void operator()() {
    const auto draw = random_() % 256;
    if (draw == 0) std::this_thread::sleep_for(std::chrono::microseconds(random_() % 300));
    if (draw < 16) std::this_thread::yield();
  }

 private:
  std::mt19937 random_;
};

TEST_CASE("every message arrives once, in order and whole, whatever the sizes") {
  const auto world = Communicator::collective_world();
  const std::uint64_t count = world.size() <= 2 ? 100 : 70;  // more than there are slots
  for (const Candidate& candidate : candidates()) {
    for (const std::size_t slot_count : {1u, 3u, 64u}) {
      CAPTURE(candidate.name, slot_count);
      exchange(world, candidate, ring(world, slot_count, 64, 72), count);
      exchange(world, candidate, ring(world, slot_count, 4096, 8200), count);
    }
    exchange(world, candidate, ring(world, 2, 1'000'000, 64), 10);
  }
}

TEST_CASE("thousands of messages arrive in spite of pauses on either side") {
  const auto world = Communicator::collective_world();
  // MPI_Win_flush waits for the target, which has to get a core first.
  const std::uint64_t count = world.size() <= 2 ? 3000 : 300;
  for (const Candidate& candidate : candidates()) {
    CAPTURE(candidate.name);
    exchange(world, candidate, ring(world, 4, 128, 512), count, RandomPauses(world.rank()));
  }
}

TEST_CASE("another thread than the one that opened the links uses them") {
  const auto world = Communicator::collective_world();
  if (tests::session().thread_level() != ThreadLevel::multiple) return;
  for (const Candidate& candidate : candidates()) {
    CAPTURE(candidate.name);
    const Plans plans = ring(world, 3, 256, 128);
    const auto transport = candidate.make(world, plans);
    std::vector<Traffic> links = traffic_on(*transport, plans, world.rank());
    std::thread([&] { drive(*transport, links, 100); }).join();
    for (Traffic& link : links) link.check_end(100);
    world.barrier();
    transport->collective_close();
  }
}

TEST_CASE("a message stays whole until it is released, and the sender has no more room") {
  const auto world = Communicator::collective_world();
  constexpr std::size_t slot_count = 3;
  for (const Candidate& candidate : candidates()) {
    CAPTURE(candidate.name);
    const Plans plans = ring(world, slot_count, 128, 1024);
    const auto transport = candidate.make(world, plans);
    std::vector<Traffic> links = traffic_on(*transport, plans, world.rank());
    for (int look = 0; look < 200; ++look) {
      transport->progress();
      for (Traffic& link : links) {
        link.send();
        link.look();
      }
      std::this_thread::yield();
    }
    world.barrier();  // nobody releases before all have looked
    // R messages taken in but not released, R on their way.
    for (const Traffic& link : links) CHECK(link.started() <= 2 * slot_count);
    drive(*transport, links, 20);
    for (Traffic& link : links) link.check_end(20);
    world.barrier();
    transport->collective_close();
  }
}

TEST_CASE("a link connects a rank with itself") {
  const auto world = Communicator::collective_world();
  for (const Candidate& candidate : candidates()) {
    CAPTURE(candidate.name);
    Plans plans = ring(world, 4, 64, 64);
    plans.push_back({.neighbour = world.rank(),
                     .send_tag = 7,
                     .receive_tag = 7,
                     .send_bytes = 640,
                     .receive_bytes = 640,
                     .slot_count = 2});
    exchange(world, candidate, plans, 100);
  }
}

TEST_CASE("several links between the same two ranks stay apart") {
  const auto world = Communicator::collective_world();
  for (const Candidate& candidate : candidates()) {
    CAPTURE(candidate.name);
    Plans plans = ring(world, 4, 64, 128, 10);
    // In another order than the other links, and not in the same order on all ranks.
    for (const LinkPlan& plan : ring(world, 2, 1024, 80, 20))
      plans.insert(world.rank() % 2 == 0 ? plans.begin() : plans.end(), plan);
    exchange(world, candidate, plans, 100);
  }
}

TEST_CASE("ranks may have different numbers of links, or none") {
  const auto world = Communicator::collective_world();
  for (const Candidate& candidate : candidates()) {
    CAPTURE(candidate.name);
    exchange(world, candidate, {}, 10);
    // A line: its ends have one link, and one rank alone has none.
    Plans plans = ring(world, 3, 200, 96);
    if (world.rank() == world.size() - 1) plans.pop_back();
    if (world.is_root()) plans.erase(plans.begin(), plans.begin() + (plans.empty() ? 0 : 1));
    exchange(world, candidate, plans, 50);
  }
}

TEST_CASE("ends that disagree are one error on all ranks, and nothing is left behind") {
  const auto world = Communicator::collective_world();
  const auto disagree = [&](auto member, std::size_t value) {
    Plans plans = ring(world, 4, 64, 128);
    if (world.rank() == world.size() - 1) plans[0].*member = value;
    return plans;
  };
  for (const Candidate& candidate : candidates()) {
    CAPTURE(candidate.name);
    CHECK_THROWS_AS(candidate.make(world, disagree(&LinkPlan::slot_count, 5)), InputError);
    CHECK_THROWS_AS(candidate.make(world, disagree(&LinkPlan::send_bytes, 1000)), InputError);
    CHECK_THROWS_AS(candidate.make(world, disagree(&LinkPlan::receive_bytes, 1000)), InputError);
    exchange(world, candidate, ring(world, 4, 64, 128), 10);
  }
}

TEST_CASE("links are opened and closed many times, used or not") {
  const auto world = Communicator::collective_world();
  const int times = world.size() <= 2 ? 50 : 5;
  for (const Candidate& candidate : candidates()) {
    CAPTURE(candidate.name);
    const Plans plans = ring(world, 4, 64, 4096);
    for (int time = 0; time < times; ++time)
      exchange(world, candidate, plans, static_cast<std::uint64_t>(time % 7));
  }
}

}  // namespace
}  // namespace weft::comm_thread
