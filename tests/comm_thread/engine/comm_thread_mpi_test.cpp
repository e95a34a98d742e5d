#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/mpi_error.h"
#include "tests/support/mpi_main.h"

namespace weft::comm_thread {
namespace {

using Options = CommThread::Options;

/// With a communication thread of either kind, and without one.
std::vector<Options> all_options() {
  Options spinning;
  spinning.thread_level = tests::session().thread_level();
  spinning.idle = WaitPolicy::spin;
  Options yielding = spinning;
  yielding.idle = WaitPolicy::yield;
  Options none = spinning;
  none.thread_level = ThreadLevel::serialized;
  return {yielding, spinning, none};
}

/// Every rank sends a number to the next one.
struct Ring {
  Ring(const Communicator& communicator, int tag) : rank(communicator.rank()) {
    const int size = communicator.size();
    Schedule::Builder builder(communicator, "ring");
    builder.receive(&received, sizeof received, (rank + size - 1) % size, tag);
    builder.send(&sent, sizeof sent, (rank + 1) % size, tag);
    schedule = builder.build();
    previous = (rank + size - 1) % size;
  }
  int rank;
  int previous = 0;
  std::int64_t sent = 0;
  std::int64_t received = -1;
  std::unique_ptr<Schedule> schedule;
};

TEST_CASE("a ring goes round many times, with and without a thread") {
  const auto world = Communicator::collective_world();
  for (const Options& options : all_options()) {
    CommThread comm_thread(options);
    CHECK(comm_thread.has_thread() == (options.thread_level == ThreadLevel::multiple));
    Ring ring(world, 0);
    int wrong = 0;
    const int rounds = world.size() <= 2 ? 1000 : 100;  // few cores, many threads
    for (int round = 0; round < rounds; ++round) {
      ring.sent = round * 100 + ring.rank;
      comm_thread.post(*ring.schedule).wait();
      wrong += ring.received != round * 100 + ring.previous;
    }
    CHECK(wrong == 0);
    CHECK(ring.schedule->posted_runs() == static_cast<std::uint64_t>(rounds));
    CHECK(ring.schedule->finished_runs() == static_cast<std::uint64_t>(rounds));
  }
}

TEST_CASE("several schedules are in flight at once and awaited in any order") {
  const auto world = Communicator::collective_world();
  for (const Options& options : all_options()) {
    CommThread comm_thread(options);
    std::vector<std::unique_ptr<Ring>> rings;
    for (int tag = 0; tag < 8; ++tag) rings.push_back(std::make_unique<Ring>(world, tag));
    int wrong = 0;
    for (std::size_t round = 0; round < 40; ++round) {
      std::vector<Pending> pending;
      for (std::size_t i = 0; i < 8; ++i) {
        // Every rank begins with another one.
        Ring& ring = *rings[(i + static_cast<std::size_t>(world.rank())) % 8];
        ring.sent = static_cast<std::int64_t>(round) + 1000 * ring.rank;
        pending.push_back(comm_thread.post(*ring.schedule));
      }
      for (std::size_t i = 0; i < 8; ++i) pending[(i * 3 + round) % 8].wait();
      for (const auto& ring : rings)
        wrong += ring->received != static_cast<std::int64_t>(round) + 1000 * ring->previous;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("rounds run one after the other, and what follows them on the way") {
  const auto world = Communicator::collective_world();
  const int size = world.size();
  for (const Options& options : all_options()) {
    CommThread comm_thread(options);
    // Pass the own number on until everybody has seen every number.
    std::int64_t sent = 0, received = 0, sum = 0;
    Schedule::Builder builder(world, "pass on");
    for (int step = 0; step < size; ++step) {
      builder.receive(&received, sizeof received, (world.rank() + size - 1) % size);
      builder.send(&sent, sizeof sent, (world.rank() + 1) % size);
      builder.end_round([&] {
        sum += received;
        sent = received;
      });
    }
    const auto schedule = builder.build();
    int wrong = 0;
    for (int run = 0; run < 40; ++run) {
      sum = 0;
      sent = world.rank() + run;
      comm_thread.post(*schedule).wait();
      wrong += sum != size * (size - 1) / 2 + size * run || sent != world.rank() + run;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("a schedule without messages is complete at once and still runs what follows") {
  const auto world = Communicator::collective_world();
  for (const Options& options : all_options()) {
    CommThread comm_thread(options);
    const auto empty = Schedule::Builder(world, "nothing").build();
    CHECK(empty->is_empty());
    comm_thread.post(*empty).wait();
    int calls = 0;
    const auto local = Schedule::Builder(world, "local").end_round([&] { ++calls; }).build();
    CHECK_FALSE(local->is_empty());
    for (int run = 0; run < 10; ++run) comm_thread.post(*local).wait();
    CHECK(calls == 10);
  }
}

/// Two messages to this rank itself, sent one by one.
struct TwoToMyself {
  explicit TwoToMyself(const Communicator& communicator) {
    const int rank = communicator.rank();
    receives = Schedule::Builder(communicator, "receive two")
                   .receive(&received[0], sizeof(int), rank, 10)
                   .receive(&received[1], sizeof(int), rank, 11)
                   .build();
    for (int i = 0; i < 2; ++i)
      sends[static_cast<std::size_t>(i)] =
          Schedule::Builder(communicator, "send one")
              .send(&numbers[static_cast<std::size_t>(i)], sizeof(int), rank, 10 + i)
              .build();
  }
  std::array<int, 2> numbers{7, 8};
  std::array<int, 2> received{};
  std::unique_ptr<Schedule> receives;
  std::array<std::unique_ptr<Schedule>, 2> sends;
};

TEST_CASE("each receive is reported when it is complete, whatever the others do") {
  const auto world = Communicator::collective_world();
  for (const Options& options : all_options()) {
    CommThread comm_thread(options);
    TwoToMyself messages(world);
    for (int run = 1; run <= 20; ++run) {
      const std::size_t first = run % 2 == 0 ? 0 : 1;
      const std::size_t second = 1 - first;
      messages.numbers = {run, 2 * run};
      const Pending both = comm_thread.post(*messages.receives);
      CHECK_FALSE(both.test_receive(first));
      comm_thread.post(*messages.sends[first]).wait();
      both.wait_receive(first);
      CHECK(messages.received[first] == messages.numbers[first]);
      CHECK_FALSE(both.test_receive(second));
      CHECK_FALSE(both.test());
      CHECK(messages.receives->missing() ==
            "receive two: receive from rank " + std::to_string(world.rank()));
      comm_thread.post(*messages.sends[second]).wait();
      both.wait();
      CHECK(both.test_receive(second));
      CHECK(messages.received[second] == messages.numbers[second]);
    }
  }
}

TEST_CASE("what is started on the calling thread is progressed by whoever waits for it") {
  const auto world = Communicator::collective_world();
  for (const Options& options : all_options()) {
    CommThread comm_thread(options);
    TwoToMyself messages(world);
    for (int run = 1; run <= 20; ++run) {
      messages.numbers = {run, 2 * run};
      const Pending both = comm_thread.start_here(*messages.receives);
      CHECK_THROWS_AS(comm_thread.post(*messages.receives), std::logic_error);
      CHECK_FALSE(both.test());
      comm_thread.post(*messages.sends[0]).wait();
      both.wait_receive(0);
      CHECK_FALSE(both.test());
      comm_thread.start_here(*messages.sends[1]).wait();
      both.wait();
      CHECK(messages.received == messages.numbers);
    }
  }
}

TEST_CASE("a schedule in flight cannot be posted again") {
  const auto world = Communicator::collective_world();
  for (const Options& options : all_options()) {
    CommThread comm_thread(options);
    TwoToMyself messages(world);
    const Pending both = comm_thread.post(*messages.receives);
    CHECK_THROWS_WITH(comm_thread.post(*messages.receives),
                      "receive two was posted while its last run is in flight");
    for (const auto& send : messages.sends) comm_thread.post(*send).wait();
    both.wait();
    CHECK(messages.receives->finished_runs() == 1);
  }
}

TEST_CASE("destroying the thread completes what is in flight") {
  const auto world = Communicator::collective_world();
  for (const Options& options : all_options())
    for (int round = 0; round < 8; ++round) {
      Ring ring(world, 0);
      ring.sent = 5 + ring.rank;
      {
        CommThread comm_thread(options);
        if (round % 2 == 0)
          comm_thread.post(*ring.schedule);
        else
          comm_thread.start_here(*ring.schedule);
      }
      CHECK(ring.received == 5 + ring.previous);
    }
}

TEST_CASE("destroying a schedule completes its run") {
  const auto world = Communicator::collective_world();
  for (const Options& options : all_options()) {
    CommThread comm_thread(options);
    Ring ring(world, 0);
    for (int round = 0; round < 8; ++round) {
      Ring short_lived(world, 1);
      short_lived.sent = round + ring.rank;
      if (round % 2 == 0)
        comm_thread.post(*short_lived.schedule);
      else
        comm_thread.start_here(*short_lived.schedule);
      short_lived.schedule.reset();
      CHECK(short_lived.received == round + ring.previous);
    }
  }
}

TEST_CASE("a wait that lasts names who is awaited, and goes on") {
  const auto world = Communicator::collective_world();
  for (Options options : all_options()) {
    std::string awaited;
    double after = 0;
    options.stall_seconds = 0.02;
    options.on_stall = [&](const std::string& missing, double seconds) {
      if (!awaited.empty()) return;
      awaited = missing;
      after = seconds;
      world.barrier();  // the others send only now
    };
    CommThread comm_thread(options);
    if (world.size() == 1) return;
    if (world.is_root()) {
      int number = 0;
      const auto schedule = Schedule::Builder(world, "late message")
                                .receive(&number, sizeof number, world.size() - 1)
                                .build();
      comm_thread.post(*schedule).wait();
      CHECK(number == 17);
      CHECK(awaited == "late message: receive from rank " + std::to_string(world.size() - 1));
      CHECK(after >= 0.02);
    } else {
      const int number = 17;
      const auto schedule =
          Schedule::Builder(world, "late message").send(&number, sizeof number, 0).build();
      world.barrier();
      if (world.rank() == world.size() - 1) comm_thread.post(*schedule).wait();
      CHECK(awaited.empty());
    }
  }
}

TEST_CASE("a failure of MPI reaches whoever waits") {
  const auto world = Communicator::collective_world();
  if (world.size() == 1) return;  // Open MPI truncates a message to oneself without a word
  for (const Options& options : all_options()) {
    CommThread comm_thread(options);
    std::array<int, 4> sent{};
    std::array<int, 2> too_short{};
    const auto schedule = Schedule::Builder(world, "truncated")
                              .receive(too_short.data(), sizeof too_short,
                                       (world.rank() + world.size() - 1) % world.size())
                              .send(sent.data(), sizeof sent, (world.rank() + 1) % world.size())
                              .build();
    const Pending pending = comm_thread.post(*schedule);
    CHECK_THROWS_AS(pending.wait(), MpiError);
    Ring ring(world, 1);
    ring.sent = 3 + ring.rank;
    comm_thread.post(*ring.schedule).wait();
    CHECK(ring.received == 3 + ring.previous);
  }
}

TEST_CASE("the thread runs what pins it, wakes from its sleep, and ends without work") {
  const auto world = Communicator::collective_world();
  for (Options options : all_options()) {
    std::atomic<int> starts{0};
    options.on_start = [&] { ++starts; };
    {
      CommThread unused(options);
    }
    CHECK(starts == (options.thread_level == ThreadLevel::multiple ? 1 : 0));
    CommThread comm_thread(options);
    Ring ring(world, 0);
    for (int round = 0; round < 5; ++round) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));  // long enough to park
      ring.sent = round + ring.rank;
      comm_thread.post(*ring.schedule).wait();
      CHECK(ring.received == round + ring.previous);
    }
    CHECK((comm_thread.cpu_seconds() > 0) == comm_thread.has_thread());
  }
}

}  // namespace
}  // namespace weft::comm_thread
