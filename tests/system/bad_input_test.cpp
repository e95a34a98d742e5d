// Errors in the input are reported in one line, on any number of ranks.
#include <zlib.h>

#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/system/program_run.h"

namespace {

using weft::tests::program_path;
using weft::tests::run_weft;
using weft::tests::ScratchFolder;

const std::string general = "%%MatrixMarket matrix coordinate real general\n";
const std::string good = general + "2 2 2\n1 1 1\n2 2 1\n";

/// The program on `ranks` ranks ends with exit code 2 and one line with all of `parts` in it, and
/// leaves nothing behind.
void check_refused(const ScratchFolder& folder, const std::vector<std::string>& arguments,
                   const std::vector<std::string>& parts, int ranks = 3) {
  const auto names_before = folder.names();
  std::string shown;
  for (const std::string& argument : arguments) shown += argument + " ";
  const auto result = run_weft(ranks, arguments);
  INFO(ranks << " ranks: weft " << shown << "\n" << result.errors);
  CHECK(result.exit_code == 2);
  CHECK(result.output == "");
  CHECK(result.errors.starts_with("weft: "));
  CHECK(result.errors.ends_with("\n"));
  CHECK(std::count(result.errors.begin(), result.errors.end(), '\n') == 1);
  CHECK(result.errors.size() < 400);
  CHECK(result.errors.find("expected") != std::string::npos);
  for (const std::string& part : parts) {
    INFO("should contain: " << part);
    CHECK(result.errors.find(part) != std::string::npos);
  }
  CHECK(folder.names() == names_before);
}

/// Words of the command line, which every rank reads for itself: on one rank and on two in turn.
class WrongWords {
 public:
  void check(const std::vector<std::string>& arguments, const std::vector<std::string>& parts) {
    check_refused(folder_, arguments, parts, ranks_);
    ranks_ = 3 - ranks_;
  }
  const ScratchFolder& folder() const { return folder_; }

 private:
  ScratchFolder folder_;
  int ranks_ = 2;
};

/// `text` as a matrix file is refused at `line`; on two or on three ranks.
void check_refused_at(const std::string& text, int line, const std::string& complaint,
                      const std::string& method = "cg") {
  const ScratchFolder folder;
  const auto file = folder.write("matrix.mtx", text);
  check_refused(folder, {"solve", file, "--method", method, "--threads", "1"},
                {file + ":" + std::to_string(line) + ": ", complaint}, 2 + line % 2);
}

void write_compressed(const std::string& path, const std::string& text) {
  const gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
}

}  // namespace

TEST_CASE("a missing file is refused") {
  const ScratchFolder folder;
  for (const char* const command : {"solve", "spmv"})
    check_refused(folder, {command, folder.path("missing.mtx")},
                  {folder.path("missing.mtx") + ": ", "No such file"});
  check_refused(folder, {"solve", folder.path("missing.mtx.gz")},
                {folder.path("missing.mtx.gz") + ": ", "No such file"});
  check_refused(folder, {"generate", folder.path("missing.mtx"), folder.path("copy.mtx")},
                {folder.path("missing.mtx") + ": ", "No such file"});
  check_refused(folder, {"solve", folder.path("missing.mtx")}, {"No such file"}, 1);
}

TEST_CASE("a file that one rank cannot read is refused by all") {
  const ScratchFolder folder;
  const std::string missing = "diffusion3d:3,file=missing.raw";
  const auto good_file =
      "diffusion3d:3,file=" + folder.write("k.raw", std::string(27 * sizeof(double), '\x3f'));
  const auto check = [&](const std::vector<std::string>& first,
                         const std::vector<std::string>& second, const std::string& refusal) {
    std::vector<std::string> words = first;
    words.insert(words.end(), {":", "-n", "1", program_path()});
    words.insert(words.end(), second.begin(), second.end());
    check_refused(folder, words, {refusal}, 1);
  };
  for (const char* const command : {"solve", "jacobi", "spmv", "compare"})
    check({command, good_file}, {command, missing}, "weft: rank 1: problem '" + missing + "': ");
  check({"solve", missing}, {"solve", good_file}, "weft: rank 0: problem '" + missing + "': ");
  const auto config = folder.write("config.toml", "[solve]\nmethod = \"cg\"\n");
  check({"solve", "poisson3d:3", "--config", config},
        {"solve", "poisson3d:3", "--config", "missing"}, "weft: rank 1: missing: cannot be read");
}

TEST_CASE("a wrong header is refused at its line") {
  check_refused_at("", 1, "empty");
  check_refused_at("%%MatrixMarkt matrix coordinate real general\n2 2 1\n1 1 1\n", 1,
                   "MatrixMarkt");
  check_refused_at("%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 1 2\n", 3,
                   "imaginary");
  check_refused_at("%%MatrixMarket matrix coordinate real hermitian\n2 2 1\n1 1 1\n", 1,
                   "hermitian");
  check_refused_at("2 2 1\n1 1 1\n", 1, "2 2 1");
  check_refused_at(general + "% comment\n2 2\n1 1 1\n", 3, "2 2");
}

TEST_CASE("a truncated file is refused at the line where it ends") {
  check_refused_at(general + "2 2 3\n1 1 1\n2 2 1\n", 4, "ends after 2 entries");
  check_refused_at(general + "2 2 2\n1 1 1\n2 2", 4, "ends before the value");
}

TEST_CASE("a truncated compressed file is refused at the line where it ends") {
  const ScratchFolder folder;
  const auto file = folder.path("short.mtx.gz");
  write_compressed(file, general + "2 2 3\n1 1 1\n2 2 1\n");
  check_refused(folder, {"solve", file}, {file + ":4: ", "ends after 2 entries"});

  std::string entries;
  for (int i = 1; i <= 20000; ++i)
    entries += std::to_string(i) + " " + std::to_string(i) + " " + std::to_string(i * 7919) + "\n";
  const auto whole = folder.path("whole.mtx.gz");
  write_compressed(whole, general + "20000 20000 20000\n" + entries);
  const std::string bytes = weft::tests::read_file(whole);
  const auto cut = folder.write("cut.mtx.gz", bytes.substr(0, bytes.size() / 2));
  check_refused(folder, {"solve", cut}, {cut + ":", "the compressed data ends too early"});
}

TEST_CASE("an index out of range is refused at its line") {
  check_refused_at(general + "2 2 2\n1 1 1\n3 2 1\n", 4, "\"3\" as row");
  check_refused_at(general + "2 2 2\n1 0 1\n2 2 1\n", 3, "\"0\" as column");
  check_refused_at(general + "2 2 2\n-1 1 1\n2 2 1\n", 3, "\"-1\" as row");
}

TEST_CASE("a value that is not a number is refused at its line") {
  check_refused_at(general + "2 2 2\n1 1 1\n2 2 x\n", 4, "\"x\"");
  check_refused_at(general + "2 2 2\n1 1 1\n2 2 1 7\n", 4, "\"7\"");
  check_refused_at(general + "2 2 2\n1 1\n2 2 1\n", 3, "ends before the value");
}

TEST_CASE("a value that is not finite is refused at its line") {
  for (const char* const value : {"nan", "NaN", "inf", "-Infinity", "1e999"})
    check_refused_at(general + "2 2 2\n1 1 1\n2 2 " + value + "\n", 4, value);
}

TEST_CASE("a matrix that is not square is refused at its size line") {
  check_refused_at(general + "2 3 2\n1 1 1\n2 2 1\n", 2, "2 rows and 3 columns");
}

TEST_CASE("an empty matrix is refused at its size line") {
  check_refused_at(general + "2 2 0\n", 2, "0 entries");
  check_refused_at(general + "0 0 0\n", 2, "expected");
}

TEST_CASE("a zero on the diagonal is refused where the method divides by it") {
  const ScratchFolder folder;
  for (const char* entries : {"2 2 2\n1 1 1\n1 2 1\n", "2 2 2\n1 1 1\n2 2 0\n"}) {
    const auto file = folder.write("matrix.mtx", general + entries);
    check_refused(folder, {"solve", file, "--method", "pcg-jacobi", "--triangle", "as-is"},
                  {file + ": row 2 ", "zero on the diagonal"});
  }
}

TEST_CASE("a matrix that is not symmetric is refused by methods that need it, unless forced") {
  const ScratchFolder folder;
  const auto file = folder.write(
      "matrix.mtx", general + "4 4 7\n1 1 4\n2 2 4\n3 3 4\n4 4 4\n3 1 -1\n1 3 -1\n4 2 -2.5\n");
  for (const std::string method :
       {"cg", "pcg-jacobi", "cg-one-reduction", "cg-pipelined", "cg-pipelined-pr", "fcg", "minres"})
    check_refused(
        folder, {"solve", file, "--method", method, "--threads", "1"},
        {std::string(file).append(": --method ").append(method),
         "found 0 at row 2, column 4 and -2.5 at row 4, column 2", "--method gmres or bicgstab"});
  check_refused(folder, {"solve", file, "--method", "cg", "--order", "rcm", "--threads", "1"},
                {"found 0 at row 2, column 4 and -2.5 at row 4, column 2"});
  for (const std::string method : {"gmres", "fgmres", "bicgstab", "bicgstab-pipelined", "auto"})
    CHECK(run_weft(2, {"solve", file, "--method", method, "--threads", "1"}).exit_code == 0);
  CHECK(run_weft(2, {"solve", file, "--method", "cg", "--force", "--threads", "1"}).exit_code != 2);
  check_refused(folder, {"study", "cg", file, "--operator", "matrix", "--threads", "1"},
                {"found 0 at row 2, column 4 and -2.5 at row 4, column 2"});
}

TEST_CASE("a null space that is none is refused") {
  const ScratchFolder folder;
  const auto file = folder.write("matrix.mtx", general + "2 2 2\n1 1 1\n2 2 1\n");
  check_refused(folder, {"solve", file, "--null-space", "constant", "--threads", "1"},
                {"--null-space constant: A times this vector", "expected 0"});
  check_refused(folder, {"solve", file, "--null-space", folder.path("missing.mtx")},
                {"missing.mtx", "No such file"});
}

TEST_CASE("unknown commands and options are refused") {
  WrongWords words;
  const auto matrix = words.folder().write("matrix.mtx", good);
  words.check(
      {}, {"found no command; expected solve, eigen, spectrum, jacobi, schwarz, spmv, roofline, "
           "compare, study, simulate, generate, convert, "
           "topology, progress"});
  words.check({"frob"},
              {"'frob'",
               "expected solve, eigen, spectrum, jacobi, schwarz, spmv, roofline, compare, study, "
               "simulate, "
               "generate, convert, "
               "topology, progress"});
  words.check({"frob", matrix, "--json", "-"}, {"'frob'"});
  words.check({"solve", matrix, "--frob"}, {"--frob"});
  words.check({"solve", matrix, "more"}, {"more"});
  words.check({"solve"}, {"found no PROBLEM; expected poisson3d:N"});
  words.check({"solve", matrix, "--method", "multigrid"}, {"multigrid", "--grid NXxNYxNZ"});
  words.check({"solve", matrix, "--preconditioner", "multigrid"}, {"--grid NXxNYxNZ"});
  words.check({"solve", matrix, "--preconditioner", "multigrid", "--grid", "5x5x5"},
              {"multigrid", "rows", "5x5x5"});
  words.check({"solve", matrix, "--grid", "frob"}, {"--grid", "frob"});
  words.check({"solve", "poisson3d:9", "--preconditioner", "multigrid", "--order", "rcm"},
              {"--preconditioner multigrid", "--order rcm"});
  words.check({"solve", "elasticity3d:3", "--operator", "stencil"},
              {"elasticity3d:3", "stencil of the same numbers"});
  words.check({"solve", "poisson3d:9", "--operator", "stencil", "--method", "multigrid",
               "--preconditioner", "jacobi"},
              {"--preconditioner", "jacobi"});
  for (const std::string settings :
       {"steps=0", "steps=5", "steps=x", "steps", "gather=0", "start=half", "frob=1"})
    words.check({"solve", "poisson3d:9", "--operator", "stencil", "--method", "multigrid",
                 "--multigrid", settings},
                {"--multigrid", "found '" + settings + "'", "expected"});
  words.check({"solve", "poisson3d:9", "--operator", "stencil", "--multigrid", "steps=3"},
              {"--multigrid", "--method cg"});
  words.check({"solve", "poisson3d:9", "--operator", "stencil", "--preconditioner", "multigrid",
               "--multigrid", "start=full"},
              {"--multigrid", "start=full", "--method cg"});
  words.check({"generate", "poisson3d:5"}, {"file is required"});
  words.check({"solve", matrix, "--mode", "frob"}, {"--mode", "frob"});
  words.check({"solve", matrix, "--method", "frob"}, {"--method", "frob"});
  words.check({"solve", matrix, "--format", "frob"}, {"--format", "frob"});
  words.check({"solve", matrix, "--partition", "frob"}, {"--partition", "frob"});
  words.check({"spmv", matrix, "--mode", "task,frob"}, {"--mode", "frob"});
}

TEST_CASE("unknown problems are refused") {
  WrongWords words;
  for (const char* const problem : {"frob", "", "poisson3d:0", "poisson3d:-5", "poisson3d:x",
                                    "poisson3d:5x5", "irregular:10,frob=3"})
    words.check({"solve", problem}, {std::string("problem '") + problem + "': "});
}

TEST_CASE("a right-hand side that does not fit is refused") {
  const ScratchFolder folder;
  const auto matrix = folder.write("matrix.mtx", good);
  const auto longer =
      folder.write("b.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n1\n1\n");
  const auto shorter = folder.write("c.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n");
  const auto wide =
      folder.write("w.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n1\n1\n1\n");
  const auto odd = folder.write("d.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\nnan\n");
  check_refused(folder, {"solve", matrix, "--rhs", longer},
                {longer + ":2: ", "length 3", "length 2"});
  check_refused(folder, {"solve", matrix, "--rhs", shorter}, {shorter + ":3: "});
  check_refused(folder, {"jacobi", matrix, "--rhs", wide}, {wide + ":2: ", "2 columns"});
  check_refused(folder, {"solve", matrix, "--rhs", odd}, {odd + ":4: ", "nan"});
  check_refused(folder, {"solve", matrix, "--rhs", matrix}, {matrix + ":", "vector"});
  check_refused(folder, {"solve", matrix, "--rhs", folder.path("missing.mtx")}, {"No such file"});
  check_refused(folder, {"solve", matrix, "--rhs", "frob"}, {"'frob'"});
  check_refused(folder, {"solve", matrix, "--rhs", "random:x"}, {"'x'"});
  check_refused(folder, {"solve", matrix, "--rhs", "boundary-one"}, {"boundary-one", "grid"});
}

TEST_CASE("numbers that make no sense are refused") {
  WrongWords words;
  const auto matrix = words.folder().write("matrix.mtx", good);
  for (const char* const threads : {"-1", "x", "1.5"})
    words.check({"solve", matrix, "--threads", threads}, {"--threads", threads});
  for (const char* const tolerance : {"0", "-1", "abc", "nan", "inf", "1e-8x", "1e-400"})
    words.check({"solve", matrix, "--tolerance", tolerance},
                {"--tolerance: found '" + std::string(tolerance) + "'"});
  for (const char* const iterations : {"-1", "x", "1.5", "99999999999999999999"})
    words.check({"solve", matrix, "--max-iterations", iterations},
                {"--max-iterations: found '" + std::string(iterations) + "'"});
  words.check({"spmv", matrix, "--repetitions", "0"}, {"--repetitions", "0"});
}

TEST_CASE("an output that cannot be written is refused before the matrix is read") {
  const ScratchFolder folder;
  const auto broken = folder.write("broken.mtx", general + "2 2 2\n1 1 1\n2 2 x\n");
  const auto nowhere = folder.path("nowhere/file.mtx");
  const auto a_folder = folder.path("");
  for (const std::string& path : {nowhere, a_folder}) {
    check_refused(folder, {"solve", broken, "--solution", path},
                  {path + (path == a_folder ? ": found another ending" : ": cannot be written")});
    check_refused(folder, {"generate", broken, folder.path("nowhere/file.mtx")},
                  {"nowhere/file.mtx: cannot be written"});
    for (const char* const command : {"solve", "spmv"})
      check_refused(folder, {command, broken, "--json", path}, {path + ": cannot be written"});
    check_refused(folder, {"topology", "--json", path}, {path + ": cannot be written"});
  }
  check_refused(folder, {"generate", "poisson3d:5", folder.path("file.txt")}, {".mtx"});
}

TEST_CASE("a solve that is refused late leaves the files of earlier runs as they were") {
  const ScratchFolder folder;
  const auto broken = folder.write("broken.mtx", general + "2 2 2\n1 1 1\n2 2 x\n");
  const auto solution = folder.write("x.mtx", "old solution");
  const auto report = folder.write("r.json", "old report");
  check_refused(folder, {"solve", broken, "--solution", solution, "--json", report},
                {broken + ":4: "});
  CHECK(weft::tests::read_file(solution) == "old solution");
  CHECK(weft::tests::read_file(report) == "old report");
}

TEST_CASE("a header that promises more than its file has room for is refused at its line") {
  check_refused_at(general + "300000000 300000000 3\n1 1 1\n2 2 1\n3 3 1\n", 2,
                   "found 300000000 rows in a file of ");
  check_refused_at(general + "3 3 300000000\n1 1 1\n2 2 1\n3 3 1\n", 2,
                   "found 300000000 entries in a file of ");
}

TEST_CASE("ranks with different commands or options end with one line") {
  const ScratchFolder folder;
  const std::vector<std::string> first = {"generate", "poisson2d:8", folder.path("a.mtx")};
  const auto beside = [&](const std::vector<std::string>& second) {
    std::vector<std::string> words = first;
    words.insert(words.end(), {":", "-n", "1", program_path()});
    words.insert(words.end(), second.begin(), second.end());
    return words;
  };
  check_refused(folder, beside({"topology"}), {"rank 1: found topology, and generate on rank 0"},
                1);
  check_refused(folder, beside({"generate", "poisson2d:9", folder.path("a.mtx")}),
                {"rank 1: found problem poisson2d:9, and problem poisson2d:8 on rank 0"}, 1);
  check_refused(folder, beside({"--version"}), {"rank 1: found no command"}, 1);
  check_refused(folder, beside({"generate", "--help"}), {"rank 1: found no command"}, 1);
  check_refused(folder, beside({"help", "generate"}), {"rank 1: found help"}, 1);
  std::vector<std::string> printing = first;
  printing.emplace_back("--print-config");
  check_refused(folder, beside(printing), {"rank 1: found generate --print-config"}, 1);
  printing.insert(printing.end(), {":", "-n", "1", program_path()});
  printing.insert(printing.end(), first.begin(), first.end());
  check_refused(folder, printing, {", and generate --print-config on rank 0"}, 1);
  std::vector<std::string> helping = {"help", "solve", ":", "-n", "1", program_path()};
  helping.insert(helping.end(), first.begin(), first.end());
  check_refused(folder, helping, {"rank 1: found generate, and help on rank 0"}, 1);
}
