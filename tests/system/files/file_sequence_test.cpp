// Matrices in numbered files, solved one after the other.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/system/json_report.h"
#include "tests/system/program_run.h"

namespace {

using weft::tests::read_file;
using weft::tests::report_of;
using weft::tests::run_weft;
using weft::tests::RunningProgram;
using weft::tests::ScratchFolder;

/// A chain of points, tied to the ground by `tie`; each is joined to the next and to the one `far`
/// away.
std::string chain(double tie, int far = 20, int points = 400) {
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
    add(row, row + far, -0.001);
    add(row, row - far, -0.001);
  }
  const std::string size = std::to_string(points);
  return "%%MatrixMarket matrix coordinate real general\n" + size + " " + size + " " +
         std::to_string(count) + "\n" + entries;
}

std::string vector_of(int number, int points = 400) {
  std::string values =
      "%%MatrixMarket matrix array real general\n" + std::to_string(points) + " 1\n";
  for (int row = 0; row < points; ++row)
    values += std::to_string(1 + 4.0 / points * row * number) + "\n";
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

namespace {

constexpr int last_system = 9;

/// The files of one system of ten: values that move slowly, jump at 4 and 5, stay at 7, and have
/// other places from 8 on.
void write_system(const ScratchFolder& folder, int number, int points = 400) {
  const int moved = number == 7 ? 6 : number;
  const double tie = number < 4 ? 0.01 + 1e-4 * number : number == 4 ? 20 : 0.3 + 1e-3 * moved;
  folder.write("A_" + std::to_string(number) + ".mtx", chain(tie, number < 8 ? 20 : 30, points));
  folder.write("b_" + std::to_string(number) + ".mtx", vector_of(number + 1, points));
}

std::string outcome_of(const nlohmann::json& steps, std::size_t first) {
  std::string outcome;
  for (std::size_t i = first; i < steps.size(); ++i)
    outcome += steps[i]["problem"].dump() + steps[i]["method"].dump() +
               steps[i]["iterations"].dump() + " " + steps[i]["relative_residual"].dump() +
               steps[i]["recycled"].dump() + "\n";
  return outcome;
}

std::vector<std::string> words_of_sequence(const ScratchFolder& folder,
                                           const std::vector<std::string>& of_solve) {
  std::vector<std::string> words{"solve", "--sequence", folder.path("A_%d.mtx"), "--rhs",
                                 folder.path("b_%d.mtx")};
  words.insert(words.end(), of_solve.begin(), of_solve.end());
  return words;
}

std::vector<std::string> joined(std::vector<std::string> words,
                                const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// What is solved, and after which systems it is interrupted.
struct Interrupted {
  std::vector<std::string> options;
  std::vector<int> stops;
};

}  // namespace

TEST_CASE("a sequence continues on other ranks with the bits of one that was not interrupted") {
  const std::vector<Interrupted> all{
      {{"--method", "cg", "--preconditioner", "amg:direct=10"}, {0, 4, 5, 7}},
      {{"--method", "cg", "--preconditioner", "jacobi"}, {6}},
      {{"--method", "cg", "--preconditioner", "amg:direct=10", "--recycle", "none"}, {6}},
      {{"--method", "gmres"}, {4}},
  };
  for (const auto& [of_solve, stops] : all) {
    const ScratchFolder folder;
    const auto words = words_of_sequence(folder, of_solve);
    const std::string state = folder.path("state");
    for (int number = 0; number <= last_system; ++number) write_system(folder, number);
    const auto whole = report_of(run_weft(
        2, joined(words, {"--json", "-", "--checkpoint", state, "--checkpoint-every", "3it"})));
    REQUIRE(whole["sequence"].size() == last_system + 1);
    const std::string last = read_file(state);
    const auto alone = report_of(run_weft(1, joined(words, {"--json", "-"})));
    CHECK(outcome_of(alone["sequence"], 0) == outcome_of(whole["sequence"], 0));
    for (const std::string kind : {"made", "kept", "new values"})
      CHECK(outcome_of(whole["sequence"], 0).find(kind) != std::string::npos);
    for (const int stop : stops) {
      CAPTURE(of_solve, stop);
      for (int number = stop + 1; number <= last_system; ++number)
        std::filesystem::remove(folder.path("A_" + std::to_string(number) + ".mtx"));
      CHECK(run_weft(1, joined(words, {"--checkpoint", state})).exit_code == 0);
      for (int number = stop + 1; number <= last_system; ++number) write_system(folder, number);
      const auto continued = report_of(
          run_weft(3, joined(words, {"--json", "-", "--checkpoint", state, "--restart-from", state,
                                     "--threads", stop == 4 ? "2" : "1"})));
      REQUIRE(continued["sequence"].size() == static_cast<std::size_t>(last_system - stop));
      CHECK(outcome_of(continued["sequence"], 0) ==
            outcome_of(whole["sequence"], static_cast<std::size_t>(stop) + 1));
      CHECK((read_file(state) == last));  // not shown
    }
  }
}

TEST_CASE("a sequence that is killed, and one that is asked to end, continue with the same bits") {
  constexpr int points = 20000;
  const ScratchFolder folder;
  for (int number = 0; number <= last_system; ++number) write_system(folder, number, points);
  const auto words = words_of_sequence(folder, options);
  const std::string last = folder.path("last");
  CHECK(run_weft(2, joined(words, {"--checkpoint", last})).exit_code == 0);
  const std::string state = folder.path("state");
  std::map<int, int> ends;
  for (int run = 0; run < 20; ++run) {
    auto more = joined(words, {"--checkpoint", state, "--checkpoint-every", "1it"});
    if (std::filesystem::exists(state)) more = joined(more, {"--restart-from", state});
    const auto before = std::filesystem::exists(state) ? std::filesystem::last_write_time(state)
                                                       : std::filesystem::file_time_type::min();
    RunningProgram program(1 + run % 3, more);
    for (int wait = 0; run < 4 && wait < 6000; ++wait) {  // for the first state of this run
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      if (std::filesystem::exists(state) && std::filesystem::last_write_time(state) > before) break;
    }
    if (run < 4) program.signal_rank(0, run % 2 == 0 ? SIGKILL : SIGTERM);
    const auto result = program.wait(std::chrono::seconds(60));
    CAPTURE(run, result.output, result.errors);
    CHECK_FALSE(result.is_late);
    ++ends[result.exit_code];
    if (result.exit_code == 0) break;
    if (run % 2 == 1) CHECK(result.exit_code == 128 + SIGTERM);
    if (run % 2 == 1) CHECK_THAT(result.output, Catch::Contains("stopped by signal 15"));
  }
  CHECK(ends.size() > 1);  // it was interrupted
  CHECK((read_file(state) == read_file(last)));  // not shown
}

TEST_CASE("what a sequence cannot continue from is said in one line") {
  const ScratchFolder folder;
  for (const int number : {0, 1}) write_system(folder, number);
  const auto words = words_of_sequence(folder, options);
  const std::string state = folder.path("state");
  const std::string single = folder.path("single");
  CHECK(run_weft(1, joined(words, {"--checkpoint", state})).exit_code == 0);
  CHECK(run_weft(1, {"solve", "poisson3d:8", "--checkpoint", single, "--max-iterations", "3"})
            .exit_code == 3);
  const auto check = [&](const std::vector<std::string>& arguments, const std::string& why) {
    const auto result = run_weft(2, arguments);
    CAPTURE(result.errors);
    CHECK(result.exit_code == 2);
    CHECK(std::ranges::count(result.errors, '\n') == 1);
    CHECK_THAT(result.errors, Catch::Contains(why));
  };
  check(joined(words, {"--restart-from", single}),
        "is of the method cg; expected one of sequence with recycle=auto");
  check({"solve", "poisson3d:8", "--restart-from", state}, "is of a system with 400 rows");
  check(joined(words, {"--restart-from", state, "--recycle", "none"}),
        "is of the method sequence with recycle=auto; expected one of sequence with recycle=none");
  check(joined(words_of_sequence(folder, {"--method", "cg", "--preconditioner", "jacobi"}),
               {"--restart-from", state}),
        "is of another preconditioner");
  check(joined(words_of_sequence(folder, {"--method", "cg", "--preconditioner", "amg:direct=30"}),
               {"--restart-from", state}),
        "is of another preconditioner");
  folder.write("A_1.mtx", chain(0.02));
  check(joined(words, {"--restart-from", state}), "is of another matrix");
  folder.write("A_1.mtx", chain(0.02, 25));
  check(joined(words, {"--restart-from", state}), "found entries at other places");
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
