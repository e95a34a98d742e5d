#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "solver/eigen/energy_range.h"
#include "solver/spectrum/kernel_polynomial.h"
#include "solver/spectrum/spectrum_report.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/modes/mode.h"

namespace weft::solver {

struct DensityOptions {
  int moments = 256;
  int vectors = 16;  // random ones
  int width = 0;  // vectors of a block at most: 1, 2, 4, 8 or 16; 0: chosen
  MomentKernel kernel = MomentKernel::jackson;
  double lambda = 4;  // of the Lorentz kernel
  std::uint64_t seed = 1;  // of the random vectors
  int points = 0;  // energies at which the density is shown; 0: twice the moments
  std::optional<EnergyRange> counted{};  // where eigenvalues are counted
  spmv::Mode mode = spmv::Mode::task;
};

/// Vectors of a block: as asked for, else the width of which products cost least a vector.
int block_width(const DensityOptions& options, int vectors);

/// The density of states of a symmetric matrix, eigenvalues a unit of energy, by the kernel
/// polynomial method: traces of Chebyshev polynomials from random vectors of entries ±1, each a
/// hash of seed, global row and number of the vector. Its integral is the number of rows. All sums
/// over rows are reproducible: the bits do not depend on ranks, threads, mode or width. Error by
/// the choice of vectors: Var tr f ≤ 2·Σ f(λ)²/vectors, and shown by their spread. Memory: 2 ·
/// width vectors. Collective. Thread: the main thread, outside the team. Throws
/// comm_thread::MpiError, and comm_thread::InputError where values of the matrix are not finite.
/// Source: Weiße, Wellein, Alvermann, Fehske 2006, "The kernel polynomial method"; Hutchinson 1990.
SpectrumReport collective_spectral_density(spmv::SparseOperator& op, const DensityOptions& options);

/// The spectral function ⟨v|δ(E − A)|w⟩ of a symmetric matrix, whose integral is ⟨v, w⟩: at each
/// eigenvalue a peak with the product of the shares that v and w have of its eigenvector. With v =
/// w a unit vector it is the local density of states of that row. Nothing is random: there are no
/// errors, and `options.vectors` and `seed` do not count. From the moments of one vector, or where
/// w is given of both v ± a·w: ⟨v, T·w⟩ = (⟨v + a·w, T·(v + a·w)⟩ − ⟨v − a·w, T·(v − a·w)⟩)/4a,
/// where a, a power of two, makes both parts alike. So the bits are those of moments. Shape: v:
/// [element_count]; w: likewise, or none: v. Collective. Thread: as above. Throws likewise.
/// Source: Weiße et al., section II.C.
SpectrumReport collective_spectral_function(spmv::SparseOperator& op, const DensityOptions& options,
                                            std::span<const double> v,
                                            std::optional<std::span<const double>> w);

}  // namespace weft::solver
