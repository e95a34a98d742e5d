#include "solver/amg/transfers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace weft::solver::amg {
namespace {

using comm_thread::TeamThread;
using spmv::LocalIndex;

/// A coarse diagonal entry below this share of Σ_i P_ij²·a_ii has been left by rounding, where an
/// aggregate is all of a singular part of the matrix: its row is left out.
constexpr double rounding_share = 1e-12;

}  // namespace

std::vector<double> collective_bound_rounding(const comm_thread::Crew& crew,
                                              std::span<const LocalIndex> fine_rows,
                                              Transfer& transfer) {
  transfer.inverse_scale =
      std::make_unique<RowValues<double>>(crew, transfer.restriction.plan, fine_rows, 0);
  RowValues<double>& inverse = *transfer.inverse_scale;
  crew.team().run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    for (auto row = static_cast<std::size_t>(fine_rows[index]);
         row < static_cast<std::size_t>(fine_rows[index + 1]); ++row)
      inverse[row] = transfer.scale[row] > 0 ? 1 / transfer.scale[row] : 0;
    inverse.collective_renew(thread);
  });
  std::vector<double> bounds(transfer.restriction.rows.row_count());
  crew.team().run([&](const TeamThread& thread) {
    const auto share = comm_thread::share_of(std::ssize(bounds), thread.index, thread.count);
    for (auto row = static_cast<std::size_t>(share.begin);
         row < static_cast<std::size_t>(share.end); ++row) {
      double sum = 0;
      for (const auto& [value, column] : transfer.restriction.rows.row(row)) {
        const double part = static_cast<double>(value) * inverse[static_cast<std::size_t>(column)];
        sum += part * part;
      }
      bounds[row] = rounding_share * sum;
    }
  });
  return bounds;
}

namespace {

/// Columns of other ranks in the first rows of P: the halo of the coarse vectors.
std::vector<spmv::GlobalIndex> halo_columns_of(const Transfer& transfer, std::size_t row_count) {
  const LocalIndex own_count = transfer.columns.own_count();
  std::vector<char> is_used(static_cast<std::size_t>(transfer.columns.count()));
  const bool has_others = transfer.columns.count() > own_count;
  for (std::int64_t k = 0; has_others && k < transfer.prolongator.begin[row_count]; ++k)
    is_used[static_cast<std::size_t>(
        transfer.prolongator.couplings[static_cast<std::size_t>(k)].column)] = 1;
  std::vector<spmv::GlobalIndex> halo_columns;
  for (LocalIndex column = own_count; column < transfer.columns.count(); ++column)
    if (is_used[static_cast<std::size_t>(column)])
      halo_columns.push_back(transfer.columns.global(column));
  std::ranges::sort(halo_columns);
  return halo_columns;
}

/// Where each column of P is in a coarse vector with its halo.
std::vector<LocalIndex> places_with_halo(const CoarseColumns& columns,
                                         const std::vector<spmv::GlobalIndex>& halo_columns) {
  std::vector<LocalIndex> local(static_cast<std::size_t>(columns.count()));
  for (LocalIndex column = 0; column < columns.count(); ++column)
    local[static_cast<std::size_t>(column)] =
        columns.is_own(column)
            ? column
            : columns.own_count() +
                  static_cast<LocalIndex>(
                      std::ranges::lower_bound(halo_columns, columns.global(column)) -
                      halo_columns.begin());
  return local;
}

/// D^(1/2)·P·D_c^(-1/2). `scale`: D_c^(-1/2) of own rows and the halo of P, whose plan is `plan`.
template <class Value>
void fill_prolongation(const comm_thread::Crew& crew, Transfer& transfer, Level<Value>& fine,
                       spmv::HaloPlan plan, const std::vector<spmv::GlobalIndex>& halo_columns,
                       const RowValues<double>& scale) {
  const std::vector<LocalIndex> local = places_with_halo(transfer.columns, halo_columns);
  const std::vector<LocalIndex> places = transfer.columns.places();
  const RowValues<double>& inverse = *transfer.inverse_scale;
  const bool is_new = !fine.prolongation;  // else rows of P are sorted already
  fill_operator(
      crew, std::move(plan), fine.thread_rows,
      [&](LocalIndex row) {
        return std::ssize(transfer.prolongator.row(static_cast<std::size_t>(row)));
      },
      [&](LocalIndex row) {
        return !halo_columns.empty() &&
               std::ranges::any_of(transfer.prolongator.row(static_cast<std::size_t>(row)),
                                   [&](const Coupling<float>& entry) {
                                     return !transfer.columns.is_own(entry.column);
                                   });
      },
      [&](LocalIndex row, const auto& add) {
        const auto i = static_cast<std::size_t>(row);
        const auto entries = std::span(transfer.prolongator.couplings)
                                 .subspan(static_cast<std::size_t>(transfer.prolongator.begin[i]),
                                          transfer.prolongator.row(i).size());
        if (is_new)
          std::ranges::sort(entries, {}, [&](const Coupling<float>& entry) {
            return places[static_cast<std::size_t>(entry.column)];
          });
        for (const auto& [value, column] : entries) {
          const LocalIndex place = local[static_cast<std::size_t>(column)];
          add(static_cast<Value>(static_cast<double>(value) *
                                 scale[static_cast<std::size_t>(place)] * inverse[i]),
              place);
        }
      },
      fine.prolongation);
}

/// The transpose of the prolongation.
template <class Value>
void fill_restriction(const comm_thread::Crew& crew, const Transfer& transfer, Level<Value>& fine,
                      const Level<Value>& coarse, const RowValues<double>& scale) {
  const auto fine_count = static_cast<std::size_t>(fine.thread_rows.back());
  const RowValues<double>& inverse = *transfer.inverse_scale;
  const CouplingRows<float>& transposed = transfer.restriction.rows;
  fill_operator(
      crew, transfer.restriction.plan, coarse.thread_rows,
      [&](LocalIndex row) { return std::ssize(transposed.row(static_cast<std::size_t>(row))); },
      [&](LocalIndex row) {
        return transfer.restriction.plan.halo_count > 0 &&
               std::ranges::any_of(transposed.row(static_cast<std::size_t>(row)),
                                   [&](const Coupling<float>& entry) {
                                     return static_cast<std::size_t>(entry.column) >= fine_count;
                                   });
      },
      [&](LocalIndex row, const auto& add) {
        for (const auto& [value, column] : transposed.row(static_cast<std::size_t>(row)))
          add(static_cast<Value>(static_cast<double>(value) * scale[static_cast<std::size_t>(row)] *
                                 inverse[static_cast<std::size_t>(column)]),
              column);
      },
      fine.restriction);
}

}  // namespace

template <class Value>
double collective_make_transfers(const comm_thread::Crew& crew, Transfer& transfer,
                                 Level<Value>& fine, Level<Value>& coarse,
                                 std::span<const double> coarse_scale,
                                 const spmv::RowPartition& partition) {
  const std::vector<spmv::GlobalIndex> halo_columns =
      halo_columns_of(transfer, static_cast<std::size_t>(fine.thread_rows.back()));
  spmv::HaloPlan plan = spmv::collective_build_halo_plan(crew.communicator(), partition,
                                                         crew.communicator().rank(), halo_columns);
  RowValues<double> scale(crew, plan, coarse.thread_rows, 0);
  for (std::size_t row = 0; row < coarse_scale.size(); ++row) scale[row] = coarse_scale[row];
  crew.team().run([&](const TeamThread& thread) { scale.collective_renew(thread); });
  fill_prolongation(crew, transfer, fine, std::move(plan), halo_columns, scale);
  fill_restriction(crew, transfer, fine, coarse, scale);
  return crew.communicator().max(fine.prolongation->largest_row_sum(crew)) *
         crew.communicator().max(fine.restriction->largest_row_sum(crew));
}

template double collective_make_transfers(const comm_thread::Crew&, Transfer&, Level<float>&,
                                          Level<float>&, std::span<const double>,
                                          const spmv::RowPartition&);
template double collective_make_transfers(const comm_thread::Crew&, Transfer&, Level<double>&,
                                          Level<double>&, std::span<const double>,
                                          const spmv::RowPartition&);

}  // namespace weft::solver::amg
