#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "comm_thread/job/job.h"
#include "comm_thread/mpi/communicator.h"
#include "library/options/matrix_settings.h"
#include "solver/precondition/matrix_size.h"
#include "spmv/problems/problem.h"

namespace weft::library {

/// Memory that a rank will occupy at its peak, before it is taken.
///
///     set-up     started    what MPI, the threads and the program occupy already
///                matrix     12 bytes a nonzero, 8.5 a row
///                reading    entries of text on their way, or ordering: an order or a partition by
///                           graph, whichever is more
///     solve      started, matrix
///                vectors    b and those of the method
///                amg        levels and their set-up, by the nonzeros and rows of the matrix
///                halo       entries of other ranks, in every vector that is multiplied
///
/// The factors of Schwarz are forecast when the matrix is there, from its symbolic analysis
/// (solver::SchwarzOptions::on_forecast).
struct MemoryForecast {
  struct Part {
    std::string name;
    double bytes;
  };
  std::vector<Part> parts{};  // of the solve
  std::vector<Part> set_up{};  // before that
  double reached = 0;  // the peak so far

  double solve_bytes() const;
  /// The peak: of the set-up or the solve, or that of the start of the process.
  double bytes() const;
  /// Of the set-up or the solve, whichever needs more.
  const std::vector<Part>& largest() const;
};

/// Rows and nonzeros of a system, of all ranks. Nonzeros of generated problems are estimated from a
/// sample of the rows, those of a file come from its header; of its order a sample tells.
struct SystemSize : solver::MatrixSize {
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  bool sends_text = false;  // entries are read by other ranks than need them
  double reach = infinity;  // how far coupled rows are apart at most, as far as is known
  bool is_random = false;  // columns of a row are coupled no more than others
  bool may_be_shifted = true;  // rows as spmv::ShiftedRows has them, unless others are known
  bool may_be_numbered = true;  // values as spmv::NumberedValues has them, likewise
  double elements_per_rank = 0;  // of a vector, without its halo
  bool is_grid = false;  // vectors have the points around the grid
  bool is_plane = false;  // of a grid: between two planes of ghost points that nobody touches
};

/// Reads the header of a file. `options`: whether half of a matrix becomes a whole one.
/// `is_matrix_free`: vectors are those of a grid. Collective. Throws comm_thread::InputError.
SystemSize collective_system_size(const comm_thread::Communicator& communicator,
                                  const spmv::Problem& problem, const MatrixSettings& options,
                                  bool is_matrix_free = false);

/// What stores the operator: a matrix with its order, or, `is_matrix_free`, nothing.
MemoryForecast forecast_operator(const comm_thread::Communicator& communicator,
                                 const SystemSize& size, const MatrixSettings& options,
                                 bool is_matrix_free);

/// Adds `arrays` vectors as the operator has them, each on whole pages of its own, of which
/// `with_halo` have the halo, and `plain_arrays` that share pages, of a rank's rows or of its part
/// of the grid.
void add_vectors(const SystemSize& size, double arrays, double with_halo, double plain_arrays,
                 MemoryForecast& forecast);

/// What an operator and two vectors will need. Collective. Throws comm_thread::InputError.
MemoryForecast collective_forecast_system(const comm_thread::Communicator& communicator,
                                          const spmv::Problem& problem,
                                          const MatrixSettings& settings, bool is_matrix_free);

/// Adds `bytes` of factors of subdomains, where everything else is there already.
void note_factors(double bytes, MemoryForecast& forecast);

/// Refuses what the nodes do not have: throws comm_thread::InputError on every rank with the
/// numbers and what would help. `name`: of the problem. Collective.
void collective_check_memory(const comm_thread::Job& job, const std::string& name,
                             const MemoryForecast& forecast);

}  // namespace weft::library
