// Options from files, help, and what is said about wrong ones.
#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/system/json_report.h"
#include "tests/system/program_run.h"

namespace {

using Catch::Contains;
using weft::tests::report_of;
using weft::tests::run_weft;
using weft::tests::ScratchFolder;

void check_fault(const std::vector<std::string>& arguments, const std::string& fault) {
  const auto result = run_weft(2, arguments);
  CHECK(result.exit_code == 2);
  CHECK(result.output == "");
  CHECK_THAT(result.errors, Contains(fault));
}

}  // namespace

TEST_CASE("a configuration that was printed gives the same options when it is read") {
  const ScratchFolder folder;
  const std::vector<std::string> arguments{"solve",       "poisson3d:6", "--threads", "1",
                                           "--tolerance", "1e-3",        "--mode",    "vector"};
  auto printing = arguments;
  printing.emplace_back("--print-config");
  const auto printed = run_weft(2, printing);
  CHECK(printed.exit_code == 0);
  CHECK_THAT(printed.output, Contains("[solve]") && Contains("tolerance = \"1e-3\""));
  const std::string file = folder.write("options.toml", printed.output);
  auto given = arguments;
  given.insert(given.end(), {"--json", "-"});
  const auto report = report_of(run_weft(2, given));
  const auto read = report_of(run_weft(2, {"solve", "--config", file, "--json", "-"}));
  CHECK(report["options"] == read["options"]);
  CHECK(report["options"]["tolerance"] == "1e-3");
  CHECK(report["options"]["max-iterations"] == "10000");
  CHECK(report["iterations"] == read["iterations"]);
  CHECK(report["schema_version"] == 1);
}

TEST_CASE("an option on the command line wins over that of a file") {
  const ScratchFolder folder;
  const std::string file =
      folder.write("options.toml", "[solve]\nproblem = \"poisson3d:5\"\nthreads = 1\n");
  const auto report =
      report_of(run_weft(1, {"solve", "poisson3d:6", "--config", file, "--json", "-"}));
  CHECK(report["problem"]["name"] == "poisson3d:6");
  CHECK(report["threads"] == 1);
}

TEST_CASE("a file of options that is missing or has unknown ones is refused") {
  const ScratchFolder folder;
  const auto check_refused = [](const std::string& place, const std::string& fault) {
    const std::string file = place.substr(0, place.find(':'));
    check_fault({"solve", "poisson3d:5", "--config", file}, "weft: " + place + ": " + fault);
  };
  check_refused(folder.path("none"), "cannot be read; expected a file as --print-config writes it");
  check_refused(folder.write("bad", "[solve]\nfrob = 1\n") + ":2",
                "found 'solve.frob'; expected [COMMAND], then OPTION = VALUE lines");
  check_refused(folder.write("section", "[frob]\nthreads = 1\n") + ":1",
                "found '[frob]'; expected");
  check_refused(folder.write("bytes", "\x1b[2J\x01\n") + ":1", "found '?[2J?'; expected");
}

TEST_CASE("a value that is wrong in a file of options is named with its line") {
  const ScratchFolder folder;
  const std::string file = folder.write("options.toml",
                                        "# of a test\n"
                                        "[jacobi]\n"
                                        "tolerance = \"1\"\n"
                                        "[solve]\n"
                                        "problem = \"poisson3d:5\"\n"
                                        "tolerance = \"low\"\n"
                                        "force = true\n");
  check_fault({"solve", "--config", file},
              "weft: " + file + ":6: --tolerance: found 'low'; expected a number, 0 or more\n");
  // Those of the command line stand for themselves.
  check_fault({"solve", "--tolerance", "high", "--config", file},
              "weft: --tolerance: found 'high'; expected a number, 0 or more\n");
  check_fault({"solve", "--tolerance", "1e-3", "--method", "gmres", "--config", file},
              "weft: " + file + ":7: --force: found with a method for any matrix");
  check_fault({"solve", "poisson3d:5", "--config",
               folder.write("jacobi", "[solve]\ntolerance = 1\n[jacobi]\ntolerance = \"x\"\n")},
              "weft: " + folder.path("jacobi") + ":4: --tolerance: found 'x'");
  check_fault({"solve", "--config", folder.write("problem", "[solve]\nproblem = \"frob:5\"\n")},
              "weft: " + folder.path("problem") + ":2: problem 'frob:5': ");
}

TEST_CASE("lists, flags and several values of an option are printed as they are read") {
  const ScratchFolder folder;
  const std::vector<std::vector<std::string>> commands{
      {"jacobi", "--grid", "6", "--no-time-blocks", "--inject", "jitter:0.1", "--inject",
       "slow:0:2"},
      {"solve", "irregular:20,nnzr=3", "--method", "gmres", "--restart", "7", "--restart-from",
       "state", "--force=false"},
      {"progress", "--sizes", "4,8", "--no-progress-thread=it failed"},
      {"simulate", "jacobi", "--variants", "async,racy", "--seeds", "2"}};
  for (const auto& command : commands) {
    auto printing = command;
    printing.emplace_back("--print-config");
    const auto printed = run_weft(1, printing);
    CHECK(printed.exit_code == 0);
    std::vector<std::string> reading{command.front()};
    if (command.front() == "simulate") reading.push_back(command[1]);
    reading.insert(reading.end(),
                   {"--config", folder.write("options", printed.output), "--print-config"});
    const auto read = run_weft(1, reading);
    INFO(printed.output << read.errors);
    CHECK(read.output == printed.output);
  }
}

TEST_CASE("a word that was removed names what replaces it") {
  for (const std::string inner : {"multigrid", "multigrid:cycle=v"})
    check_fault({"jacobi", "poisson3d:5", "--inner", inner},
                "--inner: found '" + inner +
                    "', which was removed because it was not quicker than weft solve PROBLEM "
                    "--method multigrid");
  check_fault({"solve", "poisson3d:5", "--method", "multigrid", "--multigrid", "cycle=additive"},
              "--multigrid: found 'cycle=additive', which was removed");
  check_fault({"solve", "poisson3d:5", "--preconditioner", "amg", "--cycle", "additive"},
              "--cycle: found the cycle 'additive', which was removed");
  check_fault({"solve", "poisson3d:5", "--preconditioner", "amg:cycle=additive"},
              "--preconditioner: found the cycle 'additive', which was removed");
  check_fault({"study", "amg", "poisson3d:5", "--cycles", "V,additive"},
              "--cycles: found the cycle 'additive', which was removed");
  check_fault(
      {"solve", "poisson3d:5", "--method", "fcg", "--preconditioner", "amg", "--cycle", "K"},
      "--cycle: found the cycle 'K', which was removed");
  check_fault({"study", "amg", "poisson3d:5", "--cycles", "V,K"},
              "--cycles: found the cycle 'K', which was removed");
  check_fault({"solve", "poisson3d:5", "--method", "gmres", "--restart", "state"},
              "--restart: found 'state'; expected a whole number from 1 to 1000; a file is "
              "continued by --restart-from");
  check_fault({"jacobi", "--grid", "5", "--restart", "state"},
              "found --restart; expected --restart-from FILE");
  const ScratchFolder folder;
  const std::string file = folder.write("options", "[schwarz]\nrestart = \"state\"\n");
  check_fault({"schwarz", "--subdomains", "2", "--points", "5", "--config", file},
              file + ":2: found --restart; expected --restart-from FILE");
  check_fault({"study", "multigrid", "poisson3d:5", "--cycles", "v,additive"},
              "found --cycles, which was removed");
}

TEST_CASE("an option that has no effect is refused") {
  struct Vain {
    std::vector<std::string> words;
    const char* fault;
  };
  const std::vector<Vain> all{
      {{"topology", "--strict-placement"}, "--strict-placement: found without --threads"},
      {{"solve", "poisson3d:5", "--preconditioner", "amg:cycle=V", "--cycle", "W"},
       "--cycle: found with --preconditioner amg:cycle=V; expected one of them"},
      {{"solve", "poisson3d:5", "--preconditioner", "amg:degree=1,degree=2"},
       "--preconditioner: found degree twice"},
      {{"solve", "poisson3d:5", "--preconditioner", "ilu0:overlap=1,overlap=2"},
       "--preconditioner: found overlap twice"},
      {{"solve", "poisson3d:5", "--preconditioner", "schwarz:overlap=-1"},
       "--preconditioner: found 'overlap=-1'; expected a whole number from 0 to 64"},
      {{"solve", "poisson3d:5", "--preconditioner", "schwarz:subdomains=126"},
       "poisson3d:5: schwarz: found subdomains=126; expected 1 to 125, the number of rows, or 0 "
       "for"},
      {{"solve", "poisson3d:5", "--preconditioner", "amg", "--block-size", "3", "--order", "auto"},
       "--block-size: found with --order auto; expected rows in the given order"},
      {{"solve", "poisson3d:5", "--preconditioner", "amg", "--block-size", "3", "--order", "rcm",
        "--partition", "metis"},
       "--block-size: found with --order rcm and --partition metis; expected rows in the given"},
      {{"solve", "poisson3d:5", "--method", "multigrid", "--order", "rcm"},
       "--method multigrid: found with --order rcm; expected rows in the given order"},
      {{"solve", "poisson3d:5", "--method", "gmres", "--restart", "10", "--restart", "20"},
       "--restart: found 2 values; expected one"},
      {{"solve", "poisson3d:5", "--json", "a", "--json", "b"},
       "--json: found 2 values; expected one"},
      {{"solve", "poisson3d:5", "--force", "--method", "gmres"}, "--force: found with a method"},
      {{"solve", "poisson3d:5", "--method", "pcg-jacobi", "--preconditioner", "multigrid"},
       "--preconditioner: found multigrid with --method pcg-jacobi"},
      {{"solve", "poisson3d:5", "--operator", "stencil", "--partition", "nonzeros"},
       "--partition: found with --operator stencil"},
      {{"solve", "poisson3d:5", "--method", "auto", "--preconditioner", "jacobi", "--multigrid",
        "steps=2"},
       "--multigrid: found with --method auto"},
      {{"solve", "poisson3d:5", "--initial", "x.npy", "--restart-from", "state"},
       "--initial: found with --restart-from"},
      {{"jacobi", "--grid", "5", "--rhs", "ones"}, "--rhs: found with --grid; expected a matrix"},
      {{"jacobi", "--grid", "5", "--partition", "nonzeros"}, "--partition: found with --grid"},
      {{"jacobi", "--grid", "5", "--variant", "async", "--no-time-blocks"},
       "--no-time-blocks: found without --variant sync"},
      {{"jacobi", "--grid", "5", "--variant", "async", "--mode", "vector"},
       "--mode: found without --variant sync"},
      {{"jacobi", "--grid", "5", "--detector", "flags"}, "--detector: found with --variant sync"},
      {{"jacobi", "--grid", "5", "--transport", "openmp", "--halo-period", "2"},
       "--halo-period: found with --transport openmp"},
      {{"jacobi", "poisson3d:5", "--no-time-blocks"}, "--no-time-blocks: found with a matrix"},
      {{"jacobi", "poisson3d:5", "--momentum", "auto", "--weight", "0.9"},
       "--weight: found with --momentum auto"},
      {{"schwarz", "--subdomains", "2", "--points", "5", "--in-flight", "3"},
       "--in-flight: found with --variant sync"},
      {{"schwarz", "--subdomains", "1", "--points", "5", "--alpha", "0.1"},
       "--alpha: found with --subdomains 1"},
      {{"convert", "a.mtx", "b.npz", "--grid", "2x2"},
       "--grid: found with a file that is no image"},
      {{"study", "in-flight", "--grid", "5", "--variant", "async", "--in-flight", "4"},
       "--in-flight: found with study in-flight; expected --values"},
      {{"simulate", "jacobi", "--variants", "sync", "--halo-period", "4"},
       "--halo-period: found with --variants sync"},
      {{"simulate", "jacobi", "--advise", "--mode", "vector"}, "--mode: found with --advise"},
      {{"progress", "--merge", "a", "--no-progress-thread"},
       "--no-progress-thread: found with --merge"}};
  for (const Vain& vain : all) {
    const auto result = run_weft(1, vain.words);
    INFO(vain.fault);
    CHECK(result.exit_code == 2);
    CHECK(result.output == "");
    CHECK_THAT(result.errors, Contains(std::string("weft: ") + vain.fault));
    CHECK(std::ranges::count(result.errors, '\n') == 1);
  }
}

TEST_CASE("a value that an option does not take is shown with those that it takes") {
  const std::vector<std::string> solve{"solve", "poisson3d:5"};
  const auto check_value = [&](const std::vector<std::string>& words, const std::string& fault) {
    auto arguments = solve;
    arguments.insert(arguments.end(), words.begin(), words.end());
    check_fault(arguments, "weft: " + fault + "\n");
  };
  check_value({"--threads", "x"}, "--threads: found 'x'; expected a whole number from 0 to 65536");
  check_value({"--cycle", "Z"}, "--cycle: found the cycle 'Z'; expected V, W or auto");
  check_value({"--tolerance", "1e-3", "--tolerance", "1e-4"},
              "--tolerance: found 2 values; expected one");
  check_fault({"study", "frob"}, "found 'frob'; expected ");
  check_fault({"simulate"}, "found nothing after simulate; expected ");
  check_fault({"solve", "a\nb.mtx"}, "weft: a?b.mtx: ");
}

TEST_CASE("an unknown option names the closest one and the help to read") {
  check_fault(
      {"solve", "poisson3d:5", "--tolerence", "1e-3"},
      "unknown option --tolerence; expected --tolerance, or another one of weft solve --help");
  check_fault({"solve", "poisson3d:5", "--frobnicate"}, "expected one of weft solve --help");
  check_fault({"study", "cg", "poisson3d:5", "--iteration=3"},
              "expected --iterations, or another one of weft study cg --help");
}

TEST_CASE("a missing problem lists the problems, and a missing command the commands") {
  check_fault({"solve"}, "found no PROBLEM; expected poisson3d:N, poisson2d:NXxNY");
  check_fault({}, "found no command; expected solve, eigen, spectrum, jacobi");
}

TEST_CASE("help tells the options of a command") {
  const auto help = run_weft(2, {"help", "solve"});
  CHECK(help.exit_code == 0);
  CHECK_THAT(help.output, Contains("Usage: weft solve [OPTIONS]") && Contains("--tolerance"));
  CHECK_THAT(run_weft(1, {"help", "study", "cg"}).output, Contains("weft study cg"));
  CHECK_THAT(run_weft(1, {"help"}).output, Contains("Subcommands:"));
  check_fault({"help", "frob"}, "found 'frob'; expected a command: solve");
}

TEST_CASE("help of a command fits a screen, and help-all has every option") {
  for (const char* const command : {"solve", "jacobi", "schwarz", "spmv", "roofline", "compare",
                                    "generate", "convert", "topology", "progress"}) {
    CAPTURE(command);
    const std::string text = run_weft(1, {command, "--help"}).output;
    CHECK(std::ranges::count(text, '\n') <= 45);
    CHECK_THAT(text, Contains(std::string("Usage: weft ") + command) && Contains("Example"));
  }
  const std::string text = run_weft(1, {"solve", "--help"}).output;
  const std::vector<std::string> in_order{"Problem:\n",  "  --rhs RHS",   "Method:\n",
                                          "  --method ", "Run:\n",        "  --threads T=0",
                                          "Output:\n",   "  --solution ", "weft solve --help-all",
                                          "Examples:\n", "Exit code"};
  std::size_t place = 0;
  for (const std::string& word : in_order) {
    CAPTURE(word);
    place = text.find(word, place);
    REQUIRE(place != std::string::npos);
  }
  CHECK_THAT(text, !Contains("--null-space"));
  CHECK_THAT(run_weft(1, {"solve", "--help-all"}).output,
             Contains("--null-space constant|none|FILE") && Contains("Chronopoulos-Gear"));
}

TEST_CASE("the report of a solve has the history of its residual") {
  const auto report =
      report_of(run_weft(2, {"solve", "poisson3d:10", "--threads", "1", "--json", "-"}));
  const auto& history = report["history"];
  CHECK(history.size() == report["iterations"].get<std::size_t>());
  CHECK(history.front()[0] == 1);
  CHECK(history.back()[2] == report["recurrence_residual"]);
}
