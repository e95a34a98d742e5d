#include "library/state/caller_operator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "perfmodel/huge_page_buffer.h"
#include "perfmodel/simd.h"
#include "spmv/modes/product.h"
#include "spmv/modes/run_in_mode.h"
#include "spmv/rows/halo_vector.h"
#include "spmv/sums/binned_sum.h"

namespace weft::library {
namespace {

using comm_thread::InputError;
using comm_thread::TeamThread;
using spmv::LocalIndex;
using spmv::RowPartition;

/// A product with ±1 finds this share of the norm, or more: rows of a few hundred entries with
/// signs that cancel.
constexpr double part_found = 1.0 / 16;

RowPartition collective_partition(const comm_thread::Communicator& communicator,
                                  std::int64_t row_count) {
  return RowPartition::by_sizes(communicator.all_gather(row_count));
}

void check(const UserOperator& user, const RowPartition& partition, int rank) {
  const auto fault = [&](const std::string& text) {
    throw InputError(fmt::format("operator of rank {}: {}", rank, text));
  };
  if (user.row_count < 0 || user.row_count > std::numeric_limits<LocalIndex>::max())
    fault(fmt::format("found row_count {}; expected 0 to 2147483647", user.row_count));
  if (!user.interior || !user.boundary) fault("found no interior or no boundary; expected both");
  if (user.first_row != partition.begin(rank))
    fault(fmt::format("found first_row {}; expected {}, the rows of the ranks before",
                      user.first_row, partition.begin(rank)));
  std::int64_t last = -1;
  for (const std::int64_t row : user.halo_rows) {
    if (row <= last || row >= partition.row_count() ||
        (row >= partition.begin(rank) && row < partition.end(rank)))
      fault(fmt::format("found halo row {} after {}; expected ascending rows of other ranks", row,
                        last));
    last = row;
  }
}

/// Σ x_i·y_i of rows begin … end - 1.
void add_products(const double* x, const double* y, std::int64_t begin, std::int64_t end,
                  spmv::RowSum x_dot_y) {
  using perfmodel::load;
  spmv::BinnedSum sum(x_dot_y.bound);
  spmv::add_terms(sum, end - begin,
                  [&]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
                    return load<Value>(x + begin + i) * load<Value>(y + begin + i);
                  });
  sum.flush(*x_dot_y.part);
}

}  // namespace

CallerOperator::CallerOperator(const comm_thread::Communicator& communicator,
                               comm_thread::CommThread& comm_thread,
                               const comm_thread::ComputeTeam& team, UserOperator user)
    : communicator_(communicator),
      comm_thread_(comm_thread),
      team_(team),
      user_(std::move(user)),
      partition_(collective_partition(communicator, std::max<std::int64_t>(user_.row_count, 0))) {
  comm_thread::collective_attempt(communicator,
                                  [&] { check(user_, partition_, communicator.rank()); });
  halo_plan_ = spmv::collective_build_halo_plan(communicator, partition_, communicator.rank(),
                                                user_.halo_rows);
  thread_rows_.push_back(0);
  for (int thread = 0; thread < team.thread_count(); ++thread) {
    // Whole vectors of eight rows for each thread.
    const auto share =
        comm_thread::share_of((user_.row_count + 7) / 8, thread, team.thread_count());
    const auto begin = std::min(8 * share.begin, user_.row_count);
    const auto end = std::min(8 * share.end, user_.row_count);
    thread_rows_.push_back(static_cast<LocalIndex>(end));
    segments_.push_back({static_cast<std::size_t>(begin), end - begin});
  }
  norm_ = communicator.max(user_.norm);
  if (!(norm_ > 0)) norm_ = collective_estimate_norm();
}

double CallerOperator::collective_estimate_norm() {
  const auto x = collective_make_operand();
  for (std::size_t i = 0; i < element_count(); ++i)
    // Signs that follow no pattern of a grid.
    x->values()[i] =
        ((static_cast<std::uint64_t>(global_row(i)) * 0x9E3779B97F4A7C15U) >> 63) != 0 ? 1.0 : -1.0;
  perfmodel::HugePageBuffer<double> y(element_count());
  perfmodel::PhaseTimer timer;
  team_.run([&](const TeamThread& thread) {
    apply(thread, spmv::Mode::vector, *x, y.data(), timer, {});
  });
  double largest = 0;
  for (const double value : y.span()) largest = std::max(largest, std::abs(value));
  return communicator_.max(largest) / part_found;
}

std::unique_ptr<spmv::Operand> CallerOperator::collective_make_operand() {
  auto vector = std::make_unique<spmv::HaloVector<double>>(crew(), halo_plan_, thread_rows_);
  communicator_.barrier();  // both ends of every pair exist
  return vector;
}

void CallerOperator::apply(const TeamThread& thread, spmv::Mode mode, spmv::Operand& x, double* y,
                           perfmodel::PhaseTimer& timer, spmv::RowSum x_dot_y) const {
  // One thread reads what all have written, and later the other way round.
  const bool shares_rows = !user_.is_threaded && thread.count > 1;
  if (shares_rows) thread.barrier();
  spmv::run_in_mode(thread, mode,
                    {spmv::Product(*this, x.values(), y, x_dot_y), x, comm_thread_, timer});
  if (shares_rows) thread.barrier();
}

void CallerOperator::copy_diagonal(std::span<double> diagonal) const {
  if (element_count() == 0) return;
  if (!user_.diagonal)
    throw InputError(
        "preconditioner jacobi: found an operator without a diagonal; expected one that writes it");
  user_.diagonal(diagonal.first(element_count()));
}

void CallerOperator::multiply_in_pieces(spmv::RowSet set, const TeamThread& thread, const double* x,
                                        double* y, spmv::RowSum x_dot_y,
                                        const std::function<void()>& pause) const {
  const auto index = static_cast<std::size_t>(thread.index);
  std::int64_t begin = thread_rows_[index];
  std::int64_t end = thread_rows_[index + 1];
  if (!user_.is_threaded) {
    begin = 0;
    end = thread.is_primary() ? user_.row_count : 0;
  }
  if (begin == end) return;
  if (set != spmv::RowSet::boundary) user_.interior(begin, end, x, y);
  if (pause) pause();
  if (set == spmv::RowSet::interior) return;
  user_.boundary(begin, end, x, y);
  if (x_dot_y.part) add_products(x, y, begin, end, x_dot_y);
}

}  // namespace weft::library
