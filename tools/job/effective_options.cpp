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

std::string default_of(const CLI::Option& option) {
  return without_brackets(option.get_default_str());
}

bool is_flag(const CLI::Option& option) { return option.get_expected_max() == 0; }

/// The values that apply; none where the option was not given and has no default.
std::vector<std::string> words_of(const CLI::Option& option) {
  if (option.count() > 0) return option.reduced_results();
  if (is_flag(option)) return {"false"};
  if (option.get_default_str().empty()) return {};
  return {default_of(option)};
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
    const std::vector<std::string> words = words_of(*option);
    if (!words.empty())
      options[option->get_single_name()] = fmt::format("{}", fmt::join(words, ","));
  }
  return options;
}

bool is_changed(const CLI::App& command, const std::string& name) {
  const CLI::Option* const option = command.get_option_no_throw(name);
  if (!option || option->count() == 0) return false;
  return fmt::format("{}", fmt::join(words_of(*option), ",")) !=
         (is_flag(*option) ? "false" : default_of(*option));
}

void check_needs(const CLI::App& command, const std::vector<library::Need>& needs) {
  library::check_needs(needs,
                       [&](const std::string& name) { return is_changed(command, "--" + name); });
}

std::string config_of(const CLI::App& command) {
  std::string section = name_of(command);
  std::replace(section.begin(), section.end(), ' ', '.');
  std::string text = fmt::format("[{}]\n", section);
  for (const CLI::Option* const option : command.get_options()) {
    if (!is_setting(*option)) continue;
    const std::vector<std::string> words = words_of(*option);
    if (words.empty()) continue;
    const std::string name = option->get_single_name();
    if (is_flag(*option) && (words.front() == "true" || words.front() == "false"))
      text += fmt::format("{} = {}\n", name, words.front());
    else if (option->get_delimiter() == '\0' && words.size() > 1)
      text += fmt::format("{} = [\"{}\"]\n", name, fmt::join(words, "\", \""));
    else
      text += fmt::format("{} = \"{}\"\n", name, fmt::join(words, ","));
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
