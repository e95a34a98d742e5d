#include <atomic>
#include <string>

#include <catch2/catch.hpp>

#include "comm_thread/engine/all_reduce.h"
#include "comm_thread/job/job.h"
#include "comm_thread/mpi/input_error.h"
#include "tests/support/mpi_main.h"
#include "tests/support/thread_count.h"

namespace weft::comm_thread {
namespace {

TEST_CASE("a job computes with the threads asked for and communicates beside them") {
  Job job({.threads = tests::thread_count()});
  CHECK(job.session().thread_level() == tests::session().thread_level());
  std::atomic<int> ran{0};
  job.team().run([&](const TeamThread&) { ++ran; });
  CHECK(ran == tests::thread_count());
  CHECK(job.placement().compute_pus.size() == static_cast<std::size_t>(tests::thread_count()));
  CHECK(job.audit_compute_threads().size() == static_cast<std::size_t>(tests::thread_count()));
  CHECK(job.audit_communication_thread().has_value() == job.comm_thread().has_thread());

  AllReduce sum(job.comm_thread_world(), ReduceOperation::sum, 1, 0);
  sum.values()[0] = 1;
  sum.post(job.comm_thread()).wait();
  CHECK(sum.values()[0] == job.world().size());
}

TEST_CASE("without options a job has a thread, and an MPI session that began before stays") {
  {
    const Job job;
  }
  const Job job(tests::session());
  CHECK(job.team().thread_count() >= 1);
  CHECK(job.world().sum(1.0) == job.world().size());
}

TEST_CASE("threads that would share a hardware thread are refused on every rank") {
  CHECK_THROWS_AS(Job({.threads = 60'000, .strict_placement = true}), InputError);
  CHECK(tests::session().thread_level() == ThreadLevel::multiple);
}

TEST_CASE("a job tells its caller for whom it waits") {
  std::string told;
  Job job({.threads = 1,
           .on_stall = [&](const std::string& awaited, double) { told = awaited; },
           .stall_seconds = 0.001});
  job.comm_thread().wait_for([&] { return !told.empty(); }, [] { return std::string("nobody"); });
  CHECK(told == "nobody");
}

}  // namespace
}  // namespace weft::comm_thread
