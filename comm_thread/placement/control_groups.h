#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace weft::comm_thread {

/// A control group of Linux (cgroup) that limits this process.
struct ControlGroup {
  std::filesystem::path folder;
  bool is_v2 = false;  // version 2 names its files otherwise than version 1
  /// The same for all processes of a node that see this group, whatever they call it.
  std::int64_t id = 0;
};

/// The groups that limit `controller` ("cpu", "memory") for this process: its own first, then those
/// around it, as far as they are mounted here; of version 1, version 2 or, in hybrid set-ups, both.
/// What cannot be read or understood is left out.
///
///     /proc/self/cgroup     0::/user/job        mounted at /sys/fs/cgroup:
///                                               /sys/fs/cgroup/user/job, …/user, /sys/fs/cgroup
///
/// `root`: the folder that holds proc and sys, for tests.
std::vector<ControlGroup> control_groups(std::string_view controller,
                                         const std::filesystem::path& root = "/");

}  // namespace weft::comm_thread
