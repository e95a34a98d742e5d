#pragma once

#include <string>

#include "library/options/option.h"
#include "library/options/solve_settings.h"
#include "solver/eigen/eigen_options.h"

namespace weft::library {

/// What the options of `weft eigen` and of weft::eigenvalues ask for. Of the options of a solve
/// there are those of the matrix and of the preconditioner.
struct EigenSettings : SolveSettings {
  solver::EigenOptions search;
  std::string start;  // a file of vectors to begin with; empty: random ones
  std::string mass;  // a problem, or `consistent`; empty: the identity
  bool has_own_input = false;  // a mass matrix and the like in memory, which lobpcg takes

  /// That of the search, with `automatic` replaced.
  solver::EigenMethod chosen_method() const;
  /// Why it is chosen, a clause.
  std::string why_method() const;
  /// Throws comm_thread::InputError where settings contradict each other.
  void check_search() const;
  /// Takes amg where lobpcg looks for the smallest values and nobody spoke of a preconditioner.
  void choose_preconditioner();

 private:
  void check_part() const;
};

/// The word of --which.
std::string which_of(const solver::EigenOptions& search);
/// That of --interval; empty where there is none.
std::string interval_of(const solver::EigenOptions& search);

/// The options of `weft eigen` about the search itself.
const OptionTable<EigenSettings>& eigen_options();

}  // namespace weft::library
