#include "tools/job/argument_fault.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "comm_thread/mpi/input_error.h"
#include "spmv/problems/problem.h"
#include "tools/job/effective_options.h"

namespace weft::tools {
namespace {

/// "; expected poisson3d:N, …": what a PROBLEM may be.
std::string expected_problems() {
  try {
    spmv::Problem::parse("");
  } catch (const comm_thread::InputError& error) {
    const std::string text = error.what();
    return text.substr(std::min(text.size(), text.find("; expected")));
  }
  return "";
}

/// What was an option of a command, and what to do without it.
struct RemovedOption {
  std::string_view command;
  std::string_view option;
  const char* fault;
};

constexpr RemovedOption removed_options[] = {
    {"jacobi", "--restart", "found --restart; expected --restart-from FILE, as it is called now"},
    {"schwarz", "--restart", "found --restart; expected --restart-from FILE, as it is called now"},
    {"study multigrid", "--cycles",
     "found --cycles, which was removed with the additive cycle; expected none: all are V-cycles"},
};

/// An argument that no option takes: the option or the command that may have been meant.
std::string fault_of_extra(const CLI::App& command, const std::string& word,
                           const std::string& help) {
  if (!word.starts_with("-")) {
    const std::string inner = names_of_commands(command);
    return "found '" + word + "'; expected " + (inner.empty() ? "an option as in " + help : inner);
  }
  const std::string option = word.substr(0, word.find('='));
  for (const RemovedOption& removed : removed_options)
    if (removed.option == option && removed.command == name_of(command)) return removed.fault;
  const std::string closest = closest_option(command, word);
  const std::string found = "found the unknown option " + option;
  return closest.empty() ? found + "; expected one of " + help
                         : found + "; expected " + closest + ", or another one of " + help;
}

/// The file of --config cannot be read, or has a line that is no option of this program.
std::string fault_of_config(const ConfigFile& file, const std::string& text, bool is_read) {
  if (!is_read)
    return file.place_of("") + "cannot be read; expected a file as --print-config writes it";
  constexpr std::string_view begin = "INI was not able to parse ";
  constexpr std::string_view end_of_section = ".++";
  std::string line = text.starts_with(begin) ? text.substr(begin.size()) : text;
  if (line.ends_with(end_of_section))
    line = "[" + line.substr(0, line.size() - end_of_section.size()) + "]";
  const std::string place = file.place_of(line);
  for (const RemovedOption& removed : removed_options) {
    std::string name = std::string(removed.command) + "." + std::string(removed.option.substr(2));
    std::ranges::replace(name, ' ', '.');
    if (line == name) return place + removed.fault;
  }
  constexpr std::size_t most = 60;
  if (line.size() > most) line = line.substr(0, most) + "…";
  return place + "found '" + line +
         "'; expected [COMMAND], then OPTION = VALUE lines, as --print-config writes them";
}

/// CLI11's words in those of this program.
std::string fault_of_words(const CLI::App& program, std::string text) {
  if (program.get_subcommands().empty()) {
    const std::string found =
        program.remaining().empty() ? "no command" : "'" + program.remaining().front() + "'";
    return "found " + found + "; expected " + names_of_commands(program);
  }
  if (text.find("; expected") != std::string::npos) return text;
  const CLI::App& command = chosen_command(program);
  const std::string help = "weft " + name_of(command) + " --help-all";
  const auto left = program.remaining(true);
  if (!left.empty()) return fault_of_extra(command, left.front(), help);
  if (text.starts_with("problem ")) return "found no PROBLEM" + expected_problems();
  constexpr std::string_view too_many = ": At Most 1 required but received ";
  if (const std::size_t at = text.find(too_many); at != std::string::npos)
    return text.substr(0, at) + ": found " + text.substr(at + too_many.size()) +
           " values; expected one";
  constexpr std::string_view no_value = "Could not convert: ";
  if (const std::size_t equals = text.find(" = ");
      text.starts_with(no_value) && equals < text.size())
    return text.substr(no_value.size(), equals - no_value.size()) + ": found '" +
           text.substr(equals + 3) + "'; expected a value as in " + help;
  const std::string commands = names_of_commands(command);
  if (!commands.empty())
    return "found nothing after " + name_of(command) + "; expected " + commands;
  return text + "; expected arguments as in " + help;
}

}  // namespace

std::string names_of_commands(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* const inner : command.get_subcommands({}))
    names.push_back(inner->get_name());
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string fault_of_arguments(const CLI::App& program, const ConfigFile& file,
                               const CLI::ParseError& error) {
  const bool is_read = !dynamic_cast<const CLI::FileError*>(&error);
  if (!is_read || dynamic_cast<const CLI::ConfigError*>(&error))
    return fault_of_config(file, error.what(), is_read);
  return file.with_place(fault_of_words(program, error.what()));
}

std::string one_line(std::string text) {
  std::ranges::replace_if(text, [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }, '?');
  return text;
}

}  // namespace weft::tools
