#include "tools/commands/help_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

namespace weft::tools {
namespace {

enum class HelpGroup { problem, method, run, output };

constexpr std::array group_names{"Problem", "Method", "Run", "Output"};

/// An option that `--help` shows, in this order.
struct HelpLine {
  HelpGroup group;
  std::string_view option;
  std::string_view text;
};

constexpr std::array help_lines{
    HelpLine{HelpGroup::problem, "problem",
             "poisson3d:N, elasticity3d:N, ..., or a file .mtx, .petsc, .npz, .h5, .txt, ..."},
    HelpLine{HelpGroup::problem, "--grid", "the points of a grid, whose rows the matrix has"},
    HelpLine{HelpGroup::problem, "--subdomains", "subdomains in each direction"},
    HelpLine{HelpGroup::problem, "--points", "points of a subdomain in each direction"},
    HelpLine{HelpGroup::problem, "--overlap", "layers of points that subdomains share"},
    HelpLine{HelpGroup::problem, "--rhs", "right-hand side: ones, random:SEED, ... or a file"},
    HelpLine{HelpGroup::problem, "--initial", "x to begin with; default: 0"},
    HelpLine{HelpGroup::problem, "--triangle",
             "a file with one triangle is half of a symmetric matrix, or is triangular"},
    HelpLine{HelpGroup::problem, "--order", "order of the rows"},
    HelpLine{HelpGroup::problem, "--coordinates",
             "coordinates of the nodes, for elasticity with amg"},
    HelpLine{HelpGroup::method, "--method",
             "auto, cg, cg-pipelined, minres, gmres, bicgstab, multigrid, ..."},
    HelpLine{HelpGroup::method, "--preconditioner", "what helps the method; auto chooses one"},
    HelpLine{HelpGroup::method, "--operator", "a stored matrix, or a stencil"},
    HelpLine{HelpGroup::method, "--variant", "kind of the sweeps"},
    HelpLine{HelpGroup::method, "--inner", "solver of the rows of a rank, instead of one sweep"},
    HelpLine{HelpGroup::method, "--alpha", "weight in the condition between subdomains"},
    HelpLine{HelpGroup::method, "--coarse", "a second level between all subdomains"},
    HelpLine{HelpGroup::method, "--detector", "how the end of asynchronous sweeps is found"},
    HelpLine{HelpGroup::method, "--tolerance", "ends where ||b - A x|| is below this times ||b||"},
    HelpLine{HelpGroup::method, "--max-iterations", "ends after this many iterations"},
    HelpLine{HelpGroup::method, "--max-seconds", "ends after this time"},
    HelpLine{HelpGroup::run, "--threads", "compute threads of a rank; 0: one for each core"},
    HelpLine{HelpGroup::run, "--mode", "how halos are exchanged; results have the same bits"},
    HelpLine{HelpGroup::run, "--transport", "how halos travel"},
    HelpLine{HelpGroup::run, "--partition", "what ranks get equal shares of"},
    HelpLine{HelpGroup::run, "--format", "storage of the matrix"},
    HelpLine{HelpGroup::run, "--kernels", "only kernels whose names begin so"},
    HelpLine{HelpGroup::run, "--repetitions", "timed runs"},
    HelpLine{HelpGroup::run, "--require", "fails where a kernel is below this part of its model"},
    HelpLine{HelpGroup::run, "--checkpoint", "keeps the state of the solve in a file"},
    HelpLine{HelpGroup::run, "--restart-from", "continues from such a file"},
    HelpLine{HelpGroup::run, "--inject", "disturbs the run: slow ranks, late messages"},
    HelpLine{HelpGroup::run, "--dry-run", "only forecasts the memory"},
    HelpLine{HelpGroup::output, "--solution", "writes x: .mtx, .npy, .petsc, .h5, .vti"},
    HelpLine{HelpGroup::output, "--json", "writes the report as JSON; -: on standard output"},
    HelpLine{HelpGroup::output, "--trace", "writes what every thread did and when"},
};

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

/// Words that do not fit beside the name stand before the text.
std::string line_of(const CLI::Option& option, std::string_view text) {
  const std::string name = "  " + name_of_option(option);
  const std::string type = type_and_default(option);
  const std::string both = name + (type.empty() ? "" : " " + type);
  if (both.size() < text_column) return fmt::format("{:<{}}{}\n", both, text_column, text);
  return fmt::format("{:<{}}{}: {}\n", name, text_column, type, text);
}

const CLI::Option* option_named(const CLI::App& app, std::string_view name) {
  for (const CLI::Option* const option : app.get_options())
    if (option->check_name(std::string(name))) return option;
  return nullptr;
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
  for (std::size_t group = 0; group < group_names.size(); ++group) {
    std::string lines;
    for (const HelpLine& line : help_lines)
      if (line.group == static_cast<HelpGroup>(group))
        if (const CLI::Option* const option = option_named(app, line.option))
          lines += line_of(*option, line.text);
    if (!lines.empty()) text += fmt::format("{}:\n{}", group_names[group], lines);
  }
  return text + fmt::format("All options, with all their words: {} --help-all\n", name) +
         first_examples(app.get_footer());
}

}  // namespace

std::string HelpText::make_help(const CLI::App* app, std::string name,
                                CLI::AppFormatMode mode) const {
  const std::string full = CLI::Formatter::make_help(app, name, mode);
  const bool is_command = app->get_parent() && app->get_subcommands({}).empty();
  if (mode != CLI::AppFormatMode::Normal || !is_command ||
      std::ranges::count(full, '\n') <= short_lines)
    return full;
  return short_help(*app, name);
}

}  // namespace weft::tools
