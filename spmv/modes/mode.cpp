#include "spmv/modes/mode.h"

#include <array>

namespace weft::spmv {
namespace {

struct ModeEntry {
  Mode mode;
  const char* name;
};

constexpr std::array entries{ModeEntry{Mode::vector, "vector"}, ModeEntry{Mode::overlap, "overlap"},
                             ModeEntry{Mode::overlap_test, "overlap-test"},
                             ModeEntry{Mode::task, "task"}};

}  // namespace

const char* name(Mode mode) {
  for (const ModeEntry& entry : entries)
    if (entry.mode == mode) return entry.name;
  return "";
}

std::optional<Mode> parse_mode(std::string_view text) {
  for (const ModeEntry& entry : entries)
    if (text == entry.name) return entry.mode;
  return std::nullopt;
}

std::vector<std::string> mode_names() {
  std::vector<std::string> names;
  for (const ModeEntry& entry : entries) names.emplace_back(entry.name);
  return names;
}

std::vector<Mode> all_modes() {
  std::vector<Mode> modes;
  for (const ModeEntry& entry : entries) modes.push_back(entry.mode);
  return modes;
}

}  // namespace weft::spmv
