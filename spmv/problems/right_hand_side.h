#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "comm_thread/placement/compute_team.h"
#include "spmv/problems/problem.h"
#include "spmv/rows/partition.h"

namespace weft::spmv {

enum class RightHandSideKind { ones, boundary_one, random, x_random, file };

/// Choice of the right-hand side b.
struct RightHandSide {
  /// Understands `ones`, `boundary-one`, `random:SEED`, `x-random:SEED`, `FILE.mtx[.gz]`,
  /// `FILE.npy`, `FILE.petsc`, `FILE.bin`, `FILE.h5[:DATASET]`.
  /// Throws comm_thread::InputError.
  static RightHandSide parse(std::string_view word);

  std::string name() const;

  RightHandSideKind kind = RightHandSideKind::ones;
  std::uint64_t seed = 0;  // random, x_random
  std::string path;  // file
};

/// Throws comm_thread::InputError if `problem` cannot have this right-hand side (`boundary-one`
/// without a grid); cheap enough to call before the matrix is built.
void check(const RightHandSide& right_hand_side, const Problem& problem);

/// Writes this rank's part of `ones`, `boundary-one` or `random`; for `x-random` it writes x*,
/// which the caller multiplies by the matrix. Files have their own reader: std::invalid_argument.
/// `own`: [partition.size(rank)]. Throws like `check`.
void fill(const RightHandSide& right_hand_side, const Problem& problem,
          const RowPartition& partition, int rank, const comm_thread::ComputeTeam& team,
          std::span<double> own);

/// The same for the rows from `first_row` on, of a problem that can have it (`check`).
/// Thread: any number at the same time. `own`: [number of rows].
void fill_rows(const RightHandSide& right_hand_side, const Problem& problem, GlobalIndex first_row,
               std::span<double> own);

}  // namespace weft::spmv
