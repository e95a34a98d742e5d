#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace weft::solver {

/// The first numbers of panels: `width` vectors each, which stand together row by row.
using Panels = std::span<const double* const>;

/// sums = QᵀY over some rows, in their order, for Q = all panels side by side. Shape: the panels
/// from row `begin` on; y: [rows · width]; sums: [count · width, width], row by row.
/// Reads 8 · width bytes a row and panel, and y for each two panels of width 4, and does 2 · width²
/// flops for each panel: several are multiplied together, so that the sums of one hide the latency
/// of those of another.
void sum_products(int width, Panels panels, std::int64_t begin, const double* y, std::int64_t rows,
                  double* sums);

/// y += Q·C over some rows, panel by panel in their order. Shape: c: [count · width, width], row by
/// row.
void add_combination(int width, Panels panels, std::int64_t begin, const double* c,
                     std::int64_t rows, double* y);

}  // namespace weft::solver
