#include "solver/multigrid/couplings/matrix_couplings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "perfmodel/huge_page_buffer.h"
#include "solver/multigrid/couplings/row_box_exchange.h"
#include "solver/multigrid/couplings/row_excess.h"
#include "spmv/rows/row_delivery.h"

namespace weft::solver {
namespace {

using comm_thread::InputError;
using comm_thread::TeamThread;
using spmv::GlobalIndex;
using spmv::LocalIndex;

/// Mirrored entries may differ by this much.
constexpr double rounding = 1e-14;
/// A sum below 0 by at most this much of the diagonal counts as 0: entries from a text file.
constexpr double tolerated = 1e-4;

std::string text_of(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", value);
  return text.data();
}

[[noreturn]] void fail(GlobalIndex row, const std::string& complaint) {
  throw InputError("multigrid: row " + std::to_string(row + 1) + ": " + complaint);
}

/// What one row says.
struct RowValues {
  std::array<double, 3> before{};
  std::array<double, 3> after{};
  double diagonal = 0;
};

/// This rank's rows.
class MatrixRows {
 public:
  MatrixRows(const spmv::DistributedMatrix& matrix, const spmv::GridSize& grid)
      : matrix_(matrix), grid_(grid), strides_{1, grid.x, grid.x * grid.y} {}

  RowValues read(LocalIndex local) const {
    const GlobalIndex row = matrix_.first_row() + local;
    const std::array<GlobalIndex, 3> at{row % grid_.x, row / grid_.x % grid_.y,
                                        row / grid_.x / grid_.y};
    const std::array<GlobalIndex, 3> sizes{grid_.x, grid_.y, grid_.z};
    RowValues values;
    const auto begin = matrix_.rows.row_offsets[static_cast<std::size_t>(local)];
    const auto end = matrix_.rows.row_offsets[static_cast<std::size_t>(local) + 1];
    for (auto k = static_cast<std::size_t>(begin); k < static_cast<std::size_t>(end); ++k) {
      const GlobalIndex column = matrix_.global_column(matrix_.rows.columns[k]);
      const double value = matrix_.rows.values[k];
      if (!std::isfinite(value))
        fail(row, "found the entry " + text_of(value) + "; expected finite entries");
      if (column == row) {
        values.diagonal = value;
        continue;
      }
      bool is_neighbour = false;
      for (std::size_t d = 0; d < 3 && !is_neighbour; ++d) {
        const bool is_after = column == row + strides_[d] && at[d] + 1 < sizes[d];
        const bool is_before = column == row - strides_[d] && at[d] > 0;
        if (is_after) values.after[d] = -value;
        if (is_before) values.before[d] = -value;
        is_neighbour = is_after || is_before;
      }
      if (value == 0) continue;
      if (!is_neighbour)
        fail(row, "found an entry in column " + std::to_string(column + 1) +
                      "; expected the 7 points of the grid " + std::to_string(grid_.x) + "x" +
                      std::to_string(grid_.y) + "x" + std::to_string(grid_.z) + " only");
      if (value > 0)
        fail(row, "found " + text_of(value) + " in column " + std::to_string(column + 1) +
                      "; expected nothing above 0 beside the diagonal");
    }
    if (!(values.diagonal > 0))
      fail(row, "found the diagonal " + text_of(values.diagonal) + "; expected one above 0");
    return values;
  }

  GlobalIndex stride(std::size_t d) const { return strides_[d]; }

 private:
  const spmv::DistributedMatrix& matrix_;
  spmv::GridSize grid_;
  std::array<GlobalIndex, 3> strides_;
};

/// A row's sum, cleaned of rounding.
double excess_of(GlobalIndex row, const RowValues& values) {
  double sum = values.diagonal;
  for (std::size_t d = 0; d < 3; ++d) sum -= values.before[d] + values.after[d];
  if (sum < -tolerated * values.diagonal)
    fail(row, "found the sum " + text_of(sum) + "; expected at least 0");
  return without_rounding(sum, values.diagonal);
}

/// A coupling of a row with the next one in a direction, whose row is another rank's.
struct Mirror {
  std::vector<GlobalIndex> rows;  // the other ones
  std::vector<double> values;
};

/// Values of the own rows.
struct RowArrays {
  explicit RowArrays(std::size_t count) : excess(count) {
    for (auto& values : before) values = perfmodel::HugePageBuffer<double>(count);
  }
  std::array<perfmodel::HugePageBuffer<double>, 3> before;
  perfmodel::HugePageBuffer<double> excess;
};

void check_mirror(GlobalIndex row, GlobalIndex column, double found, double mirrored) {
  if (found != mirrored &&
      std::abs(found - mirrored) > rounding * std::max(std::abs(found), std::abs(mirrored)))
    fail(row, "found " + text_of(-found) + " in column " + std::to_string(column + 1) + " but " +
                  text_of(-mirrored) + " in its mirror; expected a symmetric matrix");
}

/// Calls visit(thread, row) for own rows, which may throw InputError. Collective.
template <class Visit>
void collective_visit(const comm_thread::Crew& crew, LocalIndex count, const Visit& visit) {
  comm_thread::collective_attempt(crew.communicator(), [&] {
    std::vector<std::optional<InputError>> errors(
        static_cast<std::size_t>(crew.team().thread_count()));
    crew.team().run([&](const TeamThread& thread) {
      const auto share = comm_thread::share_of(count, thread.index, thread.count);
      try {
        for (auto row = share.begin; row < share.end; ++row)
          visit(thread.index, static_cast<LocalIndex>(row));
      } catch (const InputError& error) {
        errors[static_cast<std::size_t>(thread.index)] = error;
      }
    });
    for (const auto& error : errors)
      if (error) throw InputError(*error);
  });
}

/// Couplings with rows of other ranks, of each thread's rows and direction.
using Mirrors = std::vector<std::array<Mirror, 3>>;

/// Fills the arrays. Collective. Throws InputError.
Mirrors collective_read_rows(const comm_thread::Crew& crew, const MatrixRows& rows,
                             GlobalIndex first, LocalIndex count, RowArrays& arrays) {
  Mirrors mirrors(static_cast<std::size_t>(crew.team().thread_count()));
  std::vector<double> largest(mirrors.size());
  collective_visit(crew, count, [&](int thread, LocalIndex local) {
    const auto i = static_cast<std::size_t>(local);
    const RowValues values = rows.read(local);
    for (std::size_t d = 0; d < 3; ++d) {
      arrays.before[d][i] = values.before[d];
      if (values.after[d] == 0 || local + rows.stride(d) < count) continue;
      Mirror& mirror = mirrors[static_cast<std::size_t>(thread)][d];
      mirror.rows.push_back(first + local + rows.stride(d));
      mirror.values.push_back(values.after[d]);
    }
    arrays.excess[i] = excess_of(first + local, values);
    auto& most = largest[static_cast<std::size_t>(thread)];
    most = std::max(most, arrays.excess[i]);
  });
  if (crew.communicator().max(*std::ranges::max_element(largest)) <= 0)
    throw InputError(
        "multigrid: found rows that all add up to 0; expected a matrix that is not "
        "singular, with a boundary");
  return mirrors;
}

/// Throws InputError where a coupling and its mirror differ. A coupling that the row before has not
/// is missing on one side only; so both ways count. Collective.
void collective_check_mirrors(const comm_thread::Crew& crew, const spmv::DistributedMatrix& matrix,
                              const MatrixRows& rows, const RowArrays& arrays,
                              const Mirrors& mirrors) {
  const GlobalIndex first = matrix.first_row();
  const LocalIndex count = matrix.rows.row_count;
  std::array<std::vector<double>, 3> remote;  // of the rows before, which are other ranks'
  for (std::size_t d = 0; d < 3; ++d) {
    remote[d].resize(static_cast<std::size_t>(std::min<GlobalIndex>(rows.stride(d), count)));
    Mirror all;
    for (const auto& of_thread : mirrors) {
      all.rows.insert(all.rows.end(), of_thread[d].rows.begin(), of_thread[d].rows.end());
      all.values.insert(all.values.end(), of_thread[d].values.begin(), of_thread[d].values.end());
    }
    spmv::collective_deliver<double>(crew.communicator(), matrix.partition, all.rows, all.values,
                                     [&](GlobalIndex row, double value) {
                                       remote[d][static_cast<std::size_t>(row - first)] = value;
                                     });
  }
  collective_visit(crew, count, [&](int, LocalIndex local) {
    const RowValues values = rows.read(local);
    for (std::size_t d = 0; d < 3; ++d) {
      const GlobalIndex after = local + rows.stride(d);
      const GlobalIndex row = first + local;
      if (after < count)
        check_mirror(row, row + rows.stride(d), values.after[d],
                     arrays.before[d][static_cast<std::size_t>(after)]);
      if (local < rows.stride(d) && row >= rows.stride(d))
        check_mirror(row, row - rows.stride(d), values.before[d],
                     remote[d][static_cast<std::size_t>(local)]);
    }
  });
}

}  // namespace

GridCouplings collective_matrix_couplings(const comm_thread::Crew& crew,
                                          const spmv::DistributedMatrix& matrix,
                                          const spmv::GridPartition& partition) {
  const MatrixRows rows(matrix, partition.grid());
  const LocalIndex count = matrix.rows.row_count;
  RowArrays arrays(static_cast<std::size_t>(count));
  const Mirrors mirrors = collective_read_rows(crew, rows, matrix.first_row(), count, arrays);
  collective_check_mirrors(crew, matrix, rows, arrays, mirrors);

  GridCouplings couplings(partition.box(crew.communicator().rank()));
  auto exchange = rows_to_boxes<double>(crew, matrix.partition, partition, couplings.layout());
  crew.communicator().barrier();  // both ends of every pair exist
  crew.team().run([&](const TeamThread& thread) {
    for (std::size_t d = 0; d < 3; ++d)
      exchange.collective_there(thread, arrays.before[d].data(), 1, couplings.before(d));
    exchange.collective_there(thread, arrays.excess.data(), 1, couplings.excess());
  });
  return couplings;
}

}  // namespace weft::solver
