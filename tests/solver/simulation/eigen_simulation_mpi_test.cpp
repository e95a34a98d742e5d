// Searches for eigenvalues, simulated beside real ones whose messages MPI counts.
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "solver/eigen/eigen_options.h"
#include "solver/eigen/eigen_report.h"
#include "solver/eigen/filtered_lanczos.h"
#include "solver/panels/search_steps.h"
#include "solver/simulation/eigen_simulation.h"
#include "spmv/modes/mode.h"
#include "spmv/problems/problem.h"
#include "tests/solver/krylov/matrix_system.h"
#include "tests/support/serial_reference.h"

namespace {

/// Persistent sends that this rank has started, and their bytes.
struct Sent {
  std::mutex mutex;
  std::map<MPI_Request, std::int64_t> bytes_of;  // of those that are prepared
  std::int64_t count = 0;
  std::int64_t bytes = 0;

  void start(MPI_Request request) {
    const auto found = bytes_of.find(request);
    if (found == bytes_of.end()) return;
    ++count;
    bytes += found->second;
  }
};

Sent& sent() {
  static Sent all;
  return all;
}

}  // namespace

// In the place of MPI's, as its profiling interface allows.
extern "C" {
int MPI_Send_init(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm group,
                  MPI_Request* request) {
  const int result = PMPI_Send_init(data, count, type, to, tag, group, request);
  int size = 0;
  PMPI_Type_size(type, &size);
  const std::scoped_lock lock(sent().mutex);
  sent().bytes_of[*request] = std::int64_t{count} * size;
  return result;
}

int MPI_Request_free(MPI_Request* request) {
  {
    const std::scoped_lock lock(sent().mutex);
    sent().bytes_of.erase(*request);
  }
  return PMPI_Request_free(request);
}

int MPI_Startall(int count, MPI_Request requests[]) {
  const std::scoped_lock lock(sent().mutex);
  for (int i = 0; i < count; ++i) sent().start(requests[i]);
  return PMPI_Startall(count, requests);
}
}

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using tests::MatrixSystem;

struct Case {
  const char* problem;
  EigenOptions search;
};

TEST_CASE("a simulated search has the products, sums, messages and bytes of the real one",
          "[collective]") {
  const auto& world = Communicator::collective_world();
  const std::vector<Case> cases{
      {"anderson3d:9,W=8", {.count = 6}},
      {"poisson2d:30", {.count = 8, .end = SpectrumEnd::largest, .mode = spmv::Mode::vector}},
      {"holstein-hubbard:sites=4,up=2,down=2,phonons=4", {.count = 2, .width = 1}},
      {"heisenberg:12,0", {.count = 3, .width = 2, .mode = spmv::Mode::overlap}}};
  for (const Case& each : cases) {
    INFO(each.problem);
    const auto problem = spmv::Problem::parse(each.problem);
    MatrixSystem system(world, tests::reference_matrix(problem));
    SearchSteps steps;
    FilteredLanczos lanczos(system.op(), each.search, {.steps = &steps});
    const std::int64_t count_before = sent().count;
    const std::int64_t bytes_before = sent().bytes;
    const EigenReport report = lanczos.collective_solve();
    const std::int64_t messages = world.sum(sent().count - count_before);
    const std::int64_t bytes = world.sum(sent().bytes - bytes_before);
    CHECK(report.status == SolveStatus::converged);

    const HaloGraph graph(problem, world.size());
    std::size_t place = 0;
    const auto of_rank = graph.sent_by(world.rank());
    for (const auto& neighbour : system.op().halo_plan().neighbours) {
      if (neighbour.send_count == 0) continue;
      if (place >= of_rank.size()) break;
      CHECK(of_rank[place].to == neighbour.rank);
      CHECK(of_rank[place++].count == neighbour.send_count);
    }
    CHECK(place == of_rank.size());

    const EigenSimulationResult simulated =
        simulate_eigen(steps, graph, {.machine = machine_by_name("hector")});
    CHECK(simulated.products == report.products);
    CHECK(simulated.block_products ==
          std::ranges::count(steps.all(), SearchStep::Kind::product, &SearchStep::kind));
    CHECK(simulated.restarts == report.restarts);
    CHECK(simulated.halo_messages + simulated.sum_messages == messages);
    CHECK(simulated.message_bytes == static_cast<double>(bytes));

    const Communicator alone = Communicator::self();
    MatrixSystem own(alone, tests::reference_matrix(problem));
    SearchSteps own_steps;
    FilteredLanczos(own.op(), each.search, {.steps = &own_steps}).collective_solve();
    CHECK(own_steps.all() == steps.all());
  }
}

}  // namespace
}  // namespace weft::solver
