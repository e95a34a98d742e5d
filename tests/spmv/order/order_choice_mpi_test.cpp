#include <string>

#include <catch2/catch.hpp>

#include "comm_thread/placement/compute_team.h"
#include "spmv/order/order_choice.h"
#include "spmv/problems/generator.h"

namespace weft::spmv {
namespace {

OrderChoice choose(const std::string& problem) {
  const auto world = comm_thread::Communicator::collective_world();
  const comm_thread::ComputeTeam team(1, comm_thread::WaitPolicy::yield);
  return collective_choose_order(
      world, team, collective_generate(world, team, Problem::parse(problem), PartitionBy::rows));
}

TEST_CASE("rows are worth another order where coupled ones are far apart, by cache and by size") {
  const OrderChoice near = choose("poisson2d:500x100");
  CHECK_FALSE(near.has_cuthill_mckee);
  CHECK_THAT(near.why, Catch::Contains("stay in the first cache"));
  // Five nonzeros a row but at the edges, at distances of 0, 1, 1, 500 and 500.
  CHECK_THAT(near.why, Catch::StartsWith("coupled rows are 199 rows apart"));

  const OrderChoice far = choose("irregular:150000,nnzr=4,bandwidth=149000");
  CHECK(far.has_cuthill_mckee);
  CHECK_THAT(far.why, Catch::Contains("pays for itself"));

  CHECK(choose("irregular:50000,nnzr=4,bandwidth=49000").has_cuthill_mckee);  // 16 000 apart

  const OrderChoice large = choose("irregular:1000000,nnzr=2,bandwidth=149000");
  CHECK_FALSE(large.has_cuthill_mckee);
  CHECK_THAT(large.why, Catch::Contains("as in a good order"));

  CHECK_FALSE(choose("poisson2d:1").has_cuthill_mckee);
}

}  // namespace
}  // namespace weft::spmv
