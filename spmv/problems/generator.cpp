#include "spmv/problems/generator.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "spmv/matrix/assembly.h"
#include "spmv/problems/anderson_generator.h"
#include "spmv/problems/convection_generator.h"
#include "spmv/problems/diffusion_generator.h"
#include "spmv/problems/elasticity_generator.h"
#include "spmv/problems/heisenberg_generator.h"
#include "spmv/problems/holstein_hubbard_generator.h"
#include "spmv/problems/irregular_generator.h"
#include "spmv/problems/stencil_generator.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;
using comm_thread::ComputeTeam;
using comm_thread::TeamThread;

/// Refuses, early and on every rank alike, problems that fit in no partition.
void check_size(const Problem& problem, int rank_count) {
  const GlobalIndex rows = problem.row_count() / rank_count;
  if (rows > std::numeric_limits<LocalIndex>::max())
    throw comm_thread::InputError("problem '" + problem.name() + "': " + std::to_string(rows) +
                                  " rows per rank; expected at most 2147483647: use more ranks");
}

/// The nonzeros of every row block: each rank counts its share, then all are added.
std::vector<GlobalIndex> collective_count_blocks(const Communicator& communicator,
                                                 const ComputeTeam& team, const Problem& problem) {
  const GlobalIndex row_count = problem.row_count();
  const GlobalIndex block_size = RowPartition::block_size(row_count);
  std::vector<GlobalIndex> nonzeros(static_cast<std::size_t>(RowPartition::block_count(row_count)));
  const auto mine =
      comm_thread::share_of(std::ssize(nonzeros), communicator.rank(), communicator.size());
  team.run([&](const TeamThread& thread) {
    const auto share = comm_thread::share_of(mine.end - mine.begin, thread.index, thread.count);
    visit_rows(problem, std::min(row_count, (mine.begin + share.begin) * block_size),
               std::min(row_count, (mine.begin + share.end) * block_size),
               [&](GlobalIndex row, std::span<const GlobalIndex> columns, std::span<const double>) {
                 nonzeros[static_cast<std::size_t>(row / block_size)] += std::ssize(columns);
               });
  });
  communicator.sum(nonzeros);
  return nonzeros;
}

RowPartition collective_partition(const Communicator& communicator, const ComputeTeam& team,
                                  const Problem& problem, PartitionBy partition_by) {
  if (partition_by == PartitionBy::rows)
    return RowPartition::by_rows(problem.row_count(), communicator.size());
  return RowPartition::by_nonzeros(problem.row_count(), communicator.size(),
                                   collective_count_blocks(communicator, team, problem));
}

/// Gives every thread of `team` its share of the assembly's rows, one row at a time.
template <class Visit>
void visit_own_rows(const ComputeTeam& team, const Problem& problem, const MatrixAssembly& assembly,
                    const Visit& visit) {
  team.run([&](const TeamThread& thread) {
    const GlobalIndex first = assembly.first_row();
    const auto share =
        comm_thread::share_of(assembly.end_row() - first, thread.index, thread.count);
    visit_rows(problem, first + share.begin, first + share.end,
               [&](GlobalIndex row, std::span<const GlobalIndex> columns,
                   std::span<const double> values) { visit(thread.index, row, columns, values); });
  });
}

void fill(const ComputeTeam& team, const Problem& problem, MatrixAssembly& assembly) {
  visit_own_rows(team, problem, assembly,
                 [&](int thread, GlobalIndex row, std::span<const GlobalIndex> columns,
                     std::span<const double>) {
                   for (const GlobalIndex column : columns) assembly.count(row, column, thread);
                 });
  assembly.allocate(team);
  visit_own_rows(team, problem, assembly,
                 [&](int, GlobalIndex row, std::span<const GlobalIndex> columns,
                     std::span<const double> values) {
                   for (std::size_t i = 0; i < columns.size(); ++i)
                     assembly.insert(row, columns[i], values[i]);
                 });
}

}  // namespace

void visit_rows(const Problem& problem, GlobalIndex begin, GlobalIndex end,
                const RowVisitor& visit) {
  if (problem.has_stencil())
    StencilGenerator(problem).visit_rows(begin, end, visit);
  else if (problem.kind == ProblemKind::diffusion3d)
    DiffusionGenerator(problem).visit_rows(begin, end, visit);
  else if (problem.kind == ProblemKind::anderson3d)
    AndersonGenerator(problem).visit_rows(begin, end, visit);
  else if (problem.kind == ProblemKind::elasticity3d)
    ElasticityGenerator(problem).visit_rows(begin, end, visit);
  else if (problem.kind == ProblemKind::convection3d)
    ConvectionGenerator(problem).visit_rows(begin, end, visit);
  else if (problem.kind == ProblemKind::holstein_hubbard)
    HolsteinHubbardGenerator(problem.holstein_hubbard).visit_rows(begin, end, visit);
  else if (problem.kind == ProblemKind::heisenberg)
    HeisenbergGenerator(problem.heisenberg).visit_rows(begin, end, visit);
  else
    IrregularGenerator(problem.irregular).visit_rows(begin, end, visit);
}

DistributedMatrix collective_generate(const Communicator& communicator, const ComputeTeam& team,
                                      const Problem& problem, PartitionBy partition_by) {
  check_size(problem, communicator.size());
  RowPartition partition = collective_partition(communicator, team, problem, partition_by);
  std::optional<MatrixAssembly> assembly;
  comm_thread::collective_attempt(communicator, [&] {
    assembly.emplace(std::move(partition), communicator.rank(), team.thread_count());
    fill(team, problem, *assembly);
  });
  return std::move(*assembly).collective_finish(communicator, team);
}

}  // namespace weft::spmv
