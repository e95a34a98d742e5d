#pragma once

#include <array>
#include <cstddef>

namespace weft::solver {

/// The current x of a method whose residual may rise, and the x with the least residual so far, in
/// two arrays. The next x is written over the current one, or beside it where that is the least
/// one. Every thread has such an object; all are alike.
class LeastIterate {
 public:
  /// `x`: holds the current iterate, with residual `norm`; `other`: of the same shape.
  LeastIterate(double* x, double* other, double norm) : arrays_{x, other}, least_norm_(norm) {}

  const double* current() const { return arrays_[current_]; }
  /// Where the next iterate is to be written; may be `current`.
  double* next() const { return arrays_[place_of_next()]; }
  /// The next iterate has become the current one, with residual `norm`.
  void advance(double norm) {
    current_ = place_of_next();
    set_norm(norm);
  }
  /// The residual of the current iterate is this.
  void set_norm(double norm) {
    if (current_ != least_ && !(norm < least_norm_)) return;
    least_ = current_;
    least_norm_ = norm;
  }

  bool is_current_in_x() const { return current_ == 0; }
  /// The two arrays have changed their contents.
  void exchange() {
    current_ = 1 - current_;
    least_ = 1 - least_;
  }
  /// The least iterate becomes the current one; returns its residual.
  double go_back() {
    current_ = least_;
    return least_norm_;
  }

 private:
  std::size_t place_of_next() const { return current_ == least_ ? 1 - current_ : current_; }

  std::array<double*, 2> arrays_;
  std::size_t current_ = 0;
  std::size_t least_ = 0;
  double least_norm_;
};

}  // namespace weft::solver
