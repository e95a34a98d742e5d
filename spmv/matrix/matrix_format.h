#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::spmv {

/// How rows are stored; automatic: repeating rows as a stencil, others as CRS, with one set of
/// columns for eight rows where these are shifted; rows of varying length as CRS or as SELL, which
/// a trial decides (StorageTrial).
enum class MatrixFormat { automatic, crs, sell };

std::optional<MatrixFormat> parse_matrix_format(std::string_view text);
std::vector<std::string> matrix_format_names();
/// A phrase for each format, for help texts.
std::string matrix_format_help();

}  // namespace weft::spmv
