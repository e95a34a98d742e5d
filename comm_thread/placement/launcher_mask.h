#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace weft::comm_thread {

/// The process that has started the ranks of this node, such as hydra_pmi_proxy, and the PUs on
/// which it may run itself.
struct LauncherMask {
  std::string name;  // empty: none was found
  std::vector<unsigned> pus;
};

/// Finds the launcher among the processes above this one, as far as they have the PUs of `own`,
/// those that this process was started with: what narrowed them later, such as taskset in a script
/// that the launcher ran, is no binding of the launcher. Nothing is found where the launcher's PUs
/// are not more than `own`. Batch systems' own processes, such as slurmstepd, are no launchers:
/// their PUs are not those of the job. `root`: the folder that holds proc, for tests.
LauncherMask find_launcher_mask(std::span<const unsigned> own,
                                const std::filesystem::path& root = "/");

}  // namespace weft::comm_thread
