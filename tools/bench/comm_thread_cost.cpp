// Measures the cost of the communication thread against weft's targets: for the posting thread, and
// for the computation beside it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/schedule.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/mpi_session.h"
#include "comm_thread/placement/thread_binding.h"
#include "comm_thread/placement/topology.h"
#include "library/measure/calibrated_work.h"
#include "perfmodel/bandwidth_kernels.h"
#include "perfmodel/huge_page_buffer.h"
#include "perfmodel/statistics.h"
#include "perfmodel/stopwatch.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"

namespace {

using weft::comm_thread::CommThread;
using weft::comm_thread::Communicator;
using weft::comm_thread::MpiSession;
using weft::comm_thread::Schedule;
using weft::comm_thread::ThreadLevel;
using weft::comm_thread::Topology;
using weft::comm_thread::WaitPolicy;
using weft::library::CalibratedWork;
using weft::perfmodel::HugePageBuffer;
using weft::perfmodel::Statistics;
using weft::perfmodel::Stopwatch;
using weft::perfmodel::summarise;
using weft::tools::Json;

/// Long enough for the thread to find nothing to do and park.
constexpr std::chrono::milliseconds until_parked{5};
constexpr std::size_t memory_bytes = std::size_t{256} << 20;  // well above any last-level cache

struct CostOptions {
  bool is_quick = false;
  std::string json_path;
};

/// Core of the communication thread relative to that of the thread that posts and computes.
struct Arrangement {
  std::string name;
  unsigned communication_pu;
  WaitPolicy idle;
};

/// One line of the table. `target`: most that it may be.
struct Cost {
  std::string what;
  std::string core;
  std::string unit;
  double value = 0;
  double spread = 0;
  std::optional<double> target;
};

class CostMeasurement {
 public:
  CostMeasurement(const MpiSession& session, const Communicator& world, bool is_quick)
      : session_(session),
        world_(world),
        samples_(is_quick ? 3 : 15),
        idle_seconds_(is_quick ? 0.05 : 1.0),
        topology_(Topology::from_this_machine()),
        memory_(memory_bytes / sizeof(double) / (is_quick ? 16 : 1)) {
    std::fill(memory_.data(), memory_.data() + memory_.size(), 1.0);
    choose_cores();
    // An empty schedule: measures only the cost of posting.
    schedule_ = Schedule::Builder(world_, "nothing").end_round([] {}).build();
  }

  std::vector<Cost> collective_measure() {
    for (const Arrangement& arrangement : arrangements_) {
      measure_hand_over(arrangement);
      measure_idle_share(arrangement);
      measure_slowdown(arrangement, "slowdown of computation in registers",
                       [this] { CalibratedWork::run(work_.steps_for(0.02)); });
      measure_slowdown(arrangement, "slowdown of a memory-bound sum", [this] {
        volatile double sum =
            weft::perfmodel::load_probe(memory_.data(), static_cast<std::int64_t>(memory_.size()));
        static_cast<void>(sum);
      });
    }
    for (Cost& cost : costs_) {  // of the rank that pays most
      cost.value = world_.max(cost.value);
      cost.spread = world_.max(cost.spread);
    }
    return costs_;
  }

 private:
  /// Ranks of a node take the PUs two by two: one computes, the other, where there is one left, is
  /// the communication thread's own.
  void choose_cores() {
    const Communicator node = world_.collective_split_node();
    const auto pus = permitted_pus_of_this_process(topology_);
    const auto first = 2 * static_cast<std::size_t>(node.rank()) % pus.size();
    if (world_.max(std::int64_t{2 * node.size()}) <= static_cast<std::int64_t>(pus.size()))
      arrangements_.push_back({"own core", pus[first + 1], WaitPolicy::spin});
    arrangements_.push_back({"shared core", pus[first], WaitPolicy::yield});
    bind_this_thread(topology_, pus[first]);
  }

  std::unique_ptr<CommThread> start_thread(const Arrangement& arrangement) {
    const unsigned pu = arrangement.communication_pu;
    return std::make_unique<CommThread>(
        CommThread::Options{.thread_level = session_.thread_level(),
                            .idle = arrangement.idle,
                            .wait = arrangement.idle,
                            .on_start = [this, pu] { bind_this_thread(topology_, pu); }});
  }

  void add(const std::string& what, const Arrangement& arrangement, const std::string& unit,
           const std::vector<double>& samples, std::optional<double> target) {
    const Statistics statistics = summarise(samples);
    costs_.push_back({what, arrangement.name, unit, statistics.median, statistics.spread, target});
  }

  void measure_hand_over(const Arrangement& arrangement) {
    const bool has_own_core = arrangement.idle == WaitPolicy::spin;
    const auto thread = start_thread(arrangement);
    constexpr int rounds = 1000;
    std::vector<double> post, round_trip, post_to_parked;
    for (int sample = 0; sample < samples_; ++sample) {
      double post_seconds = 0;
      thread->post(*schedule_).wait();
      const Stopwatch all;
      for (int i = 0; i < rounds; ++i) {
        const Stopwatch one;
        const auto pending = thread->post(*schedule_);
        post_seconds += one.seconds();
        pending.wait();
      }
      round_trip.push_back(1e6 * all.seconds() / rounds);
      post.push_back(1e6 * post_seconds / rounds);
    }
    for (int sample = 0; sample < 4 * samples_; ++sample) {
      std::this_thread::sleep_for(until_parked);
      const Stopwatch one;
      const auto pending = thread->post(*schedule_);
      post_to_parked.push_back(1e6 * one.seconds());
      pending.wait();
    }
    add("post, for the caller", arrangement, "us", post, 1.0);
    add("post when the thread has parked", arrangement, "us", post_to_parked, std::nullopt);
    add("post and wait, nothing to do", arrangement, "us", round_trip,
        has_own_core ? std::optional(2.0) : std::nullopt);
  }

  void measure_idle_share(const Arrangement& arrangement) {
    const auto thread = start_thread(arrangement);
    thread->post(*schedule_).wait();
    std::this_thread::sleep_for(until_parked);
    const double before = thread->cpu_seconds();
    const Stopwatch watch;
    std::this_thread::sleep_for(std::chrono::duration<double>(idle_seconds_));
    const double share = (thread->cpu_seconds() - before) / watch.seconds();
    add("thread idle, of a core", arrangement, "%", {100 * share}, 1.0);
  }

  /// With the thread and without it in turn; who is first changes, too.
  void measure_slowdown(const Arrangement& arrangement, const std::string& what,
                        const std::function<void()>& compute) {
    const auto time = [&](bool with_thread) {
      std::unique_ptr<CommThread> thread;
      if (with_thread) {
        thread = start_thread(arrangement);
        thread->post(*schedule_).wait();
      }
      std::this_thread::sleep_for(until_parked);
      const Stopwatch watch;
      compute();
      return watch.seconds();
    };
    time(true);
    std::vector<double> with, without;
    for (int sample = 0; sample < samples_; ++sample)
      for (const bool with_thread : {sample % 2 == 0, sample % 2 != 0})
        (with_thread ? with : without).push_back(time(with_thread));
    const double base = weft::perfmodel::median(without);
    for (double& seconds : with) seconds = 100 * (seconds / base - 1);
    add(what, arrangement, "%", with, 2.0);
  }

  const MpiSession& session_;
  const Communicator& world_;
  int samples_;
  double idle_seconds_;
  Topology topology_;
  HugePageBuffer<double> memory_;
  CalibratedWork work_;
  std::vector<Arrangement> arrangements_;
  std::unique_ptr<Schedule> schedule_;
  std::vector<Cost> costs_;
};

bool is_met(const Cost& cost) { return !cost.target || cost.value <= *cost.target; }

void print_table(const std::vector<Cost>& costs) {
  fmt::print("{:<38}{:<13}{:>12}{:>10}{:>12}\n", "cost of the communication thread", "it runs on",
             "median", "spread", "target");
  for (const Cost& cost : costs)
    fmt::print("{:<38}{:<13}{:>9.2f} {:<2}{:>7.2f} {:<2}{:>12}{}\n", cost.what, cost.core,
               cost.value, cost.unit, cost.spread, cost.unit,
               cost.target ? fmt::format("<= {:g} {}", *cost.target, cost.unit) : "-",
               is_met(cost) ? "" : "  MISSED");
}

Json to_json(const std::vector<Cost>& costs) {
  Json list = Json::array();
  for (const Cost& cost : costs)
    list.push_back({{"what", cost.what},
                    {"communication_core", cost.core},
                    {"unit", cost.unit},
                    {"value", cost.value},
                    {"spread", cost.spread},
                    {"target", cost.target ? Json(*cost.target) : Json(nullptr)},
                    {"is_met", is_met(cost)}});
  return list;
}

void collective_run(const MpiSession& session, const CostOptions& options) {
  if (session.thread_level() != ThreadLevel::multiple)
    throw weft::comm_thread::InputError("found " + name(session.thread_level()) +
                                        "; expected MPI_THREAD_MULTIPLE: no thread, no cost");
  std::vector<Cost> costs;
  {
    const auto world = Communicator::collective_world();
    costs = CostMeasurement(session, world, options.is_quick).collective_measure();
  }
  // After the measurements: it has a thread, too.
  auto job = weft::tools::collective_start_job(session, {.threads = 1});
  const weft::tools::ReportFile report_file(job, options.json_path);
  Json report = weft::tools::collective_start_report(job, "comm_thread_cost");
  report["costs"] = to_json(costs);
  if (report_file.collective_write(report)) print_table(costs);
}

}  // namespace

int main(int argument_count, char** arguments) {
  const MpiSession session;
  CostOptions options;
  CLI::App program("Measures what the communication thread costs; run it on 1 rank or more.",
                   "comm_thread_cost");
  program.add_flag("--quick", options.is_quick, "few samples: only to see that it works");
  program
      .add_option("--json", options.json_path, "write the report as JSON; - for standard output")
      ->type_name("FILE|-");
  try {
    program.parse(argument_count, arguments);
    collective_run(session, options);
    return 0;
  } catch (const CLI::ParseError& error) {
    return program.exit(error);
  } catch (const weft::comm_thread::InputError& error) {
    fmt::print(stderr, "comm_thread_cost: {}\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "comm_thread_cost: {}\n", error.what());
    MpiSession::abort(EXIT_FAILURE);
  }
}
