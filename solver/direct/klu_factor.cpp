#include "solver/direct/klu_factor.h"

#include <klu.h>

#include <algorithm>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"

namespace weft::solver {

/// KLU takes columns: the rows of A are the columns of Aᵀ, whose factors solve with A transposed.
class KluFactor::Implementation {
 public:
  explicit Implementation(const LocalMatrix& matrix) : solution_(matrix.size()) {
    klu_defaults(&common_);
    LocalMatrix input = matrix;  // KLU's arguments are not const
    const auto size = static_cast<int>(matrix.size());
    symbolic_ = klu_analyze(size, input.row_begin.data(), input.columns.data(), &common_);
    if (symbolic_)
      numeric_ = klu_factor(input.row_begin.data(), input.columns.data(), input.values.data(),
                            symbolic_, &common_);
    is_too_large_ = common_.status == KLU_TOO_LARGE || common_.status == KLU_OUT_OF_MEMORY;
    is_regular_ = numeric_ && common_.status == KLU_OK &&
                  klu_rcond(symbolic_, numeric_, &common_) &&
                  common_.rcond > std::numeric_limits<double>::epsilon();
  }
  ~Implementation() {
    klu_free_numeric(&numeric_, &common_);
    klu_free_symbolic(&symbolic_, &common_);
  }
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;

  bool is_regular() const { return is_regular_; }
  bool is_too_large() const { return is_too_large_; }

  std::span<const double> solve(std::span<double> right_hand_side) {
    std::ranges::copy(right_hand_side, solution_.begin());
    klu_tsolve(symbolic_, numeric_, static_cast<int>(solution_.size()), 1, solution_.data(),
               &common_);
    return solution_;
  }

 private:
  klu_common common_{};
  klu_symbolic* symbolic_ = nullptr;
  klu_numeric* numeric_ = nullptr;
  bool is_regular_ = false;
  bool is_too_large_ = false;
  std::vector<double> solution_;
};

KluFactor::KluFactor(const LocalMatrix& matrix, const std::string& fault)
    : implementation_(std::make_unique<Implementation>(matrix)) {
  if (implementation_->is_too_large())
    throw FactorTooLarge(
        fmt::format("the LU factors of a matrix of {} rows need more memory than there is, or than "
                    "KLU can address; expected smaller ones: more subdomains",
                    matrix.size()));
  if (!implementation_->is_regular()) throw comm_thread::InputError(fault);
}

KluFactor::~KluFactor() = default;

std::span<const double> KluFactor::solve(int /*thread*/, std::span<double> right_hand_side) {
  return implementation_->solve(right_hand_side);
}

}  // namespace weft::solver
