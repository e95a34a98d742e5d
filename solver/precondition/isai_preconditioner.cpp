#include "solver/precondition/isai_preconditioner.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/option_name.h"
#include "comm_thread/mpi/sparse_exchange.h"
#include "spmv/matrix/assembly.h"
#include "spmv/rows/ask_owners.h"

namespace weft::solver {
namespace {

using comm_thread::TeamThread;
using spmv::DistributedMatrix;
using spmv::GlobalIndex;
using spmv::LocalIndex;
using Form = IsaiPreconditioner::Form;

bool is_own(const DistributedMatrix& matrix, GlobalIndex column) {
  return column >= matrix.first_row() && column < matrix.first_row() + matrix.rows.row_count;
}

/// Calls work(thread, first own row, last) in every thread of the team.
template <class Work>
void for_each_thread_rows(const spmv::SparseOperator& op, const Work& work) {
  op.team().run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    work(index, op.matrix().thread_rows()[index], op.matrix().thread_rows()[index + 1]);
  });
}

struct FetchedEntry {
  GlobalIndex row;
  GlobalIndex column;
  double value;
};

/// Own rows of A, and those that the halo columns name; columns are global and ascending.
class NearRows {
 public:
  NearRows(const comm_thread::Communicator& communicator, const DistributedMatrix& matrix)
      : matrix_(matrix), fetched_(matrix.halo_columns.size()) {
    spmv::collective_ask_owners<FetchedEntry>(
        communicator, matrix.partition, matrix.halo_columns,
        [&](GlobalIndex row, std::vector<FetchedEntry>& entries) {
          for_each_entry(
              static_cast<LocalIndex>(row - matrix.first_row()),
              [&](GlobalIndex column, double value) { entries.push_back({row, column, value}); });
        },
        [&](const FetchedEntry& entry) {
          const auto halo = std::ranges::lower_bound(matrix.halo_columns, entry.row) -
                            matrix.halo_columns.begin();
          fetched_[static_cast<std::size_t>(halo)].emplace_back(entry.column, entry.value);
        });
  }

  /// Calls work(global column, value) for a row, by local column number.
  template <class Work>
  void for_each_entry(LocalIndex row, const Work& work) const {
    const spmv::CrsMatrix& rows = matrix_.rows;
    if (row >= rows.row_count) {
      for (const auto& [column, value] : fetched_[static_cast<std::size_t>(row - rows.row_count)])
        work(column, value);
      return;
    }
    const auto index = static_cast<std::size_t>(row);
    for (auto i = rows.row_offsets[index]; i < rows.row_offsets[index + 1]; ++i)
      work(matrix_.global_column(rows.columns[static_cast<std::size_t>(i)]),
           rows.values[static_cast<std::size_t>(i)]);
  }

 private:
  const DistributedMatrix& matrix_;
  std::vector<std::vector<std::pair<GlobalIndex, double>>> fetched_;  // by halo entry
};

/// One row of M or G at a time; the workspace of one thread.
class RowSolver {
 public:
  RowSolver(const DistributedMatrix& matrix, const NearRows& known, Form form)
      : matrix_(matrix), known_(known), form_(form) {}

  /// Entries of the row.
  std::int32_t count(LocalIndex row) const;
  /// Fills the row, columns ascending; false if it does not exist.
  bool solve(LocalIndex row, std::span<IsaiRows::Entry> result);

 private:
  struct Place {
    GlobalIndex column;
    LocalIndex local;
    double size;
  };

  bool is_in_pattern(GlobalIndex own, GlobalIndex column) const {
    return column < own || (column > own && form_ == Form::general);
  }
  void choose_pattern(LocalIndex row);
  void assemble();
  bool eliminate(std::size_t own);

  const DistributedMatrix& matrix_;
  const NearRows& known_;
  Form form_;
  std::vector<Place> pattern_;
  std::vector<double> dense_;  // A(S, S) transposed, by rows
  std::vector<double> solution_;
};

std::int32_t RowSolver::count(LocalIndex row) const {
  const spmv::CrsMatrix& rows = matrix_.rows;
  const auto index = static_cast<std::size_t>(row);
  const GlobalIndex own = matrix_.first_row() + row;
  std::size_t count = 1;
  for (auto i = rows.row_offsets[index]; i < rows.row_offsets[index + 1]; ++i)
    count += is_in_pattern(own, matrix_.global_column(rows.columns[static_cast<std::size_t>(i)]));
  return static_cast<std::int32_t>(std::min(count, IsaiPreconditioner::most_entries));
}

/// S, with the diagonal whether stored or not.
void RowSolver::choose_pattern(LocalIndex row) {
  const spmv::CrsMatrix& rows = matrix_.rows;
  const auto index = static_cast<std::size_t>(row);
  const GlobalIndex own = matrix_.first_row() + row;
  pattern_.assign(1, {own, row, 0});
  for (auto i = rows.row_offsets[index]; i < rows.row_offsets[index + 1]; ++i) {
    const LocalIndex local = rows.columns[static_cast<std::size_t>(i)];
    const GlobalIndex column = matrix_.global_column(local);
    if (!is_in_pattern(own, column)) continue;
    pattern_.push_back({column, local, std::abs(rows.values[static_cast<std::size_t>(i)])});
  }
  constexpr std::size_t most = IsaiPreconditioner::most_entries;
  if (pattern_.size() > most) {
    std::ranges::sort(pattern_.begin() + 1, pattern_.end(), [](const Place& a, const Place& b) {
      return std::pair(-a.size, a.column) < std::pair(-b.size, b.column);
    });
    pattern_.resize(most);
  }
  std::ranges::sort(pattern_, {}, &Place::column);
}

void RowSolver::assemble() {
  const std::size_t size = pattern_.size();
  dense_.assign(size * size, 0);
  for (std::size_t p = 0; p < size; ++p) {
    std::size_t q = 0;
    known_.for_each_entry(pattern_[p].local, [&](GlobalIndex column, double value) {
      while (q < size && pattern_[q].column < column) ++q;
      if (q < size && pattern_[q].column == column) dense_[q * size + p] = value;
    });
  }
}

/// A(S, S)ᵀ·m = e, by elimination with row exchanges.
bool RowSolver::eliminate(std::size_t own) {
  const std::size_t size = pattern_.size();
  solution_.assign(size, 0);
  solution_[own] = 1;
  const auto at = [&](std::size_t i, std::size_t j) -> double& { return dense_[i * size + j]; };
  double largest = 0;
  for (const double value : dense_) largest = std::max(largest, std::abs(value));
  for (std::size_t k = 0; k < size; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < size; ++i)
      if (std::abs(at(i, k)) > std::abs(at(pivot, k))) pivot = i;
    if (!(std::abs(at(pivot, k)) > 1e-14 * largest)) return false;
    if (pivot != k) {
      std::swap_ranges(&at(k, 0), &at(k, 0) + size, &at(pivot, 0));
      std::swap(solution_[k], solution_[pivot]);
    }
    for (std::size_t i = k + 1; i < size; ++i) {
      const double factor = at(i, k) / at(k, k);
      if (factor == 0) continue;
      for (std::size_t j = k + 1; j < size; ++j) at(i, j) -= factor * at(k, j);
      solution_[i] -= factor * solution_[k];
    }
  }
  for (std::size_t k = size; k-- > 0;) {
    for (std::size_t j = k + 1; j < size; ++j) solution_[k] -= at(k, j) * solution_[j];
    solution_[k] /= at(k, k);
  }
  return true;
}

bool RowSolver::solve(LocalIndex row, std::span<IsaiRows::Entry> result) {
  choose_pattern(row);
  assemble();
  const GlobalIndex own = matrix_.first_row() + row;
  const auto place =
      static_cast<std::size_t>(std::ranges::find(pattern_, own, &Place::column) - pattern_.begin());
  if (!eliminate(place)) return false;
  double scale = 1;
  if (form_ == Form::symmetric) {
    if (!(solution_[place] > 0)) return false;
    scale = 1 / std::sqrt(solution_[place]);
  }
  for (std::size_t p = 0; p < pattern_.size(); ++p)
    result[p] = {pattern_[p].column, scale * solution_[p]};
  return true;
}

/// Own rows of M or G. Collective. Throws comm_thread::InputError on every rank.
IsaiRows collective_solve_rows(const spmv::SparseOperator& op, Form form) {
  const DistributedMatrix& matrix = op.matrix().matrix();
  const NearRows known(op.communicator(), matrix);
  const auto threads = static_cast<std::size_t>(op.team().thread_count());
  std::vector<std::int32_t> counts(static_cast<std::size_t>(matrix.rows.row_count));
  for_each_thread_rows(op, [&](std::size_t, LocalIndex begin, LocalIndex end) {
    const RowSolver solver(matrix, known, form);
    for (LocalIndex row = begin; row < end; ++row)
      counts[static_cast<std::size_t>(row)] = solver.count(row);
  });
  IsaiRows rows(counts);
  std::vector<LocalIndex> failed(threads, -1);
  for_each_thread_rows(op, [&](std::size_t thread, LocalIndex begin, LocalIndex end) {
    RowSolver solver(matrix, known, form);
    for (LocalIndex row = begin; row < end; ++row)
      if (!solver.solve(row, rows.row(static_cast<std::size_t>(row)))) {
        failed[thread] = row;
        return;
      }
  });
  const auto first = std::ranges::find_if(failed, [](LocalIndex row) { return row >= 0; });
  std::string fault;
  if (first != failed.end())
    fault = fmt::format(
        "isai: the rows of A around row {} make a {} matrix; expected another one, or "
        "{}",
        matrix.first_row() + *first + 1,
        form == Form::symmetric ? "singular or indefinite" : "singular",
        form == Form::symmetric ? comm_thread::option_name("preconditioner", "isai") + " with " +
                                      comm_thread::option_name("method", "gmres")
                                : comm_thread::option_name("preconditioner", "block-lu"));
  comm_thread::collective_agree_on_error(op.communicator(), fault);
  return rows;
}

/// Sends the entries that belong to other ranks' rows of the transposed matrix; returns those that
/// came from others. Collective.
std::vector<FetchedEntry> collective_exchange_transposed(const spmv::SparseOperator& op,
                                                         const IsaiRows& rows) {
  const DistributedMatrix& matrix = op.matrix().matrix();
  comm_thread::Lists<FetchedEntry> entries;
  for (std::size_t i = 0; matrix.partition.rank_count() > 1 && i + 1 < rows.begin.size(); ++i)
    for (const auto& [column, value] : rows.row(i))
      if (!is_own(matrix, column))
        entries[matrix.partition.owner(column)].push_back(
            {matrix.first_row() + static_cast<GlobalIndex>(i), column, value});
  return comm_thread::collective_exchange_joined(op.communicator(), std::move(entries));
}

/// Own rows of the transposed matrix, their entries in any order. Collective.
IsaiRows collective_transpose(const spmv::SparseOperator& op, const IsaiRows& rows) {
  const DistributedMatrix& matrix = op.matrix().matrix();
  const std::vector<FetchedEntry> received = collective_exchange_transposed(op, rows);
  const auto place_of = [&](GlobalIndex column) {
    return static_cast<std::size_t>(column - matrix.first_row());
  };
  const auto for_each_own = [&](const auto& work) {
    for_each_thread_rows(op, [&](std::size_t, LocalIndex begin, LocalIndex end) {
      for (LocalIndex row = begin; row < end; ++row)
        for (const auto& [column, value] : rows.row(static_cast<std::size_t>(row)))
          if (is_own(matrix, column)) work(matrix.first_row() + row, place_of(column), value);
    });
  };
  // Threads meet in a row of the transposed matrix.
  std::vector<std::int32_t> counts(static_cast<std::size_t>(matrix.rows.row_count));
  for_each_own([&](GlobalIndex, std::size_t to, double) {
    std::atomic_ref(counts[to]).fetch_add(1, std::memory_order_relaxed);
  });
  for (const FetchedEntry& entry : received) ++counts[place_of(entry.column)];
  IsaiRows transposed(counts);
  const auto add = [&](GlobalIndex row, std::size_t to, double value) {
    const std::int32_t left = std::atomic_ref(counts[to]).fetch_sub(1, std::memory_order_relaxed);
    transposed.entries[static_cast<std::size_t>(transposed.begin[to] + left - 1)] = {row, value};
  };
  for_each_own(add);
  for (const FetchedEntry& entry : received) add(entry.row, place_of(entry.column), entry.value);
  return transposed;
}

/// The rows as a matrix distributed as that of `op`. Frees them. Collective.
DistributedMatrix collective_assemble(const comm_thread::Communicator& communicator,
                                      const spmv::SparseOperator& op, IsaiRows given) {
  const IsaiRows rows = std::move(given);  // freed on return: arguments may live on in the caller
  const DistributedMatrix& a = op.matrix().matrix();
  spmv::MatrixAssembly assembly(a.partition, a.rank, op.team().thread_count());
  const auto for_each = [&](const auto& work) {
    for_each_thread_rows(op, [&](std::size_t thread, LocalIndex begin, LocalIndex end) {
      for (LocalIndex row = begin; row < end; ++row)
        for (const auto& [column, value] : rows.row(static_cast<std::size_t>(row)))
          work(static_cast<int>(thread), a.first_row() + row, column, value);
    });
  };
  for_each([&](int thread, GlobalIndex row, GlobalIndex column, double) {
    assembly.count(row, column, thread);
  });
  comm_thread::collective_attempt(communicator, [&] { assembly.allocate(op.team()); });
  for_each([&](int, GlobalIndex row, GlobalIndex column, double value) {
    assembly.insert(row, column, value);
  });
  return std::move(assembly).collective_finish(communicator, op.team());
}

}  // namespace

IsaiPreconditioner::Matrix::Matrix(const spmv::SparseOperator& op_of_a, IsaiRows rows)
    : communicator(op_of_a.communicator().collective_duplicate()),
      op(std::make_unique<spmv::SparseOperator>(
          communicator, op_of_a.comm_thread(), op_of_a.team(),
          collective_assemble(communicator, op_of_a, std::move(rows)))),
      operand(op->collective_make_vector()) {}

IsaiPreconditioner::IsaiPreconditioner(const spmv::SparseOperator& op, const Options& options)
    : op_(op), options_(options) {
  IsaiRows rows = collective_solve_rows(op, options.form);
  malloc_trim(0);  // otherwise the C library keeps what rows of other ranks have taken
  if (options.form == Form::general) {
    factors_.push_back(std::make_unique<Matrix>(op, std::move(rows)));
  } else {
    IsaiRows transposed = collective_transpose(op, rows);
    factors_.push_back(std::make_unique<Matrix>(op, std::move(rows)));
    factors_.push_back(std::make_unique<Matrix>(op, std::move(transposed)));
    between_ = perfmodel::HugePageBuffer<double>(op.element_count());
  }
  for (const auto& factor : factors_) norm_ *= factor->op->collective_norm();
}

void IsaiPreconditioner::multiply(const TeamThread& thread, const double* from, Matrix& matrix,
                                  double* to) {
  double* const values = matrix.operand->values();
  op_.for_each_element(thread.index, [&](std::size_t i) { values[i] = from[i]; });
  thread.barrier();  // the factor has other rows for each thread
  matrix.op->apply(thread, options_.mode, *matrix.operand, to, timer_, {});
  thread.barrier();
}

void IsaiPreconditioner::apply(const TeamThread& thread, const double* r, double* z) {
  if (options_.form == Form::general) return multiply(thread, r, *factors_[0], z);
  multiply(thread, r, *factors_[0], between_.data());
  multiply(thread, between_.data(), *factors_[1], z);
}

IsaiPreconditioner::Bytes IsaiPreconditioner::forecast_bytes(Form form, const MatrixSize& size) {
  constexpr double entry = 16;  // of a row that is solved for
  constexpr double stored = 12.4;
  constexpr double of_row = 8.5;
  constexpr double of_fetched_entry = 66;  // of another rank's row, sent and received, measured
  const double sliced = size.may_be_sliced && size.has_many_products ? 12.7 : 0;
  const double rows = size.rows / size.rank_count;
  const double nonzeros = size.nonzeros / size.rank_count;
  const double with_halo = 88 * size.halo_per_rank;
  const double fetched = of_fetched_entry * size.nonzeros / size.rows * size.halo_per_rank;
  if (form == Form::general) {
    const double held = (stored + sliced) * nonzeros + (of_row + 8) * rows + with_halo;
    return {std::max({held, fetched, (entry + stored) * nonzeros + 2 * of_row * rows}), held};
  }
  // One of the two, with its diagonal.
  const double half = (nonzeros + rows) / 2;
  const double of_rows = 3 * of_row * rows;
  const double both_as_rows = (2 * entry + stored) * half + of_rows;
  const double one_as_rows = (entry + 2 * stored + sliced) * half + of_rows;
  const double held = 2 * (stored + sliced) * half + (2 * of_row + 3 * 8) * rows + with_halo;
  return {std::max({held, fetched, both_as_rows, one_as_rows}), held};
}

}  // namespace weft::solver
