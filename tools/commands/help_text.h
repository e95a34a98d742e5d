#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace weft::tools {

/// Help of a command in two lengths.
///
/// `--help` shows what people use, in groups (problem, method, run, output) of one line an option,
/// and the first examples; `--help-all` shows every option with all its words. A command whose help
/// is short has only one.
class HelpText : public CLI::Formatter {
 public:
  /// Lines of a help that is not made shorter.
  static constexpr int short_lines = 45;

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
};

}  // namespace weft::tools
