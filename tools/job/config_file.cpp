#include "tools/job/config_file.h"

#include <algorithm>
#include <iterator>
#include <sstream>

#include <fmt/format.h>

#include "tools/job/effective_options.h"

namespace weft::tools {
namespace {

/// "[study.cg]" as "study.cg."; "[default]" as "".
std::string prefix_of(const std::string& section) {
  const std::string name = CLI::detail::trim_copy(section.substr(1, section.size() - 2));
  return name == "default" ? "" : name + ".";
}

/// The section of a command's options.
std::string prefix_of(const CLI::App& command) {
  std::string name = name_of(command);
  std::ranges::replace(name, ' ', '.');
  return name.empty() ? "" : name + ".";
}

/// Null where there is none.
const CLI::Option* option_of(const CLI::App& program, const CLI::ConfigItem& item) {
  const CLI::App* app = &program;
  for (const std::string& name : item.parents) {
    const auto inner = app->get_subcommands(
        [&](const CLI::App* candidate) { return candidate->get_name() == name; });
    if (inner.empty()) return nullptr;
    app = inner.front();
  }
  const CLI::Option* const option = app->get_option_no_throw("--" + item.name);
  return option ? option : app->get_option_no_throw(item.name);
}

}  // namespace

std::vector<CLI::ConfigItem> ConfigFile::from_config(std::istream& input) const {
  const std::string text(std::istreambuf_iterator<char>(input), {});
  std::istringstream lines(text);
  std::string prefix;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    CLI::detail::trim(line);
    const bool is_section = line.starts_with('[') && line.ends_with(']');
    if (is_section) prefix = prefix_of(line);
    lines_.emplace(
        is_section ? line : prefix + CLI::detail::trim_copy(line.substr(0, line.find('='))),
        number);
  }
  const CLI::App& command = chosen_command(program_);
  for (const CLI::Option* const option : command.get_options())
    if (option->count() > 0) given_.insert(prefix_of(command) + option->get_single_name());
  std::istringstream again(text);
  items_ = CLI::ConfigTOML::from_config(again);
  return items_;
}

std::string ConfigFile::place_of(const std::string& name) const {
  const std::string path = program_.get_config_ptr()->as<std::string>();
  const auto line = lines_.find(name);
  return line == lines_.end() ? path + ": " : fmt::format("{}:{}: ", path, line->second);
}

std::string ConfigFile::last_set() const {
  std::string last;
  for (const CLI::ConfigItem& item : items_) {
    const CLI::Option* const option = option_of(program_, item);
    if (option && option->count() > 0 && !given_.contains(item.fullname())) last = item.fullname();
  }
  return last;
}

std::string ConfigFile::with_place(const std::string& fault) const {
  std::string name = fault.substr(0, fault.find_first_of(":, "));
  name.erase(0, name.find_first_not_of('-'));
  // A value is looked at when it is set, those of other commands, too.
  const std::string last = last_set();
  if (last == name || last.ends_with("." + name)) return place_of(last) + fault;
  for (const std::string& prefix : {prefix_of(chosen_command(program_)), std::string()}) {
    const std::string full_name = std::string(prefix).append(name);
    if (lines_.contains(full_name) && !given_.contains(full_name))
      return place_of(full_name) + fault;
  }
  return fault;
}

}  // namespace weft::tools
