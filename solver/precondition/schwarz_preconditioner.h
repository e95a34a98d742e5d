#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm_thread/engine/halo_exchange.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "solver/direct/cholmod_factor.h"
#include "solver/precondition/imported_rows.h"
#include "solver/precondition/preconditioner.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/rows/halo_plan.h"

namespace weft::solver {

/// Additive Schwarz for any symmetric positive definite sparse matrix: subdomains of consecutive
/// rows, or parts of its graph, that grow by an algebraic overlap, each solved by CHOLMOD.
///
///     M = Σ R_iᵀ·W_i·A_i⁻¹·W_i·R_i,   W_i = 1/√(how many subdomains have the row)
///
///     6×6 tridiagonal, 2 subdomains, overlap 1     subdomain 0: rows 0 1 2 3
///     M is symmetric, so conjugate gradients       subdomain 1: rows 2 3 4 5
///     may be preconditioned with it                W: 1 1 ½√2 ½√2 1 1
///
/// `restricted`: a row takes what the subdomain found that has it without the overlap, M = Σ R̃_iᵀ·
/// A_i⁻¹·R_i, which is not symmetric; half the messages.
///
/// `optimized`: the same with Ã_i, whose rows at the edge know that there is something beyond
/// (shift_interface); wants an overlap.
///
/// Subdomain i of S has the rows from i·N/S to (i+1)·N/S, whatever the ranks; the rank that owns
/// the middle one solves it, on one of its threads. A row adds what its subdomains found in the
/// order of their numbers. So the bits of z do not depend on ranks and threads.
///
///     r ─► rows that subdomains need from others ─► solves ─► results to the owners ─► z
///
/// Bytes an application: 24 for each nonzero of the factors; messages: twice the overlap.
/// Lifetime: `op` outlives it.
/// Source: Cai and Sarkis 1999 (restricted); Efstathiou and Gander 2003; St-Cyr, Gander, Thomas
/// 2007 (optimized).
class SchwarzPreconditioner final : public Preconditioner {
 public:
  enum class Kind { symmetric, restricted, optimized };
  /// `rows`: consecutive ones. `graph`: METIS cuts the graph of each rank's own rows, each rank's
  /// share of the subdomains, at least one; the bits of z then depend on the ranks.
  enum class Partition { rows, graph };

  struct Options {
    Kind kind = Kind::symmetric;
    std::int64_t subdomain_count = 0;  // of all ranks; 0: one for about `automatic_rows` rows
    Partition partition = Partition::rows;
    int overlap = 1;  // layers of the matrix's graph
    /// Of `optimized`, above 0 to 1, see shift_interface. The best is 0.02 to 0.2 for matrices of
    /// two dimensions, 0.1 to 0.3 for three, and flat: 0.1 took at most a third more iterations.
    double shift = 0.1;
  };
  static constexpr std::int64_t automatic_rows = 4096;

  /// Imports rows and factors. Collective. Thread: the main thread, outside the team.
  /// Throws comm_thread::InputError on every rank where options are out of range, and where a
  /// subdomain's matrix is not positive definite.
  SchwarzPreconditioner(const spmv::SparseOperator& op, const Options& options);

  /// How many subdomains `options` ask for in a matrix of `row_count` rows. Throws
  /// comm_thread::InputError where options are out of range.
  static std::int64_t checked_subdomain_count(const Options& options, spmv::GlobalIndex row_count);
  /// Parts of the graph of this rank's rows by METIS, without the overlap: its share of
  /// `subdomain_count`, at least one; how many there are on all ranks is put in. Collective.
  static std::vector<OverlappingRows> collective_cut_graph(
      const comm_thread::Communicator& communicator, const spmv::DistributedMatrix& matrix,
      std::int64_t& subdomain_count);
  /// What is said of a subdomain's matrix that has no factors.
  static std::string fault_of_matrix(std::size_t row_count);

  void apply(const comm_thread::TeamThread& thread, const double* r, double* z) override;
  double norm() const override { return norm_; }
  bool is_symmetric() const override { return kind_ == Kind::symmetric; }

  Kind kind() const { return kind_; }
  bool has_graph_partition() const { return partition_ == Partition::graph; }
  /// As made.
  std::int64_t subdomain_count() const { return subdomain_count_; }
  int overlap() const { return overlap_; }
  /// Of `optimized`, as used.
  double shift() const { return shift_; }
  /// Rows of the largest subdomain of any rank, with the overlap.
  std::int64_t largest_subdomain() const { return largest_subdomain_; }
  /// Time that the primary thread has spent in `apply` so far.
  double seconds() const { return seconds_; }

 private:
  struct Subdomain {
    std::vector<std::int32_t> places;  // of its rows: own ones, then the halo
    std::vector<double> weights;
    std::size_t result_begin = 0;  // in results_
    bool needs_halo = false;
    std::unique_ptr<CholmodFactor> factor;
    std::vector<double> right_hand_side;
  };

  std::vector<OverlappingRows> own_subdomains() const;
  void collective_plan_halo(const std::vector<OverlappingRows>& subdomains);
  void collective_plan_results(const std::vector<OverlappingRows>& subdomains);
  void collective_weigh();
  void collective_factor(const std::vector<LowerTriangle>& matrices);
  void solve(const comm_thread::TeamThread& thread, const double* r, bool with_halo);
  double inverse_norm(Subdomain& subdomain) const;
  std::size_t row_count() const { return op_.element_count(); }

  const spmv::SparseOperator& op_;
  comm_thread::Communicator communicator_;
  Kind kind_;
  Partition partition_;
  std::int64_t subdomain_count_;
  int overlap_;
  double shift_;
  std::int64_t largest_subdomain_ = 0;
  double norm_ = 1;
  double seconds_ = 0;  // the primary thread's

  std::vector<Subdomain> subdomains_;
  spmv::HaloPlan plan_;
  std::vector<spmv::GlobalIndex> halo_rows_;  // ascending
  std::vector<double> halo_;
  std::optional<comm_thread::HaloExchange> to_subdomains_;
  std::optional<comm_thread::Pending> pending_;  // of the primary thread

  /// What subdomains found, in the order in which it is used: own rows' here, others' on their way.
  std::vector<double> results_;  // of own subdomains; others' after them
  std::size_t received_begin_ = 0;
  std::vector<std::size_t> sent_;  // places in results_, for the send buffer
  std::optional<comm_thread::HaloExchange> to_owners_;
  std::vector<std::size_t> term_begin_;  // [row_count + 1]
  std::vector<std::size_t> terms_;  // places in results_, by row, then by subdomain
};

/// As on the command line: `symmetric`, `restricted`, `optimized`.
const char* name(SchwarzPreconditioner::Kind kind);

}  // namespace weft::solver
