#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "perfmodel/huge_page_buffer.h"
#include "perfmodel/phase_times.h"
#include "solver/precondition/isai_rows.h"
#include "solver/precondition/matrix_size.h"
#include "solver/precondition/preconditioner.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/modes/mode.h"
#include "spmv/rows/halo_vector.h"
#include "spmv/rows/index.h"

namespace weft::solver {

/// Incomplete sparse approximate inverse: M has the pattern of A, and row i of M·A is that of the
/// identity wherever the pattern of the row has an entry.
///
///     general     m_i·A(S, S) = e_i,      S = columns of row i of A          z = M·r
///     symmetric   g_i·A(S, S) ∥ e_i, S = those up to i; G·A·Gᵀ ≈ I           z = Gᵀ·G·r
///
/// The second form (factorized, FSAI) is symmetric positive definite if A is. An application is one
/// product, or two, in the mode of the method: halos are hidden as those of A. A row takes a small
/// dense solve on the rows of A that S names, some of which come from other ranks once; so the bits
/// do not depend on ranks and threads. Rows with more than `most_entries` entries use the largest.
///
/// Source: Anzt, Huckle, Bräckle, Dongarra 2018, "Incomplete sparse approximate inverses for
/// parallel preconditioning"; Kolotilina and Yeremin 1993 (factorized).
class IsaiPreconditioner final : public Preconditioner {
 public:
  enum class Form { general, symmetric };
  struct Options {
    Form form = Form::general;
    spmv::Mode mode = spmv::Mode::task;
  };
  static constexpr std::size_t most_entries = 64;

  /// Bytes of a rank: of M, or G and its transposed, while they are built and afterwards.
  struct Bytes {
    double building = 0;
    double held = 0;
  };
  static Bytes forecast_bytes(Form form, const MatrixSize& size);

  /// Collective. Thread: the main thread, outside the team. `op` outlives it. Throws
  /// comm_thread::InputError on every rank where a row's matrix A(S, S) is singular, or not
  /// positive definite for the symmetric form.
  IsaiPreconditioner(const spmv::SparseOperator& op, const Options& options);

  void apply(const comm_thread::TeamThread& thread, const double* r, double* z) override;
  double norm() const override { return norm_; }
  bool is_symmetric() const override { return options_.form == Form::symmetric; }

 private:
  /// A matrix of its own, whose messages match no others.
  struct Matrix {
    /// Frees the rows as soon as it can. Collective.
    Matrix(const spmv::SparseOperator& op, IsaiRows rows);

    comm_thread::Communicator communicator;
    std::unique_ptr<spmv::SparseOperator> op;
    std::unique_ptr<spmv::HaloVector<double>> operand;
  };

  void multiply(const comm_thread::TeamThread& thread, const double* from, Matrix& matrix,
                double* to);

  const spmv::SparseOperator& op_;
  Options options_;
  std::vector<std::unique_ptr<Matrix>> factors_;  // M; or G and Gᵀ
  perfmodel::HugePageBuffer<double> between_;  // G·r
  double norm_ = 1;
  perfmodel::PhaseTimer timer_;  // not reported: the method counts it as an update
};

}  // namespace weft::solver
