#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <CLI/CLI.hpp>

#include "comm_thread/mpi/input_error.h"
#include "library/options/option.h"
#include "library/options/option_values.h"

namespace weft::tools {

/// What `parse` complains of; empty if it does not: the check of an option.
template <class Parse>
std::string fault_of(const Parse& parse) {
  try {
    parse();
  } catch (const comm_thread::InputError& error) {
    return error.what();
  }
  return "";
}

/// Checks of options that commands describe themselves.
using OptionCheck = std::function<std::string(const std::string& word)>;
OptionCheck is_count(std::int64_t least, std::int64_t most);
OptionCheck is_number(const library::NumberRange& range);
OptionCheck is_one_of(const std::vector<std::string>& words);

/// The heading of a group in --help; "Options" for those that only --help-all shows.
const char* heading_of(library::OptionGroup group);

/// Adds an option that takes words. `by_default`: the word that applies without one; empty: none.
CLI::Option& add_option(CLI::App& command, const std::string& name,
                        const std::function<void(const std::string&)>& take,
                        const OptionCheck& check, const std::string& help, bool is_list);
/// Adds what help shows of an option.
void describe(CLI::Option& option, library::OptionGroup group, const std::string& type,
              const std::string& limits, const std::string& by_default);

/// Shows options of a command under a heading of --help.
void show_in_help(CLI::App& command, library::OptionGroup group,
                  std::initializer_list<const char*> names);

/// Adds an option of a table to a command, which sets it in `settings`.
/// Lifetime: `settings` outlives the command.
template <class Settings>
void bind_option(CLI::App& command, Settings& settings, const library::OptionOf<Settings>& option) {
  const library::ValueOf<Settings>& value = option.value;
  if (value.flag) {
    command.add_flag("--" + option.name, value.flag(settings), option.help)
        ->group(heading_of(option.group));
    return;
  }
  CLI::Option& added = add_option(
      command, option.name,
      [&settings, read = value.read](const std::string& word) { read(settings, word, word); },
      [&settings, read = value.read](const std::string& word) {
        return fault_of([&] {
          Settings tried = settings;
          read(tried, word, word);
        });
      },
      option.help, value.is_list);
  describe(added, option.group, value.type, value.limits, value.show(settings));
}

/// Adds options of a table by their names, or all.
template <class Settings>
void bind_options(CLI::App& command, std::type_identity_t<Settings>& settings,
                  const library::OptionTable<Settings>& table,
                  std::initializer_list<std::string_view> names = {}) {
  for (const std::string_view name : names)
    bind_option(command, settings, *library::find_option(table, name));
  if (names.size() > 0) return;
  for (const library::OptionOf<Settings>& option : table) bind_option(command, settings, option);
}

/// An option that takes one of `choices`.
void add_choice(CLI::App& command, const std::string& name, std::string& value,
                const std::vector<std::string>& choices, const std::string& help);

/// An option that takes several of `known`, separated by commas.
void add_choices(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                 const std::vector<std::string>& known, const std::string& help);

/// A whole number from `least` to `most`.
template <class Count>
CLI::Option& add_count(CLI::App& command, const std::string& name, Count& value, std::int64_t least,
                       std::int64_t most, const std::string& help) {
  return *command.add_option(name, value, help)
              ->check(is_count(least, most))
              ->type_name("COUNT")
              ->capture_default_str();
}

}  // namespace weft::tools
