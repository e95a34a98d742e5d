#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "solver/choice/matrix_traits.h"

namespace weft::solver {

/// A method and a preconditioner, in the words of the command line, and why they were chosen.
struct Candidate {
  std::string method;
  std::string preconditioner;
  std::string reason;
};

/// What may be chosen besides the methods and preconditioners that are always there.
struct Available {
  bool has_amg = false;
};

/// Rows up to which one direct factorization of the whole matrix may be the quickest, also where an
/// iteration would have no trouble.
inline constexpr std::int64_t direct_row_count = 5000;

/// The methods for a matrix in the order in which they are to be tried; the next one where a method
/// refuses the matrix, breaks down or stalls. The last is one that refuses nothing. Never empty.
///
/// The first row of the table in the source file whose condition holds decides. It depends on the
/// matrix alone, and so do the bits of the solution, but where the subdomains of `schwarz` are cut
/// on each rank by itself.
std::vector<Candidate> candidates(const MatrixTraits& traits, const Available& available);

/// The method for a matrix that is not symmetric, with a preconditioner that somebody has named.
Candidate unsymmetric_candidate(const std::string& preconditioner);

}  // namespace weft::solver
