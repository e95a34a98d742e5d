#pragma once

#include <string>
#include <vector>

#include "library/options/iteration_settings.h"
#include "library/options/matrix_settings.h"
#include "library/options/option.h"
#include "solver/precondition/schwarz_preconditioner.h"

namespace weft::library {

/// What the options of the commands that sweep ask for: `weft jacobi` and `weft study`.
struct JacobiSettings : IterationSettings, MatrixSettings {
  std::string grid;  // NXxNYxNZ; empty: a matrix
  std::string right_hand_side;
  std::string inner;  // cg:TOLERANCE or schwarz[:...]
  std::string momentum = "0";
  double lift = 0;
  double weight = 1;
  int halo_depth = 1;
  bool has_single_sweeps = false;
  bool is_strict = false;
  bool is_threaded = false;  // threads of one rank instead of ranks

  bool is_grid() const { return !grid.empty(); }
  /// Sweeps between two checks, with the default put in.
  int sweeps_per_check() const;
  IterationSettings iteration() const;
  /// The word of `transport`.
  std::string transport_name() const {
    return is_threaded ? "openmp" : comm_thread::name(transport);
  }
  /// True if `inner` selects Schwarz.
  bool has_schwarz() const;
  /// The subdomains in `inner`. Throws comm_thread::InputError.
  solver::SchwarzPreconditioner::Options parsed_schwarz() const;
  /// `jacobi`, `multisplitting` or `schwarz`.
  const char* method() const;
  /// The tolerance in `inner`. Throws comm_thread::InputError.
  double inner_tolerance() const;
  /// What its options and those of the iteration and the matrix need.
  std::vector<Need> needs() const;
};

/// Options of sweeps that weft::Iteration does not have, or has with other words.
const OptionTable<JacobiSettings>& jacobi_options();

}  // namespace weft::library
