#include <cstddef>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/probe/progress_probe.h"
#include "tests/support/mpi_main.h"

namespace weft::comm_thread {
namespace {

constexpr std::size_t word_bytes = sizeof(ProgressProbe::Word);

/// Below and above the sizes from which on MPI libraries negotiate; odd numbers of words.
const std::vector<std::size_t> sizes{word_bytes, 3 * word_bytes, 1001 * word_bytes,
                                     100'003 * word_bytes};

CommThread::Options options_with(ThreadLevel level, WaitPolicy idle) {
  CommThread::Options options;
  options.thread_level = level;
  options.idle = idle;
  return options;
}

/// Everything arrives, again and again, and nothing is right before it was sent.
void check_arrivals(const Communicator& world, CommThread& thread, ProgressOperation operation,
                    ProgressMethod method) {
  for (const std::size_t bytes : sizes) {
    INFO(name(operation) << ", " << name(method) << ", " << bytes << " bytes");
    const auto all_words = static_cast<std::int64_t>(bytes / word_bytes) * world.size();
    ProgressProbe probe(world, thread, operation, bytes, WaitPolicy::yield);
    for (int round = 0; round < 2; ++round) {
      CHECK(probe.collective_wrong_words() == all_words);
      for (int run = 0; run < 2; ++run) {
        probe.start(method);
        probe.wait();
      }
      CHECK(probe.collective_wrong_words() == 0);
      probe.collective_refill();
    }
  }
}

TEST_CASE("every operation delivers what was sent, whoever moves it") {
  const auto world = Communicator::collective_world();
  const ThreadLevel level = tests::session().thread_level();
  CommThread yielding(options_with(level, WaitPolicy::yield));
  CommThread none(options_with(ThreadLevel::serialized, WaitPolicy::yield));
  for (const auto operation :
       {ProgressOperation::isend_irecv, ProgressOperation::put_flush, ProgressOperation::all_reduce,
        ProgressOperation::neighbour_exchange}) {
    check_arrivals(world, yielding, operation, ProgressMethod::plain);
    check_arrivals(world, yielding, operation, ProgressMethod::communication_thread);
  }
  check_arrivals(world, none, ProgressOperation::neighbour_exchange,
                 ProgressMethod::communication_thread);
}

TEST_CASE("the two ways to start take turns on one probe") {
  const auto world = Communicator::collective_world();
  CommThread thread(options_with(tests::session().thread_level(), WaitPolicy::yield));
  ProgressProbe probe(world, thread, ProgressOperation::isend_irecv, 4096, WaitPolicy::yield);
  for (int round = 0; round < 4; ++round) {
    probe.start(round % 2 == 0 ? ProgressMethod::communication_thread : ProgressMethod::plain);
    probe.wait();
    CHECK(probe.collective_wrong_words() == 0);
    probe.collective_refill();
  }
}

TEST_CASE("a probe that is destroyed in flight completes first") {
  const auto world = Communicator::collective_world();
  CommThread thread(options_with(tests::session().thread_level(), WaitPolicy::yield));
  for (int round = 0; round < 8; ++round) {
    ProgressProbe probe(world, thread, ProgressOperation::neighbour_exchange, 40'000,
                        WaitPolicy::yield);
    probe.start(ProgressMethod::communication_thread);
  }
  CHECK(world.sum(std::int64_t{1}) == world.size());
}

TEST_CASE("all ranks are told the same positive latency") {
  const auto world = Communicator::collective_world();
  if (world.size() == 1) return;
  const double seconds = collective_latency_seconds(world);
  CHECK(seconds > 0);
  CHECK(world.min(seconds) == world.max(seconds));
}

}  // namespace
}  // namespace weft::comm_thread
