#include "solver/krylov/textbook_cg.h"

#include <array>
#include <cmath>

namespace weft::solver {

using comm_thread::TeamThread;

namespace {

/// The norm that ends the iteration if two steps like the last one, from `before` to `now`, reach
/// it, else 0. `before`: 0 at the first step, which may be the last where M is exact. To look costs
/// a reduction; not to see the end costs an application of M. The bits are the same.
double norm_to_look_for(double before, double now, double wanted) {
  const double rate = before > 0 ? now / before : 0;
  return rate * rate * now <= wanted ? wanted : 0;
}

}  // namespace

void TextbookCg::collective_carry_one(const TeamThread& thread, Carry direction, Column& column) {
  std::vector<double*> scalars{&column.norms.r,       &column.norms.r_dot_z, &column.norms.p,
                               &column.norms.z_dot_q, &column.alpha,         &column.beta};
  fitted(column).append_carried(thread, sum_count, scalars);
  collective_carry(thread, direction, *column.solve, scalars, carried());
}

/// One step, before which every column has its norms.
void TextbookCg::collective_step(const TeamThread& thread, Columns columns) {
  for_each_running(columns, [&](Column& column) {
    column.norms.p =
        preconditioner_norm() * column.norms.r + std::abs(column.beta) * column.norms.p;
  });
  collective_advance(thread, columns);
  for_each_running(columns, [&](Column& column) {
    Solve& solve = *column.solve;
    column.is_running = column.curvature > 0;
    if (!column.is_running) return break_down(solve.report, explain_curvature(column.curvature));
    column.alpha = column.norms.r_dot_z / column.curvature;
    // Several columns would look in a reduction each.
    if (width() == 1)
      column.looked_for =
          norm_to_look_for(column.norm_before, column.norms.r, solve.rule.wanted_norm());
    column.norm_before = column.norms.r;
  });
  if (!is_any_running(columns)) return;
  collective_update_residual(thread, columns);
  for_each_running(columns, [&](Column& column) {
    SolveReport& report = column.solve->report;
    column.beta = beta(column);
    column.next.p = column.norms.p;
    column.norms = column.next;
    ++report.iterations;
    if (thread.is_primary() && options().on_step) options().on_step(column.alpha, column.beta);
    note(thread, column.norms.r, *column.solve);
    if (is_checkpoint_due(report)) collective_carry_one(thread, Carry::keep, column);
    column.is_running = column.solve->goes_on();
    if (!column.is_running) finish(thread, column);
  });
}

void TextbookCg::collective_iterate(const TeamThread& thread, Solves solves) {
  std::array<Column, Preconditioner::most_vectors> room;
  const Columns columns = std::span(room).first(solves.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    Column& column = columns[i];
    column.number = solves[i].column;
    column.solve = &solves[i];
    column.is_running = solves[i].is_running;
    if (column.is_running) fitted(column).reset(thread);
  }
  if (is_continued()) {
    collective_carry_one(thread, Carry::restore, columns.front());
  } else {
    collective_start(thread, columns);
    for_each_running(columns, [](Column& column) { column.norms = column.next; });
  }
  for_each_running(columns, [&](Column& column) {
    column.is_started = true;
    column.solve->know_first_norm(column.norms.r);
    column.is_running = column.solve->goes_on();
    if (!column.is_running) finish(thread, column);
  });
  while (is_any_running(columns)) collective_step(thread, columns);
}

}  // namespace weft::solver
