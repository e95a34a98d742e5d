#include "solver/direct/inertia.h"

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace weft::solver {
namespace {

using Matrix = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;

/// The columns of each row beside the diagonal.
struct Graph {
  explicit Graph(const LowerTriangle& matrix) : begin(matrix.size + 1, 0) {
    const auto visit = [&](const auto& work) {
      for (const LowerTriangle::Entry& entry : matrix.entries) {
        if (entry.row == entry.column) continue;
        work(static_cast<std::size_t>(entry.row), entry.column);
        work(static_cast<std::size_t>(entry.column), entry.row);
      }
    };
    visit([&](std::size_t row, int) { ++begin[row + 1]; });
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    columns.resize(begin.back());
    std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
    visit([&](std::size_t row, int column) { columns[next[row]++] = column; });
  }

  std::vector<std::size_t> begin;  // [rows + 1]
  std::vector<int> columns;
};

/// Rows in the order of their distance from `start`, and how many there are up to each distance.
struct Levels {
  Levels(const Graph& graph, int start) {
    std::vector<char> is_seen(graph.begin.size() - 1, 0);
    rows.push_back(start);
    is_seen[static_cast<std::size_t>(start)] = 1;
    for (std::size_t first = 0; first < rows.size();) {
      const std::size_t end = rows.size();
      ends.push_back(end);
      for (; first < end; ++first) {
        const auto row = static_cast<std::size_t>(rows[first]);
        for (std::size_t i = graph.begin[row]; i < graph.begin[row + 1]; ++i)
          if (!std::exchange(is_seen[static_cast<std::size_t>(graph.columns[i])], 1))
            rows.push_back(graph.columns[i]);
      }
    }
  }

  std::vector<int> rows{};
  std::vector<std::size_t> ends{};
};

/// How many rows stand as far from an outermost row as the middle one: about as many as it takes to
/// cut a mesh in half. 0 where the graph falls apart.
double width_in_the_middle(const LowerTriangle& matrix) {
  if (matrix.size == 0) return 0;
  const Graph graph(matrix);
  const Levels from_outside(graph, Levels(graph, 0).rows.back());
  if (from_outside.rows.size() < matrix.size) return 0;
  const auto level = static_cast<std::size_t>(
      std::upper_bound(from_outside.ends.begin(), from_outside.ends.end(), matrix.size / 2) -
      from_outside.ends.begin());
  const std::size_t before = level > 0 ? from_outside.ends[level - 1] : 0;
  return static_cast<double>(from_outside.ends[level] - before);
}

/// The places of both.
LowerTriangle joined(LowerTriangle matrix, const LowerTriangle& mass) {
  matrix.entries.insert(matrix.entries.end(), mass.entries.begin(), mass.entries.end());
  return matrix;
}

/// New numbers of the rows.
std::vector<int> minimum_degree(const LowerTriangle& matrix) {
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(matrix.entries.size());
  for (const LowerTriangle::Entry& entry : matrix.entries)
    entries.emplace_back(entry.row, entry.column, 1.0);
  const auto size = static_cast<Eigen::Index>(matrix.size);
  Matrix assembled(size, size);
  assembled.setFromTriplets(entries.begin(), entries.end());
  entries = {};
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> old_of_new;
  Eigen::AMDOrdering<int> ordering;
  ordering(assembled.selfadjointView<Eigen::Lower>(), old_of_new);
  std::vector<int> new_of_old(matrix.size);
  for (std::size_t i = 0; i < matrix.size; ++i)
    new_of_old[static_cast<std::size_t>(old_of_new.indices()[static_cast<Eigen::Index>(i)])] =
        static_cast<int>(i);
  return new_of_old;
}

}  // namespace

/// What a factorization works on.
struct InertiaCounter::Factor {
  explicit Factor(const InertiaCounter& counter)
      : rows(counter.column_begin_.back()),
        values(rows.size()),
        ends(counter.column_begin_.begin(), counter.column_begin_.end() - 1),
        pivots(counter.diagonal_.size()),
        row(counter.diagonal_.size()),
        pattern(counter.diagonal_.size()),
        marks(counter.diagonal_.size(), -1) {}

  std::vector<int> rows;  // of L, column by column
  std::vector<double> values;
  std::vector<std::size_t> ends;  // of what is there of each column
  std::vector<double> pivots;
  std::vector<double> row;  // what is left of the row; zero between rows
  std::vector<int> pattern;  // its columns, ascending along paths of the tree
  std::vector<int> marks;  // the last row that has this column
};

InertiaCounter::InertiaCounter(const LowerTriangle& matrix, double most_flops, double most_nonzeros)
    : InertiaCounter(matrix, {.size = matrix.size, .entries = {}}, most_flops, most_nonzeros) {}

InertiaCounter::InertiaCounter(const LowerTriangle& matrix, const LowerTriangle& mass,
                               double most_flops, double most_nonzeros) {
  // An order takes as long as a factorization where neither fits. The rows that cut a mesh in half
  // are the last, and a full triangle.
  const double last = width_in_the_middle(mass.entries.empty() ? matrix : joined(matrix, mass));
  if (last * last * last / 3 > most_flops || last * last / 2 > most_nonzeros) return;
  order(matrix, mass);
  find_sizes(matrix, mass);
  find_tree(most_flops, most_nonzeros);
}

/// Calls work(entry, its value in A, in B) for the entries of both.
template <class Work>
void InertiaCounter::visit(const LowerTriangle& matrix, const LowerTriangle& mass,
                           const Work& work) {
  for (const LowerTriangle::Entry& entry : matrix.entries) work(entry, entry.value, 0.0);
  for (const LowerTriangle::Entry& entry : mass.entries) work(entry, 0.0, entry.value);
}

/// Places that both have are there twice.
void InertiaCounter::order(const LowerTriangle& matrix, const LowerTriangle& mass) {
  const bool has_mass = !mass.entries.empty();
  const std::vector<int> new_of_old = minimum_degree(has_mass ? joined(matrix, mass) : matrix);
  const auto place = [&](const LowerTriangle::Entry& entry) {
    const int row = new_of_old[static_cast<std::size_t>(entry.row)];
    const int column = new_of_old[static_cast<std::size_t>(entry.column)];
    return std::pair(std::max(row, column), std::min(row, column));
  };
  diagonal_.assign(matrix.size, 0.0);
  mass_diagonal_.assign(matrix.size, has_mass ? 0.0 : 1.0);
  row_begin_.assign(matrix.size + 1, 0);
  visit(matrix, mass, [&](const LowerTriangle::Entry& entry, double value, double of_mass) {
    const auto [row, column] = place(entry);
    if (row != column) {
      ++row_begin_[static_cast<std::size_t>(row) + 1];
      return;
    }
    diagonal_[static_cast<std::size_t>(row)] += value;
    mass_diagonal_[static_cast<std::size_t>(row)] += of_mass;
  });
  std::partial_sum(row_begin_.begin(), row_begin_.end(), row_begin_.begin());
  columns_.resize(row_begin_.back());
  values_.resize(row_begin_.back());
  if (has_mass) mass_values_.resize(row_begin_.back());
  std::vector<std::size_t> next(row_begin_.begin(), row_begin_.end() - 1);
  visit(matrix, mass, [&](const LowerTriangle::Entry& entry, double value, double of_mass) {
    const auto [row, column] = place(entry);
    if (row == column) return;
    const std::size_t at = next[static_cast<std::size_t>(row)]++;
    columns_[at] = column;
    values_[at] = value;
    if (has_mass) mass_values_[at] = of_mass;
  });
}

/// ‖A‖∞ and ‖B‖∞, which bound the rounding of A − σB.
void InertiaCounter::find_sizes(const LowerTriangle& matrix, const LowerTriangle& mass) {
  if (mass.entries.empty()) return;
  std::vector<double> of_matrix(matrix.size);
  std::vector<double> of_mass(matrix.size);
  visit(matrix, mass, [&](const LowerTriangle::Entry& entry, double value, double in_mass) {
    for (const int row : {entry.row, entry.column}) {
      of_matrix[static_cast<std::size_t>(row)] += std::abs(value);
      of_mass[static_cast<std::size_t>(row)] += std::abs(in_mass);
    }
  });
  size_of_matrix_ = *std::max_element(of_matrix.begin(), of_matrix.end());
  size_of_mass_ = *std::max_element(of_mass.begin(), of_mass.end());
}

/// Finds the elimination tree and the sizes of the columns of L, until there are too many.
void InertiaCounter::find_tree(double most_flops, double most_nonzeros) {
  const std::size_t size = diagonal_.size();
  parents_.assign(size, -1);
  std::vector<std::int64_t> counts(size, 0);
  std::vector<int> marks(size, -1);
  for (std::size_t row = 0; row < size; ++row) {
    marks[row] = static_cast<int>(row);
    std::int64_t length = 0;
    for (std::size_t entry = row_begin_[row]; entry < row_begin_[row + 1]; ++entry)
      for (auto at = static_cast<std::size_t>(columns_[entry]); marks[at] != static_cast<int>(row);
           at = static_cast<std::size_t>(parents_[at])) {
        if (parents_[at] < 0) parents_[at] = static_cast<int>(row);
        marks[at] = static_cast<int>(row);
        flops_ += static_cast<double>(2 * counts[at] + 1);
        ++counts[at];
        ++length;
      }
    longest_row_ = std::max(longest_row_, length);
    nonzeros_ += static_cast<double>(length);
    if (flops_ > most_flops || nonzeros_ > most_nonzeros) return;
  }
  column_begin_.assign(size + 1, 0);
  for (std::size_t column = 0; column < size; ++column)
    column_begin_[column + 1] = column_begin_[column] + static_cast<std::size_t>(counts[column]);
  fits_ = true;
}

/// Row `row` of L by a sparse triangular solution, and its pivot. False if that is not a number
/// that others can be divided by.
bool InertiaCounter::factor_row(std::size_t row, double sigma, Factor& factor) const {
  std::size_t top = diagonal_.size();
  factor.marks[row] = static_cast<int>(row);
  for (std::size_t entry = row_begin_[row]; entry < row_begin_[row + 1]; ++entry) {
    factor.row[static_cast<std::size_t>(columns_[entry])] +=
        mass_values_.empty() ? values_[entry] : values_[entry] - sigma * mass_values_[entry];
    std::size_t length = 0;
    for (int at = columns_[entry];
         factor.marks[static_cast<std::size_t>(at)] != static_cast<int>(row);
         at = parents_[static_cast<std::size_t>(at)]) {
      factor.pattern[length++] = at;
      factor.marks[static_cast<std::size_t>(at)] = static_cast<int>(row);
    }
    while (length > 0) factor.pattern[--top] = factor.pattern[--length];
  }
  double pivot = diagonal_[row] - sigma * mass_diagonal_[row];
  for (; top < diagonal_.size(); ++top) {
    const auto column = static_cast<std::size_t>(factor.pattern[top]);
    const double value = std::exchange(factor.row[column], 0.0);
    const std::size_t end = factor.ends[column];
    for (std::size_t i = column_begin_[column]; i < end; ++i)
      factor.row[static_cast<std::size_t>(factor.rows[i])] -= factor.values[i] * value;
    const double entry = value / factor.pivots[column];
    pivot -= entry * value;
    factor.rows[end] = static_cast<int>(row);
    factor.values[end] = entry;
    ++factor.ends[column];
  }
  factor.pivots[row] = pivot;
  return std::isfinite(pivot) && std::abs(pivot) >= std::numeric_limits<double>::min();
}

/// γ·‖ |L|·|D|·|Lᵀ| ‖∞, and the rounding of the diagonal, or of A − σB.
double InertiaCounter::error_of(const Factor& factor, double sigma) const {
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  const std::size_t size = diagonal_.size();
  std::vector<double> weighted(size);
  std::vector<double> sums(size);
  double largest_diagonal = std::abs(sigma);
  for (std::size_t column = 0; column < size; ++column) {
    double sum = 1;
    for (std::size_t i = column_begin_[column]; i < factor.ends[column]; ++i)
      sum += std::abs(factor.values[i]);
    weighted[column] = sum * std::abs(factor.pivots[column]);
    sums[column] += weighted[column];
    for (std::size_t i = column_begin_[column]; i < factor.ends[column]; ++i)
      sums[static_cast<std::size_t>(factor.rows[i])] +=
          std::abs(factor.values[i]) * weighted[column];
    largest_diagonal = std::max(largest_diagonal, std::abs(diagonal_[column]));
  }
  double largest = 0;
  for (const double sum : sums) largest = std::max(largest, sum);
  const auto terms = static_cast<double>(longest_row_ + 4);
  const double rounded =
      size_of_mass_ > 0 ? size_of_matrix_ + 2 * std::abs(sigma) * size_of_mass_ : largest_diagonal;
  return epsilon * (terms * largest + 2 * rounded);
}

double InertiaCounter::bytes() const {
  const double each = mass_values_.empty() ? 12 : 20;
  constexpr double of_entry_of_l = 12;
  constexpr double of_row = 68;
  return each * static_cast<double>(columns_.size()) + of_entry_of_l * nonzeros_ +
         of_row * static_cast<double>(diagonal_.size());
}

std::optional<Inertia> InertiaCounter::count(double sigma) const {
  if (!fits_) return std::nullopt;
  Factor factor(*this);
  Inertia inertia;
  for (std::size_t row = 0; row < diagonal_.size(); ++row) {
    if (!factor_row(row, sigma, factor)) return std::nullopt;
    ++(factor.pivots[row] < 0 ? inertia.below : inertia.above);
  }
  inertia.error = error_of(factor, sigma);
  if (!std::isfinite(inertia.error)) return std::nullopt;
  return inertia;
}

}  // namespace weft::solver
