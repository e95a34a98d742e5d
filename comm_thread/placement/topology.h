#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weft::comm_thread {

/// Position of one hardware thread (PU) in a machine. All numbers but `os_index` count from zero in
/// the order of `Topology::pus()`, over the whole machine; `smt_index` counts within the core.
struct PuLocation {
  unsigned os_index = 0;
  unsigned package = 0;
  unsigned numa_domain = 0;
  unsigned core = 0;
  unsigned smt_index = 0;
};

/// One data cache.
struct Cache {
  std::size_t bytes = 0;
  int sharing_pus = 1;  // hardware threads that have it in common
};

/// Processors of this machine, or of one described in text for planning and tests.
///
/// Sets of PUs are always ascending vectors of operating system indexes.
/// Thread: any; all members are const.
class Topology {
 public:
  /// Reads the machine this process runs on, including PUs forbidden to this process, so that all
  /// ranks of a node see the same machine. Takes milliseconds: it reads no devices and moves
  /// no thread.
  /// Throws std::runtime_error if the machine cannot be read.
  static Topology from_this_machine();

  /// Builds a machine from hwloc's synthetic notation, such as "pack:2 numa:1 core:8 pu:2".
  /// Throws InputError if the description is wrong.
  static Topology from_synthetic(const std::string& description);

  ~Topology();
  Topology(Topology&& other) noexcept;
  Topology& operator=(Topology&& other) noexcept;
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  /// False for a synthetic machine (also one set by hwloc's own HWLOC_SYNTHETIC): threads can be
  /// planned but not bound.
  bool is_this_machine() const;

  std::size_t package_count() const;
  /// Number of sets of cores with local memory; several memories of the same cores are one domain.
  std::size_t numa_domain_count() const;
  std::size_t core_count() const;
  std::size_t pu_count() const { return pus().size(); }

  /// PUs ordered by NUMA domain, then core, then hardware thread: neighbours in hardware are
  /// adjacent, whatever their operating system indexes.
  std::span<const PuLocation> pus() const;
  std::optional<PuLocation> find_pu(unsigned os_index) const;

  /// The data cache of `level` (1, 2, 3) of a PU; none where there is none or nothing is known.
  std::optional<Cache> cache_of(unsigned os_index, int level) const;
  /// The last of them, which memory kernels have to exceed. 1 MiB where nothing is known.
  Cache last_cache_of(unsigned os_index) const;

  /// PUs this process may use as far as hwloc can tell (cgroup). See permitted_pus_of_this_process.
  std::vector<unsigned> allowed_pus() const;

  /// CPU model, such as "Intel(R) Xeon(R) Processor"; "unknown" if not available.
  const std::string& cpu_model() const;

  // For the calling thread; used by placement. For a machine other than this one, binding fails
  // (ENOTSUP), the binding is empty and the last PU unknown.

  /// Returns 0 or the errno of the failure.
  int bind_calling_thread(std::span<const unsigned> pus) const;
  std::vector<unsigned> binding_of_calling_thread() const;
  std::optional<unsigned> last_pu_of_calling_thread() const;

 private:
  struct Implementation;
  explicit Topology(std::unique_ptr<Implementation> implementation);

  std::unique_ptr<Implementation> implementation_;
};

}  // namespace weft::comm_thread
