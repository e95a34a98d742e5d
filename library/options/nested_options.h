#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "library/options/option.h"

namespace weft::library {

/// One of the settings that commas separate, such as `steps=2`.
struct NestedOption {
  std::string text;
  std::string key;  // before the equals sign; all of the text where there is none
  std::string value;
};

/// The settings in `text`. Thread: any. Throws comm_thread::InputError where a key comes twice.
std::vector<NestedOption> nested_options(const std::string& text);

/// True if `text` sets `key`.
bool has_nested_option(const std::string& text, const std::string& key);

/// The word before the colon of `amg:degree=1`, and what stands behind it.
std::string word_before_colon(const std::string& text);
std::string text_behind_colon(const std::string& text);

/// "a=A, b=B or c=C"; options without a type are not shown: those of the past.
template <class Settings>
std::string nested_words(const OptionTable<Settings>& table) {
  std::string words;
  std::size_t left = 0;
  for (const auto& option : table) left += option.value.type.empty() ? 0 : 1;
  for (const auto& option : table) {
    if (option.value.type.empty()) continue;
    --left;
    words += (words.empty() ? ""
              : left == 0   ? " or "
                            : ", ") +
             option.name + "=" + option.value.type;
  }
  return words;
}

/// A line for each option in `table`, for help.
template <class Settings>
std::string help_of_nested(const OptionTable<Settings>& table) {
  std::string lines;
  for (const auto& option : table)
    if (!option.value.type.empty()) {
      const std::string value = option.value.show(Settings{});
      lines += fmt::format("\n  {}={}: {}{}", option.name, option.value.type, option.help,
                           value.empty() ? "" : "; default: " + value);
    }
  return lines;
}

/// `settings` with those in `text`. Thread: any. Throws comm_thread::InputError.
template <class Settings>
Settings read_nested(const std::string& text, const OptionTable<Settings>& table,
                     Settings settings = {}) {
  for (const auto& [item, key, value] : nested_options(text)) {
    const OptionOf<Settings>* const option = find_option(table, key);
    if (!option)
      throw comm_thread::InputError("found '" + item + "'; expected " + nested_words(table) +
                                    ", joined by commas");
    option->value.read(settings, value, item);
  }
  return settings;
}

}  // namespace weft::library
