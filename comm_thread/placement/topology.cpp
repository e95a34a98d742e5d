#include "comm_thread/placement/topology.h"

#include <hwloc.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <map>
#include <new>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "comm_thread/mpi/input_error.h"

namespace weft::comm_thread {
namespace {

struct DestroyTopology {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using TopologyHandle = std::unique_ptr<hwloc_topology, DestroyTopology>;

struct FreeBitmap {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

Bitmap make_bitmap(std::span<const unsigned> pus = {}) {
  Bitmap bitmap(hwloc_bitmap_alloc());
  if (!bitmap) throw std::bad_alloc();
  for (const unsigned pu : pus) hwloc_bitmap_set(bitmap.get(), pu);
  return bitmap;
}

std::vector<unsigned> members_of(hwloc_const_bitmap_t bitmap) {
  std::vector<unsigned> members;
  if (hwloc_bitmap_weight(bitmap) < 0) return members;  // infinite: unknown
  for (int i = hwloc_bitmap_first(bitmap); i >= 0; i = hwloc_bitmap_next(bitmap, i))
    members.push_back(static_cast<unsigned>(i));
  return members;
}

TopologyHandle make_handle() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw std::runtime_error("hwloc cannot be initialised");
  return TopologyHandle(raw);
}

/// Returns 0 on success. DONT_CHANGE_BINDING: hwloc would otherwise visit every core to read it.
int load(hwloc_topology_t topology) {
  hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_flags(
      topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED | HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING |
                    HWLOC_TOPOLOGY_FLAG_NO_DISTANCES | HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS |
                    HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS);
  return hwloc_topology_load(topology);
}

/// The smallest set of PUs with local memory that contains `pu`, named by the lowest index of its
/// NUMA nodes: several memories of the same PUs (HBM and DRAM) count once.
unsigned home_memory(hwloc_topology_t topology, hwloc_obj_t pu) {
  hwloc_obj_t best = nullptr;
  hwloc_obj_t node = nullptr;
  while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr) {
    if (!hwloc_bitmap_isset(node->cpuset, pu->os_index)) continue;
    if (!best || hwloc_bitmap_weight(node->cpuset) < hwloc_bitmap_weight(best->cpuset)) best = node;
  }
  return best ? best->logical_index : 0;
}

unsigned index_of_ancestor(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_obj_t object,
                           unsigned otherwise) {
  const hwloc_obj_t ancestor = hwloc_get_ancestor_obj_by_type(topology, type, object);
  return ancestor ? ancestor->logical_index : otherwise;
}

/// Replaces the values of one field by 0, 1, 2, … in order of first appearance; returns their
/// number.
std::size_t renumber(std::vector<PuLocation>& pus, unsigned PuLocation::* field) {
  std::map<unsigned, unsigned> number_of;
  for (PuLocation& pu : pus) {
    const auto next = static_cast<unsigned>(number_of.size());
    pu.*field = number_of.try_emplace(pu.*field, next).first->second;
  }
  return number_of.size();
}

/// Returns the PUs in final order, numbered over the whole machine as in hwloc.
std::vector<PuLocation> read_pus(hwloc_topology_t topology) {
  std::vector<PuLocation> pus;
  hwloc_obj_t pu = nullptr;
  while ((pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu)) != nullptr) {
    const unsigned package = index_of_ancestor(topology, HWLOC_OBJ_PACKAGE, pu, 0);
    const unsigned core = index_of_ancestor(topology, HWLOC_OBJ_CORE, pu, pu->logical_index);
    pus.push_back({pu->os_index, package, home_memory(topology, pu), core, pu->logical_index});
  }
  std::ranges::sort(pus, [](const PuLocation& a, const PuLocation& b) {
    return std::tie(a.numa_domain, a.core, a.smt_index) <
           std::tie(b.numa_domain, b.core, b.smt_index);
  });
  return pus;
}

void number_hardware_threads(std::vector<PuLocation>& pus) {
  for (std::size_t i = 0; i < pus.size(); ++i)
    pus[i].smt_index = i > 0 && pus[i].core == pus[i - 1].core ? pus[i - 1].smt_index + 1 : 0;
}

std::string model_from_proc() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::string read_cpu_model(hwloc_topology_t topology) {
  for (const hwloc_obj_type_t type : {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_MACHINE})
    if (const hwloc_obj_t object = hwloc_get_obj_by_type(topology, type, 0))
      if (const char* model = hwloc_obj_get_info_by_name(object, "CPUModel")) return model;
  return hwloc_topology_is_thissystem(topology) ? model_from_proc() : "unknown";
}

}  // namespace

struct Topology::Implementation {
  explicit Implementation(TopologyHandle loaded)
      : handle(std::move(loaded)),
        pus(read_pus(handle.get())),
        cpu_model(read_cpu_model(handle.get())) {
    package_count = renumber(pus, &PuLocation::package);
    numa_domain_count = renumber(pus, &PuLocation::numa_domain);
    core_count = renumber(pus, &PuLocation::core);
    number_hardware_threads(pus);
  }

  TopologyHandle handle;
  std::vector<PuLocation> pus;
  std::string cpu_model;
  std::size_t package_count = 0;
  std::size_t numa_domain_count = 0;
  std::size_t core_count = 0;
};

Topology::Topology(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
Topology::~Topology() = default;
Topology::Topology(Topology&&) noexcept = default;
Topology& Topology::operator=(Topology&&) noexcept = default;

Topology Topology::from_this_machine() {
  TopologyHandle handle = make_handle();
  if (load(handle.get()) != 0) throw std::runtime_error("hwloc cannot read this machine");
  return Topology(std::make_unique<Implementation>(std::move(handle)));
}

Topology Topology::from_synthetic(const std::string& description) {
  TopologyHandle handle = make_handle();
  if (hwloc_topology_set_synthetic(handle.get(), description.c_str()) != 0 ||
      load(handle.get()) != 0)
    throw InputError("machine \"" + description +
                     "\": not understood; expected hwloc's synthetic notation, such as "
                     "\"pack:2 numa:1 core:8 pu:2\"");
  return Topology(std::make_unique<Implementation>(std::move(handle)));
}

bool Topology::is_this_machine() const {
  return hwloc_topology_is_thissystem(implementation_->handle.get()) != 0;
}

std::size_t Topology::package_count() const { return implementation_->package_count; }
std::size_t Topology::numa_domain_count() const { return implementation_->numa_domain_count; }
std::size_t Topology::core_count() const { return implementation_->core_count; }
std::span<const PuLocation> Topology::pus() const { return implementation_->pus; }
const std::string& Topology::cpu_model() const { return implementation_->cpu_model; }

std::optional<PuLocation> Topology::find_pu(unsigned os_index) const {
  const auto found = std::ranges::find(pus(), os_index, &PuLocation::os_index);
  return found == pus().end() ? std::nullopt : std::optional(*found);
}

std::optional<Cache> Topology::cache_of(unsigned os_index, int level) const {
  hwloc_topology_t topology = implementation_->handle.get();
  const hwloc_obj_t pu = hwloc_get_pu_obj_by_os_index(topology, os_index);
  const auto type = static_cast<hwloc_obj_type_t>(HWLOC_OBJ_L1CACHE + level - 1);
  const hwloc_obj_t cache = pu ? hwloc_get_ancestor_obj_by_type(topology, type, pu) : nullptr;
  if (!cache || cache->attr->cache.size == 0) return std::nullopt;
  return Cache{cache->attr->cache.size, hwloc_bitmap_weight(cache->cpuset)};
}

Cache Topology::last_cache_of(unsigned os_index) const {
  for (const int level : {3, 2, 1})
    if (const auto cache = cache_of(os_index, level)) return *cache;
  return {std::size_t{1} << 20, 1};
}

std::vector<unsigned> Topology::allowed_pus() const {
  return members_of(hwloc_topology_get_allowed_cpuset(implementation_->handle.get()));
}

int Topology::bind_calling_thread(std::span<const unsigned> pus) const {
  if (!is_this_machine()) return ENOTSUP;
  const Bitmap set = make_bitmap(pus);
  errno = 0;
  if (hwloc_set_cpubind(implementation_->handle.get(), set.get(), HWLOC_CPUBIND_THREAD) == 0)
    return 0;
  return errno != 0 ? errno : EINVAL;
}

std::vector<unsigned> Topology::binding_of_calling_thread() const {
  if (!is_this_machine()) return {};
  const Bitmap set = make_bitmap();
  const bool known =
      hwloc_get_cpubind(implementation_->handle.get(), set.get(), HWLOC_CPUBIND_THREAD) == 0;
  return known ? members_of(set.get()) : std::vector<unsigned>{};
}

std::optional<unsigned> Topology::last_pu_of_calling_thread() const {
  if (!is_this_machine()) return std::nullopt;
  const Bitmap set = make_bitmap();
  if (hwloc_get_last_cpu_location(implementation_->handle.get(), set.get(), HWLOC_CPUBIND_THREAD) !=
      0)
    return std::nullopt;
  const std::vector<unsigned> where = members_of(set.get());
  return where.size() == 1 ? std::optional(where.front()) : std::nullopt;
}

}  // namespace weft::comm_thread
