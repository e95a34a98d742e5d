#include "solver/amg/coarsening/rank_count.h"

#include <algorithm>
#include <cstddef>

#include "comm_thread/probe/median_seconds.h"

namespace weft::solver::amg {
namespace {

using comm_thread::TeamThread;
using spmv::GlobalIndex;

/// The model, of a hierarchy that is used once: docs/notes/algebraic-multigrid.md, "Ranks of coarse
/// levels on a slow link".
constexpr double cycles = 15;
constexpr double exchanges_of_cycle = 5;  // products with degree 2
constexpr double exchanges_of_set_up = 40;  // most of them of ten Lanczos steps
constexpr double seconds_per_row = 56e-9;  // of a cycle
/// That a row of the finer level sends: its residual and correction in a cycle, its rows of P and
/// A·P once; by Ethernet of a gigabit, as quicker links have latencies with which nothing moves.
constexpr double bytes_of_cycle = 4;
constexpr double bytes_of_set_up = 150;
constexpr double bytes_per_second = 5.5e7;  // with the handshakes of long messages

constexpr GlobalIndex usual_rows_a_rank = 1000;

double collective_latency(const comm_thread::Crew& crew, RowValues<GlobalIndex>& values) {
  constexpr int samples = 3;
  constexpr int together = 2;  // in a sample: to start the team costs time, too
  return comm_thread::collective_median_seconds(crew.communicator(), samples,
                                                [&] {
                                                  crew.team().run([&](const TeamThread& thread) {
                                                    for (int i = 0; i < together; ++i)
                                                      values.collective_renew(thread);
                                                  });
                                                }) /
         together;
}

}  // namespace

double modelled_seconds_on_ranks(LevelRows rows, std::int64_t ranks, double latency_seconds) {
  const double work = cycles * seconds_per_row * static_cast<double>(rows.coarse);
  return work / static_cast<double>(ranks) +
         (exchanges_of_set_up + cycles * exchanges_of_cycle) * latency_seconds;
}

double modelled_seconds_on_one(LevelRows rows, std::int64_t fine_ranks) {
  const double moved_rows =
      static_cast<double>(rows.fine) * (1 - 1 / static_cast<double>(fine_ranks));
  return modelled_seconds_on_ranks(rows, 1, 0) +
         (bytes_of_set_up + cycles * bytes_of_cycle) * moved_rows / bytes_per_second;
}

Gathering gathering_of(GlobalIndex rows_a_rank) {
  const bool is_chosen = rows_a_rank == 0;
  return {.least_rows = is_chosen ? usual_rows_a_rank : rows_a_rank, .is_chosen = is_chosen};
}

std::int64_t collective_rank_count(Gathering& gathering, const comm_thread::Crew& crew,
                                   const LevelMatrix& fine, GlobalIndex coarse_rows,
                                   NodeWeights weights, RowValues<GlobalIndex>& values) {
  const spmv::RowPartition& partition = fine.matrix.partition;
  const LevelRows rows{.fine = partition.row_count() * weights.fine,
                       .coarse = coarse_rows * weights.coarse};
  std::int64_t fine_ranks = 0;
  for (int rank = 0; rank < partition.rank_count(); ++rank) fine_ranks += partition.size(rank) > 0;
  const std::int64_t count =
      std::min(fine_ranks, std::max<std::int64_t>(1, rows.coarse / gathering.least_rows));
  if (!gathering.is_chosen || count <= 1 || rows.fine > most_gathered_rows) return count;
  gathering.latency_seconds = collective_latency(crew, values);
  return modelled_seconds_on_one(rows, fine_ranks) <
                 modelled_seconds_on_ranks(rows, count, *gathering.latency_seconds)
             ? 1
             : count;
}

}  // namespace weft::solver::amg
