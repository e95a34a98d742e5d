#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>
#include <weft/weft.hpp>

#include "library/petsc/matrix_of_mat.h"

namespace weft::petsc {

/// PCSetCoordinates calls the function that a PC has under this name.
inline constexpr const char* name_of_set_coordinates = "PCSetCoordinates_C";
/// Its arguments, taken.
inline NodeCoordinates coordinates_of(PetscInt dimensions, PetscInt nodes,
                                      const PetscReal* values) {
  const auto count = std::ptrdiff_t{dimensions} * nodes;
  return {{values, values + count}, static_cast<int>(dimensions)};
}

/// A weft::Solver for a Mat.
class SolverOfMat {
 public:
  /// Options that a Solver is tried with in turn: the first that takes the matrix is kept. What is
  /// known of the Mat is added where the preconditioner is amg.
  struct Way {
    Options options;
    bool is_for_symmetric = true;
  };
  /// The method for a symmetric matrix, or for another one, with these options.
  static Way for_symmetric(const Options& options);
  static Way for_others(const Options& options);

  /// Takes the Mat, its new values, or other `ways` than those of the last call. `preconditioner`:
  /// of PETSc, or null; `is_symmetric` of it follows the way. Collective. Throws.
  void collective_take(Mat mat, const std::vector<Way>& ways,
                       const UserPreconditioner* preconditioner = nullptr);
  void clear();
  /// z = M·r on this rank's rows. Collective. Throws Error.
  void collective_precondition(std::span<const double> r, std::span<double> z);

  /// Coordinates for a Mat without a near-null space, from the next solver on, which is made anew.
  void use_coordinates(NodeCoordinates nodes);
  bool has_coordinates() const { return nodes_.dimensions > 0; }
  /// As MatrixOfMat::use_options, and use_group.
  void use_matrix_options(Options options) { matrix_.use_options(std::move(options)); }
  void use_group(const NodeGroup* group) { matrix_.use_group(group); }
  const NodeGroup* group() const { return matrix_.group(); }
  /// Of a group the leader has it.
  Solver& solver() { return *solver_; }
  const Way& way() const { return way_; }
  /// What a view says: the matrix and the options in use, in lines.
  std::vector<std::string> lines() const;

 private:
  void collective_make(Mat mat, const std::vector<Way>& ways,
                       const UserPreconditioner* preconditioner);
  void collective_try(const MatFacts& facts, const UserPreconditioner* preconditioner);
  template <class Work>
  void collective_lead(const Work& work) const;
  Options with_facts(const Options& options, const MatFacts& facts) const;

  MatrixOfMat matrix_;
  NodeCoordinates nodes_;
  bool uses_coordinates_ = false;
  bool is_made_ = false;
  std::string text_of_ways_;  // of the solver
  std::string why_not_;  // the first way
  Way way_;
  std::optional<Solver> solver_;
};

}  // namespace weft::petsc
