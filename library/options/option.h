#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"

namespace weft::library {

/// The heading under which --help shows an option. Those of `rest` are shown by --help-all only.
enum class OptionGroup { problem, method, run, output, rest };

/// How the value of an option is read and shown.
template <class Settings>
struct ValueOf {
  /// Sets the value that `word` means. Throws comm_thread::InputError, which quotes `item`: the
  /// word, or "key=word".
  std::function<void(Settings& settings, const std::string& word, const std::string& item)> read;
  /// The word that `read` takes for the value; empty where none is set.
  std::function<std::string(const Settings& settings)> show;
  std::string type;  // as help shows it: "FILE", "rows|nonzeros"
  std::string limits{};  // what help-all shows besides: "INT in [1 - 32]", "{auto,cg}"
  /// Where the value of a flag is kept; empty for all others.
  std::function<bool&(Settings& settings)> flag{};
  /// Several values: repeated on the command line, joined by commas elsewhere.
  bool is_list = false;
};

/// Everything there is to know about an option, for the command line with its help, configuration
/// files, C++, C and Python: described here only.
template <class Settings>
struct OptionOf {
  std::string name;  // without dashes
  OptionGroup group = OptionGroup::rest;
  std::string help;  // its first line is all that --help shows
  ValueOf<Settings> value;
};

template <class Settings>
using OptionTable = std::vector<OptionOf<Settings>>;

/// Null where the table has none of that name.
template <class Settings>
const OptionOf<Settings>* find_option(const OptionTable<Settings>& table, std::string_view name) {
  for (const OptionOf<Settings>& option : table)
    if (option.name == name) return &option;
  return nullptr;
}

/// What options need of the others, without which they have no effect or contradict them.
struct Need {
  std::vector<std::string> options;  // without dashes
  bool is_met = true;
  std::string found;  // what takes the effect away, such as "with grid"
  std::string expected;
  std::string value{};  // of the option, where the message names it, too
};

/// Throws comm_thread::InputError for an option that lacks what it needs. `is_set(name)`: it was
/// given another value than its default. What depends on the number of ranks is no need: the same
/// words are to run on any number. Thread: any.
template <class IsSet>
void check_needs(const std::vector<Need>& needs, const IsSet& is_set) {
  for (const Need& need : needs)
    for (const std::string& name : need.options)
      if (!need.is_met && is_set(name))
        throw comm_thread::InputError((need.value.empty()
                                           ? comm_thread::option_name(name)
                                           : comm_thread::option_name(name, need.value)) +
                                      ": found " + need.found + "; expected " + need.expected);
}

/// The same of settings whose options are in `table`.
template <class Settings>
void check_needs(const std::vector<Need>& needs, const OptionTable<Settings>& table,
                 const std::type_identity_t<Settings>& settings) {
  check_needs(needs, [&](const std::string& name) {
    const ValueOf<Settings>& value = find_option(table, name)->value;
    return value.show(settings) != value.show(Settings{});
  });
}

/// The names in a table, joined by commas.
template <class Settings>
std::string names_in(const OptionTable<Settings>& table) {
  std::string names;
  for (const OptionOf<Settings>& option : table) names += (names.empty() ? "" : ", ") + option.name;
  return names;
}

/// A table of `Part` for settings that are made of several.
template <class Whole, class Part>
void append(OptionTable<Whole>& table, const OptionTable<Part>& more) {
  for (const OptionOf<Part>& option : more) {
    const ValueOf<Part>& value = option.value;
    table.push_back(
        {option.name,
         option.group,
         option.help,
         {value.read, value.show, value.type, value.limits, value.flag, value.is_list}});
  }
}

/// Sets what `values` name. Throws comm_thread::InputError, which names the option.
template <class Settings>
void read_options(const std::map<std::string, std::string>& values,
                  const OptionTable<Settings>& table, Settings& settings) {
  for (const auto& [name, word] : values) {
    const OptionOf<Settings>* const option = find_option(table, name);
    if (!option)
      throw comm_thread::InputError("option " + name + ": found an unknown name; expected " +
                                    names_in(table));
    try {
      option->value.read(settings, word, word);
    } catch (const comm_thread::InputError& error) {
      throw comm_thread::InputError("option " + name + ": " + error.what());
    }
  }
}

}  // namespace weft::library
