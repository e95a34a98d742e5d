#pragma once

#include <span>

#include "library/include/weft/weft.hpp"
#include "library/system/vector_map.h"
#include "perfmodel/huge_page_buffer.h"
#include "solver/precondition/preconditioner.h"
#include "spmv/modes/linear_operator.h"

namespace weft::library {

/// A preconditioner of the caller as methods see it, applied by the primary thread.
/// Lifetime: `op` and `map` outlive it.
class CallerPreconditioner final : public solver::Preconditioner {
 public:
  /// Collective. Thread: the main thread, outside the team.
  CallerPreconditioner(const spmv::LinearOperator& op, VectorMap& map, UserPreconditioner user);

  void apply(const comm_thread::TeamThread& thread, const double* r, double* z) override;
  double norm() const override { return norm_; }
  bool is_symmetric() const override { return user_.is_symmetric; }

 private:
  void collective_apply(const double* r, double* z);

  std::size_t element_count_;
  VectorMap& map_;
  UserPreconditioner user_;
  perfmodel::HugePageBuffer<double> given_r_;  // where the caller's rows are others
  perfmodel::HugePageBuffer<double> given_z_;
  double norm_;
};

}  // namespace weft::library
