#include "solver/amg/amg_preconditioner.h"

#include <utility>

namespace weft::solver::amg {

AmgPreconditioner::AmgPreconditioner(const spmv::SparseOperator& op, const Settings& settings,
                                     NearNullSpace near_null_space)
    : cycle_(collective_make(op, settings, std::move(near_null_space))) {}

AmgPreconditioner::AnyCycle AmgPreconditioner::collective_make(const spmv::SparseOperator& op,
                                                               const Settings& settings,
                                                               NearNullSpace near_null_space) {
  if (settings.precision == Settings::Precision::in_float)
    return std::make_unique<Cycle<float>>(op, settings, std::move(near_null_space));
  return std::make_unique<Cycle<double>>(op, settings, std::move(near_null_space));
}

void AmgPreconditioner::apply_to(const comm_thread::TeamThread& thread, int vector, const double* r,
                                 double* z) {
  std::visit([&](auto& cycle) { cycle->apply(thread, vector, r, z); }, cycle_);
}

void AmgPreconditioner::begin_solve() {
  std::visit([](auto& cycle) { cycle->begin_solve(); }, cycle_);
}

bool AmgPreconditioner::collective_take_new_values() {
  return std::visit([](auto& cycle) { return cycle->collective_take_new_values(); }, cycle_);
}

double AmgPreconditioner::norm() const {
  return std::visit([](const auto& cycle) { return cycle->norm(); }, cycle_);
}

HierarchyReport AmgPreconditioner::report() const {
  return std::visit([](const auto& cycle) { return cycle->report(); }, cycle_);
}

void AmgPreconditioner::forget_times() {
  std::visit([](auto& cycle) { cycle->forget_times(); }, cycle_);
}

}  // namespace weft::solver::amg
