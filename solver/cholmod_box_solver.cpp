#include "solver/cholmod_box_solver.h"

#include <fmt/format.h>

#include "comm_thread/input_error.h"

namespace weft::solver {
namespace {

constexpr int lower_triangle = -1;

void add(cholmod_triplet& triplet, int row, int column, double value) {
  static_cast<int*>(triplet.i)[triplet.nnz] = row;
  static_cast<int*>(triplet.j)[triplet.nnz] = column;
  static_cast<double*>(triplet.x)[triplet.nnz] = value;
  ++triplet.nnz;
}

cholmod_sparse* assemble(const RobinBox& box, cholmod_common& common) {
  const std::size_t size = box.point_count();
  cholmod_triplet* triplet =
      cholmod_allocate_triplet(size, size, 3 * size, lower_triangle, CHOLMOD_REAL, &common);
  for (int y = 0; y < box.height; ++y)
    for (int x = 0; x < box.width; ++x) {
      const int point = y * box.width + x;
      double diagonal = 4;
      if (x == 0) diagonal -= box.west;
      if (x == box.width - 1) diagonal -= box.east;
      if (y == 0) diagonal -= box.south;
      if (y == box.height - 1) diagonal -= box.north;
      add(*triplet, point, point, diagonal);
      if (x + 1 < box.width) add(*triplet, point + 1, point, -1);
      if (y + 1 < box.height) add(*triplet, point + box.width, point, -1);
    }
  cholmod_sparse* matrix = cholmod_triplet_to_sparse(triplet, 0, &common);
  cholmod_free_triplet(&triplet, &common);
  return matrix;
}

}  // namespace

CholmodBoxSolver::Workspace::~Workspace() {
  cholmod_free_dense(&solution, &common);
  cholmod_free_dense(&permuted, &common);
  cholmod_free_dense(&sparse_part, &common);
  cholmod_finish(&common);
}

CholmodBoxSolver::CholmodBoxSolver(const RobinBox& box, int thread_count) {
  cholmod_start(&common_);
  common_.supernodal = CHOLMOD_SIMPLICIAL;
  common_.final_ll = true;
  common_.print = 0;
  cholmod_sparse* matrix = assemble(box, common_);
  factor_ = cholmod_analyze(matrix, &common_);
  cholmod_factorize(matrix, factor_, &common_);
  cholmod_free_sparse(&matrix, &common_);
  const bool is_definite = common_.status == CHOLMOD_OK;
  for (int thread = 0; is_definite && thread < thread_count; ++thread)
    workspaces_.push_back(std::make_unique<Workspace>());
  if (is_definite) return;
  cholmod_free_factor(&factor_, &common_);
  cholmod_finish(&common_);
  throw comm_thread::InputError(
      fmt::format("a subdomain of {} x {} points: found a matrix that is not positive definite to "
                  "working precision; expected a larger alpha",
                  box.width, box.height));
}

CholmodBoxSolver::~CholmodBoxSolver() {
  cholmod_free_factor(&factor_, &common_);
  cholmod_finish(&common_);
}

std::span<const double> CholmodBoxSolver::solve(int thread, std::span<double> right_hand_side) {
  Workspace& workspace = *workspaces_[static_cast<std::size_t>(thread)];
  cholmod_dense b{};
  b.nrow = b.nzmax = b.d = right_hand_side.size();
  b.ncol = 1;
  b.x = right_hand_side.data();
  b.xtype = CHOLMOD_REAL;
  b.dtype = CHOLMOD_DOUBLE;
  cholmod_solve2(CHOLMOD_A, factor_, &b, nullptr, &workspace.solution, nullptr, &workspace.permuted,
                 &workspace.sparse_part, &workspace.common);
  return {static_cast<const double*>(workspace.solution->x), right_hand_side.size()};
}

}  // namespace weft::solver
