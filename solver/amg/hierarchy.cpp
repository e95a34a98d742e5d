#include "solver/amg/hierarchy.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "perfmodel/page_stock.h"
#include "perfmodel/stopwatch.h"
#include "solver/amg/coarsening/aggregates.h"
#include "solver/amg/coarsening/independent_set.h"
#include "solver/amg/coarsening/node_matrix.h"
#include "solver/amg/coarsening/node_rows.h"
#include "solver/amg/coarsening/prolongator.h"
#include "solver/amg/coarsening/rank_count.h"
#include "solver/amg/coarsening/renewed_galerkin.h"
#include "solver/amg/coarsening/strong_rows.h"
#include "solver/amg/coarsening/tentative_prolongator.h"
#include "solver/amg/cycle_vectors.h"
#include "solver/amg/diagonal_scale.h"
#include "solver/amg/spectral_bound.h"
#include "spmv/rows/thread_rows.h"

namespace weft::solver::amg {
namespace {

using spmv::LocalIndex;

constexpr std::size_t most_levels = 30;
/// A level is not worth its work where it has more than this share of the finer level's rows.
constexpr double most_rows = 0.8;
/// Where coarsening ends early, up to so many rows are still solved directly.
constexpr std::int64_t most_direct_rows = 4000;
/// The Ritz value may be a few per cent below the largest eigenvalue.
constexpr double eigenvalue_margin = 1.05;
/// Of the smoothing of the prolongator. Where most strong couplings are strong for one row only, a
/// smaller factor is better: lognormal coefficients then take 36 iterations instead of 42.
/// Elsewhere it would take two or three more.
constexpr double prolongator_factor = 4.0 / 3;
constexpr double factor_of_rough_coefficients = 0.8 * prolongator_factor;
constexpr double rough_share = 0.5;
/// Where rows of the smoothed prolongator would have more entries than this on average, it is not
/// smoothed: coarse levels of matrices whose couplings lead anywhere fill up otherwise. Grids and
/// meshes have 2 to 5. irregular:200000 took 900 MB and 888 entries a coarse row.
constexpr std::int64_t most_entries_of_a_row = 8;
/// Upper bound of the norm of smoothing, before and after.
constexpr double smoother_norm = 10;
/// Products with the matrix of a level in one visit, of degree 2, and the share of a V-cycle's by
/// which a W-cycle may take more: Poisson of 10⁶ rows takes 11 iterations instead of 13 for 8 %.
constexpr double products_of_visit = 4;
constexpr double cheap_share = 0.125;
/// The same where chains of the finest level are solved exactly, so that all that is left of an
/// error is of coarse levels: 400 × 400 points, 1:1000, take 6 iterations instead of 12.
constexpr double cheap_share_of_chains = 0.5;

}  // namespace

template <class Value>
Hierarchy<Value>::Hierarchy(const spmv::SparseOperator& op, const Settings& settings,
                            NearNullSpace near_null_space)
    : op_(op),
      communicator_(op.communicator().collective_duplicate()),
      crew_(communicator_, op.comm_thread(), op.team()),
      settings_(settings),
      gathering_(gathering_of(settings.gather_rows)),
      space_(std::move(near_null_space)) {
  const perfmodel::PageStock stock;
  collective_build();
  make_cycle_vectors(crew_, settings_, levels_, coarsest());
  crew_.communicator().barrier();  // both ends of every pair exist
}

template <class Value>
void Hierarchy<Value>::collective_build() {
  const auto finest_rows = op_.matrix().thread_rows();
  auto next = collective_add_level(op_.matrix().matrix(), {finest_rows.begin(), finest_rows.end()});
  while (next) {
    spmv::DistributedMatrix matrix = std::move(*next);
    next = collective_add_level(matrix, spmv::cut_rows_for_threads(matrix.rows.row_offsets.span(),
                                                                   1, crew_.team().thread_count()));
    if (settings_.keeps_set_up) kept_[levels_.size() - 2].coarse = std::move(matrix);
  }
  transfer_.reset();
  space_ = {};
  if (settings_.form == Settings::Form::automatic)
    settings_.form = has_cheap_w_cycle() ? Settings::Form::w : Settings::Form::v;
  collective_bound_norm();
}

template <class Value>
bool Hierarchy<Value>::has_cheap_w_cycle() const {
  double work = 0;  // products with a level's matrix, in nonzeros
  double more = 0;  // of a W-cycle
  double visits = 1;
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    const auto nonzeros = static_cast<double>(levels_[i]->report.nonzeros);
    const int corrections = correction_count(Settings::Form::w, levels_, i);
    work += products_of_visit * nonzeros;
    more += (products_of_visit * (visits - 1) + visits * (corrections - 1)) * nonzeros;
    visits *= corrections;
  }
  const double share = levels_.front()->link_inverse ? cheap_share_of_chains : cheap_share;
  return more > 0 && more <= share * work;
}

template <class Value>
void Hierarchy<Value>::collective_bound_norm() {
  norm_ = coarsest_ ? coarsest_->inverse_norm() : smoother_norm;
  for (std::size_t i = transfer_norms_.size(); i-- > 0;)
    norm_ =
        smoother_norm + correction_count(settings_.form, levels_, i) * transfer_norms_[i] * norm_;
  double largest = 0;
  for (const double s : finest_scale_) largest = std::max(largest, s);
  norm_ *= std::pow(crew_.communicator().max(largest), 2);
}

template <class Value>
bool Hierarchy<Value>::collective_take_new_values() {
  if (!settings_.keeps_set_up) return false;
  const perfmodel::PageStock stock;
  transfer_norms_.clear();
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    const perfmodel::Stopwatch watch;
    Level<Value>& level = *levels_[i];
    const LevelMatrix fine{.matrix = matrix_of(i),
                           .plan = i == 0 ? op_.halo_plan() : kept_[i - 1].plan,
                           .thread_rows = level.thread_rows};
    if (i > 0) transfer_ = std::move(kept_[i - 1].transfer);
    perfmodel::PageVector<double> scale = collective_fill_level(i, fine, level.report.is_direct);
    if (!level.report.is_direct) collective_make_smoother(i, fine);
    if (i > 0) keep_transfer(kept_[i - 1]);
    if (i < kept_.size()) {
      Kept& kept = kept_[i];
      Transfer& transfer = *kept.transfer;
      transfer.scale = std::move(scale);
      collective_renew_galerkin(crew_, fine, transfer.prolongator, transfer.columns,
                                transfer.restriction, kept.product, kept.vector_count, kept.coarse);
    }
    level.report.setup_seconds = watch.seconds();
  }
  collective_bound_norm();
  crew_.communicator().barrier();  // both ends of every pair exist
  return true;
}

template <class Value>
void Hierarchy<Value>::keep_transfer(Kept& kept) {
  transfer_->inverse_scale.reset();
  kept.transfer = std::move(transfer_);
  transfer_.reset();
}

template <class Value>
perfmodel::PageVector<double> Hierarchy<Value>::collective_fill_level(std::size_t number,
                                                                      const LevelMatrix& fine,
                                                                      bool is_direct) {
  Level<Value>& level = *levels_[number];
  const bool is_finest = number == 0;
  Level<Value>* const finer = is_finest ? nullptr : levels_[number - 1].get();
  RowValues<double> scale(crew_, fine.plan, fine.thread_rows, 0);
  collective_scale(crew_, fine,
                   is_finest ? std::vector<double>{}
                             : collective_bound_rounding(crew_, finer->thread_rows, *transfer_),
                   scale);
  perfmodel::PageVector<double> own_scale = own_part(crew_, level.thread_rows, scale);
  if (is_finest)
    finest_scale_ = own_scale;
  else
    transfer_norms_.push_back(collective_make_transfers(crew_, *transfer_, *finer, level, own_scale,
                                                        fine.matrix.partition));
  if (is_direct)
    collective_make_direct(level, fine, own_scale);
  else
    make_off_diagonal(level, fine, scale);
  return own_scale;
}

template <class Value>
std::optional<spmv::DistributedMatrix> Hierarchy<Value>::collective_add_level(
    const spmv::DistributedMatrix& matrix, std::vector<LocalIndex> thread_rows) {
  const perfmodel::Stopwatch watch;
  levels_.push_back(std::make_unique<Level<Value>>());
  Level<Value>& level = *levels_.back();
  level.thread_rows = std::move(thread_rows);
  const std::size_t number = levels_.size() - 1;
  const LevelMatrix fine{
      .matrix = matrix,
      .plan = number == 0 ? op_.halo_plan()
                          : spmv::collective_build_halo_plan(crew_.communicator(), matrix.partition,
                                                             matrix.rank, matrix.halo_columns),
      .thread_rows = level.thread_rows};
  const bool is_direct = matrix.partition.row_count() <= settings_.direct_rows;
  perfmodel::PageVector<double> own_scale = collective_fill_level(number, fine, is_direct);
  if (settings_.keeps_set_up && number > 0) {
    kept_.back().plan = fine.plan;
    keep_transfer(kept_.back());
  }
  transfer_.reset();  // its operators are made, and the next product wants the pages

  std::optional<GalerkinProduct> product;
  if (!is_direct) {
    if (levels_.size() < most_levels)
      product = space_.is_constant() ? collective_coarsen(number, fine, own_scale)
                                     : collective_coarsen_nodes(number, fine, own_scale);
    if (!product && matrix.partition.row_count() <= most_direct_rows)
      collective_make_direct(level, fine, own_scale);
    else if (!product)
      collective_make_smoother(number, fine);
  }
  level.report.rows = matrix.partition.row_count();
  level.report.nonzeros = matrix.global_nonzero_count;
  level.report.own_rows = fine.row_count();
  level.report.setup_seconds = watch.seconds();
  if (!product) return std::nullopt;
  transfer_->restriction = std::move(product->restriction);
  if (settings_.keeps_set_up)
    kept_.push_back(
        {.product = std::move(product->kept),
         .vector_count = std::max(space_.vector_count, 1),
         .coarse = {.partition = product->matrix.partition, .rows = {}, .halo_columns = {}}});
  return std::move(product->matrix);
}

template <class Value>
void Hierarchy<Value>::collective_make_direct(Level<Value>& level, const LevelMatrix& matrix,
                                              std::span<const double> scale) {
  level.off_diagonal.reset();
  level.report.is_direct = true;
  level.report.largest_eigenvalue = 0;
  coarsest_.emplace(crew_, matrix.matrix, scale);
}

template <class Value>
void Hierarchy<Value>::make_off_diagonal(Level<Value>& level, const LevelMatrix& matrix,
                                         const RowValues<double>& scale) {
  const spmv::CrsMatrix& rows = matrix.matrix.rows;
  // A row whose scale is 0 is left out, and all others have a diagonal entry.
  const auto is_left_out = [&](LocalIndex row) {
    return !(scale[static_cast<std::size_t>(row)] > 0);
  };
  const auto columns_of = [&](LocalIndex row) {
    const auto i = static_cast<std::size_t>(row);
    return rows.columns.span().subspan(
        static_cast<std::size_t>(rows.row_offsets[i]),
        static_cast<std::size_t>(rows.row_offsets[i + 1] - rows.row_offsets[i]));
  };
  const bool is_kept = fill_operator(
      crew_, matrix.plan, level.thread_rows,
      [&](LocalIndex row) { return is_left_out(row) ? 0 : std::ssize(columns_of(row)) - 1; },
      [&](LocalIndex row) {
        return matrix.plan.halo_count > 0 && !is_left_out(row) &&
               std::ranges::any_of(columns_of(row),
                                   [&](LocalIndex column) { return column >= matrix.row_count(); });
      },
      [&](LocalIndex row, const auto& add) {
        if (is_left_out(row)) return;
        const double own = scale[static_cast<std::size_t>(row)];
        auto k = static_cast<std::size_t>(rows.row_offsets[static_cast<std::size_t>(row)]);
        for (const LocalIndex column : columns_of(row)) {
          const double value = rows.values[k++];
          if (column == row) continue;
          add(static_cast<Value>(value * own * scale[static_cast<std::size_t>(column)]), column);
        }
      },
      level.off_diagonal);
  if (!is_kept && level.restriction)
    level.off_diagonal->hold_back(crew_, level.restriction->plan().send_list);
}

template <class Value>
void Hierarchy<Value>::collective_make_link_inverse(Level<Value>& level, const LevelMatrix& matrix,
                                                    const Chains& chains) {
  const auto row_of = [&](LocalIndex row) { return chains.inverse(static_cast<std::size_t>(row)); };
  level.link_inverse.emplace(
      crew_,
      spmv::collective_build_halo_plan(crew_.communicator(), matrix.matrix.partition,
                                       matrix.matrix.rank, chains.halo_rows),
      level.thread_rows,
      [&](LocalIndex row) { return chains.inverse_count(static_cast<std::size_t>(row)); },
      [&](LocalIndex row) {
        return !chains.halo_rows.empty() &&
               std::ranges::any_of(row_of(row).span(), [&](const Coupling<float>& entry) {
                 return entry.column >= matrix.row_count();
               });
      },
      [&](LocalIndex row, const auto& add) {
        const Chains::InverseRow inverse = row_of(row);
        for (const auto& [value, column] : inverse.span()) add(static_cast<Value>(value), column);
      });
}

template <class Value>
void Hierarchy<Value>::collective_make_smoother(std::size_t number, const LevelMatrix& matrix) {
  Level<Value>& level = *levels_[number];
  const double estimate =
      collective_estimate_largest(crew_, *level.off_diagonal, matrix.matrix.first_row(),
                                  matrix.matrix.partition.row_count(), number + 1);
  level.report.largest_eigenvalue = eigenvalue_margin * std::max(estimate, 1.0);
  level.smoother = Polynomial(settings_.degree, level.report.largest_eigenvalue);
}

template <class Value>
std::optional<GalerkinProduct> Hierarchy<Value>::collective_coarsen(
    std::size_t number, const LevelMatrix& matrix, perfmodel::PageVector<double>& scale) {
  Level<Value>& level = *levels_[number];
  // What the product does not need is gone before it: its pages are wanted.
  std::optional<StrongRows> strong(std::in_place, crew_, matrix, settings_.strength);
  std::optional<IndependentSet> roots(std::in_place, crew_, matrix, *strong);
  std::optional<Aggregates> aggregates(std::in_place, crew_, matrix, *strong, *roots, gathering_);
  const spmv::RowPartition coarse = aggregates->partition();
  const spmv::RowPartition of_roots = aggregates->roots();
  const auto fine_rows = static_cast<double>(matrix.matrix.partition.row_count());
  const auto coarse_rows = static_cast<double>(coarse.row_count());
  if (coarse_rows == 0 || coarse_rows > most_rows * fine_rows) return std::nullopt;
  CoarseColumns columns(coarse, crew_.communicator().rank());
  // New values would need new segments.
  const bool inverts_links = strong->has_only_chains() && !settings_.keeps_set_up;
  std::optional<Chains> chains;
  if (strong->is_of_chains())
    chains.emplace(crew_, matrix, *strong, *roots, *aggregates, scale, inverts_links);
  if (inverts_links)
    collective_make_link_inverse(level, matrix, *chains);
  else
    collective_make_smoother(number, matrix);
  const double factor =
      strong->one_way_share() > rough_share ? factor_of_rough_coefficients : prolongator_factor;
  // Where all rows are in chains, none is smoothed.
  const double share =
      inverts_links ? 0 : factor / (level.report.largest_eigenvalue / eigenvalue_margin);
  auto prolongator = collective_build_prolongator(crew_, matrix, *strong, *aggregates, share,
                                                  columns, chains ? &*chains : nullptr);
  const std::int64_t entries =
      crew_.communicator().sum(prolongator.begin[static_cast<std::size_t>(matrix.row_count())]);
  if (entries > most_entries_of_a_row * matrix.matrix.partition.row_count()) {
    columns = CoarseColumns(coarse, crew_.communicator().rank());
    prolongator = collective_build_prolongator(crew_, matrix, *strong, *aggregates, 0, columns);
  }
  chains.reset();
  aggregates.reset();
  roots.reset();
  strong.reset();
  GalerkinProduct product = collective_multiply_galerkin(
      crew_, matrix, prolongator, of_roots, coarse, columns, 1, settings_.keeps_set_up);
  transfer_.emplace(Transfer{.prolongator = std::move(prolongator),
                             .columns = std::move(columns),
                             .scale = std::move(scale)});
  return product;
}

template <class Value>
std::optional<GalerkinProduct> Hierarchy<Value>::collective_coarsen_nodes(
    std::size_t number, const LevelMatrix& matrix, perfmodel::PageVector<double>& scale) {
  const NodeRows nodes(matrix.matrix.partition, matrix.matrix.rank, space_.block_size);
  const spmv::DistributedMatrix condensed = collective_condense(crew_, matrix, nodes);
  const LevelMatrix of_nodes{
      .matrix = condensed,
      .plan = spmv::collective_build_halo_plan(crew_.communicator(), condensed.partition,
                                               condensed.rank, condensed.halo_columns),
      .thread_rows = spmv::cut_rows_for_threads(condensed.rows.row_offsets.span(), 1,
                                                crew_.team().thread_count())};
  const StrongRows strong(crew_, of_nodes, settings_.strength);
  const IndependentSet roots(crew_, of_nodes, strong);
  const std::int64_t vectors = space_.vector_count;
  const Aggregates aggregates(crew_, of_nodes, strong, roots, gathering_,
                              {.fine = space_.block_size * vectors, .coarse = vectors * vectors});
  const spmv::RowPartition coarse = coarse_rows_of(aggregates.partition(), space_.vector_count);
  const auto fine_rows = static_cast<double>(matrix.matrix.partition.row_count());
  const auto coarse_rows = static_cast<double>(coarse.row_count());
  if (coarse_rows == 0 || coarse_rows > most_rows * fine_rows) return std::nullopt;
  CoarseColumns columns(coarse, crew_.communicator().rank());
  auto tentative = collective_build_tentative(crew_, matrix, nodes, aggregates, space_.values,
                                              space_.vector_count, columns);
  collective_make_smoother(number, matrix);
  const double largest = levels_[number]->report.largest_eigenvalue / eigenvalue_margin;
  auto prolongator =
      collective_smooth_prolongator(crew_, matrix, std::move(tentative.rows),
                                    prolongator_factor / largest, columns, space_.vector_count);
  GalerkinProduct product = collective_multiply_galerkin(
      crew_, matrix, prolongator, coarse_rows_of(aggregates.roots(), space_.vector_count), coarse,
      columns, space_.vector_count, settings_.keeps_set_up);
  transfer_.emplace(Transfer{.prolongator = std::move(prolongator),
                             .columns = std::move(columns),
                             .scale = std::move(scale)});
  space_.block_size = space_.vector_count;
  space_.values = std::move(tentative.coarse_space);
  return product;
}

template class Hierarchy<float>;
template class Hierarchy<double>;

}  // namespace weft::solver::amg
