#include "solver/sweepers/piece_sweeper.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "solver/precondition/interface_shift.h"

namespace weft::solver {
namespace {

using comm_thread::ExactAccumulator;
using comm_thread::HaloNeighbour;
using comm_thread::Share;
using comm_thread::share_of;
using comm_thread::TeamThread;
using spmv::GlobalIndex;

std::vector<GlobalIndex> without_duplicates(std::vector<GlobalIndex> rows) {
  std::ranges::sort(rows);
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

std::int64_t checked_count(const PieceSweeper::Options& options, GlobalIndex row_count,
                           int rank_count) {
  if (options.kind == PieceSweeper::Kind::symmetric)
    throw comm_thread::InputError(
        "schwarz: found kind=symmetric; expected kind=restricted or kind=optimized");
  const std::int64_t count = SchwarzPreconditioner::checked_subdomain_count(options, row_count);
  if (options.subdomain_count == 0) return std::max<std::int64_t>(count, rank_count);
  if (count < rank_count)
    throw comm_thread::InputError(
        fmt::format("schwarz: found subdomains={} on {} ranks; expected one or more for each rank",
                    count, rank_count));
  return count;
}

/// The first row of subdomain `i`.
GlobalIndex subdomain_begin(GlobalIndex row_count, std::int64_t i, std::int64_t count) {
  return row_count * i / count;
}

/// The rows of the cores of each rank.
spmv::RowPartition partition_by_subdomains(GlobalIndex row_count, std::int64_t count, int ranks) {
  std::vector<GlobalIndex> sizes;
  for (int rank = 0; rank < ranks; ++rank) {
    const Share own = share_of(count, rank, ranks);
    sizes.push_back(subdomain_begin(row_count, own.end, count) -
                    subdomain_begin(row_count, own.begin, count));
  }
  return spmv::RowPartition::by_sizes(sizes);
}

}  // namespace

PieceSweeper::PieceSweeper(spmv::SparseOperator& op, std::span<const double> b,
                           const Options& options)
    : communicator_(op.communicator().collective_duplicate()), team_(op.team()) {
  const spmv::DistributedMatrix& matrix = op.matrix().matrix();
  const GlobalIndex rows = op.global_row_count();
  subdomain_count_ = checked_count(options, rows, communicator_.size());
  const bool is_graph = options.partition == Partition::graph;
  const spmv::RowPartition partition =
      is_graph ? matrix.partition
               : partition_by_subdomains(rows, subdomain_count_, communicator_.size());
  first_row_ = partition.begin(matrix.rank);
  row_count_ = static_cast<std::size_t>(partition.size(matrix.rank));
  std::vector<OverlappingRows> subdomains = collective_cut(matrix, options);
  std::vector<WholeRows> whole;
  std::vector<LowerTriangle> matrices =
      collective_import_rows(communicator_, matrix, options.overlap, subdomains, &whole);
  if (options.kind == Kind::optimized)
    for (std::size_t i = 0; i < subdomains.size(); ++i)
      shift_interface(subdomains[i], options.shift, matrices[i]);
  collective_plan_halo(subdomains, whole, partition, matrix.rank);
  collective_fetch_source(op, b, subdomains);
  collective_factor(matrices);
  for (Vector& vector : vectors_) vector.resize(row_count_ + halo_rows_.size());
  recorded_.resize(vectors_[0].size());
}

/// This rank's subdomains without the overlap.
std::vector<OverlappingRows> PieceSweeper::collective_cut(const spmv::DistributedMatrix& matrix,
                                                          const Options& options) {
  if (options.partition == Partition::graph)
    return SchwarzPreconditioner::collective_cut_graph(communicator_, matrix, subdomain_count_);
  const GlobalIndex rows = matrix.partition.row_count();
  const Share own = share_of(subdomain_count_, communicator_.rank(), communicator_.size());
  std::vector<OverlappingRows> subdomains;
  for (std::int64_t i = own.begin; i < own.end; ++i) {
    OverlappingRows& subdomain = subdomains.emplace_back();
    subdomain.number = static_cast<int>(i);
    const GlobalIndex begin = subdomain_begin(rows, i, subdomain_count_);
    subdomain.core.resize(
        static_cast<std::size_t>(subdomain_begin(rows, i + 1, subdomain_count_) - begin));
    std::iota(subdomain.core.begin(), subdomain.core.end(), begin);
  }
  return subdomains;
}

/// Which values come from whom; and the rows of each subdomain in terms of vectors here.
void PieceSweeper::collective_plan_halo(const std::vector<OverlappingRows>& subdomains,
                                        const std::vector<WholeRows>& rows,
                                        spmv::RowPartition partition, int rank) {
  const auto is_own = [&](GlobalIndex row) {
    return row >= first_row_ && row < first_row_ + static_cast<GlobalIndex>(row_count_);
  };
  for (const WholeRows& whole : rows)
    std::ranges::remove_copy_if(whole.columns, std::back_inserter(halo_rows_), is_own);
  halo_rows_ = without_duplicates(std::move(halo_rows_));
  plan_ = spmv::collective_build_halo_plan(
      communicator_, spmv::DistributedMatrix{std::move(partition), rank, {}, halo_rows_, 0});
  for (std::size_t i = 0; i < subdomains.size(); ++i) {
    Part& part = parts_.emplace_back();
    part.row_begin = rows[i].row_begin;
    part.values = rows[i].values;
    for (const GlobalIndex column : rows[i].columns) {
      part.places.push_back(static_cast<std::int32_t>(place_of(column)));
      part.needs_halo = part.needs_halo || !is_own(column);
    }
    for (const GlobalIndex row : subdomains[i].core) {
      part.core.push_back(static_cast<std::size_t>(
          std::ranges::lower_bound(subdomains[i].rows, row) - subdomains[i].rows.begin()));
      part.core_places.push_back(place_of(row));
    }
    part.residual.resize(subdomains[i].rows.size());
  }
}

std::size_t PieceSweeper::place_of(GlobalIndex row) const {
  if (row >= first_row_ && row < first_row_ + static_cast<GlobalIndex>(row_count_))
    return static_cast<std::size_t>(row - first_row_);
  return row_count_ +
         static_cast<std::size_t>(std::ranges::lower_bound(halo_rows_, row) - halo_rows_.begin());
}

/// b of the rows of subdomains, from those that own them in the operator.
void PieceSweeper::collective_fetch_source(spmv::SparseOperator& op, std::span<const double> b,
                                           const std::vector<OverlappingRows>& subdomains) {
  const spmv::DistributedMatrix& matrix = op.matrix().matrix();
  const auto is_owned = [&](GlobalIndex row) {
    return row >= matrix.first_row() && row < matrix.first_row() + matrix.rows.row_count;
  };
  std::vector<GlobalIndex> wanted;
  for (const OverlappingRows& subdomain : subdomains)
    std::ranges::remove_copy_if(subdomain.rows, std::back_inserter(wanted), is_owned);
  wanted = without_duplicates(std::move(wanted));
  const spmv::HaloPlan plan = spmv::collective_build_halo_plan(
      communicator_, spmv::DistributedMatrix{matrix.partition, matrix.rank, {}, wanted, 0});
  std::vector<double> fetched(wanted.size());
  comm_thread::HaloExchange exchange(communicator_, plan.neighbours, fetched, 0);
  for (std::size_t i = 0; i < plan.send_list.size(); ++i)
    exchange.send_buffer()[i] = b[static_cast<std::size_t>(plan.send_list[i])];
  communicator_.barrier();  // both ends of every pair exist
  if (exchange.has_neighbours()) exchange.start_here(op.comm_thread()).wait();
  for (std::size_t i = 0; i < subdomains.size(); ++i)
    for (const GlobalIndex row : subdomains[i].rows)
      parts_[i].b.push_back(is_owned(row)
                                ? b[static_cast<std::size_t>(row - matrix.first_row())]
                                : fetched[static_cast<std::size_t>(
                                      std::ranges::lower_bound(wanted, row) - wanted.begin())]);
}

void PieceSweeper::collective_factor(const std::vector<LowerTriangle>& matrices) {
  comm_thread::collective_attempt(communicator_, [&] {
    team_.run([&](const TeamThread& thread) {
      for (std::size_t i = static_cast<std::size_t>(thread.index); i < parts_.size();
           i += static_cast<std::size_t>(thread.count)) {
        Part& part = parts_[i];
        part.factor = std::make_unique<CholmodFactor>(
            matrices[i], 1, SchwarzPreconditioner::fault_of_matrix(part.residual.size()));
        part.factor->solve(0, part.residual);  // allocates
      }
    });
  });
  std::int64_t rows = 0;
  for (const Part& part : parts_) rows = std::max(rows, std::ssize(part.residual));
  largest_subdomain_ = communicator_.max(rows);
}

void PieceSweeper::copy_out(const Vector& x, const TeamThread& thread, std::size_t neighbour,
                            std::span<double> out) const {
  const HaloNeighbour& to = plan_.neighbours[neighbour];
  const spmv::LocalIndex* const rows = plan_.send_list.data() + to.send_begin;
  const Share share = share_of(to.send_count, thread.index, thread.count);
  for (std::int64_t i = share.begin; i < share.end; ++i)
    out[static_cast<std::size_t>(i)] = x[static_cast<std::size_t>(rows[i])];
}

void PieceSweeper::pack(const TeamThread& thread, std::size_t neighbour,
                        std::span<double> out) const {
  copy_out(vectors_[current_], thread, neighbour, out);
}

void PieceSweeper::unpack(const TeamThread& thread, std::size_t neighbour,
                          std::span<const double> in) {
  const HaloNeighbour& from = plan_.neighbours[neighbour];
  const Share share = share_of(from.receive_count, thread.index, thread.count);
  for (Vector& vector : vectors_)
    std::copy(in.data() + share.begin, in.data() + share.end,
              vector.data() + row_count_ + from.receive_begin + share.begin);
}

double PieceSweeper::residual_of_row(const Part& part, std::size_t row, const Vector& x) {
  double product = 0;
  for (std::size_t i = part.row_begin[row]; i < part.row_begin[row + 1]; ++i)
    product += part.values[i] * x[static_cast<std::size_t>(part.places[i])];
  return part.b[row] - product;
}

void PieceSweeper::sweep(const TeamThread& thread, SweepPart which,
                         ExactAccumulator* residual_square) {
  const Vector& x = vectors_[current_];
  Vector& next = vectors_[1 - current_];
  for (std::size_t i = static_cast<std::size_t>(thread.index); i < parts_.size();
       i += static_cast<std::size_t>(thread.count)) {
    Part& part = parts_[i];
    if (which != SweepPart::all && part.needs_halo != (which == SweepPart::boundary)) continue;
    for (std::size_t row = 0; row < part.residual.size(); ++row)
      part.residual[row] = residual_of_row(part, row, x);
    if (residual_square) {
      double square = 0;
      for (const std::size_t row : part.core) square += part.residual[row] * part.residual[row];
      residual_square->add(square);
    }
    const std::span<const double> correction = part.factor->solve(0, part.residual);
    for (std::size_t k = 0; k < part.core.size(); ++k)
      next[part.core_places[k]] = x[part.core_places[k]] + correction[part.core[k]];
  }
}

void PieceSweeper::add_core_squares(const TeamThread& thread, const Vector& x,
                                    ExactAccumulator& residual_square) const {
  for (std::size_t i = static_cast<std::size_t>(thread.index); i < parts_.size();
       i += static_cast<std::size_t>(thread.count)) {
    double square = 0;
    for (const std::size_t row : parts_[i].core) {
      const double residual = residual_of_row(parts_[i], row, x);
      square += residual * residual;
    }
    residual_square.add(square);
  }
}

void PieceSweeper::add_residual(const TeamThread& thread, ExactAccumulator& residual_square) {
  add_core_squares(thread, vectors_[current_], residual_square);
}

void PieceSweeper::advance(const TeamThread& thread, int count) {
  for (int i = 0; i < count; ++i) {
    sweep(thread, SweepPart::all, nullptr);
    thread.barrier();
    if (thread.is_primary()) finish_sweep();
    thread.barrier();
  }
}

void PieceSweeper::record(const TeamThread& thread) {
  const Share share = share_of(static_cast<std::int64_t>(row_count_), thread.index, thread.count);
  std::copy(vectors_[current_].data() + share.begin, vectors_[current_].data() + share.end,
            recorded_.data() + share.begin);
}

void PieceSweeper::pack_record(const TeamThread& thread, std::size_t neighbour,
                               std::span<double> out) const {
  copy_out(recorded_, thread, neighbour, out);
}

void PieceSweeper::add_residual_of_record(const TeamThread& thread, std::span<const double> halo,
                                          ExactAccumulator& residual_square) {
  const Share share = share_of(std::ssize(halo), thread.index, thread.count);
  std::copy(halo.data() + share.begin, halo.data() + share.end,
            recorded_.data() + row_count_ + share.begin);
  thread.barrier();
  add_core_squares(thread, recorded_, residual_square);
}

}  // namespace weft::solver
