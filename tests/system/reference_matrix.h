#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace weft::tests {

/// A square matrix as a plain list of entries, both halves of a symmetric one.
struct MatrixFile {
  struct Entry {
    std::size_t row;
    std::size_t column;
    double value;
  };
  std::size_t row_count = 0;
  std::vector<Entry> entries;
};

/// Reads a real coordinate file, general or symmetric, compressed or not, in the simplest way.
MatrixFile read_matrix_file(const std::string& path);

/// Reads an array file of one column.
std::vector<double> read_vector_file(const std::string& path);

/// b - A·x, in extended precision until it is rounded.
std::vector<double> residual(const MatrixFile& matrix, std::span<const double> b,
                             std::span<const double> x);

double norm(std::span<const double> vector);

}  // namespace weft::tests
