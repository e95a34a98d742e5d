#include "comm_thread/placement/topology.h"

#include <cerrno>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/input_error.h"

namespace weft::comm_thread {
namespace {

TEST_CASE("a synthetic machine has the packages, domains, cores and PUs of its description") {
  const Topology machine = Topology::from_synthetic("pack:2 numa:1 core:8 pu:2");
  CHECK(machine.package_count() == 2);
  CHECK(machine.numa_domain_count() == 2);
  CHECK(machine.core_count() == 16);
  CHECK(machine.pu_count() == 32);
  CHECK_FALSE(machine.is_this_machine());
  CHECK(machine.cpu_model() == "unknown");
  CHECK(machine.allowed_pus().size() == 32);
}

TEST_CASE("every PU knows its package, NUMA domain, core and hardware thread") {
  const Topology machine = Topology::from_synthetic("pack:2 numa:1 core:8 pu:2");
  const PuLocation pu = machine.find_pu(19).value();
  CHECK(pu.package == 1);
  CHECK(pu.numa_domain == 1);
  CHECK(pu.core == 9);
  CHECK(pu.smt_index == 1);
  CHECK_FALSE(machine.find_pu(32).has_value());
}

TEST_CASE("PUs are ordered by core even where the operating system numbers hyper-threads last") {
  const Topology machine = Topology::from_synthetic("core:2 pu:2(indexes=0,2,1,3)");
  std::vector<unsigned> os_indexes, cores, hardware_threads;
  for (const PuLocation& pu : machine.pus()) {
    os_indexes.push_back(pu.os_index);
    cores.push_back(pu.core);
    hardware_threads.push_back(pu.smt_index);
  }
  CHECK(os_indexes == std::vector<unsigned>{0, 2, 1, 3});
  CHECK(cores == std::vector<unsigned>{0, 0, 1, 1});
  CHECK(hardware_threads == std::vector<unsigned>{0, 1, 0, 1});
}

TEST_CASE("a PU knows its data caches and how many share each") {
  const Topology machine = Topology::from_synthetic(
      "pack:2 l3:1(size=8388608) l2:4(size=1048576) l1i:1(size=65536) core:1 pu:2");
  const auto l2 = machine.cache_of(9, 2).value();
  CHECK(l2.bytes == 1 << 20);
  CHECK(l2.sharing_pus == 2);
  CHECK(machine.last_cache_of(9).bytes == 8 << 20);
  CHECK(machine.last_cache_of(9).sharing_pus == 8);
  CHECK_FALSE(machine.cache_of(9, 1).has_value());
  CHECK_FALSE(machine.cache_of(16, 2).has_value());
  CHECK(Topology::from_synthetic("core:2 pu:1").last_cache_of(0).sharing_pus == 1);
}

TEST_CASE("a package may hold several NUMA domains") {
  const Topology machine = Topology::from_synthetic("pack:2 numa:4 core:16 pu:1");
  CHECK(machine.numa_domain_count() == 8);
  CHECK(machine.core_count() == 128);
  CHECK(machine.find_pu(127)->numa_domain == 7);
  CHECK(machine.find_pu(127)->package == 1);
  CHECK(machine.find_pu(64)->package == 1);
  CHECK(machine.find_pu(63)->package == 0);
}

TEST_CASE("two memories of the same cores are one domain") {
  const Topology machine = Topology::from_synthetic("pack:2 [numa] [numa] core:4 pu:1");
  CHECK(machine.numa_domain_count() == 2);
}

TEST_CASE("a machine without packages or cores in its description still has one of each kind") {
  const Topology machine = Topology::from_synthetic("pu:2");
  CHECK(machine.package_count() == 1);
  CHECK(machine.numa_domain_count() == 1);
  CHECK(machine.core_count() == 2);
}

TEST_CASE("a wrong description is an input error that shows a right one") {
  for (const std::string wrong : {"bogus", "pack:2 core", "pu:0", ""}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(Topology::from_synthetic(wrong), InputError);
    CHECK_THROWS_WITH(
        Topology::from_synthetic(wrong),
        Catch::Contains("pack:2 numa:1 core:8 pu:2") && Catch::Contains("\"" + wrong + "\""));
  }
}

TEST_CASE("a topology can be moved and not copied") {
  static_assert(!std::is_copy_constructible_v<Topology>);
  Topology first = Topology::from_synthetic("core:2 pu:1");
  Topology second = std::move(first);
  first = Topology::from_synthetic("core:3 pu:1");
  CHECK(second.core_count() == 2);
  CHECK(first.core_count() == 3);
}

TEST_CASE("this machine has processors, a name, and every PU once") {
  const Topology machine = Topology::from_this_machine();
  std::set<unsigned> os_indexes;
  for (const PuLocation& pu : machine.pus()) {
    os_indexes.insert(pu.os_index);
    CHECK(pu.core < machine.core_count());
    CHECK(pu.numa_domain < machine.numa_domain_count());
    CHECK(pu.package < machine.package_count());
  }
  CHECK(machine.pu_count() >= 1);
  CHECK(os_indexes.size() == machine.pu_count());
  CHECK_FALSE(machine.cpu_model().empty());
  CHECK_FALSE(machine.allowed_pus().empty());
}

TEST_CASE("nothing is bound on a machine that is not this one") {
  const Topology here = Topology::from_this_machine();
  const Topology elsewhere = Topology::from_synthetic("core:1 pu:1");
  const std::vector<unsigned> before = here.binding_of_calling_thread();
  CHECK(elsewhere.bind_calling_thread(std::vector<unsigned>{0}) == ENOTSUP);
  CHECK(elsewhere.binding_of_calling_thread().empty());
  CHECK_FALSE(elsewhere.last_pu_of_calling_thread().has_value());
  CHECK(here.binding_of_calling_thread() == before);
}

}  // namespace
}  // namespace weft::comm_thread
