#include "spmv/problems/right_hand_side.h"

#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/input_error.h"
#include "spmv/problems/random_numbers.h"

namespace weft::spmv {
namespace {

using comm_thread::ComputeTeam;
using comm_thread::InputError;

std::string right_hand_side_complaint(const std::string& word) {
  try {
    RightHandSide::parse(word);
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

// Filled rank by rank, as `rank_count` ranks would.
std::vector<double> filled(const std::string& word, const std::string& problem_word,
                           int rank_count = 1, int thread_count = 1) {
  const Problem problem = Problem::parse(problem_word);
  const auto partition = RowPartition::by_rows(problem.row_count(), rank_count);
  const ComputeTeam team(thread_count, comm_thread::WaitPolicy::yield);
  std::vector<double> all;
  for (int rank = 0; rank < rank_count; ++rank) {
    std::vector<double> own(static_cast<std::size_t>(partition.size(rank)), -1);
    fill(RightHandSide::parse(word), problem, partition, rank, team, own);
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

TEST_CASE("right-hand sides are parsed and named as they were written") {
  for (const std::string word : {"ones", "boundary-one", "random:0", "random:18446744073709551615",
                                 "x-random:7", "b.mtx", "folder/b.mtx.gz"})
    CHECK(RightHandSide::parse(word).name() == word);
  CHECK(RightHandSide::parse("x-random:7").kind == RightHandSideKind::x_random);
  CHECK(RightHandSide::parse("x-random:7").seed == 7);
  CHECK(RightHandSide::parse("random:7").kind == RightHandSideKind::random);
  CHECK(RightHandSide::parse("b.mtx").kind == RightHandSideKind::file);
  CHECK(RightHandSide::parse("b.mtx").path == "b.mtx");
}

TEST_CASE("a bad right-hand side is refused in one line that says what is known") {
  for (const std::string word : {"", "one", "random", "Ones", "b.xyz"}) {
    CHECK_THAT(right_hand_side_complaint(word),
               Catch::StartsWith("right-hand side '" + word + "': "));
    for (const std::string known :
         {"ones", "boundary-one", "random:SEED", "x-random:SEED", "FILE.mtx", "FILE.mtx.gz"})
      CHECK_THAT(right_hand_side_complaint(word), Catch::Contains(known));
  }
  for (const std::string seed : {"", "x", "-1", "1.5", "1 ", "18446744073709551616"}) {
    CHECK_THAT(right_hand_side_complaint("random:" + seed),
               Catch::Contains("found the seed '" + seed + "'"));
    CHECK_THAT(right_hand_side_complaint("x-random:" + seed), Catch::Contains("found the seed"));
  }
}

TEST_CASE("boundary-one counts the missing neighbours") {
  CHECK(filled("boundary-one", "poisson2d:3x2") == std::vector<double>{2, 1, 2, 2, 1, 2});
  CHECK(filled("boundary-one", "poisson3d:3x2x1") == std::vector<double>{4, 3, 4, 4, 3, 4});
  CHECK(filled("boundary-one", "poisson3d27:3x2x1") == std::vector<double>{23, 21, 23, 23, 21, 23});
  CHECK(filled("boundary-one", "anisotropic3d:3x2x1,1,2,4") ==
        std::vector<double>{11, 10, 11, 11, 10, 11});
}

TEST_CASE("boundary-one needs a grid") {
  const RightHandSide boundary_one = RightHandSide::parse("boundary-one");
  for (const std::string word : {"irregular:30", "a.mtx"}) {
    CHECK_THROWS_WITH(check(boundary_one, Problem::parse(word)), Catch::Contains("has no grid"));
    CHECK_THROWS_AS(check(boundary_one, Problem::parse(word)), InputError);
    CHECK_NOTHROW(check(RightHandSide::parse("ones"), Problem::parse(word)));
  }
  CHECK_THROWS_AS(filled("boundary-one", "irregular:30"), InputError);
  CHECK_NOTHROW(check(boundary_one, Problem::parse("poisson3d:3")));
}

TEST_CASE("random right-hand sides are uniform numbers of the global row") {
  const auto b = filled("random:5", "irregular:30", 3);
  for (std::size_t row = 0; row < b.size(); ++row)
    CHECK(b[row] == uniform(5, static_cast<GlobalIndex>(row)));
  CHECK(filled("x-random:5", "irregular:30") == b);
  CHECK(filled("random:6", "irregular:30") != b);
}

TEST_CASE("no right-hand side depends on ranks or threads") {
  for (const std::string word : {"ones", "boundary-one", "random:1", "x-random:1"}) {
    const auto expected = filled(word, "poisson3d:11x12x13");
    CHECK(expected.size() == 11 * 12 * 13);
    for (int ranks = 1; ranks <= 4; ++ranks)
      for (int threads = 1; threads <= 3; ++threads)
        CHECK(filled(word, "poisson3d:11x12x13", ranks, threads) == expected);
  }
  CHECK(filled("ones", "poisson2d:2") == std::vector<double>(4, 1.0));
}

TEST_CASE("a right-hand side file is for its reader") {
  CHECK_THROWS_AS(filled("b.mtx", "poisson2d:2"), std::invalid_argument);
}

}  // namespace
}  // namespace weft::spmv
