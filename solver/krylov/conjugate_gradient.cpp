#include "solver/krylov/conjugate_gradient.h"

#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "spmv/sums/block_dot.h"

namespace weft::solver {

using comm_thread::TeamThread;
using perfmodel::Phase;
using perfmodel::PhaseScope;
using spmv::BinnedSum;
using spmv::CloseSum;

ConjugateGradient::ConjugateGradient(spmv::LinearOperator& op, Options options)
    : TextbookCg(op, std::move(options)),
      norm_(op.collective_norm()),
      curvature_(collective_make_sum(1)),
      residual_(collective_make_sum(residual_sums())),
      p_(collective_make_operand()) {
  r_ = make_array();
  q_ = make_array();
}

ConjugateGradient::ConjugateGradient(spmv::SparseOperator& op, Options options, int width)
    : TextbookCg(op, std::move(options), width),
      norm_(op.collective_norm()),
      curvature_(collective_make_sum(width)),
      residual_(collective_make_sum(residual_sums() * width)),
      block_(std::in_place, op, width, start_of(1)) {
  for (Array* const array : {&r_, &q_, &columns_of_p_}) *array = make_array();
}

bool ConjugateGradient::collective_take_new_values() {
  if (!general()) return false;
  norm_ = op().collective_norm();
  return true;
}

void ConjugateGradient::collective_multiply_solutions(const TeamThread& thread,
                                                      perfmodel::PhaseTimer& timer) {
  if (!block_) return TextbookCg::collective_multiply_solutions(thread, timer);
  for_each_segment(thread,
                   [&](std::size_t i, std::int64_t count) { block_->take(x_.data(), i, count); });
  block_->collective_multiply(thread, options().mode, q_.data(), timer, [](auto, auto) {});
  thread.barrier();
}

void ConjugateGradient::collective_begin(const TeamThread& thread, const Solve& solve,
                                         const double* product) {
  const std::size_t start = start_of(solve.column);
  subtract(thread, solve.b, product, r_.data() + start);
  fill_zero(thread, {p(solve.column), q_.data() + start});
  thread.barrier();
}

/// Passes over the residuals, pass(column, first element, count, sums), then M where it is general,
/// and the sums over all ranks.
template <class Pass>
void ConjugateGradient::collective_sum_residuals(const TeamThread& thread, Columns columns,
                                                 const Pass& pass) {
  std::array<bool, Preconditioner::most_vectors> is_known{};
  bool is_reducing = false;
  for_each_running(columns, [&](Column& column) {
    const double square = column.square();
    FittedSums& fit = fitted(column);
    const double r_bound = fit.next<CloseSum>(thread, sum_rr, square);
    const bool is_apart = is_identity() || general();  // r·z
    ResidualSums sums(
        r_bound, is_apart ? 0 : fit.next<CloseSum>(thread, sum_rz, preconditioner_norm() * square));
    {
      const PhaseScope scope(timer_, thread.index, Phase::vector_update);
      for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
        pass(column, start_of(column.number) + i, inverse_diagonal(i), count, sums);
      });
    }
    auto& known = is_known[static_cast<std::size_t>(column.number)];
    if (general()) {
      known = !collective_precondition(thread, column, sums);
    } else {
      sums.r_dot_r.flush(part(thread, column, sum_rr));
      if (!is_identity()) sums.r_dot_z.flush(part(thread, column, sum_rz));
    }
    is_reducing = is_reducing || !known;
  });
  if (!is_reducing) return;
  collective_reduce(thread, residual_);
  for_each_running(columns, [&](Column& column) {
    if (!is_known[static_cast<std::size_t>(column.number)]) collective_find_norms(thread, column);
  });
}

/// ‖r‖ alone.
double ConjugateGradient::collective_residual_norm(const TeamThread& thread, Column& column,
                                                   const CloseSum& r_dot_r) {
  const PhaseScope scope(timer_, thread.index, Phase::reduction);
  CloseSum sum = r_dot_r;
  sum.flush(extra_sum().part(thread.index));
  extra_sum().collective_reduce(thread);
  const double* const r = r_.data() + start_of(column.number);
  return std::sqrt(fitted(column).collective_fit_one(thread, sum_rr, extra_sum().result(),
                                                     [=](std::size_t i) { return r[i] * r[i]; }));
}

/// z = M·r for a general M, after all threads have written r, and its sums. `sums`: those of r.
/// False where ‖r‖ is below the norm that is looked for, and known without z.
bool ConjugateGradient::collective_precondition(const TeamThread& thread, Column& column,
                                                ResidualSums& sums) {
  if (column.looked_for > 0) {
    const double norm = collective_residual_norm(thread, column, sums.r_dot_r);
    column.next = {.r = norm};
    if (norm < column.looked_for) return false;
  }
  const PhaseScope scope(timer_, thread.index, Phase::vector_update);
  const std::size_t start = start_of(column.number);
  const double* const r = r_.data() + start;
  const double* const q = q_.data() + start;
  double* const z = this->z(column.number);
  thread.barrier();
  general()->apply_to(thread, column.number, r, z);
  const double inverse = preconditioner_norm();
  const double square = column.square();
  const double q_estimate = needs_z_dot_q() ? norm_ * inverse * inverse * square : 0;
  FittedSums& fit = fitted(column);
  BinnedSum r_dot_z(fit.next<BinnedSum>(thread, sum_rz, inverse * square));
  BinnedSum z_dot_q(fit.next<BinnedSum>(thread, sum_zq, q_estimate));
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    add_product(r + i, z + i, count, r_dot_z);
    if (needs_z_dot_q()) add_product(z + i, q + i, count, z_dot_q);
  });
  sums.r_dot_r.flush(part(thread, column, sum_rr));
  r_dot_z.flush(part(thread, column, sum_rz));
  z_dot_q.flush(part(thread, column, sum_zq));
  return true;
}

/// `next` from the reduced sums.
void ConjugateGradient::collective_find_norms(const TeamThread& thread, Column& column) {
  std::array<double, 3> room{};
  const std::span<double> values = std::span(room).first(static_cast<std::size_t>(residual_sums()));
  for (int sum = 0; sum < residual_sums(); ++sum)
    values[static_cast<std::size_t>(sum)] = residual_.result(column.number * residual_sums() + sum);
  const std::size_t start = start_of(column.number);
  const double* const r = r_.data() + start;
  const double* const q = q_.data() + start;
  const double* const z = this->z(column.number);
  const double* const inverse = inverse_diagonal(0);
  fitted(column).collective_fit(thread, values, [=](std::size_t sum, std::size_t i) {
    if (sum == sum_rr) return r[i] * r[i];
    if (inverse) return r[i] * (inverse[i] * r[i]);
    return z[i] * (sum == sum_rz ? r[i] : q[i]);
  });
  column.next = {.r = std::sqrt(values[sum_rr]),
                 .r_dot_z = values[is_identity() ? sum_rr : sum_rz],
                 .z_dot_q = room[sum_zq]};
}

void ConjugateGradient::collective_start(const TeamThread& thread, Columns columns) {
  collective_sum_residuals(thread, columns,
                           [this](const Column&, std::size_t i, const double* inverse,
                                  std::int64_t count, ResidualSums& sums) {
                             start_residual(r_.data() + i, inverse, r_.data() + i, count, sums);
                           });
}

void ConjugateGradient::collective_update_residual(const TeamThread& thread, Columns columns) {
  collective_sum_residuals(thread, columns,
                           [this](const Column& column, std::size_t i, const double* inverse,
                                  std::int64_t count, ResidualSums& sums) {
                             update_residual(column.alpha, q_.data() + i, inverse, r_.data() + i,
                                             count, sums);
                           });
}

/// q = A·p and the parts of p·q.
void ConjugateGradient::collective_multiply_directions(const TeamThread& thread, Columns columns) {
  if (block_)
    return block_->collective_multiply(
        thread, options().mode, q_.data(), timer_,
        [&](spmv::LocalIndex first, spmv::LocalIndex count) {
          for_each_running(columns, [&](const Column& column) {
            curvature_.part(thread.index, column.number)
                .add(spmv::block_dot(p(column.number) + first,
                                     q_.data() + start_of(column.number) + first, count));
          });
        });
  Column& column = columns.front();
  const double estimate = op().sums_without_bound() ? 0 : norm_ * column.norms.p * column.norms.p;
  collective_multiply(
      thread, *p_, q_.data(),
      {&curvature_.part(thread.index), fitted(column).next<CloseSum>(thread, sum_pq, estimate)});
}

void ConjugateGradient::collective_advance(const TeamThread& thread, Columns columns) {
  {
    const PhaseScope scope(timer_, thread.index, Phase::vector_update);
    const auto advance = [this](const Column& column) {
      return [=, this, z = general() ? this->z(column.number) : r_.data() + start_of(column.number),
              x = x_.data() + start_of(column.number), p = p(column.number), alpha = column.alpha,
              beta = column.beta](std::size_t i, std::int64_t count) {
        update_solution_and_direction(alpha, beta, z + i, inverse_diagonal(i), x + i, p + i, count);
      };
    };
    if (!block_)
      for_each_segment(thread, advance(columns.front()));
    else
      for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
        for_each_running(columns, [&](const Column& column) { advance(column)(i, count); });
        block_->take(columns_of_p_.data(), i, count);
      });
  }
  collective_multiply_directions(thread, columns);
  collective_reduce(thread, curvature_);
  for_each_running(columns, [&](Column& column) {
    column.curvature = fitted(column).collective_fit_one(
        thread, sum_pq, curvature_.result(column.number),
        [p = p(column.number), q = q_.data() + start_of(column.number)](std::size_t i) {
          return p[i] * q[i];
        });
  });
}

void ConjugateGradient::finish(const TeamThread& thread, const Column& column) {
  const PhaseScope scope(timer_, thread.index, Phase::vector_update);
  const double* const p = this->p(column.number);
  double* const x = x_.data() + start_of(column.number);
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    update_solution(column.alpha, p + i, x + i, count);
  });
}

}  // namespace weft::solver
