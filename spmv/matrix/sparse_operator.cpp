#include "spmv/matrix/sparse_operator.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "spmv/modes/product.h"
#include "spmv/modes/run_in_mode.h"

namespace weft::spmv {
namespace {

/// Rows of a segment: whole row blocks, or a small matrix would have one for every few rows.
constexpr GlobalIndex wanted_rows = 4096;

/// Row blocks of every thread, several in a segment.
std::vector<std::vector<Segment>> row_blocks(const SplitMatrix& matrix) {
  std::vector<std::vector<Segment>> segments;
  const auto cuts = matrix.thread_rows();
  const GlobalIndex size =
      std::max<GlobalIndex>(1, wanted_rows / matrix.block_size()) * matrix.block_size();
  for (std::size_t thread = 0; thread + 1 < cuts.size(); ++thread) {
    segments.emplace_back();
    for (GlobalIndex row = cuts[thread]; row < cuts[thread + 1]; row += size)
      segments.back().push_back(
          {static_cast<std::size_t>(row), std::min<GlobalIndex>(size, cuts[thread + 1] - row)});
  }
  return segments;
}

}  // namespace

SparseOperator::SparseOperator(const comm_thread::Communicator& communicator,
                               comm_thread::CommThread& comm_thread,
                               const comm_thread::ComputeTeam& team, DistributedMatrix matrix,
                               MatrixFormat format)
    : communicator_(communicator),
      comm_thread_(comm_thread),
      team_(team),
      halo_plan_(collective_build_halo_plan(communicator, matrix.partition, matrix.rank,
                                            matrix.halo_columns)),
      matrix_(std::make_shared<SplitMatrix>(std::move(matrix), team, format)),
      segments_(row_blocks(*matrix_)) {}

SparseOperator::SparseOperator(const comm_thread::Communicator& communicator,
                               comm_thread::CommThread& comm_thread,
                               const comm_thread::ComputeTeam& team, HaloPlan halo_plan,
                               std::shared_ptr<SplitMatrix> matrix)
    : communicator_(communicator),
      comm_thread_(comm_thread),
      team_(team),
      halo_plan_(std::move(halo_plan)),
      matrix_(std::move(matrix)),
      segments_(row_blocks(*matrix_)) {}

SparseOperator SparseOperator::diagonal_block(const comm_thread::Communicator& alone) const {
  HaloPlan nobody;
  nobody.halo_count = halo_plan_.halo_count;
  return SparseOperator(alone, comm_thread_, team_, std::move(nobody), matrix_);
}

std::unique_ptr<HaloVector<double>> SparseOperator::collective_make_vector(int width) {
  auto vector =
      std::make_unique<HaloVector<double>>(crew(), halo_plan_, matrix_->thread_rows(), width);
  communicator_.barrier();  // both ends of every pair exist
  return vector;
}

void SparseOperator::apply_block(const comm_thread::TeamThread& thread, Mode mode,
                                 HaloVector<double>& x, BlockResults results,
                                 const OnBlockRows& on_rows, perfmodel::PhaseTimer& timer) const {
  run_in_mode(
      thread, mode,
      {BlockProduct(*matrix_, x.width(), x.values(), results, on_rows), x, comm_thread_, timer});
}

double SparseOperator::collective_norm() const {
  const CrsMatrix& rows = matrix_->matrix().rows;
  std::vector<double> of_threads(static_cast<std::size_t>(team_.thread_count()));
  team_.run([&](const comm_thread::TeamThread& thread) {
    double largest = 0;
    for_each_element(thread.index, [&](std::size_t row) {
      double sum = 0;
      for (auto i = rows.row_offsets[row]; i < rows.row_offsets[row + 1]; ++i)
        sum += std::abs(rows.values[static_cast<std::size_t>(i)]);
      largest = std::max(largest, sum);
    });
    of_threads[static_cast<std::size_t>(thread.index)] = largest;
  });
  return communicator_.max(*std::ranges::max_element(of_threads));
}

void SparseOperator::copy_diagonal(std::span<double> diagonal) const {
  std::ranges::copy(matrix_->diagonal(), diagonal.begin());
}

namespace {

/// A product in the form of storage that is due.
class StoredProduct final : public Work {
 public:
  StoredProduct(SplitMatrix& matrix, const Product& product) : matrix_(matrix), product_(product) {}

  void run(RowSet part, const comm_thread::TeamThread& thread,
           const std::function<void()>& pause) const override {
    matrix_.in_due_form(part, thread.index, 1, [&] { product_.run(part, thread, pause); });
  }

 private:
  SplitMatrix& matrix_;
  const Product& product_;
};

}  // namespace

void SparseOperator::apply(const comm_thread::TeamThread& thread, Mode mode, Operand& x, double* y,
                           perfmodel::PhaseTimer& timer, RowSum x_dot_y) const {
  const Product product(*matrix_, x.values(), y, x_dot_y);
  run_in_mode(thread, mode, {StoredProduct(*matrix_, product), x, comm_thread_, timer});
}

}  // namespace weft::spmv
