#pragma once

#include <petscmat.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>
#include <weft/weft.hpp>

#include "library/petsc/node_group.h"

namespace weft::petsc {

/// What a Mat knows beside its entries. Of a group the leader has the rows.
struct MatFacts {
  std::vector<double> near_null;  // [rows][near_null_count], of MatSetNearNullSpace
  int near_null_count = 0;
  std::vector<double> null_space;  // [rows], or empty
  bool has_constant_null_space = false;  // MatSetNullSpace with the constant vector alone
  PetscInt block_size = 1;
  std::vector<double> coordinates;  // [rows][dimensions], of PCSetCoordinates
  int dimensions = 0;  // 2 or 3 with coordinates; the same on all ranks
};

/// What PCSetCoordinates says: coordinates of this rank's nodes.
struct NodeCoordinates {
  std::vector<double> values;  // [nodes][dimensions]
  int dimensions = 0;
};

/// The weft::Matrix of a Mat: made once, and given new values where the Mat has some. Lifetime: its
/// group outlives it.
class MatrixOfMat {
 public:
  enum class News { nothing, values, all };

  /// Looks what is new in `mat`, whose places of entries PETSc counts the changes of. Other types
  /// than MATAIJ are converted. Collective. Throws PetscFault, Error.
  News collective_take(Mat mat);
  /// Near-null space, null space and block size, and `nodes`, where their displacements are the
  /// rows of every rank. Collective. Throws PetscFault, Error.
  MatFacts collective_facts(Mat mat, const NodeCoordinates& nodes) const;

  /// Of the matrix, from the next one on: those of weft::Matrix.
  void use_options(Options options) { options_ = std::move(options); }
  /// Hands the rows of a group to its leader, from the next matrix on; null: to nobody.
  void use_group(const NodeGroup* group) { group_ = group; }
  const NodeGroup* group() const { return group_; }
  /// Of a group the leader has it.
  const Matrix& matrix() const { return *matrix_; }
  bool is_made() const { return is_made_; }
  /// Forgets the matrix.
  void clear();

  MatrixOfMat() = default;
  MatrixOfMat(const MatrixOfMat&) = delete;
  MatrixOfMat& operator=(const MatrixOfMat&) = delete;
  ~MatrixOfMat();

 private:
  Mat collective_as_aij(Mat mat, bool has_same_places);
  void collective_make(Mat aij);
  void collective_update(Mat aij);

  Options options_;
  Mat converted_ = nullptr;  // of a Mat of another type
  PetscObjectId id_ = 0;
  PetscObjectState places_ = 0;
  PetscObjectState values_ = 0;
  bool is_made_ = false;
  const NodeGroup* group_ = nullptr;
  std::optional<Matrix> matrix_;
};

}  // namespace weft::petsc
