#include "solver/precondition/overlapping_pieces.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
#include "solver/direct/cholmod_factor.h"
#include "solver/direct/incomplete_factor.h"
#include "solver/direct/klu_factor.h"
#include "solver/precondition/interface_shift.h"
#include "spmv/order/graph_partition.h"
#include "spmv/order/row_graph.h"

namespace weft::solver {
namespace {

using comm_thread::InputError;
using spmv::GlobalIndex;
using Kind = SchwarzOptions::Kind;
using Partition = SchwarzOptions::Partition;
using Use = OverlappingPieces::Use;

void check(const SchwarzOptions& options, std::int64_t most) {
  if (options.overlap < 0 || options.overlap > SchwarzOptions::most_overlap)
    throw InputError(fmt::format("schwarz: found overlap={}; expected 0 to {}", options.overlap,
                                 SchwarzOptions::most_overlap));
  if (options.kind == Kind::optimized) {
    if (options.overlap == 0)
      throw InputError(
          "schwarz: found kind=optimized with overlap=0; expected an overlap of 1 or more, because "
          "what a row at the edge finds is wrong");
    if (!(options.shift > 0 && options.shift <= 1))
      throw InputError(
          fmt::format("schwarz: found shift={}; expected above 0 to 1", options.shift));
  }
  if (options.piece_count < 0 || options.piece_count > most)
    throw InputError(
        fmt::format("schwarz: found subdomains={}; expected 1 to {}, the number of rows, or 0 for "
                    "as many as suit",
                    options.piece_count, most));
}

std::int64_t checked_count(const SchwarzOptions& options, GlobalIndex row_count, int rank_count,
                           Use use) {
  if (use == Use::sweep && options.kind == Kind::symmetric)
    throw InputError("schwarz: found kind=symmetric; expected kind=restricted or kind=optimized");
  check(options, std::max<std::int64_t>(row_count, 1));
  const std::int64_t least = use == Use::sweep ? rank_count : 1;
  if (options.piece_count == 0)
    return std::max(least, row_count / (options.solver == SchwarzOptions::Solver::incomplete
                                            ? SchwarzOptions::automatic_rows_of_incomplete
                                            : SchwarzOptions::automatic_rows));
  if (options.piece_count < least)
    throw InputError(
        fmt::format("schwarz: found subdomains={} on {} ranks; expected one or more for each rank",
                    options.piece_count, rank_count));
  return options.piece_count;
}

/// The first row of piece `i`.
GlobalIndex piece_begin(GlobalIndex row_count, std::int64_t i, std::int64_t count) {
  return row_count * i / count;
}

/// The rows of the cores of each rank, which have the same number of pieces, up to one.
spmv::RowPartition partition_by_pieces(GlobalIndex row_count, std::int64_t count, int ranks) {
  std::vector<GlobalIndex> sizes;
  for (int rank = 0; rank < ranks; ++rank) {
    const comm_thread::Share own = comm_thread::share_of(count, rank, ranks);
    sizes.push_back(piece_begin(row_count, own.end, count) -
                    piece_begin(row_count, own.begin, count));
  }
  return spmv::RowPartition::by_sizes(sizes);
}

std::size_t index_of(const std::vector<GlobalIndex>& rows, GlobalIndex row) {
  return static_cast<std::size_t>(std::ranges::lower_bound(rows, row) - rows.begin());
}

/// By ILU(0). Throws comm_thread::InputError, which names a row by those in `rows`.
std::unique_ptr<Factor> make_incomplete_factor(const LocalMatrix& matrix,
                                               const std::vector<GlobalIndex>& rows,
                                               bool must_be_definite) {
  const auto fault_of_row = [&](int row, double entry, double pivot) {
    const GlobalIndex global_row = rows[static_cast<std::size_t>(row)] + 1;
    const std::string expected = "because ilu0 divides by it; " +
                                 comm_thread::option_name("preconditioner", "block-lu") +
                                 " exchanges rows";
    if (entry == 0 && pivot == 0)
      return fmt::format("ilu0: row {} has a zero as its pivot; expected none, {}", global_row,
                         expected);
    return fmt::format(
        "ilu0: row {} has {:.3g} on the diagonal, of which elimination leaves the pivot {:.3g}; "
        "expected one above rounding with a finite inverse, {}",
        global_row, entry, pivot, expected);
  };
  auto factor = std::make_unique<IncompleteFactor>(matrix, fault_of_row);
  if (must_be_definite && !factor->is_definite())
    throw InputError("ilu0: found a negative pivot; expected positive ones for this method: use " +
                     comm_thread::option_name("method", "gmres"));
  return factor;
}

/// Where rows of the matrix are in a vector: own rows, then the halo.
struct VectorPlaces {
  GlobalIndex first_row = 0;
  std::size_t row_count = 0;
  std::vector<GlobalIndex> halo_rows{};  // ascending

  bool is_own(GlobalIndex row) const {
    return row >= first_row && row < first_row + static_cast<GlobalIndex>(row_count);
  }
  /// Adds those of `rows` that are not own.
  void add_halo(const std::vector<GlobalIndex>& rows) {
    std::ranges::copy_if(rows, std::back_inserter(halo_rows),
                         [this](GlobalIndex row) { return !is_own(row); });
  }
  /// After the last `add_halo`.
  void sort_halo() {
    std::ranges::sort(halo_rows);
    halo_rows.erase(std::unique(halo_rows.begin(), halo_rows.end()), halo_rows.end());
  }
  std::vector<std::int32_t> of(const std::vector<GlobalIndex>& rows) const {
    std::vector<std::int32_t> places;
    for (const GlobalIndex row : rows) {
      const std::size_t place = is_own(row) ? static_cast<std::size_t>(row - first_row)
                                            : row_count + index_of(halo_rows, row);
      places.push_back(static_cast<std::int32_t>(place));
    }
    return places;
  }
};

}  // namespace

const char* name(Kind kind) {
  switch (kind) {
    case Kind::symmetric:
      return "symmetric";
    case Kind::restricted:
      return "restricted";
    case Kind::optimized:
      break;
  }
  return "optimized";
}

OverlappingPieces::OverlappingPieces(const spmv::SparseOperator& op, const SchwarzOptions& options,
                                     Use use)
    : options_(options),
      communicator_(op.communicator().collective_duplicate()),
      team_(op.team()),
      count_(checked_count(options, op.global_row_count(), communicator_.size(), use)),
      partition_(use == Use::sweep && options.partition == Partition::rows
                     ? partition_by_pieces(op.global_row_count(), count_, communicator_.size())
                     : op.matrix().matrix().partition) {
  const spmv::DistributedMatrix& matrix = op.matrix().matrix();
  std::vector<OverlappingRows> cut =
      options.partition == Partition::graph ? collective_cut_graph(matrix) : cut_rows();
  std::vector<WholeRows> whole;
  std::vector<LocalMatrix> matrices = collective_import_rows(
      communicator_, matrix, options.overlap, cut, use == Use::sweep ? &whole : nullptr);
  if (options.kind == Kind::optimized)
    for (std::size_t i = 0; i < cut.size(); ++i)
      shift_interface(cut[i], options.shift, matrices[i]);
  collective_plan_halo(std::move(cut), whole);
  if (options.on_forecast) options.on_forecast(forecast_factors(matrices));
  collective_factor(matrices);
}

std::vector<OverlappingRows> OverlappingPieces::cut_rows() const {
  const GlobalIndex rows = partition_.row_count();
  std::vector<OverlappingRows> cut;
  for (std::int64_t i = 0; i < count_; ++i) {
    const GlobalIndex begin = piece_begin(rows, i, count_);
    const GlobalIndex end = piece_begin(rows, i + 1, count_);
    if (begin == end || partition_.owner((begin + end) / 2) != communicator_.rank()) continue;
    OverlappingRows& piece = cut.emplace_back();
    piece.number = static_cast<int>(i);
    piece.core.resize(static_cast<std::size_t>(end - begin));
    std::iota(piece.core.begin(), piece.core.end(), begin);
  }
  return cut;
}

std::vector<OverlappingRows> OverlappingPieces::collective_cut_graph(
    const spmv::DistributedMatrix& matrix) {
  const GlobalIndex rows = std::max<GlobalIndex>(matrix.partition.row_count(), 1);
  const std::int64_t share = (count_ * matrix.rows.row_count + rows / 2) / rows;
  const std::int64_t count =
      std::min<std::int64_t>(std::max<std::int64_t>(share, 1), matrix.rows.row_count);
  const std::int64_t first = communicator_.exclusive_prefix_sum(count);
  std::vector<OverlappingRows> cut(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i)
    cut[static_cast<std::size_t>(i)].number = static_cast<int>(first + i);
  comm_thread::collective_attempt(communicator_, [&] {
    spmv::RowGraph graph = spmv::own_row_graph(matrix.rows);
    const auto piece_of_row =
        spmv::partition_graph(graph, static_cast<int>(count), spmv::PartSize::rows);
    for (std::size_t row = 0; row < piece_of_row.size(); ++row)
      cut[static_cast<std::size_t>(piece_of_row[row])].core.push_back(
          matrix.first_row() + static_cast<GlobalIndex>(row));
  });
  std::erase_if(cut, [](const OverlappingRows& piece) { return piece.core.empty(); });
  count_ = communicator_.sum(std::ssize(cut));
  return cut;
}

/// Learns which entries of vectors come from whom, and describes pieces by places in vectors.
void OverlappingPieces::collective_plan_halo(std::vector<OverlappingRows> cut,
                                             const std::vector<WholeRows>& whole) {
  const auto read_by = [&](std::size_t i) -> const std::vector<GlobalIndex>& {
    return whole.empty() ? cut[i].rows : whole[i].columns;
  };
  VectorPlaces places{.first_row = first_row(), .row_count = row_count()};
  for (std::size_t i = 0; i < cut.size(); ++i) places.add_halo(read_by(i));
  places.sort_halo();
  plan_ = spmv::collective_build_halo_plan(communicator_, partition_, communicator_.rank(),
                                           places.halo_rows);
  for (std::size_t i = 0; i < cut.size(); ++i) {
    Piece& piece = pieces_.emplace_back();
    piece.number = cut[i].number;
    piece.begin = piece_row_count_;
    piece.places = places.of(cut[i].rows);
    piece.needs_halo =
        !std::ranges::all_of(read_by(i), [&places](GlobalIndex row) { return places.is_own(row); });
    for (const GlobalIndex row : cut[i].core) piece.core.push_back(index_of(cut[i].rows, row));
    if (!whole.empty()) {
      piece.row_begin = whole[i].row_begin;
      piece.columns = places.of(whole[i].columns);
      piece.values = whole[i].values;
    }
    piece.rows = std::move(cut[i].rows);
    piece.right_hand_side.resize(piece.rows.size());
    piece_row_count_ += piece.rows.size();
  }
}

double OverlappingPieces::forecast_factors(const std::vector<LocalMatrix>& matrices) const {
  using Solver = SchwarzOptions::Solver;
  std::vector<double> bytes(matrices.size());
  team_.run([&](const comm_thread::TeamThread& thread) {
    for_each_of(thread, [&](std::size_t i) {
      const LocalMatrix& matrix = matrices[i];
      if (options_.solver == Solver::incomplete) {
        // The factors, and what they are made in, measured.
        constexpr double copies = 2.2;
        bytes[i] =
            copies * static_cast<double>(matrix.values.size()) * (sizeof(double) + sizeof(int));
        return;
      }
      // LU fills two triangles, and about as much as Cholesky would.
      const bool is_lu = !options_.must_be_definite && options_.solver != Solver::cholesky &&
                         (options_.solver == Solver::lu || !solver::is_symmetric(matrix));
      bytes[i] = (is_lu ? 2 : 1) * CholmodFactor::forecast_bytes(lower_triangle(matrix));
    });
  });
  return std::accumulate(bytes.begin(), bytes.end(), 0.0);
}

/// Throws comm_thread::InputError.
std::unique_ptr<Factor> OverlappingPieces::make_factor(const LocalMatrix& matrix,
                                                       const Piece& piece) const {
  using Solver = SchwarzOptions::Solver;
  if (options_.solver == Solver::incomplete)
    return make_incomplete_factor(matrix, piece.rows, options_.must_be_definite);
  const bool is_cholesky = options_.solver == Solver::cholesky || options_.must_be_definite;
  if (is_cholesky || (options_.solver == Solver::automatic && solver::is_symmetric(matrix))) {
    try {
      return std::make_unique<CholmodFactor>(
          lower_triangle(matrix), 1,
          fmt::format("schwarz: a subdomain of {} rows: found a matrix that is not positive "
                      "definite to working precision; expected a positive definite matrix, or "
                      "{}, whose subdomains may be solved by LU",
                      piece.rows.size(), comm_thread::option_name("method", "gmres")));
    } catch (const FactorTooLarge&) {
      throw;
    } catch (const InputError&) {
      if (is_cholesky) throw;
    }
  }
  return std::make_unique<KluFactor>(
      matrix, fmt::format("a subdomain of rows {} to {} is singular to working precision; expected "
                          "one that can be solved: other subdomains, or {}",
                          piece.rows.front() + 1, piece.rows.back() + 1,
                          comm_thread::option_name("preconditioner", "none")));
}

void OverlappingPieces::collective_factor(const std::vector<LocalMatrix>& matrices) {
  std::vector<char> symmetric(pieces_.size());
  std::vector<std::string> faults(pieces_.size());
  team_.run([&](const comm_thread::TeamThread& thread) {
    for_each_of(thread, [&](std::size_t i) {
      Piece& piece = pieces_[i];
      try {
        piece.factor = make_factor(matrices[i], piece);
        piece.factor->solve(0, piece.right_hand_side);  // allocates
        symmetric[i] = solver::is_symmetric(matrices[i]) ? 1 : 0;
      } catch (const InputError& error) {
        faults[i] = error.what();
      }
    });
  });
  const auto first = std::ranges::find_if(faults, [](const auto& text) { return !text.empty(); });
  comm_thread::collective_agree_on_error(communicator_, first == faults.end() ? "" : *first);
  std::int64_t rows = 0;
  std::int64_t by_lu = 0;
  for (const Piece& piece : pieces_) {
    rows = std::max(rows, std::ssize(piece.rows));
    by_lu += !piece.factor->is_definite();
  }
  largest_ = communicator_.max(rows);
  lu_count_ = communicator_.sum(by_lu);
  is_symmetric_ = communicator_.min(std::int64_t{std::ranges::count(symmetric, 0) == 0}) == 1;
}

}  // namespace weft::solver
