#pragma once

#include "solver/schwarz_problem.h"

namespace weft::solver {

/// By what an error falls in one iteration if it is sin(frequency·y) along the cuts and the grid is
/// cut into strips, as many as there are subdomains a side: the discrete symbol in y, and in x the
/// lowest wave that a row of equal strips carries.
///
///     strip p:   data on its left side ─► r times it goes back to p−1, t times it goes on to p+1
///     a wave e^(i·theta·p), theta = pi/q:   lambda = t·cos(theta) + sqrt(r² − t²·sin²(theta))
///
/// r is what two half-planes give (Gander's convergence factor); t and theta are why more
/// subdomains like a smaller alpha. Compared with the exact radius of 16 strips within 0.05.
/// `problem.alpha`: what is to be judged. `frequency`: from pi/(grid side + 1) to pi.
/// Source: Gander 2006, "Optimized Schwarz methods", section 4, with overlap, discrete.
double strip_convergence_factor(const SchwarzProblem& problem, double frequency);

/// The alpha for which the largest convergence factor is least (OO0), over the frequencies of the
/// grid and errors that are constant along a cut: of subdomains that are cut off in y, too, the
/// slowest errors are nearly that, for the conditions there let them pass. With 64×64 points and
/// overlap 1, 12×12 subdomains take 130 iterations so, 171 without the constant ones, and 122 at
/// best. Infinite where there is one subdomain only, and without overlap, where no finite one
/// converges.
double optimized_alpha(const SchwarzProblem& problem);

/// By what that alpha is better multiplied where subdomains take the newest values of others
/// (SchwarzSubdomain::Options::takes_newest). Measured, sweeps of async on two ranks and, after the
/// slash, of one of two that is 8 times slower:
///
///     subdomains, points       1         1.2        1.4        1.6
///     8×8, 64×64            96 / 58   101 / 53    87 / 51   130 / 62
///     12×12, 64×64         105 / 73   114 / 68    95 / 64   119 / 67
///     12×12, 32×32         107 / 52   104 / 48   123 / 50   122 / 69
///     16×16, 32×32          89 / 62    79 / 58   101 / 59   142 / 70
///     24×24, 16×16         125 / 68    97 / 70   101 / 71   131 / 73
///     24×24, 64×64, coarse  54         45         44
inline constexpr double alpha_factor_of_newest_values = 1.2;

}  // namespace weft::solver
