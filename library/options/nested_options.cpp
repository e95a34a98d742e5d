#include "library/options/nested_options.h"

#include <algorithm>
#include <sstream>

#include "comm_thread/mpi/input_error.h"

namespace weft::library {

std::vector<NestedOption> nested_options(const std::string& text) {
  std::vector<NestedOption> options;
  std::stringstream items(text);
  for (std::string item; std::getline(items, item, ',');) {
    const auto equals = item.find('=');
    const std::string key = item.substr(0, equals);
    if (std::ranges::find(options, key, &NestedOption::key) != options.end())
      throw comm_thread::InputError(
          fmt::format("found {} twice in '{}'; expected it once", key, text));
    options.push_back({item, key, equals == std::string::npos ? "" : item.substr(equals + 1)});
  }
  return options;
}

bool has_nested_option(const std::string& text, const std::string& key) {
  return std::ranges::any_of(nested_options(text),
                             [&](const NestedOption& each) { return each.key == key; });
}

std::string word_before_colon(const std::string& text) { return text.substr(0, text.find(':')); }

std::string text_behind_colon(const std::string& text) {
  const auto colon = text.find(':');
  return colon == std::string::npos ? "" : text.substr(colon + 1);
}

}  // namespace weft::library
