#include "spmv/matrix/matrix_format.h"

#include <array>

namespace weft::spmv {
namespace {

struct FormatEntry {
  MatrixFormat format;
  const char* name;
  const char* help;
};

constexpr std::array entries{
    FormatEntry{
        MatrixFormat::automatic, "auto",
        "repeating rows as a stencil, others as CRS, with one set of columns for eight rows where "
        "each has those of the row before plus one; rows of varying length as CRS or SELL, by the "
        "times of the first products"},
    FormatEntry{MatrixFormat::crs, "crs", "all rows as CRS, with all columns"},
    FormatEntry{MatrixFormat::sell, "sell", "rows eight at a time, SELL-8-64"}};

}  // namespace

std::optional<MatrixFormat> parse_matrix_format(std::string_view text) {
  for (const FormatEntry& entry : entries)
    if (text == entry.name) return entry.format;
  return std::nullopt;
}

std::vector<std::string> matrix_format_names() {
  std::vector<std::string> names;
  for (const FormatEntry& entry : entries) names.emplace_back(entry.name);
  return names;
}

std::string matrix_format_help() {
  std::string text;
  for (const FormatEntry& entry : entries)
    text += std::string(text.empty() ? "" : "; ") + entry.name + ": " + entry.help;
  return text;
}

}  // namespace weft::spmv
