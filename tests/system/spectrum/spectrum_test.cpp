// weft spectrum as a whole program.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/system/json_report.h"
#include "tests/system/program_run.h"

namespace {

using nlohmann::json;
using weft::tests::fingerprint;
using weft::tests::read_file;
using weft::tests::report_of;
using weft::tests::run_weft;
using weft::tests::ScratchFolder;

}  // namespace

TEST_CASE("spectrum counts eigenvalues, writes the density and has the same bits on any ranks") {
  const ScratchFolder folder;
  std::set<std::string> fingerprints;
  for (const int ranks : {1, 2, 3}) {
    const auto result =
        run_weft(ranks, {"spectrum", "poisson2d:40", "--moments", "100", "--vectors", "20",
                         "--interval", "0:2", "--threads", "1", "--points", "120", "--output",
                         folder.path("d.csv"), "--json", "-"});
    REQUIRE(result.exit_code == 0);
    const json spectrum = report_of(result)["spectrum"];
    // 4 - 2 cos(pi i / 41) - 2 cos(pi k / 41) is below 2 for 231 pairs of i and k.
    int exact = 0;
    for (int i = 1; i <= 40; ++i)
      for (int k = 1; k <= 40; ++k)
        exact +=
            std::cos(std::numbers::pi * i / 41) + std::cos(std::numbers::pi * k / 41) > 1 ? 1 : 0;
    const json& count = spectrum["count"];
    CHECK(std::abs(count["value"].get<double>() - exact) <= count["uncertainty"].get<double>());
    CHECK(count["uncertainty"].get<double>() < 100);
    CHECK(spectrum["moments"][0] == 1600);
    CHECK(spectrum["density"]["energy"].size() == 120);
    const std::string text = read_file(folder.path("d.csv"));
    CHECK(text.starts_with("energy,density,error\n"));
    CHECK(std::count(text.begin(), text.end(), '\n') == 121);
    fingerprints.insert(fingerprint(text) + spectrum.dump());
  }
  CHECK(fingerprints.size() == 1);
}

TEST_CASE("a number of vectors that another option has, too, is no file") {
  const auto result = run_weft(1, {"spectrum", "poisson2d:20", "--moments", "16", "--vectors", "16",
                                   "--block", "16", "--threads", "1"});
  CHECK(result.exit_code == 0);
}

TEST_CASE("spectrum shows the density of a row and of two vectors") {
  const ScratchFolder folder;
  const auto site =
      run_weft(2, {"spectrum", "poisson2d:30", "--site", "435", "--order", "rcm", "--threads", "1",
                   "--output", folder.path("d.npy"), "--json", "-"});
  REQUIRE(site.exit_code == 0);
  const json of_row = report_of(site)["spectrum"];
  CHECK(of_row["unit"] == "weight");
  CHECK(of_row["moments"][0] == 1);
  const double half =
      (of_row["interval"][1].get<double>() - of_row["interval"][0].get<double>()) / 2;
  const double center = of_row["interval"][0].get<double>() + half;
  CHECK(of_row["moments"][1].get<double>() == Approx((4 - center) / half).margin(1e-14));
  // Row 435 has four neighbours: the square of A has 20 there.
  const double second = (20 - 8 * center + center * center) / (half * half);
  CHECK(of_row["moments"][2].get<double>() == Approx(2 * second - 1).margin(1e-13));

  const std::string ones = folder.write("ones.mtx", [] {
    std::string text = "%%MatrixMarket matrix array real general\n16 1\n";
    for (int i = 0; i < 16; ++i) text += "1\n";
    return text;
  }());
  const std::string unit = folder.write("unit.mtx", [] {
    std::string text = "%%MatrixMarket matrix array real general\n16 1\n";
    for (int i = 0; i < 16; ++i) text += i == 5 ? "3\n" : "0\n";
    return text;
  }());
  const auto both = run_weft(1, {"spectrum", "poisson2d:4", "--vector", ones, "--with", unit,
                                 "--threads", "1", "--json", "-"});
  REQUIRE(both.exit_code == 0);
  CHECK(report_of(both)["spectrum"]["moments"][0].get<double>() == Approx(3).epsilon(1e-14));
}

TEST_CASE("spectrum refuses what has no spectrum and options that contradict each other") {
  const ScratchFolder folder;
  const auto check = [](const std::vector<std::string>& words, const std::string& fault) {
    const auto result = run_weft(1, words);
    INFO(fault);
    CHECK(result.exit_code == 2);
    CHECK(result.errors.find(fault) != std::string::npos);
    CHECK(std::count(result.errors.begin(), result.errors.end(), '\n') == 1);
  };
  const std::string unsymmetric = folder.write(
      "a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n1 2 5\n2 2 1\n");
  check({"spectrum", unsymmetric, "--triangle", "as-is"}, "expected a symmetric matrix");
  check({"spectrum", "poisson2d:9", "--interval", "3:1"}, "expected A:B, two numbers of which B");
  check({"spectrum", "poisson2d:9", "--kernel", "lorentz:0"},
        "expected jackson, lorentz or lorentz:");
  check({"spectrum", "poisson2d:9", "--site", "81"}, "--site: found 81; expected 0 to 80");
  check({"spectrum", "poisson2d:9", "--site", "8", "--vectors", "4"}, "nothing is random");
  check({"spectrum", "poisson2d:9", "--site", "8", "--seed", "4"}, "nothing is random");
  check({"spectrum", "poisson2d:9", "--with", "x.npy"}, "--with: found without --vector");
  check({"spectrum", "poisson2d:9", "--output", "x.txt"},
        "expected a name that ends in .npy, .csv");
  check({"spectrum", "poisson2d:9", "--moments", "1"}, "--moments: found '1'");
}

TEST_CASE("free bosons have the eigenvalues of their modes") {
  // One phonon at most in each of two states of one mode: sites=2, nothing couples.
  const auto result = run_weft(
      1, {"spectrum", "holstein-hubbard:sites=2,up=0,down=0,phonons=99,g=0", "--moments", "2000",
          "--interval", "-0.5:9.5", "--vectors", "3", "--threads", "1", "--json", "-"});
  REQUIRE(result.exit_code == 0);
  // Energies 0, 1, ... 99: ten of them, and a diagonal matrix has no error by chance.
  CHECK(report_of(result)["spectrum"]["count"]["value"].get<double>() == Approx(10).epsilon(1e-3));
}

TEST_CASE("the table of a narrow spectrum tells the ends of its rows apart") {
  const ScratchFolder folder;
  constexpr int rows = 400;
  std::ostringstream text;
  text.precision(17);
  text << "%%MatrixMarket matrix coordinate real symmetric\n400 400 400\n";
  for (int i = 1; i <= rows; ++i) text << i << ' ' << i << ' ' << 1 + 5e-9 * (i - rows / 2) << '\n';
  const auto result =
      run_weft(1, {"spectrum", folder.write("narrow.mtx", text.str()), "--threads", "1"});
  REQUIRE(result.exit_code == 0);
  const std::size_t table = result.output.find("            to");
  REQUIRE(table != std::string::npos);
  std::istringstream lines(result.output.substr(result.output.find('\n', table) + 1));
  int count = 0;
  std::string begin;
  std::string end;
  std::string rest;
  while (lines >> begin >> end && std::getline(lines, rest)) {
    INFO(begin << " to " << end);
    CHECK(begin != end);
    ++count;
  }
  CHECK(count == 16);
}
