#include "tests/system/reference_matrix.h"

#include <zlib.h>

#include <array>
#include <cmath>
#include <memory>
#include <sstream>
#include <stdexcept>

namespace weft::tests {
namespace {

/// The whole file; zlib reads plain files as they are.
std::string read_text(const std::string& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) throw std::runtime_error(path + " cannot be opened");
  std::string text;
  std::array<char, 65536> piece;
  for (int count = 0; (count = gzread(file.get(), piece.data(), piece.size())) > 0;)
    text.append(piece.data(), static_cast<std::size_t>(count));
  return text;
}

/// The text after the comments; the first line goes to `banner`.
std::istringstream after_comments(const std::string& path, std::string& banner) {
  std::istringstream text(read_text(path));
  std::getline(text, banner);
  for (std::string comment; text.peek() == '%';) std::getline(text, comment);
  return text;
}

}  // namespace

MatrixFile read_matrix_file(const std::string& path) {
  std::string banner;
  std::istringstream text = after_comments(path, banner);
  const bool is_symmetric = banner.find("symmetric") != std::string::npos;
  MatrixFile matrix;
  std::size_t column_count = 0;
  std::size_t entry_count = 0;
  text >> matrix.row_count >> column_count >> entry_count;
  for (MatrixFile::Entry entry{}; text >> entry.row >> entry.column >> entry.value;) {
    --entry.row;
    --entry.column;
    matrix.entries.push_back(entry);
    if (is_symmetric && entry.row != entry.column)
      matrix.entries.push_back({entry.column, entry.row, entry.value});
  }
  return matrix;
}

std::vector<double> read_vector_file(const std::string& path) {
  std::string banner;
  std::istringstream text = after_comments(path, banner);
  std::size_t row_count = 0;
  std::size_t column_count = 0;
  text >> row_count >> column_count;
  std::vector<double> vector;
  for (double value = 0; text >> value;) vector.push_back(value);
  return vector;
}

std::vector<double> residual(const MatrixFile& matrix, std::span<const double> b,
                             std::span<const double> x) {
  std::vector<long double> sums(b.begin(), b.end());
  for (const auto& entry : matrix.entries)
    sums[entry.row] -= static_cast<long double>(entry.value) * x[entry.column];
  return {sums.begin(), sums.end()};
}

double norm(std::span<const double> vector) {
  double squares = 0;
  for (const double value : vector) squares += value * value;
  return std::sqrt(squares);
}

}  // namespace weft::tests
