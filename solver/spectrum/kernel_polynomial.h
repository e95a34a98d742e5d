#pragma once

#include <span>
#include <vector>

#include "solver/spectrum/spectral_interval.h"

namespace weft::solver {

/// What takes the ripples out of a sum of Chebyshev polynomials that is cut off. jackson: Gaussian
/// peaks, and a density of positive moments stays positive. lorentz: Lorentzian peaks, for Green's
/// functions.
enum class MomentKernel { jackson, lorentz };

/// Factors of the first `count` moments. `lambda`: of lorentz, the width of peaks grows with it.
/// Source: Weiße, Wellein, Alvermann, Fehske 2006, equations (71) and (79).
std::vector<double> kernel_factors(MomentKernel kernel, double lambda, int count);

/// The standard deviation of a peak at `energy` that `count` moments show by the Jackson kernel; of
/// the Lorentz kernel half of its width at half height. Unit: that of the interval.
double kernel_width(MomentKernel kernel, double lambda, int count, const SpectralInterval& interval,
                    double energy);

/// ρ(E) = (μ_0 + 2·Σ μ_m·T_m(x)) / (π·h·√(1 − x²)), x = (E − center)/h, at `energies` in the
/// interval, its ends excluded, and for several vectors of moments: of each unit of energy, so that
/// the integral is μ_0. Flops: 2 · energies · moments · vectors. Shape: moments: all [count],
/// multiplied by the factors of a kernel; result: [energies][vectors].
std::vector<std::vector<double>> densities(std::span<const std::vector<double>> moments,
                                           const SpectralInterval& interval,
                                           std::span<const double> energies);

/// ∫ρ(E) dE from `begin` to `end`, cut off where the interval ends. Shape: moments: multiplied by
/// the factors of a kernel.
double density_integral(std::span<const double> moments, const SpectralInterval& interval,
                        double begin, double end);

/// The middles of `count` equal parts of the interval, in ascending order.
std::vector<double> even_places(const SpectralInterval& interval, int count);

}  // namespace weft::solver
