#include "comm_thread/placement/cpu_quota.h"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/placement/control_groups.h"
#include "tests/comm_thread/placement/fake_system.h"

namespace weft::comm_thread {
namespace {

const std::string v2_mount = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n";
const std::string v1_mounts =
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
    "33 31 0:30 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n";

/// Cores of all quotas, the own group first.
std::vector<double> cores_of(const FakeSystem& system) {
  std::vector<double> cores;
  for (const CpuQuota& quota : cpu_quotas(system.root())) cores.push_back(quota.cores());
  return cores;
}

/// A process in the group /a/b of version 2, whose file is `text`.
std::vector<double> cores_of_v2(const std::string& text) {
  const FakeSystem system;
  system.write("proc/self/mountinfo", v2_mount);
  system.write("proc/self/cgroup", "0::/a/b\n");
  system.write("sys/fs/cgroup/a/b/cpu.max", text);
  return cores_of(system);
}

/// A process in the group /a of version 1, whose files are these.
std::vector<double> cores_of_v1(const std::string& quota, const std::string& period) {
  const FakeSystem system;
  system.write("proc/self/mountinfo", v1_mounts);
  system.write("proc/self/cgroup", "3:cpuset:/c\n2:cpu,cpuacct:/a\n");
  system.write("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", quota);
  system.write("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", period);
  // Of a controller that has another group.
  system.write("sys/fs/cgroup/cpuset/c/cpu.cfs_quota_us", "1000");
  system.write("sys/fs/cgroup/cpuset/c/cpu.cfs_period_us", "100000");
  return cores_of(system);
}

using Cores = std::vector<double>;

TEST_CASE("a quota of version 2 is read") {
  CHECK(cores_of_v2("150000 100000\n") == Cores{1.5});
  CHECK(cores_of_v2("20000 10000") == Cores{2});
  CHECK(cores_of_v2("max 100000\n").empty());
}

TEST_CASE("a quota of version 1 is read, from the hierarchy of its controller") {
  CHECK(cores_of_v1("50000\n", "100000\n") == Cores{0.5});
  CHECK(cores_of_v1("-1\n", "100000\n").empty());
}

TEST_CASE("files of quotas that nobody understands are no quota") {
  for (const std::string text :
       {"", "\n", "100000", "100000 0", "0 100000", "-1 100000", "x 100000", "1e5 100000",
        "100000 100000 3", "99999999999999999999 100000", "100000 max", "1.5 1"}) {
    CAPTURE(text);
    CHECK(cores_of_v2(text).empty());
  }
  CHECK(cores_of_v2(std::string("\0\1\2 \377", 5)).empty());
  CHECK(cores_of_v1("100000", "").empty());
  CHECK(cores_of_v1("", "100000").empty());
  CHECK(cores_of_v1("100000", "0").empty());
  CHECK(cores_of_v1("1 2", "100000").empty());
}

TEST_CASE("the quotas of all groups around a process are read, its own first") {
  const FakeSystem system;
  system.write("proc/self/mountinfo", v2_mount);
  system.write("proc/self/cgroup", "0::/a/b/c\n");
  system.write("sys/fs/cgroup/a/b/c/cpu.max", "max 100000");
  system.write("sys/fs/cgroup/a/b/cpu.max", "400000 100000");
  system.write("sys/fs/cgroup/a/cpu.max", "300000 100000");
  system.write("sys/fs/cgroup/a/other/cpu.max", "1000 100000");
  CHECK(cores_of(system) == Cores{4, 3});
  CHECK(cpu_quotas(system.root()).front().file ==
        (system.root() / "sys/fs/cgroup/a/b/cpu.max").string());
}

TEST_CASE(
    "in a container, whose group is mounted as the root of the hierarchy, its quota is read") {
  SECTION("version 1 with the names of the host") {
    const FakeSystem system;
    system.write("proc/self/mountinfo",
                 "9 8 0:3 /docker/12ab /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n");
    system.write("proc/self/cgroup", "4:cpu:/docker/12ab\n");
    system.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000");
    system.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
    CHECK(cores_of(system) == Cores{2});
    system.write("proc/self/cgroup", "4:cpu:/docker/12ab/inner\n");
    system.write("sys/fs/cgroup/cpu/inner/cpu.cfs_quota_us", "50000");
    system.write("sys/fs/cgroup/cpu/inner/cpu.cfs_period_us", "100000");
    CHECK(cores_of(system) == Cores{0.5, 2});
  }
  SECTION("version 2 with a namespace of its own, or with names that are not mounted") {
    const FakeSystem system;
    system.write("proc/self/mountinfo", v2_mount);
    system.write("sys/fs/cgroup/cpu.max", "250000 100000");
    for (const std::string group : {"/", "/docker/12ab", "/../other"}) {
      CAPTURE(group);
      system.write("proc/self/cgroup", "0::" + group + "\n");
      CHECK(cores_of(system) == Cores{2.5});
    }
  }
}

TEST_CASE("with both versions at once, and mounted twice, each group counts once") {
  const FakeSystem system;
  system.write("proc/self/mountinfo",
               v1_mounts + "40 31 0:40 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n" +
                   "41 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n");
  system.write("proc/self/cgroup", "2:cpuacct,cpu:/a\n0::/u\n");
  system.write("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "100000");
  system.write("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "50000");
  system.write("sys/fs/cgroup/unified/u/cpu.max", "300000 100000");
  CHECK(cores_of(system) == Cores{2, 3});
}

TEST_CASE("blanks in the path of a mount are read as the kernel writes them") {
  const FakeSystem system;
  system.write("proc/self/mountinfo", "1 2 0:3 / /my\\040groups rw - cgroup2 none rw\n");
  system.write("proc/self/cgroup", "0::/a\n");
  system.write("my groups/a/cpu.max", "100000 100000");
  CHECK(cores_of(system) == Cores{1});
}

TEST_CASE("without control groups, or with lines that make no sense, there is no quota") {
  const FakeSystem nothing;
  CHECK(cpu_quotas(nothing.root()).empty());
  const FakeSystem system;
  system.write("proc/self/mountinfo",
               "\n - \n1 2 3 - cgroup2\n- - - - - - - - -\n1 2 0:3 / /gone rw - cgroup2 c rw\n");
  system.write("proc/self/cgroup", "nonsense\n1:\n::\n");
  CHECK(cpu_quotas(system.root()).empty());
  CHECK(control_groups("cpu", system.root()).empty());
}

TEST_CASE("what this machine says about quotas can be read") {
  for (const CpuQuota& quota : cpu_quotas()) CHECK(quota.cores() > 0);
}

TEST_CASE("fractions of a core make no compute thread, but each rank has one") {
  CHECK(threads_for(0.1) == 1);
  CHECK(threads_for(1.0) == 1);
  CHECK(threads_for(1.9) == 1);
  CHECK(threads_for(3 * 0.7 / 0.7) == 3);
  CHECK(threads_for(7.5) == 7);
  CHECK(threads_for(8) == 7);
  CHECK(threads_for(64.5) == 63);
  CHECK(cores_in_words(1) == "1 core");
  CHECK(cores_in_words(1.5) == "1.5 cores");
  CHECK(cores_in_words(1.0 / 3) == "0.333 cores");
}

TEST_CASE("of several quotas the one counts that leaves a rank least") {
  const CpuQuota own{1, 100000, 100000, ""};
  const CpuQuota around{2, 150000, 100000, ""};
  CHECK(tightest_quota({{own}}, 0).quota == own);
  CHECK(tightest_quota({{own, around}, {}}, 0).quota == own);
  CHECK(tightest_quota({{own, around}, {}}, 1).ranks == 0);
  const QuotaShare shared = tightest_quota({{own, around}, {around}}, 0);
  CHECK(shared.quota == around);
  CHECK(shared.ranks == 2);
  CHECK(shared.cores_of_rank() == 0.75);
}

}  // namespace
}  // namespace weft::comm_thread
