#include "library/petsc/option_prefix.h"

#include <algorithm>
#include <cstring>

namespace weft::petsc {

std::vector<PetscOption> petsc_options(const PrefixedOptions& known, const Options& options) {
  std::vector<PetscOption> all;
  for (const OptionHelp& each : known.all) {
    if (std::ranges::find(known.left_out, each.name) != known.left_out.end()) continue;
    std::string name = each.name;
    std::ranges::replace(name, '-', '_');
    std::string help = each.help.substr(0, each.help.find('\n'));
    if (!each.values.empty()) help += " (" + each.values + ")";
    all.push_back({"-" + std::string(known.prefix) + name, help,
                   options.find(each.name).value_or(each.standard)});
  }
  return all;
}

void take(const PetscOption& option, const char* prefix, const std::string& word,
          Options& options) {
  options.set(option.name.substr(1 + std::strlen(prefix)), word.empty() ? "true" : word);
}

std::string text_of(const Options& options) {
  std::string text;
  for (const auto& [name, value] : options.all())
    text += (text.empty() ? "" : ", ") + name + " " + value;
  return text;
}

}  // namespace weft::petsc
