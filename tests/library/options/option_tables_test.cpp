#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
#include "library/options/eigen_settings.h"
#include "library/options/iteration_settings.h"
#include "library/options/jacobi_settings.h"
#include "library/options/matrix_settings.h"
#include "library/options/nested_options.h"
#include "library/options/option_values.h"
#include "library/options/preconditioner_words.h"
#include "library/options/schwarz_settings.h"
#include "library/options/solve_settings.h"
#include "library/options/spectrum_settings.h"

namespace weft::library {
namespace {

/// Names are unique, help begins with a short line, and the word of a default is one that is read.
template <class Settings>
void check_table(const OptionTable<Settings>& table) {
  std::set<std::string> names;
  for (const OptionOf<Settings>& option : table) {
    CAPTURE(option.name);
    CHECK(names.insert(option.name).second);
    CHECK(option.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string::npos);
    if (option.value.type.empty() && !option.value.flag) continue;  // of the past
    CHECK(!option.help.empty());
    CHECK(option.help.substr(0, option.help.find('\n')).size() < 90);
    Settings settings;
    const std::string word = option.value.show(settings);
    if (word.empty()) continue;
    CHECK_NOTHROW(option.value.read(settings, word, word));
    CHECK(option.value.show(settings) == word);
  }
}

TEST_CASE("tables of options describe each once, with a default that is one of its words") {
  check_table(solve_options());
  check_table(iteration_options());
  check_table(jacobi_options());
  check_table(tile_options());
  check_table(amg_options());
  check_table(multigrid_options());
  check_table(schwarz_options());
  check_table(spectrum_options());
  check_table(eigen_options());
}

TEST_CASE("the reference page and the program's options are those of the tables") {
  std::ifstream file("docs/reference/commands.md");
  const std::string page(std::istreambuf_iterator<char>(file), {});
  REQUIRE(!page.empty());
  for (const auto& option : solve_options())
    if (option.group != OptionGroup::rest || !option.value.flag)
      CHECK_THAT(page, Catch::Contains(option.name));
  for (const auto& option : iteration_options()) CHECK_THAT(page, Catch::Contains(option.name));
  for (const auto& option : spectrum_options()) CHECK_THAT(page, Catch::Contains(option.name));
  for (const auto& option : eigen_options()) CHECK_THAT(page, Catch::Contains(option.name));
}

TEST_CASE("messages name options as the caller writes them") {
  CHECK(comm_thread::option_name("method") == "method");
  CHECK(comm_thread::option_name("method", "cg") == "method=cg");
  CHECK_THROWS_WITH(SolveSettings::parse({{"tolerance", "low"}}),
                    "option tolerance: found 'low'; expected a number, 0 or more");
  SolveSettings settings = SolveSettings::parse({{"restart", "5"}});
  CHECK_THROWS_WITH(settings.check(),
                    "restart: found with method=cg; expected method=gmres or fgmres");
  comm_thread::name_options_with_dashes();
  CHECK_THROWS_WITH(settings.check(),
                    "--restart: found with --method cg; expected --method gmres or fgmres");
}

/// The options that `needs` name and none of `tables` has.
template <class... Tables>
std::string unknown_in(const std::vector<Need>& needs, const Tables&... tables) {
  std::string unknown;
  for (const Need& need : needs)
    for (const std::string& name : need.options)
      if (!(find_option(tables, name) || ...)) unknown += name + " ";
  return unknown;
}

TEST_CASE("what options need is said of options that there are") {
  CHECK(unknown_in(SolveSettings().needs(), solve_options()) == "");
  CHECK(unknown_in(JacobiSettings().needs(), jacobi_options(), iteration_options(),
                   matrix_options()) == "");
  CHECK(unknown_in(SchwarzSettings().needs(), tile_options(), iteration_options()) == "");
}

TEST_CASE("settings joined by commas are read by their table") {
  const auto amg = parse_amg("amg:degree=3,precision=double,gather=auto");
  CHECK(amg.degree == 3);
  CHECK(amg.precision == solver::amg::Settings::Precision::in_double);
  CHECK(amg.gather_rows == 0);
  CHECK_THROWS_WITH(parse_amg("amg:degree=9"),
                    "found 'degree=9'; expected a whole number from 1 to 4");
  CHECK_THROWS_WITH(parse_amg("amg:frob=1"),
                    "found 'frob=1'; expected strength=S, degree=K, direct=N, gather=R|auto, "
                    "precision=single|double or cycle=V|W|auto, joined by commas");
  CHECK_THROWS_WITH(parse_multigrid("cycle=additive"),
                    Catch::Contains("found 'cycle=additive', which was removed"));
  CHECK(has_nested_option("steps=2,gather=auto", "gather"));
  CHECK_FALSE(has_nested_option("steps=2", "step"));
}

TEST_CASE("sweeps have the same defaults through every door") {
  IterationSettings settings;
  CHECK(settings.tolerance == 1e-4);
  CHECK(settings.sweeps_per_check() == 100);
  CHECK(settings.sweeps_per_halo() == 1);
  settings.variant = IterationVariant::async;
  CHECK(settings.sweeps_per_check() == 25);
  CHECK(settings.sweeps_per_halo() == solver::AsyncIteration::automatic_halo_period);
  settings = IterationSettings::parse({{"inject", "slow:0:2,jitter:0.1"}, {"halo-period", "3"}});
  CHECK(settings.parsed_faults().size() == 2);
  CHECK(settings.sweeps_per_halo() == 3);
}

}  // namespace
}  // namespace weft::library
