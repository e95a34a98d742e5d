#pragma once

#include <istream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace weft::tools {

/// Reads the file of --config as CLI11 does, and remembers the lines of options such as
/// `solve.tolerance`.
class ConfigFile : public CLI::ConfigTOML {
 public:
  /// Lifetime: `program` outlives it.
  explicit ConfigFile(const CLI::App& program) : program_(program) {}

  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override;

  /// "PATH:LINE: " of an option or a section in brackets, "PATH: " where no line is known.
  std::string place_of(const std::string& name) const;

  /// `fault` behind the place of the option that it begins with, where the file has set that one.
  std::string with_place(const std::string& fault) const;

 private:
  /// The last option that the file has set so far; empty where it has set none.
  std::string last_set() const;

  const CLI::App& program_;
  mutable std::map<std::string, int> lines_;
  mutable std::vector<CLI::ConfigItem> items_;
  mutable std::set<std::string> given_;  // on the command line, which wins
};

}  // namespace weft::tools
