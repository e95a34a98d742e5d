// Matrices in numbered files, solved one after the other.
#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/system/json_report.h"
#include "tests/system/program_run.h"

namespace {

using weft::tests::report_of;
using weft::tests::run_weft;
using weft::tests::ScratchFolder;

/// A chain of 400 points, tied to the ground by `tie`.
std::string chain(double tie) {
  constexpr int points = 400;
  std::string entries;
  int count = 0;
  const auto add = [&](int row, int column, double value) {
    if (column < 1 || column > points) return;
    ++count;
    entries +=
        std::to_string(row) + " " + std::to_string(column) + " " + std::to_string(value) + "\n";
  };
  for (int row = 1; row <= points; ++row) {
    add(row, row - 1, -1);
    add(row, row, 2 + tie);
    add(row, row + 1, -1);
    add(row, row + 20, -0.001);
    add(row, row - 20, -0.001);
  }
  return "%%MatrixMarket matrix coordinate real general\n400 400 " + std::to_string(count) + "\n" +
         entries;
}

std::string vector_of(int number) {
  std::string values = "%%MatrixMarket matrix array real general\n400 1\n";
  for (int row = 0; row < 400; ++row) values += std::to_string(1 + 0.01 * row * number) + "\n";
  return values;
}

const std::vector<std::string> options{"--preconditioner", "amg:direct=10", "--method", "cg"};

std::vector<std::string> command(const std::string& pattern, std::vector<std::string> more = {}) {
  std::vector<std::string> words{"solve", "--sequence", pattern};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

TEST_CASE("matrices of a sequence of files are solved with what those before have found") {
  const ScratchFolder folder;
  for (const int number : {1, 2, 3, 4}) {
    folder.write("A_0" + std::to_string(number) + ".mtx", chain(0.01 + 1e-4 * number));
    folder.write("b" + std::to_string(number) + ".mtx", vector_of(number));
  }
  const std::string name = folder.path("");
  std::string expected;
  for (const int ranks : {1, 3}) {
    const auto report = report_of(
        run_weft(ranks, command(name + "A_%02d.mtx", {"--rhs", name + "b%d.mtx", "--json", "-"})));
    CHECK(report["status"] == "converged");
    const auto& steps = report["sequence"];
    REQUIRE(steps.size() == 4);
    CHECK(steps[0]["problem"] == name + "A_01.mtx");
    CHECK(steps[0]["recycled"]["set_up"] == "made");
    CHECK(steps[1]["recycled"]["set_up"] == "kept");
    // The right-hand sides are in a plane.
    CHECK(steps[3]["recycled"]["earlier_solutions"] == 3);
    CHECK(steps[3]["iterations"] < steps[0]["iterations"]);
    std::string outcome;
    for (const auto& step : steps)
      outcome += step["iterations"].dump() + " " + step["relative_residual"].dump() + "\n";
    if (expected.empty()) expected = outcome;
    CHECK(outcome == expected);
  }
  const auto shown = run_weft(1, command(name + "A_%02d.mtx"));
  CHECK(shown.exit_code == 0);
  CHECK(std::ranges::count(shown.output, '\n') == 5);
  const auto alone = run_weft(1, command(name + "A_%02d.mtx", {"--recycle", "none"}));
  CHECK(alone.output.find("kept") == std::string::npos);
}

TEST_CASE("a matrix with the values of the one before is not set up again") {
  const ScratchFolder folder;
  for (const int number : {0, 1, 2})
    folder.write("A" + std::to_string(number) + ".mtx", chain(number < 2 ? 0.01 : 0.02));
  for (const std::string& recycle : {std::string("auto"), std::string("none")}) {
    const auto report = report_of(
        run_weft(2, command(folder.path("A%d.mtx"), {"--recycle", recycle, "--json", "-"})));
    const auto& steps = report["sequence"];
    REQUIRE(steps.size() == 3);
    CHECK(steps[1]["recycled"]["set_up"] == "kept");
    CHECK(steps[1]["iterations"] <= steps[0]["iterations"]);
    if (recycle == "none") CHECK(steps[2]["recycled"]["set_up"] == "new values");
  }
}

TEST_CASE("what is wrong with a sequence is said in one line") {
  const ScratchFolder folder;
  folder.write("A0.mtx", chain(0.01));
  const std::string name = folder.path("");
  const auto fault = [&](const std::vector<std::string>& words) {
    const auto result = run_weft(2, words);
    CHECK(result.exit_code == 2);
    CHECK(std::ranges::count(result.errors, '\n') == 1);
    return result.errors;
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(has(fault(command("A.mtx")),
            "--sequence: found 'A.mtx'; expected a name with one %d or %03d"));
  CHECK(has(fault(command(name + "B%d.mtx")), "B1.mtx: found neither file"));
  CHECK(has(fault(command(name + "A%d.mtx", {"--rhs", "b%s.mtx"})), "--rhs: found 'b%s.mtx'"));
  CHECK(has(fault(command(name + "A%d.mtx", {"--rhs", name + "b%d.mtx"})), "b0.mtx"));
  CHECK(has(fault(command(name + "A%d.mtx", {"--solution", "x.mtx"})),
            "--solution: found with --sequence"));
  CHECK(has(fault({"solve", "poisson3d:4", "--sequence", name + "A%d.mtx"}),
            "--sequence: found with poisson3d:4"));
  CHECK(has(fault({"solve", "poisson3d:4", "--recycle", "auto"}),
            "--recycle: found without --sequence"));
  for (const char* const number : {"0", "1", "4"})
    folder.write("step" + std::string(number) + ".mtx", chain(0.01));
  CHECK(has(fault(command(name + "step%d.mtx")), "step2.mtx: found "));
  CHECK(has(fault(command(name + "step%d.mtx")), "step4.mtx without it; expected numbers"));
  folder.write("A1.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 3 1\n");
  CHECK(has(fault(command(name + "A%d.mtx")), "A1.mtx"));
}
