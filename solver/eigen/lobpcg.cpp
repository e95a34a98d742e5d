#include "solver/eigen/lobpcg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
#include "perfmodel/stopwatch.h"
#include "solver/eigen/column_place.h"
#include "solver/eigen/reported_pairs.h"
#include "solver/eigen/small_projection.h"
#include "solver/panels/orthonormalised.h"
#include "solver/panels/panel_column.h"
#include "solver/panels/powers_of_two.h"

namespace weft::solver {
namespace {

using comm_thread::TeamThread;

/// Small matrices are searched one vector at a time, so that blocks fit.
int width_for(std::int64_t rows, const EigenOptions& options) {
  return rows <= whole_rows ? 1 : options.width;
}

/// Panels of a block: a quarter more vectors than are wanted, and at least two; of a small matrix
/// all, where three blocks would not fit.
int panels_of_block(std::int64_t rows, const EigenOptions& options) {
  const int width = width_for(rows, options);
  const int wanted = options.count + std::max(2, options.count / 4);
  const int panels = (wanted + width - 1) / width;
  if (rows <= whole_rows && std::int64_t{3} * panels > rows) return static_cast<int>(rows);
  return static_cast<int>(std::min<std::int64_t>(panels, rows / width));
}

SmallMatrix negative(SmallMatrix matrix) {
  for (int j = 0; j < matrix.columns(); ++j)
    for (int i = 0; i < matrix.rows(); ++i) matrix(i, j) = -matrix(i, j);
  return matrix;
}

}  // namespace

Lobpcg::Lobpcg(spmv::SparseOperator& op, spmv::SparseOperator* mass, Preconditioner* m,
               const EigenOptions& options, SearchHooks hooks)
    : op_(op),
      mass_(mass),
      preconditioner_(m),
      options_(options),
      panel_count_(panels_of_block(op.global_row_count(), options)),
      products_(op, width_for(op.global_row_count(), options), 3 * panel_count_),
      times_a_(op, products_.width(), options.mode),
      r_(op.element_count()),
      z_(op.element_count()),
      keeper_(std::move(hooks), op) {
  const std::int64_t rows = op.global_row_count();
  const std::int64_t most =
      std::min<std::int64_t>(rows <= whole_rows ? rows : rows / 8, most_count);
  if (options.count > most)
    throw comm_thread::InputError(
        fmt::format("{}: found {}; expected 1 to {} for a matrix of {} rows with {}",
                    comm_thread::option_name("count"), options.count, most, rows,
                    comm_thread::option_name("method", "lobpcg")));
  unit_of_a_ = power_above(op.collective_norm());
  norm_ = op.collective_norm() / unit_of_a_;
  if (mass_) {
    unit_of_b_ = power_above(mass_->collective_norm());
    collective_expect_definite();
    times_b_ = std::make_unique<PanelFilter>(*mass_, products_.width(), options.mode);
  }
  const auto make = [&](std::vector<double*>& list) {
    for (int panel = 0; panel < panel_count_; ++panel) {
      memory_.push_back(products_.make_panel());
      list.push_back(memory_.back().data());
    }
  };
  for (Block* const block : {&x_, &w_, &p_}) {
    make(block->vectors);
    make(block->of_a);
    if (mass_)
      make(block->of_b);
    else
      block->of_b = block->vectors;
  }
}

double Lobpcg::vector_count(std::int64_t rows, const EigenOptions& options, bool has_mass) {
  const int width = width_for(rows, options);
  constexpr int of_preconditioner = 2;
  const int of_products = has_mass ? 4 : 2;
  return width * (panels_of_block(rows, options) * (has_mass ? 9 : 6) + of_products) +
         of_preconditioner;
}

double Lobpcg::kept_vector_count(std::int64_t rows, const EigenOptions& options, bool has_mass) {
  const int width = width_for(rows, options);
  const int panels = panels_of_block(rows, options);
  return static_cast<double>(state_size(width, panels, has_mass).vector_count(rows));
}

Lobpcg::Block Lobpcg::part_of(const Block& block, int panels) const {
  const auto first = [panels](const std::vector<double*>& list) {
    return std::vector<double*>(list.begin(), list.begin() + panels);
  };
  return {first(block.vectors), first(block.of_a), first(block.of_b)};
}

/// The panels of several blocks side by side.
std::vector<const double*> Lobpcg::joined(std::span<const Block* const> blocks, Image image) {
  std::vector<const double*> all;
  for (const Block* const block : blocks)
    all.insert(all.end(), (block->*image).begin(), (block->*image).end());
  return all;
}

void Lobpcg::collective_multiply_by_a(const Block& block) {
  for (std::size_t panel = 0; panel < block.vectors.size(); ++panel)
    times_a_.collective_apply(FilterPolynomial::scaled(unit_of_a_), block.vectors[panel],
                              block.of_a[panel]);
}

void Lobpcg::collective_multiply_by_b(const Block& block) {
  for (std::size_t panel = 0; mass_ && panel < block.vectors.size(); ++panel)
    times_b_->collective_apply(FilterPolynomial::scaled(unit_of_b_), block.vectors[panel],
                               block.of_b[panel]);
}

/// W = A·X − B·X·Θ, and the norms of that and of X.
void Lobpcg::collective_find_residuals() {
  op_.team().run([&](const TeamThread& thread) {
    for (int column = 0; column < block(); ++column) {
      const double value = values_[static_cast<std::size_t>(column)];
      const ColumnPlace of_a(x_.of_a, column, width());
      const ColumnPlace of_b(x_.of_b, column, width());
      const ColumnPlace to(w_.vectors, column, width());
      op_.for_each_element(
          thread.index, [&](std::size_t row) { to.at(row) = of_a.at(row) - value * of_b.at(row); });
    }
  });
  norms_of_r_ =
      products_.collective_norms(joined(std::array<const Block*, 1>{&w_}, &Block::vectors));
  norms_ = products_.collective_norms(joined(std::array<const Block*, 1>{&x_}, &Block::vectors));
  residuals_.clear();
  for (std::size_t i = 0; i < norms_.size(); ++i)
    residuals_.push_back(norms_[i] > 0 ? norms_of_r_[i] / norms_[i] : 0);
}

/// Of the residual of a pair that has converged, in units.
double Lobpcg::limit() const {
  return std::max(options_.tolerance * norm_, options_.absolute_tolerance / unit_of_a_);
}

bool Lobpcg::is_done() const {
  for (std::size_t i = 0; i < static_cast<std::size_t>(options_.count); ++i)
    if (!(residuals_[i] <= limit())) return false;
  return true;
}

/// Those that have not converged, and as many others as fill their panels, ascending.
std::vector<int> Lobpcg::active_columns() const {
  std::vector<int> columns;
  std::vector<int> others;
  for (int column = 0; column < static_cast<int>(residuals_.size()); ++column) {
    const double residual = residuals_[static_cast<std::size_t>(column)];
    (residual <= limit() / 4 ? others : columns).push_back(column);
  }
  const auto count = static_cast<int>(columns.size());
  const int missing = (count + width() - 1) / width() * width() - count;
  columns.insert(columns.end(), others.begin(), others.begin() + missing);
  std::sort(columns.begin(), columns.end());
  return columns;
}

/// The first columns of W become M times those that are named, which have the same places or later
/// ones, scaled to norms from ½ to 1 first.
void Lobpcg::collective_precondition(std::span<const int> columns) {
  op_.team().run([&](const TeamThread& thread) {
    int to_column = 0;
    for (const int column : columns) {
      const ColumnPlace from(w_.vectors, column, width());
      const ColumnPlace to(w_.vectors, to_column++, width());
      const double scale = 1 / power_above(norms_of_r_[static_cast<std::size_t>(column)]);
      op_.for_each_element(thread.index, [&](std::size_t row) { r_[row] = scale * from.at(row); });
      thread.barrier();
      if (preconditioner_) preconditioner_->apply(thread, r_.data(), z_.data());
      const double* const result = preconditioner_ ? z_.data() : r_.data();
      op_.for_each_element(thread.index, [&](std::size_t row) { to.at(row) = result[row]; });
      thread.barrier();
    }
  });
}

/// Makes W B-orthonormal to X and P and in itself; columns that vanish become zero. Its products
/// with B are there then.
void Lobpcg::collective_orthonormalise(Block& w) {
  constexpr double least = 1e-10;
  const Block p = part_of(p_, p_panels_);
  const std::array<const Block*, 2> known{&x_, &p};
  const auto vectors = joined(known, &Block::vectors);
  const auto images = joined(known, &Block::of_b);
  const auto own = [&](Image image) { return joined(std::array<const Block*, 1>{&w}, image); };
  for (int pass = 0; pass < 2; ++pass) {
    const SmallMatrix found = negative(products_.collective_products(images, own(&Block::vectors)));
    products_.add(vectors, found, w.vectors);
    if (pass == 0)
      collective_multiply_by_b(w);
    else if (mass_)
      products_.add(images, found, w.of_b);
    const Orthonormalised made = orthonormalising(
        products_.collective_products(own(&Block::vectors), own(&Block::of_b)), least);
    products_.combine(own(&Block::vectors), made.factor, w.vectors);
    if (mass_) products_.combine(own(&Block::of_b), made.factor, w.of_b);
  }
}

/// Takes X and P from the span of X, W and P. `columns`: of X that P belongs to. False if the span
/// has not as many directions as X.
bool Lobpcg::collective_project(const Block& w, std::span<const int> columns) {
  const Block p = part_of(p_, p_panels_);
  const std::array<const Block*, 3> all{&x_, &w, &p};
  const auto vectors = joined(all, &Block::vectors);
  const SmallMatrix of_a = products_.collective_products(vectors, joined(all, &Block::of_a));
  const SmallMatrix of_b = products_.collective_products(vectors, joined(all, &Block::of_b));
  const Projection found = project(of_a, of_b, options_.end, block(), block(), columns);
  if (found.values.size() < static_cast<std::size_t>(block())) return false;
  for (const double value : found.values)
    if (!std::isfinite(value)) return false;
  p_panels_ = static_cast<int>(columns.size()) / width();
  SmallMatrix both(found.vectors.rows(), block() + static_cast<int>(columns.size()));
  for (int i = 0; i < both.rows(); ++i)
    for (int j = 0; j < both.columns(); ++j)
      both(i, j) = j < block() ? found.vectors(i, j) : found.directions(i, j - block());
  const Block new_p = part_of(p_, p_panels_);
  std::vector<Image> images{&Block::vectors, &Block::of_a};
  if (mass_) images.push_back(&Block::of_b);
  for (const Image image : images) {
    std::vector<double*> to = x_.*image;
    to.insert(to.end(), (new_p.*image).begin(), (new_p.*image).end());
    products_.combine(joined(all, image), both, to);
  }
  values_ = found.values;
  return true;
}

EigenReport Lobpcg::collective_solve() {
  constexpr int steps_between_products = 24;  // which leave no trace of rounding in the images
  const perfmodel::Stopwatch watch;
  if (!collective_take_state()) collective_start();
  bool is_stopped = false;
  for (;; ++age_) {
    collective_find_residuals();
    const bool is_last = is_stopped || iterations_ >= options_.max_iterations;
    if (!is_fresh_ && (is_done() || is_last || age_ >= steps_between_products)) {
      collective_multiply_by_a(x_);
      collective_multiply_by_b(x_);
      collective_find_residuals();
      age_ = 0;
    }
    if (is_done() || is_last) break;
    const std::vector<int> columns = active_columns();
    if (columns.empty()) break;
    collective_precondition(columns);
    Block w = part_of(w_, static_cast<int>(columns.size()) / width());
    collective_orthonormalise(w);
    collective_multiply_by_a(w);
    if (!collective_project(w, columns)) break;
    is_fresh_ = false;
    ++iterations_;
    is_stopped = keeper_.collective_ends(iterations_, iterations_ >= options_.max_iterations,
                                         [this] { return state(); });
  }
  EigenReport report = report_of(is_done()    ? SolveStatus::converged
                                 : is_stopped ? SolveStatus::stopped
                                              : SolveStatus::not_converged);
  report.seconds = watch.seconds();
  return report;
}

EigenReport Lobpcg::report_of(SolveStatus status) {
  EigenReport report{
      .method = name(EigenMethod::lobpcg), .status = status, .explanation = "", .pairs = {}};
  std::vector<EigenPair> pairs;
  for (std::size_t i = 0; i < residuals_.size() && i < values_.size(); ++i) {
    // ‖r‖ in the norm of B⁻¹ with x of norm 1 in that of B.
    const double bound = norms_of_r_[i] / std::sqrt(least_of_b_) * (unit_of_a_ / unit_of_b_);
    pairs.push_back({.value = values_[i] * (unit_of_a_ / unit_of_b_),
                     .residual = residuals_[i] * unit_of_a_,
                     .error_bound = mass_ ? bound : residuals_[i] * unit_of_a_});
  }
  report.norm = norm_ * unit_of_a_;
  if (mass_) report.least_of_mass = least_of_b_ * unit_of_b_;
  order_ = report_pairs(pairs, options_.count, limit() * unit_of_a_, report);
  const SmallMatrix products =
      products_.collective_products(joined(std::array<const Block*, 1>{&x_}, &Block::vectors),
                                    joined(std::array<const Block*, 1>{&x_}, &Block::of_b));
  for (int j = 0; j < options_.count; ++j)
    for (int i = 0; i < options_.count; ++i)
      report.orthogonality =
          std::max(report.orthogonality, std::abs(products(i, j) - (i == j ? 1.0 : 0.0)));
  report.products = products_before_ + times_a_.product_count();
  report.restarts = iterations_;
  report.width = width();
  report.subspace = is_whole() ? block() : 3 * block();
  report.is_whole = is_whole();
  return report;
}

std::vector<double> Lobpcg::collective_vector(int number) const {
  const int column = order_[static_cast<std::size_t>(number)];
  return collective_signed_column(op_, x_.vectors[static_cast<std::size_t>(column / width())],
                                  width(), column % width(), 1 / std::sqrt(unit_of_b_));
}

}  // namespace weft::solver
