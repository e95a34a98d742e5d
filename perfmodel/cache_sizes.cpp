#include "perfmodel/cache_sizes.h"

#include <fstream>
#include <string>

namespace weft::perfmodel {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// Parses a size such as "48K" or "2M".
std::size_t bytes_in(const std::string& text) {
  std::size_t end = 0;
  const std::size_t number = std::stoul(text, &end);
  const char unit = end < text.size() ? text[end] : ' ';
  return number << (unit == 'K' ? 10 : unit == 'M' ? 20 : 0);
}

/// Number of CPUs in a list such as "0-3,8".
int count_in(const std::string& list) {
  int count = 0;
  for (std::size_t i = 0; i < list.size();) {
    std::size_t used = 0;
    const int first = std::stoi(list.substr(i), &used);
    i += used;
    int last = first;
    if (i < list.size() && list[i] == '-') {
      last = std::stoi(list.substr(i + 1), &used);
      i += 1 + used;
    }
    count += last - first + 1;
    ++i;  // skip the comma
  }
  return count;
}

}  // namespace

std::optional<CacheLevel> cache_of(unsigned pu, int level) {
  const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(pu) + "/cache/index";
  for (int index = 0; index < 8; ++index) {
    const std::string cache = folder + std::to_string(index) + "/";
    if (first_line(cache + "level") != std::to_string(level)) continue;
    if (first_line(cache + "type") == "Instruction") continue;
    try {
      const CacheLevel found{bytes_in(first_line(cache + "size")),
                             count_in(first_line(cache + "shared_cpu_list"))};
      if (found.bytes > 0 && found.sharing_pus > 0) return found;
    } catch (const std::exception&) {  // not a number
    }
    return std::nullopt;
  }
  return std::nullopt;
}

CacheLevel last_cache_of(unsigned pu) {
  for (const int level : {3, 2, 1})
    if (const auto cache = cache_of(pu, level)) return *cache;
  return {std::size_t{1} << 20, 1};
}

}  // namespace weft::perfmodel
