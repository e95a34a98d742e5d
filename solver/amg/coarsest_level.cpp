#include "solver/amg/coarsest_level.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/sparse_exchange.h"
#include "spmv/rows/ask_owners.h"

namespace weft::solver::amg {
namespace {

/// Of the diagonal, where the matrix has a null space. The solution then has at most 10⁴ times what
/// the right-hand side has in the null space by rounding, 10⁻⁷ of it.
constexpr double semidefinite_shift = 1e-4;
/// A matrix whose inverse has at least this norm is taken for one with a null space: rounding
/// leaves no more of an eigenvalue 0.
constexpr double singular_inverse_norm = 1e9;
constexpr int power_steps = 6;

struct SentEntry {
  spmv::GlobalIndex row;
  spmv::GlobalIndex column;
  double value;
};

/// Entries of this rank's rows, scaled, on and below the diagonal.
std::vector<SentEntry> own_entries(const comm_thread::Crew& crew,
                                   const spmv::DistributedMatrix& matrix,
                                   std::span<const double> scale) {
  // Scales of halo columns: the level is small, so its owners just send them.
  std::vector<double> all(scale.begin(), scale.end());
  spmv::collective_ask_owners<double>(
      crew.communicator(), matrix.partition, matrix.halo_columns,
      [&](spmv::GlobalIndex row, std::vector<double>& answers) {
        answers.push_back(scale[static_cast<std::size_t>(row - matrix.first_row())]);
      },
      [&](double value) { all.push_back(value); });

  std::vector<SentEntry> entries;
  const spmv::CrsMatrix& rows = matrix.rows;
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows.row_count); ++row) {
    const auto global_row = matrix.first_row() + static_cast<spmv::GlobalIndex>(row);
    entries.push_back({global_row, global_row, 1});
    for (auto k = static_cast<std::size_t>(rows.row_offsets[row]);
         k < static_cast<std::size_t>(rows.row_offsets[row + 1]); ++k) {
      const auto column = static_cast<std::size_t>(rows.columns[k]);
      const auto global_column = matrix.global_column(rows.columns[k]);
      if (global_column < global_row)
        entries.push_back({global_row, global_column, rows.values[k] * all[row] * all[column]});
    }
  }
  return entries;
}

}  // namespace

CoarsestLevel::CoarsestLevel(const comm_thread::Crew& crew, const spmv::DistributedMatrix& matrix,
                             std::span<const double> scale)
    : crew_(crew),
      values_(scale.size()),
      whole_(crew.communicator().is_root() ? static_cast<std::size_t>(matrix.partition.row_count())
                                           : 0) {
  collective_factor(matrix, scale);
  build_schedule(matrix.partition);
}

void CoarsestLevel::collective_factor(const spmv::DistributedMatrix& matrix,
                                      std::span<const double> scale) {
  comm_thread::Lists<SentEntry> lists;
  lists[0] = own_entries(crew_, matrix, scale);
  const auto received =
      comm_thread::collective_exchange_joined(crew_.communicator(), std::move(lists));
  comm_thread::collective_attempt(crew_.communicator(), [&] {
    if (!crew_.communicator().is_root() || whole_.empty()) return;
    LowerTriangle triangle{.size = whole_.size(), .entries = {}};
    for (const SentEntry& entry : received)
      triangle.entries.push_back(
          {static_cast<int>(entry.row), static_cast<int>(entry.column), entry.value});
    const std::string fault =
        "the coarsest level of amg is not positive semidefinite; expected a symmetric positive "
        "definite matrix";
    try {
      factor_ = std::make_unique<CholmodFactor>(triangle, 1, fault);
      inverse_norm_ = estimate_inverse_norm();
    } catch (const comm_thread::InputError&) {
      inverse_norm_ = singular_inverse_norm;
    }
    if (inverse_norm_ < singular_inverse_norm) return;
    for (auto& entry : triangle.entries)
      if (entry.row == entry.column) entry.value += semidefinite_shift;
    factor_ = std::make_unique<CholmodFactor>(triangle, 1, fault);
    inverse_norm_ = estimate_inverse_norm();
  });
  inverse_norm_ = crew_.communicator().max(inverse_norm_);
}

double CoarsestLevel::estimate_inverse_norm() {
  std::ranges::fill(whole_, 1.0);
  double norm = 0;
  for (int step = 0; step < power_steps; ++step) {
    double square = 0;
    for (const double value : whole_) square += value * value;
    norm = std::sqrt(square);
    if (!(norm > 0)) return 0;
    for (double& value : whole_) value /= norm;
    solve_whole();
  }
  double square = 0;
  for (const double value : whole_) square += value * value;
  return std::sqrt(square);
}

void CoarsestLevel::build_schedule(const spmv::RowPartition& partition) {
  const comm_thread::Communicator& ranks = crew_.communicator();
  comm_thread::Schedule::Builder builder(ranks, "coarsest level");
  const int tag = ranks.new_tag();
  const auto own_bytes = values_.size() * sizeof(double);
  if (ranks.size() == 1) {
    schedule_ = builder.build();
    return;
  }
  if (ranks.is_root()) {
    // Rank 0 has the first rows.
    const auto for_others = [&](const auto& visit) {
      for (int rank = 1; rank < ranks.size(); ++rank)
        if (partition.size(rank) > 0)
          visit(whole_.data() + partition.begin(rank),
                static_cast<std::size_t>(partition.size(rank)) * sizeof(double), rank);
    };
    for_others([&](double* part, std::size_t bytes, int rank) {
      builder.receive(part, bytes, rank, tag);
    });
    builder.end_round([this] {
      std::ranges::copy(values_, whole_.begin());
      solve_whole();
      std::copy_n(whole_.begin(), values_.size(), values_.begin());
    });
    for_others([&](double* part, std::size_t bytes, int rank) {
      builder.send(part, bytes, rank, tag);
      sent_bytes_ += static_cast<std::int64_t>(bytes);
      ++message_count_;
    });
    builder.end_round();
  } else if (own_bytes > 0) {
    builder.send(values_.data(), own_bytes, 0, tag);
    builder.end_round();
    builder.receive(values_.data(), own_bytes, 0, tag);
    builder.end_round();
    sent_bytes_ = static_cast<std::int64_t>(own_bytes);
    message_count_ = 1;
  }
  schedule_ = builder.build();
}

void CoarsestLevel::solve_whole() {
  if (!whole_.empty()) std::ranges::copy(factor_->solve(0, whole_), whole_.begin());
}

void CoarsestLevel::collective_solve() {
  if (crew_.communicator().size() == 1) {
    std::ranges::copy(values_, whole_.begin());
    solve_whole();
    std::ranges::copy(whole_, values_.begin());
  } else if (!schedule_->is_empty()) {
    crew_.comm_thread().start_here(*schedule_).wait();
  }
}

}  // namespace weft::solver::amg
