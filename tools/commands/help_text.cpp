#include "tools/commands/help_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include "tools/job/option_binding.h"

namespace weft::tools {
namespace {

constexpr std::array shown_groups{library::OptionGroup::problem, library::OptionGroup::method,
                                  library::OptionGroup::run, library::OptionGroup::output};
constexpr std::size_t text_column = 32;
constexpr int most_examples = 6;

/// "amg[:...]" without what may follow, and "INT" of "INT:INT in [1 - 4]".
std::string plain_type(std::string type) {
  constexpr std::string_view rest = "[:...]";
  for (std::size_t at = type.find(rest); at != std::string::npos; at = type.find(rest))
    type.erase(at, rest.size());
  const std::size_t colon = type.find(':');
  if (colon != std::string::npos && type.find('|') == std::string::npos) type.erase(colon);
  return type;
}

/// The long name of an option, or that of a positional: "--tolerance", "PROBLEM".
std::string name_of_option(const CLI::Option& option) {
  if (option.get_positional() && !option.get_type_name().empty())
    return plain_type(option.get_type_name());
  const std::string name = option.get_name(option.get_positional());
  return name.substr(name.rfind(',') + 1);
}

/// "FLOAT=1e-08"; empty for a flag.
std::string type_and_default(const CLI::Option& option) {
  if (option.get_positional() || option.get_items_expected_max() == 0) return {};
  const std::string& value = option.get_default_str();
  return plain_type(option.get_type_name()) +
         (value.empty() || value.front() == '[' ? "" : "=" + value);
}

/// The first line of the description. Words that do not fit beside the name stand before it.
std::string line_of(const CLI::Option& option) {
  const std::string name = "  " + name_of_option(option);
  const std::string type = type_and_default(option);
  const std::string both = name + (type.empty() ? "" : " " + type);
  const std::string& help = option.get_description();
  const std::string text = help.substr(0, help.find('\n'));
  if (both.size() < text_column) return fmt::format("{:<{}}{}\n", both, text_column, text);
  return fmt::format("{:<{}}{}: {}\n", name, text_column, type, text);
}

/// The footer without all examples but the first ones, which begin with two blanks each.
std::string first_examples(const std::string& footer) {
  std::string text;
  int examples = 0;
  for (std::size_t begin = 0; begin < footer.size();) {
    const std::size_t end = std::min(footer.find('\n', begin), footer.size());
    const std::string line = footer.substr(begin, end - begin);
    if (!line.starts_with("  ") || ++examples <= most_examples) text += line + "\n";
    begin = end + 1;
  }
  return text;
}

std::string short_help(const CLI::App& app, const std::string& name) {
  std::string text = fmt::format("{}\nUsage: {} [OPTIONS]", app.get_description(), name);
  for (const CLI::Option* const option : app.get_options())
    if (option->get_positional()) text += " " + name_of_option(*option);
  text += "\n";
  for (const library::OptionGroup group : shown_groups) {
    std::string lines;
    for (const CLI::Option* const option : app.get_options())
      if (option->get_group() == heading_of(group)) lines += line_of(*option);
    if (!lines.empty()) text += fmt::format("{}:\n{}", heading_of(group), lines);
  }
  return text + fmt::format("All options, with all their words: {} --help-all\n", name) +
         first_examples(app.get_footer());
}

}  // namespace

std::string HelpText::make_help(const CLI::App* app, std::string name,
                                CLI::AppFormatMode mode) const {
  std::string full = CLI::Formatter::make_help(app, name, mode);
  const bool is_command = app->get_parent() && app->get_subcommands({}).empty();
  if (mode != CLI::AppFormatMode::Normal || !is_command ||
      std::ranges::count(full, '\n') <= short_lines)
    return full;
  return short_help(*app, name);
}

}  // namespace weft::tools
