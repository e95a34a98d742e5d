// Checkpoints on the command line: what is refused.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/system/program_run.h"

namespace {

using weft::tests::run_weft;
using weft::tests::ScratchFolder;

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("what cannot be continued from, or written, is one line before any work") {
  const ScratchFolder folder;
  const std::string state = folder.path("state");
  CHECK(run_weft(1, {"solve", "poisson3d:12", "--checkpoint", state, "--max-iterations", "5"})
            .exit_code == 3);
  const std::string text = folder.write("text", "something else that is long enough to be read");
  const std::vector<std::pair<Words, std::string>> refused{
      {{"--restart-from", folder.path("none")}, "No such file"},
      {{"--restart-from", text}, "is not a checkpoint"},
      {{"--restart-from", state, "--method", "minres"}, "is of the method cg"},
      {{"--restart-from", state, "--preconditioner", "jacobi"}, "another preconditioner"},
      {{"--restart-from", state, "--rhs", "ones"}, "another right-hand side"},
      {{"--restart", "1001"}, "found '1001'; expected a whole number from 1 to 1000"},
      {{"--restart", state}, "a file is continued by --restart-from"},
      {{"--checkpoint", text}, "something else than a checkpoint"},
      {{"--checkpoint", folder.path("none/state")}, "cannot be written"},
      {{"--checkpoint", folder.path(".")}, "is not a file"},
      {{"--checkpoint", state, "--checkpoint-every", "soon"}, "expected a time such as"},
      {{"--checkpoint-every", "5s"}, "expected --checkpoint FILE with it"},
  };
  for (const int ranks : {1, 3})
    for (const auto& [words, why] : refused) {
      Words all{"solve", "poisson3d:12"};
      all.insert(all.end(), words.begin(), words.end());
      const auto result = run_weft(ranks, all);
      INFO(words.front() << " " << words.back() << ": " << result.errors);
      CHECK(result.exit_code == 2);
      CHECK(std::ranges::count(result.errors, '\n') == 1);
      CHECK_THAT(result.errors, Catch::Contains(why));
    }
  CHECK(run_weft(2, {"solve", "poisson3d:12", "--restart-from", state}).exit_code == 0);
}
