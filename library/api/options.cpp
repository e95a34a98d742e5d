#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "library/include/weft/weft.hpp"

namespace weft {
inline namespace v0 {
namespace {

/// The name without leading dashes, with dashes between its words.
std::string plain_name(std::string_view name) {
  name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
  std::string plain(name);
  std::ranges::replace(plain, '_', '-');
  return plain;
}

[[noreturn]] void fail(const std::string& text) { throw Error(ErrorCode::bad_input, text); }

}  // namespace

Options::Options() = default;
Options::Options(const Options&) = default;
Options& Options::operator=(const Options&) = default;
Options::~Options() = default;

Options::Options(std::initializer_list<std::pair<const std::string, std::string>> options) {
  for (const auto& [name, value] : options) set(name, value);
}

Options Options::parse(std::string_view text) {
  Options options;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    const bool has_dashes = word.starts_with("--");
    if (equals != std::string::npos && equals > 0) {
      options.set(word.substr(0, equals), word.substr(equals + 1));
      continue;
    }
    std::string value;
    if (!has_dashes || !(words >> value))
      fail("options: found '" + word + "'; expected --NAME VALUE or NAME=VALUE");
    options.set(word, value);
  }
  return options;
}

Options Options::from_json(std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) fail("options: found no JSON object; expected {\"NAME\": VALUE, ...}");
  Options options;
  for (const auto& [name, value] : json.items()) {
    if (value.is_string())
      options.set(name, value.get<std::string>());
    else if (value.is_number() || value.is_boolean())
      options.set(name, value.dump());
    else
      fail("options: found " + value.dump() + " for " + name +
           "; expected a text, a number, true or false");
  }
  return options;
}

Options& Options::set(std::string_view name, std::string_view value) {
  values_[plain_name(name)] = std::string(value);
  return *this;
}

Options& Options::set(std::string_view name, double value) {
  return set(name, fmt::format("{}", value));
}

std::optional<std::string> Options::find(std::string_view name) const {
  const auto found = values_.find(plain_name(name));
  if (found == values_.end()) return std::nullopt;
  return found->second;
}

}  // namespace v0
}  // namespace weft
