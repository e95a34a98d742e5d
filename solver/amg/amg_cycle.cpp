#include "solver/amg/amg_cycle.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "perfmodel/stopwatch.h"
#include "solver/levels/run_cycle.h"
#include "spmv/rows/vector_halo.h"

namespace weft::solver::amg {

using comm_thread::TeamThread;
using spmv::LocalIndex;

template <class Value>
Cycle<Value>::Cycle(const spmv::SparseOperator& op, const Settings& settings,
                    NearNullSpace near_null_space)
    : settings_(settings), hierarchy_(op, settings, std::move(near_null_space)) {
  settings_.form = hierarchy_.form();
}

template <class Value>
double Cycle<Value>::largest(const TeamThread& thread, const double* r) const {
  double largest = 0;
  const double* const scale = hierarchy_.scale().data();
  for_rows(thread, *hierarchy_.levels().front(),
           [&](std::size_t row) { largest = std::max(largest, std::abs(scale[row] * r[row])); });
  return largest;
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
void Cycle<Value>::collective_begin(const TeamThread& thread, const double* r, double unit) {
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
void Cycle<Value>::collective_end(const TeamThread& thread, double* z, double unit) {
  run_cycle(Steps{*this, thread}, 0);
  LevelOf& level = *hierarchy_.levels().front();
  const double factor = 1 / unit;
  const double* const scale = hierarchy_.scale().data();
  const Value* const x = level.x.data();
  for_rows(thread, level,
           [&](std::size_t row) { z[row] = factor * scale[row] * static_cast<double>(x[row]); });
  if (thread.is_primary()) ++cycle_count_;
  thread.barrier();
}

template <class Value>
int Cycle<Value>::Steps::corrections(std::size_t number) const {
  return cycle.level(number).restriction
             ? correction_count(cycle.settings_.form, cycle.hierarchy_.levels(), number)
             : 0;
}

template <class Value>
void Cycle<Value>::Steps::solve(std::size_t number) const {
  LevelOf& level = cycle.level(number);
  if (!level.off_diagonal) return cycle.solve_coarsest(thread);
  level.timer.start(thread.index);
  cycle.template smooth<true>(thread, level, *level.b_to_smooth);
}

template <class Value>
void Cycle<Value>::Steps::descend(std::size_t number, bool is_first) const {
  LevelOf& level = cycle.level(number);
  if (is_first) {
    level.timer.start(thread.index);
    cycle.template smooth<true>(thread, level, *level.b_to_smooth);
  }
  cycle.compute_and_restrict_residual(thread, number);
}

template <class Value>
void Cycle<Value>::Steps::ascend(std::size_t number, bool is_last) const {
  LevelOf& level = cycle.level(number);
  level.timer.start(thread.index);
  cycle.multiply(thread, level, *level.prolongation, *cycle.level(number + 1).x_to_prolongate,
                 [x = level.x.data()](LocalIndex row, Value sum) { x[row] += sum; });
  if (!is_last) return;
  cycle.multiply(thread, level, *level.off_diagonal, *level.x_to_multiply, to_residual(level));
  cycle.template smooth<false>(thread, level, *level.r_to_smooth);
}

template <class Value>
void Cycle<Value>::compute_and_restrict_residual(const TeamThread& thread, std::size_t number) {
  LevelOf& level = this->level(number);
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
void Cycle<Value>::smooth(const TeamThread& thread, LevelOf& level,
                          spmv::VectorHalo<Value>& residual) {
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
LevelsReport Cycle<Value>::report() {
  LevelsReport report{.form = settings_.form,
                      .cycles = cycle_count_,
                      .steps = settings_.degree,
                      .coarse_steps = settings_.degree,
                      .is_double = sizeof(Value) == sizeof(double),
                      .gathering = hierarchy_.gathering()};
  for (const auto& level : hierarchy_.levels()) {
    LevelReport& one = report.levels.emplace_back(level->report);
    PassReport& pass = one.passes.front();
    pass.seconds = one.is_direct ? coarsest_seconds_ : level->timer.times().total();
    pass.halo_wait_seconds = level->timer.times()[perfmodel::Phase::halo_wait];
  }
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
