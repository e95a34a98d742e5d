#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "library/options/matrix_settings.h"
#include "library/options/option.h"
#include "solver/amg/settings.h"
#include "solver/krylov/multigrid_settings.h"
#include "solver/multigrid/multigrid_preconditioner.h"
#include "solver/precondition/isai_preconditioner.h"
#include "solver/precondition/schwarz_preconditioner.h"
#include "solver/report/stop_criterion.h"
#include "spmv/matrix/matrix_format.h"

namespace weft::library {

/// Vectors of a caller's arrays, which options name as files otherwise, in the order of the rows of
/// the operator.
struct GivenVectors {
  std::vector<double> near_null;  // [own rows][near_null_count]
  int near_null_count = 0;
  std::vector<double> coordinates;  // of the node of each row, [own rows][dimensions]
  int dimensions = 0;
  std::vector<double> null_space;  // [own rows]
};

/// The word of an option whose vectors are in `given`.
inline constexpr const char* in_memory = "an array";

/// The word of `coordinates` that are to be estimated from the matrix.
inline constexpr const char* estimated = "estimated";

/// What the options of `weft solve` and those of weft::Matrix and weft::Solver ask for.
struct SolveSettings : MatrixSettings {
  std::string operator_kind = "matrix";
  std::string mode = "task";
  std::string method = "cg";
  std::string preconditioner = "none";
  bool has_preconditioner = false;  // it was given, if only as "none"
  std::string null_space;  // constant, none or a file; empty: found where it is easy
  std::string scale = "auto";  // of rows: auto, rows or none
  bool force = false;  // a matrix that is not symmetric where the method needs one that is
  std::string grid;  // of the rows of a matrix; empty where not given
  std::string cycle;  // of amg; empty: as `preconditioner` says
  std::string near_null;  // a file of vectors that amg keeps on coarse levels; empty: none
  std::string coordinates;  // a file of the nodes' coordinates, or `estimated`; empty: not given
  int block_size = 0;  // rows of a node; 0: not given
  int restart = 0;  // as given; 0: the default
  std::string multigrid;  // its settings, as given
  solver::StopCriterion stop;
  double max_seconds = 0;  // of a solve; 0: no limit
  std::shared_ptr<const GivenVectors> given;  // null: none
  bool has_history = false;
  bool reuses_preconditioner = false;
  std::string recycle = "none";  // of earlier solves: auto or none

  bool recycles() const { return recycle == "auto"; }

  /// From names without the leading dashes, such as max-iterations. Throws comm_thread::InputError,
  /// which names the option.
  static SolveSettings parse(const std::map<std::string, std::string>& values);

  bool is_matrix_free() const { return operator_kind == "stencil"; }
  /// True if multigrid is the method or the preconditioner.
  bool has_multigrid() const { return method == "multigrid" || preconditioner == "multigrid"; }
  /// True if `auto` may take multigrid as a preconditioner without being asked for it.
  bool may_choose_multigrid() const {
    return method == "auto" && !has_preconditioner && has_given_order();
  }
  bool has_jacobi() const { return preconditioner == "jacobi" || method == "pcg-jacobi"; }

  /// The preconditioner without its parameters.
  std::string preconditioner_name() const {
    return preconditioner.substr(0, preconditioner.find(':'));
  }
  /// True if the method, or all that `auto` may choose, needs a symmetric M.
  bool needs_symmetric_preconditioner() const;
  /// True if the method needs the levels of a preconditioner in double precision.
  bool amplifies_rounding() const;

  /// Of `schwarz`, `ilu0` and `block-lu`; nothing without one. `is_file`: the rows may be in any
  /// order, so that the subdomains of `schwarz` are parts of the graph where nothing else is asked
  /// for. Throws comm_thread::InputError where its options are none.
  std::optional<solver::SchwarzPreconditioner::Options> parsed_schwarz(bool is_file = false) const;
  /// Nothing without `isai`.
  std::optional<solver::IsaiPreconditioner::Form> parsed_isai() const;
  /// Nothing without it. Throws comm_thread::InputError where its options are none.
  std::optional<solver::amg::Settings> parsed_amg() const;
  /// Throws comm_thread::InputError.
  solver::MultigridSettings parsed_multigrid() const;
  /// True if `multigrid` says how many steps; else there are as many as the problem needs.
  bool has_smoothing_steps() const;
  /// Nothing without a grid. Throws comm_thread::InputError where it is none.
  std::optional<solver::MultigridPreconditioner::Grid> parsed_grid() const;

  /// What options need of the others. Throws comm_thread::InputError where one cannot be read.
  std::vector<Need> needs() const;
  /// Throws comm_thread::InputError where settings contradict each other.
  void check() const;
};

/// All options of a solve and of its matrix.
const OptionTable<SolveSettings>& solve_options();

/// The words of `method`.
std::vector<std::string> method_names();

/// The grid NXxNY or NXxNYxNZ. Throws comm_thread::InputError.
solver::MultigridPreconditioner::Grid parse_grid(const std::string& text);

}  // namespace weft::library
