#pragma once

namespace weft::solver {

/// ω and β of the second-order Richardson iteration x + ω D⁻¹(b − A·x) + β (x − previous x).
struct RichardsonParameters {
  double weight = 1;  // ω
  double momentum = 0;  // β
};

/// The parameters that converge fastest where the eigenvalues of Jacobi's iteration matrix are real
/// and fill [−rho, rho], as those of symmetric positive definite matrices with such a spectrum:
///
///     β = (ρ / (1 + √(1 − ρ²)))², ω = 1 + β; the error falls by √β a sweep, with Jacobi by ρ
///
/// Synchronously, the iteration converges for every `rho` in [0, 1), as long as Jacobi does; one
/// that is too small or too large only makes it slower. Asynchronously it is certain only while
/// ω·ρ(|M|) + β < 1, that is β < (1 − ρ)/(1 + ρ), much less than the optimum: where old halos make
/// it diverge, take a smaller β.
/// Throws std::invalid_argument outside 0 <= rho < 1.
/// Source: Golub and Varga 1961, "Chebyshev semi-iterative methods, successive overrelaxation
/// iterative methods, and second order Richardson iterative methods"; asynchronously: Chow, Frommer
/// and Szyld 2021, "Asynchronous Richardson iterations: theory and practice".
RichardsonParameters richardson_parameters(double rho);

}  // namespace weft::solver
