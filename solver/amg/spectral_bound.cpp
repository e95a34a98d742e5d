#include "solver/amg/spectral_bound.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "comm_thread/engine/reproducible_sum.h"
#include "perfmodel/page_vector.h"
#include "perfmodel/simd.h"
#include "solver/direct/tridiagonal_spectrum.h"
#include "spmv/problems/random_numbers.h"
#include "spmv/rows/vector_halo.h"
#include "spmv/sums/binned_sum.h"

namespace weft::solver::amg {
namespace {

using comm_thread::TeamThread;
using spmv::BinnedSum;
using spmv::GlobalIndex;
using spmv::LocalIndex;

constexpr int most_steps = 10;
/// Lanczos ends where the next vector is shorter than this: its directions are exhausted.
constexpr double least_length = 1e-4;

/// Lanczos' three-term recurrence on the rows of all threads.
template <class Value>
class Lanczos {
 public:
  Lanczos(const comm_thread::Crew& crew, const LevelOperator<Value>& off_diagonal)
      : crew_(crew),
        off_diagonal_(off_diagonal),
        sum_(crew.communicator(), crew.comm_thread(), crew.team().thread_count(), 1),
        v_(size()),
        w_(size()),
        before_(size()),
        halo_(crew, off_diagonal.plan(), off_diagonal.thread_rows(), v_.data()) {
    crew.communicator().barrier();  // both ends of every pair exist
  }

  /// Every thread of the team.
  void collective_run(const TeamThread& thread, GlobalIndex first_row, std::uint64_t seed) {
    for_rows(thread, [&](std::size_t row) {
      w_[row] =
          static_cast<Value>(spmv::uniform(seed, first_row + static_cast<GlobalIndex>(row)) - 0.5);
      v_[row] = before_[row] = 0;
    });
    const auto keep = [](std::size_t) {};
    double length = std::sqrt(collective_dot(thread, w_.data(), w_.data(), keep));
    for (int step = 0; step < most_steps && length > least_length; ++step) {
      if (thread.is_primary() && step > 0) lengths.push_back(length);
      const auto scale = static_cast<Value>(1 / length);
      for_rows(thread, [&](std::size_t row) {
        before_[row] = v_[row];
        v_[row] = scale * w_[row];
      });
      const auto old = static_cast<Value>(step == 0 ? 0 : length);
      off_diagonal_.run(thread, spmv::Mode::vector, halo_, crew_.comm_thread(), timer_,
                        [&](LocalIndex row, Value sum) {
                          const auto i = static_cast<std::size_t>(row);
                          w_[i] = (v_[i] + sum) - old * before_[i];
                        });
      const double quotient = collective_dot(thread, v_.data(), w_.data(), keep);
      if (!std::isfinite(quotient)) break;  // on every thread of every rank
      if (thread.is_primary()) quotients.push_back(quotient);
      const auto share = static_cast<Value>(quotient);
      length = std::sqrt(collective_dot(
          thread, w_.data(), w_.data(),
          [share, w = w_.data(), v = v_.data()](std::size_t row) { w[row] -= share * v[row]; }));
    }
  }

  std::vector<double> quotients;
  std::vector<double> lengths;

 private:
  std::size_t size() const {
    return static_cast<std::size_t>(off_diagonal_.row_count() + off_diagonal_.plan().halo_count);
  }
  template <class Work>
  void for_rows(const TeamThread& thread, const Work& work) const {
    const auto index = static_cast<std::size_t>(thread.index);
    for (auto row = static_cast<std::size_t>(off_diagonal_.thread_rows()[index]);
         row < static_cast<std::size_t>(off_diagonal_.thread_rows()[index + 1]); ++row)
      work(row);
  }
  /// a·b, with `change(row)` before a row is read. No element is far above 1, nor is the sum: the
  /// vectors are random or have length 1.
  template <class Change>
  double collective_dot(const TeamThread& thread, const Value* a, const Value* b,
                        const Change& change) {
    const auto index = static_cast<std::size_t>(thread.index);
    const auto begin = static_cast<std::size_t>(off_diagonal_.thread_rows()[index]);
    const auto end = static_cast<std::size_t>(off_diagonal_.thread_rows()[index + 1]);
    BinnedSum sum(1024.0);
    constexpr std::size_t piece = 512;
    std::array<double, piece> products;
    for (std::size_t row = begin; row < end; row += piece) {
      const std::size_t count = std::min(piece, end - row);
#pragma omp simd
      for (std::size_t i = 0; i < count; ++i) change(row + i);
#pragma omp simd
      for (std::size_t i = 0; i < count; ++i)
        products[i] = static_cast<double>(a[row + i]) * static_cast<double>(b[row + i]);
      spmv::add_terms(sum, static_cast<std::ptrdiff_t>(count),
                      [&]<class Number>(std::ptrdiff_t i) __attribute__((always_inline)) {
                        return perfmodel::load<Number>(products.data() + i);
                      });
    }
    sum.flush(sum_.part(thread.index));
    sum_.collective_reduce(thread);
    return sum_.result();
  }

  comm_thread::Crew crew_;
  const LevelOperator<Value>& off_diagonal_;
  comm_thread::ReproducibleSum sum_;
  perfmodel::PageVector<Value> v_, w_, before_;
  spmv::VectorHalo<Value> halo_;
  perfmodel::PhaseTimer timer_;
};

}  // namespace

template <class Value>
double collective_estimate_largest(const comm_thread::Crew& crew,
                                   const LevelOperator<Value>& off_diagonal, GlobalIndex first_row,
                                   GlobalIndex global_row_count, std::uint64_t seed) {
  if (global_row_count == 0) return 1;
  Lanczos<Value> lanczos(crew, off_diagonal);
  crew.team().run(
      [&](const TeamThread& thread) { lanczos.collective_run(thread, first_row, seed); });
  if (lanczos.quotients.empty()) return 1;
  const auto spectrum = tridiagonal_spectrum(lanczos.quotients, lanczos.lengths);
  return *std::ranges::max_element(spectrum.values);
}

template double collective_estimate_largest(const comm_thread::Crew&, const LevelOperator<float>&,
                                            GlobalIndex, GlobalIndex, std::uint64_t);
template double collective_estimate_largest(const comm_thread::Crew&, const LevelOperator<double>&,
                                            GlobalIndex, GlobalIndex, std::uint64_t);

}  // namespace weft::solver::amg
