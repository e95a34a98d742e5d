#pragma once

#include <string>
#include <string_view>

#include "spmv/problems/problem_reader.h"
#include "spmv/rows/index.h"

namespace weft::spmv {

/// Parameters of `heisenberg:L,Sz`: a ring of L spins ½ of which those with the total Sz are kept,
///
///     H = Σ_i S_i·S_{i+1} = Σ_i (S⁺_i S⁻_{i+1} + S⁻_i S⁺_{i+1})/2 + Sᶻ_i Sᶻ_{i+1},
///
/// antiferromagnetic, in units of the coupling J.
struct HeisenbergSettings {
  int sites = 0;
  int up = 0;  // spins that point up: Sz = up − sites/2

  /// `text`: L or L,Sz; without Sz the smallest one that is not negative. Throws
  /// comm_thread::InputError.
  static HeisenbergSettings parse(const ProblemReader& reader, std::string_view text);
  /// The settings as text: `16,0`.
  std::string text() const;

  GlobalIndex row_count() const;
};

}  // namespace weft::spmv
