#include "library/solve/block_solver.h"

#include <cstdint>
#include <utility>

namespace weft::library {
namespace {

/// True if conjugate gradients for 8 vectors at once are quicker than for one after the other. The
/// 8 vectors leave a cache that those of one stay in, for which short rows do not make up.
/// Processor time of 8 alone over 8 at once, on one rank: with 7 entries a row 1.1 to 1.25 for up
/// to 33 000 rows, 0.76 to 0.9 for 110 000 to 1 000 000; with 9 entries 1.5, with 26 1.8, with
/// 47 2.7.
bool reading_once_pays(const spmv::SparseOperator& op, int rank_count) {
  constexpr std::int64_t long_row = 8;
  constexpr std::int64_t few_rows = 50'000;
  const std::int64_t rows = op.global_row_count();
  return op.matrix().matrix().global_nonzero_count >= long_row * rows ||
         rows <= few_rows * rank_count;
}

}  // namespace

bool BlockSolver::collective_pays(const spmv::LinearOperator& op) {
  const auto* const matrix = dynamic_cast<const spmv::SparseOperator*>(&op);
  // A stored stencil takes no time to read: one vector after another stays in cache better.
  const bool is_stored = matrix && !matrix->matrix().format_name().starts_with("stencil");
  return op.communicator().max(std::int64_t{is_stored}) > 0 && matrix &&
         reading_once_pays(*matrix, op.communicator().size());
}

solver::ConjugateGradient& BlockSolver::collective_method(
    spmv::SparseOperator& op, const solver::KrylovMethod::Options& options, std::size_t width) {
  auto& made = methods_[width];
  if (!made)
    made = std::make_unique<solver::ConjugateGradient>(
        op,
        solver::KrylovMethod::Options{
            .mode = options.mode,
            .preconditioner = options.preconditioner,
            .stop = options.stop,
            .on_iteration = {},
            .on_column =
                [this](int vector, std::int64_t iteration, double residual) {
                  limits_.note_vector(static_cast<std::size_t>(vector), iteration, residual);
                }},
        static_cast<int>(width));
  return *made;
}

std::vector<solver::SolveReport> BlockSolver::collective_solve(
    spmv::SparseOperator& op, const solver::KrylovMethod::Options& options,
    const std::deque<VectorsInRange>& vectors) {
  solver::ConjugateGradient& method = collective_method(op, options, vectors.size());
  std::vector<std::span<const double>> b;
  std::vector<std::span<const double>> guesses;
  for (const VectorsInRange& one : vectors) {
    method.set_stop(one.stop(), static_cast<int>(b.size()));
    b.push_back(one.b());
    if (one.guess()) guesses.push_back(*one.guess());
  }
  return method.solve(b, guesses);
}

}  // namespace weft::library
