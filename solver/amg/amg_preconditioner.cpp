#include "solver/amg/amg_preconditioner.h"

#include <memory>
#include <utility>

#include "solver/amg/amg_cycle.h"
#include "solver/levels/run_cycle.h"

namespace weft::solver::amg {
namespace {

std::unique_ptr<LevelCycle> collective_make_cycle(const spmv::SparseOperator& op,
                                                  const Settings& settings,
                                                  NearNullSpace near_null_space) {
  return with_precision(settings.precision == Settings::Precision::in_double,
                        [&]<class Value>(Value) -> std::unique_ptr<LevelCycle> {
                          return std::make_unique<Cycle<Value>>(op, settings,
                                                                std::move(near_null_space));
                        });
}

}  // namespace

AmgPreconditioner::AmgPreconditioner(const spmv::SparseOperator& op, const Settings& settings,
                                     NearNullSpace near_null_space)
    : LevelsPreconditioner(op.crew(),
                           collective_make_cycle(op, settings, std::move(near_null_space))) {}

}  // namespace weft::solver::amg
