#pragma once

#include <span>
#include <string>
#include <string_view>

#include "spmv/problems/problem_reader.h"
#include "spmv/rows/index.h"

namespace weft::spmv {

/// Outer index of a Holstein–Hubbard matrix: that of the electrons (`HMEp`; the phonons of one
/// electronic state are adjacent) or that of the phonons (`HMeP`).
enum class HolsteinBasis { electrons_outer, phonons_outer };

/// Parameters of `holstein-hubbard:sites=…,up=…,…`; the defaults are the matrix of Hager et al.
/// 2011.
///
///     H = −t Σ_{i,σ} (c†_{i,σ} c_{i+1,σ} + h.c.) + U Σ_i n_{i,↑} n_{i,↓}
///         − g ω Σ_i (b†_i + b_i) n_i + ω Σ_i b†_i b_i        on a ring of `sites`
///
/// written in the modes b_m, b_i = Σ_m φ_m(i) b_m, where the φ_m are cos(2πqi/L), q = 1 … L/2, and
/// then sin(2πqi/L), 0 < q < L/2, normalised. The mode q = 0 moves the centre of mass alone and is
/// left out; the others hold `phonons` at most.
struct HolsteinHubbardSettings {
  int sites = 6;
  int up = 3;
  int down = 3;
  int phonons = 15;
  double hopping = 1;  // t
  double repulsion = 1;  // U
  double frequency = 1;  // ω
  double coupling = 1;  // g
  HolsteinBasis basis = HolsteinBasis::phonons_outer;
  /// Are couplings entries that vanish by symmetry, but for rounding errors of about 1e-17?
  bool keeps_vanishing = true;

  /// `parts`: KEY=VALUE each. Throws comm_thread::InputError.
  static HolsteinHubbardSettings parse(const ProblemReader& reader,
                                       std::span<const std::string_view> parts);
  /// All settings as text: `sites=6,up=3,…`.
  std::string text() const;

  int mode_count() const { return sites - 1; }
  GlobalIndex electron_state_count() const;
  GlobalIndex phonon_state_count() const;
  GlobalIndex row_count() const { return electron_state_count() * phonon_state_count(); }
};

}  // namespace weft::spmv
