#include "solver/amg/cycle.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "perfmodel/stopwatch.h"
#include "spmv/sums/binned_sum.h"

namespace weft::solver::amg {

using comm_thread::TeamThread;
using spmv::LocalIndex;

namespace {

/// Bound of the dot products to come over the last ones; sums have room for 2²⁵ times more.
constexpr double room_above_last_sum = 1024;

}  // namespace

template <class Value>
Cycle<Value>::Cycle(const spmv::SparseOperator& op, const Settings& settings,
                    NearNullSpace near_null_space)
    : settings_(settings),
      hierarchy_(op, settings, std::move(near_null_space)),
      unit_(hierarchy_.crew().communicator(), op.team().thread_count()),
      largest_(static_cast<std::size_t>(op.team().thread_count())) {
  settings_.form = hierarchy_.form();
  if (settings.form == Settings::Form::k)
    sums_.emplace(hierarchy_.crew().communicator(), hierarchy_.crew().comm_thread(),
                  op.team().thread_count(), 3);
}

template <class Value>
void Cycle<Value>::begin_solve() {
  unit_.begin_solve();
  for (auto& level : hierarchy_.levels()) level->sum_bound = 0;
}

template <class Value>
void Cycle<Value>::apply(const TeamThread& thread, int vector, const double* r, double* z) {
  collective_choose_unit(thread, vector, r);
  take(thread, unit_.value(vector), r);
  visit(thread, 0);
  give(thread, unit_.value(vector), z);
  if (thread.is_primary()) ++cycle_count_;
  thread.barrier();
}

template <class Value>
void Cycle<Value>::collective_choose_unit(const TeamThread& thread, int vector, const double* r) {
  unit_.collective_choose(thread, vector, 1, [&] {
    double largest = 0;
    const double* const scale = hierarchy_.scale().data();
    for_rows(thread, *hierarchy_.levels().front(),
             [&](std::size_t row) { largest = std::max(largest, std::abs(scale[row] * r[row])); });
    return largest;
  });
}

template <class Value>
template <class Work>
void Cycle<Value>::for_rows(const TeamThread& thread, const LevelOf& level,
                            const Work& work) const {
  const auto index = static_cast<std::size_t>(thread.index);
  for (auto row = static_cast<std::size_t>(level.thread_rows[index]);
       row < static_cast<std::size_t>(level.thread_rows[index + 1]); ++row)
    work(row);
}

template <class Value>
void Cycle<Value>::take(const TeamThread& thread, double unit, const double* r) {
  LevelOf& level = *hierarchy_.levels().front();
  const double* const scale = hierarchy_.scale().data();
  if (level.off_diagonal) {
    Value* const b = level.b.data();
    for_rows(thread, level,
             [&](std::size_t row) { b[row] = static_cast<Value>(unit * scale[row] * r[row]); });
  } else {
    double* const b = hierarchy_.coarsest()->values().data();
    for_rows(thread, level, [&](std::size_t row) { b[row] = unit * scale[row] * r[row]; });
  }
}

template <class Value>
void Cycle<Value>::give(const TeamThread& thread, double unit, double* z) {
  LevelOf& level = *hierarchy_.levels().front();
  const double factor = 1 / unit;
  const double* const scale = hierarchy_.scale().data();
  const Value* const x = level.x.data();
  for_rows(thread, level,
           [&](std::size_t row) { z[row] = factor * scale[row] * static_cast<double>(x[row]); });
}

template <class Value>
void Cycle<Value>::visit(const TeamThread& thread, std::size_t number) {
  LevelOf& level = *hierarchy_.levels()[number];
  if (!level.off_diagonal) return solve_coarsest(thread);
  level.timer.start(thread.index);
  smooth<true>(thread, level, *level.b_to_smooth);
  if (!level.restriction) return;
  const int corrections = correction_count(settings_.form, hierarchy_.levels(), number);
  for (int i = 0; i < corrections; ++i) {
    compute_and_restrict_residual(thread, number);
    if (settings_.form == Settings::Form::k && hierarchy_.levels()[number + 1]->restriction)
      iterate(thread, number + 1);
    else
      visit(thread, number + 1);
    level.timer.start(thread.index);
    Value* const x = level.x.data();
    multiply(thread, level, *level.prolongation, *hierarchy_.levels()[number + 1]->x_to_prolongate,
             [x](LocalIndex row, Value sum) { x[row] += sum; });
  }
  multiply(thread, level, *level.off_diagonal, *level.x_to_multiply, to_residual(level));
  smooth<false>(thread, level, *level.r_to_smooth);
}

template <class Value>
void Cycle<Value>::compute_and_restrict_residual(const TeamThread& thread, std::size_t number) {
  LevelOf& level = *hierarchy_.levels()[number];
  with_restricted(number, [&](const auto& finish) {
    if (settings_.mode == spmv::Mode::task && !level.r_to_restrict->messages().is_empty())
      return level.off_diagonal->run_before(
          thread, starter_for(*level.x_to_multiply), *level.x_to_multiply, to_residual(level),
          *level.restriction, starter_for(*level.r_to_restrict), *level.r_to_restrict, finish,
          hierarchy_.crew().comm_thread(), level.timer);
    multiply(thread, level, *level.off_diagonal, *level.x_to_multiply, to_residual(level));
    multiply(thread, level, *level.restriction, *level.r_to_restrict, finish);
  });
}

/// With c and d the two corrections, v = A·c and w = A·d: x = α·c + β·d is the best of all such x.
template <class Value>
void Cycle<Value>::iterate(const TeamThread& thread, std::size_t number) {
  LevelOf& level = *hierarchy_.levels()[number];
  Value* const b = level.b.data();
  Value* const x = level.x.data();
  Value* const c = level.inner[0].data();
  Value* const v = level.inner[1].data();
  Value* const w = level.r.data();
  const double bound = bound_sums(thread, level);
  visit(thread, number);
  level.timer.start(thread.index);
  multiply(thread, level, *level.off_diagonal, *level.x_to_multiply,
           [=](LocalIndex row, Value sum) {
             c[row] = x[row];
             v[row] = x[row] + sum;
           });
  collective_dots(thread, level, bound, {{c, b}, {c, v}});
  const double c_b = sums_->result(0);
  const double c_v = sums_->result(1);
  if (!(c_v > 0 && std::isfinite(c_b / c_v))) return;  // b is zero; on every thread of every rank
  const double first = c_b / c_v;
  for_rows(thread, level, [&](std::size_t row) { b[row] -= static_cast<Value>(first) * v[row]; });
  visit(thread, number);
  level.timer.start(thread.index);
  multiply(thread, level, *level.off_diagonal, *level.x_to_multiply,
           [=](LocalIndex row, Value sum) { w[row] = x[row] + sum; });
  collective_dots(thread, level, bound, {{x, v}, {x, w}, {x, b}});
  const double d_v = sums_->result(0);
  const double d_w = sums_->result(1);
  const double d_b = sums_->result(2);
  const double rest = d_w - d_v * d_v / c_v;
  const bool is_better = rest > 0 && std::isfinite(d_b / rest);
  const double second = is_better ? d_b / rest : 0;
  const auto alpha = static_cast<Value>(first - second * d_v / c_v);
  const auto beta = static_cast<Value>(second);
  for_rows(thread, level, [&](std::size_t row) { x[row] = alpha * c[row] + beta * x[row]; });
  if (thread.is_primary()) level.sum_bound = room_above_last_sum * std::max(c_b, c_v);
}

/// The same on all ranks: from the last sums, or at first from the largest entry of b.
template <class Value>
double Cycle<Value>::bound_sums(const TeamThread& thread, LevelOf& level) {
  if (level.sum_bound > 0) return level.sum_bound;
  const Value* const b = level.b.data();
  double largest = 0;
  for_rows(thread, level, [&](std::size_t row) {
    largest = std::max(largest, std::abs(static_cast<double>(b[row])));
  });
  largest_[static_cast<std::size_t>(thread.index)] = largest;
  thread.barrier();
  if (thread.is_primary()) {
    const double all = hierarchy_.crew().communicator().max(*std::ranges::max_element(largest_));
    largest_.front() = room_above_last_sum * all * all * static_cast<double>(level.report.rows);
  }
  thread.barrier();
  const double bound = largest_.front();
  thread.barrier();
  return bound;
}

template <class Value>
void Cycle<Value>::collective_dots(
    const TeamThread& thread, const LevelOf& level, double bound,
    std::initializer_list<std::pair<const Value*, const Value*>> pairs) {
  int scalar = 0;
  for (const auto& [left, right] : pairs) {
    spmv::BinnedSum sum(bound);
    for_rows(thread, level, [&, from = left, to = right](std::size_t row) {
      sum.add(static_cast<double>(from[row]) * static_cast<double>(to[row]));
    });
    sum.flush(sums_->part(thread.index, scalar++));
  }
  sums_->collective_reduce(thread);
}

template <class Value>
void Cycle<Value>::solve_coarsest(const TeamThread& thread) {
  CoarsestLevel& coarsest = *hierarchy_.coarsest();
  thread.barrier();
  if (thread.is_primary()) {
    const perfmodel::Stopwatch watch;
    coarsest.collective_solve();
    coarsest_seconds_ += watch.seconds();
  }
  thread.barrier();
  LevelOf& level = *hierarchy_.levels().back();
  Value* const x = level.x.data();
  const double* const solution = coarsest.values().data();
  for_rows(thread, level, [&](std::size_t row) { x[row] = static_cast<Value>(solution[row]); });
}

/// x = q(A)·r, or x += q(A)·r, with the inverse in the links of chains for q; r: the entries of
/// `residual`.
template <class Value>
template <bool from_zero>
void Cycle<Value>::smooth(const TeamThread& thread, LevelOf& level, LevelHalo<Value>& residual) {
  const Polynomial& smoother = level.smoother;
  const Value* const r = residual.entries();
  Value* const x = level.x.data();
  if (level.link_inverse)
    return multiply(thread, level, *level.link_inverse, residual, [x](LocalIndex row, Value sum) {
      x[row] = (from_zero ? Value{0} : x[row]) + sum;
    });
  const auto value = [](double number) { return static_cast<Value>(number); };
  const Polynomial::Step first = smoother.step(1);
  const Value first_share = value(first.weight * first.factor);
  if (smoother.degree() == 1) {
    thread.barrier();  // others may still read x
    for_rows(thread, level, [&](std::size_t row) {
      x[row] = (from_zero ? Value{0} : x[row]) + first_share * r[row];
    });
    return;
  }
  // r₁ = r₀ − factor_1·A·r₀, z₂ = momentum_2·factor_1·r₀ + factor_2·r₁
  const Polynomial::Step second = smoother.step(2);
  const Value factor = value(first.factor);
  const Value old = value(second.momentum * first.factor);
  const Value fresh = value(second.factor);
  const Value weight = value(second.weight);
  const bool goes_on = smoother.degree() > 2;
  Value* const rest = level.rest.data();
  Value* const z = level.z[0].data();
  multiply(thread, level, *level.off_diagonal, residual, [=](LocalIndex row, Value sum) {
    const Value here = r[row];
    const Value after = here - factor * (here + sum);
    const Value step = old * here + fresh * after;
    x[row] = (from_zero ? Value{0} : x[row]) + first_share * here + weight * step;
    if (goes_on) {
      rest[row] = after;
      z[row] = step;
    }
  });
  for (int i = 3; i <= smoother.degree(); ++i) {
    const Polynomial::Step step = smoother.step(i);
    const auto from = static_cast<std::size_t>(i + 1) % 2;
    const Value* const before = level.z[from].data();
    Value* const next = level.z[1 - from].data();
    const Value momentum = value(step.momentum);
    const Value share = value(step.factor);
    const Value part = value(step.weight);
    multiply(thread, level, *level.off_diagonal, *level.z_to_smooth[from],
             [=](LocalIndex row, Value sum) {
               rest[row] -= before[row] + sum;
               next[row] = momentum * before[row] + share * rest[row];
               x[row] += part * next[row];
             });
  }
}

template <class Value>
HierarchyReport Cycle<Value>::report() const {
  HierarchyReport report{.form = settings_.form,
                         .cycles = cycle_count_,
                         .degree = settings_.degree,
                         .is_single_precision = sizeof(Value) < sizeof(double),
                         .gathering = hierarchy_.gathering(),
                         .operator_complexity = 0,
                         .levels = {}};
  double nonzeros = 0;
  for (const auto& level : hierarchy_.levels()) {
    report.levels.push_back(level->report);
    LevelReport& one = report.levels.back();
    one.seconds = one.is_direct ? coarsest_seconds_ : level->timer.times().total();
    one.halo_wait_seconds = level->timer.times()[perfmodel::Phase::halo_wait];
    nonzeros += static_cast<double>(one.nonzeros);
  }
  const auto finest = static_cast<double>(report.levels.front().nonzeros);
  report.operator_complexity = finest > 0 ? nonzeros / finest : 1;
  return report;
}

template <class Value>
void Cycle<Value>::forget_times() {
  cycle_count_ = 0;
  coarsest_seconds_ = 0;
  for (auto& level : hierarchy_.levels()) level->timer = {};
}

template class Cycle<float>;
template class Cycle<double>;

}  // namespace weft::solver::amg
