#include "tools/job/option_binding.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace weft::tools {

OptionCheck is_count(std::int64_t least, std::int64_t most) {
  return [=](const std::string& word) {
    return fault_of([&] { library::whole_number(word, word, least, most); });
  };
}

OptionCheck is_number(const library::NumberRange& range) {
  return [=](const std::string& word) {
    return fault_of([&] { library::number(word, word, range); });
  };
}

OptionCheck is_one_of(const std::vector<std::string>& words) {
  return [=](const std::string& word) {
    return fault_of([&] { library::expect_one_of(word, word, words); });
  };
}

const char* heading_of(library::OptionGroup group) {
  switch (group) {
    case library::OptionGroup::problem:
      return "Problem";
    case library::OptionGroup::method:
      return "Method";
    case library::OptionGroup::run:
      return "Run";
    case library::OptionGroup::output:
      return "Output";
    case library::OptionGroup::rest:
      return "Options";
  }
  return "Options";
}

CLI::Option& add_option(CLI::App& command, const std::string& name,
                        const std::function<void(const std::string&)>& take,
                        const OptionCheck& check, const std::string& help, bool is_list) {
  if (!is_list)
    return *command.add_option_function<std::string>("--" + name, take, help)->check(check);
  const auto take_all = [take](const std::vector<std::string>& words) {
    take(fmt::format("{}", fmt::join(words, ",")));
  };
  return *command.add_option_function<std::vector<std::string>>("--" + name, take_all, help)
              ->check(check);
}

void describe(CLI::Option& option, library::OptionGroup group, const std::string& type,
              const std::string& limits, const std::string& by_default) {
  option.group(heading_of(group));
  option.type_name(type + (limits.empty() ? "" : ":" + limits));
  if (!by_default.empty()) option.default_str(by_default);
}

void show_in_help(CLI::App& command, library::OptionGroup group,
                  std::initializer_list<const char*> names) {
  for (const char* const name : names) command.get_option(name)->group(heading_of(group));
}

void add_choice(CLI::App& command, const std::string& name, std::string& value,
                const std::vector<std::string>& choices, const std::string& help) {
  command.add_option(name, value, help)
      ->check(is_one_of(choices))
      ->type_name(library::alternatives(choices))
      ->capture_default_str();
}

void add_choices(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                 const std::vector<std::string>& known, const std::string& help) {
  command.add_option(name, values, help)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(is_one_of(known))
      ->type_name(library::alternatives(known) + ",...")
      ->capture_default_str();
}

}  // namespace weft::tools
