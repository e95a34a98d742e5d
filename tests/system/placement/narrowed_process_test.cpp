// Where threads go in whole runs, when something has narrowed the process or its time.
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/system/json_report.h"
#include "tests/system/program_run.h"

namespace {

using nlohmann::json;
using weft::tests::Environment;
using weft::tests::report_of;
using weft::tests::run_weft;

std::vector<int> pus_of_this_process() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  sched_getaffinity(0, sizeof(mask), &mask);
  std::vector<int> pus;
  for (int pu = 0; pu < CPU_SETSIZE; ++pu)
    if (CPU_ISSET(pu, &mask)) pus.push_back(pu);
  return pus;
}

void keep_to(const std::vector<int>& pus) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (const int pu : pus) CPU_SET(pu, &mask);
  sched_setaffinity(0, sizeof(mask), &mask);
}

/// Keeps this process, and what it starts, to `pus`, as taskset does.
class Taskset {
 public:
  explicit Taskset(const std::vector<int>& pus) { keep_to(pus); }
  ~Taskset() { keep_to(before_); }
  Taskset(const Taskset&) = delete;
  Taskset& operator=(const Taskset&) = delete;

 private:
  std::vector<int> before_ = pus_of_this_process();
};

struct Outcome {
  std::multiset<int> pus;  // of the compute threads of all ranks
  std::string findings;
};

Outcome topology(int ranks, const std::vector<std::string>& options,
                 const Environment& environment = {}) {
  std::vector<std::string> words{"topology", "--json", "-"};
  words.insert(words.end(), options.begin(), options.end());
  const auto result = run_weft(ranks, words, environment);
  INFO(result.errors);
  CHECK(result.exit_code == 0);
  Outcome outcome;
  const json report = report_of(result);
  for (const json& rank : report["placement"]["ranks"]) {
    for (const json& pu : rank["compute_pus"]) outcome.pus.insert(pu.get<int>());
    for (const json& finding : rank["findings"])
      outcome.findings += finding["text"].get<std::string>() + "\n";
  }
  return outcome;
}

bool says(const Outcome& outcome, const std::string& part) {
  return outcome.findings.find(part) != std::string::npos;
}

TEST_CASE("the mask that weft was started with is left with --pin-beyond-mask only") {
  const std::vector<int> all = pus_of_this_process();
  if (all.size() < 2) return;
  for (const int pu : {all.front(), all.back()})
    for (const Environment& environment : {Environment{}, Environment{{"OMP_PROC_BIND", "true"}}})
      for (const int ranks : {1, 2}) {
        CAPTURE(pu, ranks, environment.size());
        const Taskset taskset({pu});
        const Outcome kept = topology(ranks, {"--threads", "2"}, environment);
        CHECK(kept.pus.size() == static_cast<std::size_t>(2 * ranks));
        CHECK(std::set<int>(kept.pus.begin(), kept.pus.end()) == std::set<int>{pu});
        CHECK(says(kept, "--pin-beyond-mask"));
        CHECK_FALSE(says(kept, "the launcher left"));
        const Outcome left = topology(1, {"--threads", "2", "--pin-beyond-mask"}, environment);
        CHECK(std::set<int>(left.pus.begin(), left.pus.end()).size() == 2);
        CHECK(says(left, "--pin-beyond-mask"));
      }
}

TEST_CASE("OpenMP's binding of the main thread takes no cores away, and is named") {
  const std::vector<int> all = pus_of_this_process();
  if (all.size() < 2) return;
  const Outcome free = topology(1, {});
  for (const auto& [name, value] : Environment{
           {"OMP_PROC_BIND", "true"}, {"OMP_PROC_BIND ", "spread"}, {"OMP_PLACES", "cores"}}) {
    const std::string variable = name.substr(0, name.find(' '));
    CAPTURE(variable, value);
    const Outcome bound = topology(1, {}, {{variable, value}});
    CHECK(bound.pus == free.pus);
    CHECK(says(bound, variable + "=" + value + " had bound the main thread"));
    CHECK_FALSE(says(bound, "launcher"));
    const Outcome two_ranks = topology(2, {"--threads", "1"}, {{variable, value}});
    CHECK(std::set<int>(two_ranks.pus.begin(), two_ranks.pus.end()).size() == 2);
  }
}

TEST_CASE("threads stay in the places that OMP_PLACES names") {
  const std::vector<int> all = pus_of_this_process();
  if (all.size() < 2) return;
  const std::string places = "{" + std::to_string(all.back()) + "}";
  for (const std::string threads : {"0", "2"}) {
    const Outcome placed = topology(1, {"--threads", threads}, {{"OMP_PLACES", places}});
    CHECK(std::set<int>(placed.pus.begin(), placed.pus.end()) == std::set<int>{all.back()});
    CHECK(says(placed, "OMP_PLACES=" + places + " left"));
  }
}

/// A control group of this process, and of what it starts, with the time of one core; not made
/// where that is not allowed.
class OneCoreQuota {
 public:
  OneCoreQuota() {
    namespace fs = std::filesystem;
    const bool is_v2 = fs::exists("/sys/fs/cgroup/cgroup.controllers");
    const std::string root = is_v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu";
    folder_ = root + "/weft-test-" + std::to_string(getpid());
    std::error_code error;
    if (!fs::create_directory(folder_, error)) return;
    tasks_ = is_v2 ? "/cgroup.procs" : "/tasks";
    before_ = root + tasks_;
    is_made_ = is_v2 ? write(folder_ + "/cpu.max", "100000 100000")
                     : write(folder_ + "/cpu.cfs_period_us", "100000") &&
                           write(folder_ + "/cpu.cfs_quota_us", "100000");
    is_made_ = is_made_ && write(folder_ + tasks_, std::to_string(getpid()));
  }
  ~OneCoreQuota() {
    if (is_made_) write(before_, std::to_string(getpid()));
    rmdir(folder_.c_str());
  }
  OneCoreQuota(const OneCoreQuota&) = delete;
  OneCoreQuota& operator=(const OneCoreQuota&) = delete;
  bool is_made() const { return is_made_; }

 private:
  static bool write(const std::string& path, const std::string& text) {
    std::ofstream file(path);
    file << text;
    file.close();
    return file.good();
  }

  std::string folder_, tasks_, before_;
  bool is_made_ = false;
};

TEST_CASE("a quota of one core gives one compute thread, and topology shows it") {
  if (pus_of_this_process().size() < 2) return;
  const OneCoreQuota quota;
  if (!quota.is_made()) return;
  const auto result = run_weft(1, {"topology"});
  CHECK(result.exit_code == 0);
  CHECK(result.output.find("quota        1 core of processor time for 1 rank of") !=
        std::string::npos);
  CHECK(result.output.find("compute 1") == std::string::npos);
  CHECK(topology(1, {}).pus.size() == 1);
  CHECK(says(topology(1, {"--threads", "2"}), "2 compute threads will be stopped in each period"));
  CHECK(says(topology(2, {}), "to ranks 0,1, whose 2 compute threads will be stopped"));
}

}  // namespace
