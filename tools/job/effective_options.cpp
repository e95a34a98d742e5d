#include "tools/job/effective_options.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace weft::tools {
namespace {

/// Insertions, deletions and replacements of characters that make one word of the other.
/// Source: Wagner and Fischer 1974.
std::size_t distance(const std::string& from, const std::string& to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i - 1] == to[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

/// Options about the command line itself, which no file sets.
bool is_setting(const CLI::Option& option) {
  return option.get_configurable() && option.get_name() != "--help" &&
         option.get_name() != "--help-all";
}

/// CLI11 writes lists as [a,b].
std::string without_brackets(const std::string& text) {
  const bool is_list = text.starts_with('[') && text.ends_with(']');
  return is_list ? text.substr(1, text.size() - 2) : text;
}

}  // namespace

const CLI::App& chosen_command(const CLI::App& program) {
  const CLI::App* command = &program;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return *command;
}

std::string name_of(const CLI::App& command) {
  const CLI::App* const parent = command.get_parent();
  if (!parent) return "";
  const std::string outer = name_of(*parent);
  return outer.empty() ? command.get_name() : outer + " " + command.get_name();
}

Json effective_options(const CLI::App& command) {
  Json options = Json::object();
  for (const CLI::Option* const option : command.get_options()) {
    if (!is_setting(*option)) continue;
    const std::string name = option->get_single_name();
    const bool is_flag = option->get_expected_max() == 0;
    if (is_flag)
      options[name] = option->count() > 0 && option->as<bool>() ? "true" : "false";
    else if (option->count() > 0)
      options[name] = fmt::format("{}", fmt::join(option->reduced_results(), ","));
    else if (!option->get_default_str().empty())
      options[name] = without_brackets(option->get_default_str());
  }
  return options;
}

std::string config_of(const CLI::App& command) {
  std::string section = name_of(command);
  std::replace(section.begin(), section.end(), ' ', '.');
  std::string text = fmt::format("[{}]\n", section);
  const Json options = effective_options(command);
  for (const auto& [name, value] : options.items()) {
    const auto word = value.get<std::string>();
    text += word == "true" || word == "false" ? fmt::format("{} = {}\n", name, word)
                                              : fmt::format("{} = \"{}\"\n", name, word);
  }
  return text;
}

std::string closest_option(const CLI::App& command, const std::string& word) {
  const std::string wanted = word.substr(0, word.find('='));
  std::string best;
  std::size_t least = std::max<std::size_t>(2, wanted.size() / 3) + 1;
  // Those of the program, such as --give-up-after, may stand behind a command, too.
  for (const CLI::App* app = &command; app; app = app->get_parent())
    for (const CLI::Option* const option : app->get_options())
      for (const std::string& name : option->get_lnames()) {
        const std::size_t found = distance(wanted, "--" + name);
        if (found >= least) continue;
        least = found;
        best = "--" + name;
      }
  return best;
}

}  // namespace weft::tools
