#include "perfmodel/thread_trace.h"

#include <string>
#include <thread>

#include <catch2/catch.hpp>

#include "perfmodel/phase_times.h"

namespace {

using weft::perfmodel::Phase;
using weft::perfmodel::PhaseScope;
using weft::perfmodel::PhaseTimer;
using weft::perfmodel::ThreadTrace;
using Kind = ThreadTrace::Kind;

}  // namespace

TEST_CASE("a ring keeps the newest events and counts what it lost") {
  ThreadTrace trace(4);
  for (int i = 0; i < 10; ++i) trace.record("event", Kind::span, i, i + 1, i);
  CHECK(trace.recorded_count() == 10);
  CHECK(trace.dropped_count() == 6);
  const auto events = trace.events_by_begin();
  CHECK(events.size() == 4);
  CHECK(events.front().argument == 6);
  CHECK(events.back().argument == 9);
}

TEST_CASE("events come by their begin, the longer ones first") {
  ThreadTrace trace(8);
  trace.record("inner", Kind::span, 10, 12);
  trace.record("outer", Kind::span, 10, 20);
  trace.record("first", Kind::span, 3, 9);
  const auto events = trace.events_by_begin();
  CHECK(std::string(events[0].name) == "first");
  CHECK(std::string(events[1].name) == "outer");
  CHECK(std::string(events[2].name) == "inner");
}

TEST_CASE("only a thread with a ring records") {
  ThreadTrace trace(8);
  weft::perfmodel::trace_instant("not recorded");
  trace.attach();
  weft::perfmodel::trace_instant("recorded", 3);
  std::thread([] { weft::perfmodel::trace_instant("of another thread"); }).join();
  ThreadTrace::detach();
  weft::perfmodel::trace_instant("not recorded");
  CHECK(trace.recorded_count() == 1);
  CHECK(trace.events_by_begin()[0].argument == 3);
}

TEST_CASE("the phases of a thread follow each other without a gap, timed or not") {
  for (const int thread : {0, 1}) {
    INFO("thread " << thread);
    ThreadTrace trace(8);
    trace.attach();
    PhaseTimer timer;
    timer.start(thread);
    {
      const PhaseScope scope(timer, thread, Phase::local_part);
    }
    timer.lap(thread, Phase::reduction);
    ThreadTrace::detach();
    const auto events = trace.events_by_begin();
    CHECK(events.size() == 2);
    CHECK(std::string(events[0].name) == "local_part");
    CHECK(std::string(events[1].name) == "reduction");
    CHECK(events[0].end_ns == events[1].begin_ns);
    CHECK((timer.times().total() > 0) == (thread == 0));
  }
}
