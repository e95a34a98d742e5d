#include "library/settings/word_settings.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"

namespace weft::library {

std::vector<WordSetting> settings_in(const std::string& text) {
  std::vector<WordSetting> settings;
  std::stringstream items(text);
  for (std::string item; std::getline(items, item, ',');) {
    const auto equals = item.find('=');
    const std::string key = item.substr(0, equals);
    if (std::ranges::find(settings, key, &WordSetting::key) != settings.end())
      throw comm_thread::InputError(
          fmt::format("found {} twice in '{}'; expected it once", key, text));
    settings.push_back({item, key, equals == std::string::npos ? "" : item.substr(equals + 1)});
  }
  return settings;
}

}  // namespace weft::library
