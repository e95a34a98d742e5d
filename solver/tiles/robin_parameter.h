#pragma once

#include "solver/tiles/schwarz_problem.h"

namespace weft::solver {

/// By what an error falls in one iteration if it is sin(frequency·y) along the cuts and the grid is
/// cut into strips, as many as there are tiles a side: the discrete symbol in y, and in x the
/// lowest wave that a row of equal strips carries.
///
///     strip p:   data on its left side ─► r times it goes back to p−1, t times it goes on to p+1
///     a wave e^(i·theta·p), theta = pi/q:   lambda = t·cos(theta) + sqrt(r² − t²·sin²(theta))
///
/// r is what two half-planes give (Gander's convergence factor); t and theta are why more
/// tiles like a smaller alpha. Compared with the exact radius of 16 strips within 0.05.
/// `problem.alpha`: what is to be judged. `frequency`: from pi/(grid side + 1) to pi.
/// Source: Gander 2006, "Optimized Schwarz methods", section 4, with overlap, discrete.
double strip_convergence_factor(const SchwarzProblem& problem, double frequency);

/// The alpha for which the largest convergence factor is least (OO0), over the frequencies of the
/// grid and errors that are constant along a cut: of tiles that are cut off in y, too, the
/// slowest errors are nearly that, for the conditions there let them pass. With 64×64 points and
/// overlap 1, 12×12 tiles take 130 iterations so, 171 without the constant ones, and 122 at
/// best. Infinite where there is one tile only, and without overlap, where no finite one
/// converges.
double optimized_alpha(const SchwarzProblem& problem);

}  // namespace weft::solver
