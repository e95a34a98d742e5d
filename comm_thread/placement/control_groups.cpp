#include "comm_thread/placement/control_groups.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>

namespace weft::comm_thread {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

bool has(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

/// The kernel writes blanks in paths as \040.
std::string unescaped(const std::string& text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '7'; };
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && is_digit(text[i + 1]) && is_digit(text[i + 2]) &&
        is_digit(text[i + 3])) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                 (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

/// A hierarchy of groups, or the part of it below `shown`, at a mount point.
struct Mount {
  std::string shown;
  fs::path point;
  bool is_v2 = false;
};

/// Lines of mountinfo: "32 31 0:29 /shown /point rw,relatime - cgroup cgroup rw,cpu".
std::vector<Mount> mounts_of(std::string_view controller, const fs::path& root) {
  std::vector<Mount> mounts;
  std::ifstream file(root / "proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> words = parts_of(line, ' ');
    const auto dash = std::ranges::find(words, "-");
    if (dash - words.begin() < 6 || words.end() - dash < 4) continue;
    const bool is_v2 = dash[1] == "cgroup2";
    if (!is_v2 && !(dash[1] == "cgroup" && has(parts_of(dash[3], ','), controller))) continue;
    mounts.push_back(
        {unescaped(words[3]), root / fs::path(unescaped(words[4])).relative_path(), is_v2});
  }
  return mounts;
}

/// The group of this process, from lines "4:cpu,cpuacct:/group" and "0::/group".
std::string own_group(std::string_view controller, bool is_v2, const fs::path& root) {
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (is_v2 ? controllers.empty() : has(parts_of(controllers, ','), controller))
      return line.substr(second + 1);
  }
  return {};
}

/// `group` as seen from the one at the mount point; empty where it is that one or not below it,
/// because the names are those of another namespace: then the mounted one is the nearest known.
fs::path below_mount(const std::string& group, const std::string& shown) {
  if (has(parts_of(group, '/'), "..")) return {};
  if (shown == "/") return fs::path(group).relative_path();
  return group.starts_with(shown + "/") ? fs::path(group.substr(shown.size() + 1)) : fs::path();
}

}  // namespace

std::vector<ControlGroup> control_groups(std::string_view controller, const fs::path& root) {
  std::vector<ControlGroup> groups;
  for (const Mount& mount : mounts_of(controller, root)) {
    fs::path below = below_mount(own_group(controller, mount.is_v2, root), mount.shown);
    while (true) {
      const fs::path folder = below.empty() ? mount.point : mount.point / below;
      struct stat found{};
      if (stat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode)) {
        const auto id =
            static_cast<std::int64_t>(found.st_ino * 0x9E3779B97F4A7C15U + found.st_dev);
        if (std::ranges::find(groups, id, &ControlGroup::id) == groups.end())
          groups.push_back({folder, mount.is_v2, id});
      }
      if (below.empty()) break;
      below = below.parent_path();
    }
  }
  return groups;
}

}  // namespace weft::comm_thread
