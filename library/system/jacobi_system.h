#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm_thread/job/job.h"
#include "library/options/jacobi_settings.h"
#include "library/solve/sweep_run.h"
#include "library/system/linear_system.h"
#include "library/system/memory_forecast.h"
#include "perfmodel/huge_page_buffer.h"
#include "solver/checkpoint/checkpoint_file.h"
#include "solver/checkpoint/checkpoints.h"
#include "solver/choice/row_scales.h"
#include "solver/report/iteration_report.h"
#include "solver/sweep/sweeper.h"
#include "solver/sweepers/jacobi_spectrum.h"
#include "solver/sweepers/richardson_parameters.h"
#include "spmv/grid/grid_partition.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/problems/problem.h"

namespace weft::library {

/// Memory that sweeps will need. The factors of Schwarz are forecast when its subdomains are cut.
/// `problem`: of a matrix. Collective. Throws comm_thread::InputError.
MemoryForecast collective_forecast_jacobi(const comm_thread::Communicator& communicator,
                                          const std::string& problem,
                                          const JacobiSettings& settings);

/// Results of a run of sweeps on this rank.
struct JacobiRun {
  solver::IterationReport report;
  /// Of everybody on this rank who went on by himself: one number, or one per thread.
  std::vector<std::int64_t> iterations;
  std::string sweep_method;
  std::optional<std::int64_t> inner_iterations;  // multisplitting
  std::int64_t inner_breakdowns = 0;
};

/// Linear system that is loaded once and swept repeatedly, always from the start.
///
/// All members are collective. Throws comm_thread::InputError on every rank.
class JacobiSystem {
 public:
  using OnCheck = decltype(SweepHooks::on_check);

  /// `problem`: of a matrix; of a grid only its name is used, as it was given. `on_remark`: as of
  /// LinearSystem. Lifetime: `job` outlives it.
  JacobiSystem(comm_thread::Job& job, const std::string& problem, const JacobiSettings& settings,
               LinearSystem::OnRemark on_remark = {});

  const std::string& name() const { return name_; }
  /// With the factors of Schwarz's subdomains as soon as they are known.
  const MemoryForecast& forecast() const { return forecast_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t nonzeros() const { return nonzeros_; }
  const std::string& right_hand_side() const { return right_hand_side_; }
  /// Ranks in x, y and z; of a matrix empty.
  std::string decomposition() const;
  /// Of a matrix, where it matters: asynchronously, for parameters, or after sweeps that diverged.
  const std::optional<solver::JacobiSpectrum>& spectrum() const { return spectrum_; }
  /// Weight and momentum as used.
  const solver::RichardsonParameters& parameters() const { return parameters_; }

  /// Runs from now on keep their states there, and begin from the one that it has; null: none.
  /// Lifetime: outlives them.
  void use(solver::Checkpoints* checkpoints) { checkpoints_ = checkpoints; }

  /// `settings`: as those it was loaded with, but for how to sweep.
  JacobiRun run(const JacobiSettings& settings, const OnCheck& on_check);

 private:
  void load_matrix(const spmv::Problem& problem, const JacobiSettings& settings,
                   LinearSystem::OnRemark on_remark);
  spmv::SparseOperator& matrix() const { return *system_->matrix_operator(); }
  /// Where rows of the matrix differ in scale: residuals are judged with each divided by its scale.
  void collective_weigh_rows(const JacobiSettings& settings);
  std::span<const double> weights() const {  // empty: all are 1
    return scales_ ? scales_->weight.span() : std::span<const double>{};
  }
  void estimate_spectrum(const JacobiSettings& settings);
  /// After synchronous sweeps that have diverged: what of asynchronous ones.
  std::string collective_say_what_of_others(const JacobiSettings& settings);
  /// The recurrence is named after the method and everything that its state depends on.
  solver::SolveIdentity collective_identity(const JacobiSettings& settings) const;
  JacobiRun run_threads(const JacobiSettings& settings);
  JacobiRun run_grid(const JacobiSettings& settings, const OnCheck& on_check);
  JacobiRun run_blocks(const JacobiSettings& settings, const OnCheck& on_check);
  JacobiRun run_schwarz(const JacobiSettings& settings, const OnCheck& on_check);
  JacobiRun run_matrix(const JacobiSettings& settings, const OnCheck& on_check);
  /// ‖b‖: the residual at x = 0, where the sweeper is and its halo, too.
  double collective_start(solver::Sweeper& sweeper) const;
  JacobiRun iterate(solver::Sweeper& sweeper, double b_norm, const JacobiSettings& settings,
                    const OnCheck& on_check);

  comm_thread::Job& job_;
  MemoryForecast forecast_;
  solver::Checkpoints* checkpoints_ = nullptr;
  std::string name_;
  std::string right_hand_side_;
  std::int64_t rows_ = 0;
  std::int64_t nonzeros_ = 0;
  spmv::GridSize grid_;
  std::optional<spmv::GridPartition> partition_;  // of a grid
  std::unique_ptr<LinearSystem> system_;  // of a matrix
  perfmodel::HugePageBuffer<double> b_;
  std::optional<solver::RowScales> scales_;  // of a matrix whose rows differ in scale
  std::optional<solver::JacobiSpectrum> spectrum_;
  solver::RichardsonParameters parameters_;
};

}  // namespace weft::library
