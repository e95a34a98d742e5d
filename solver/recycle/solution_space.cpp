#include "solver/recycle/solution_space.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "perfmodel/phase_times.h"
#include "solver/recycle/best_combination.h"
#include "spmv/matrix/block_product.h"
#include "spmv/rows/interleave.h"
#include "spmv/sums/block_dot.h"

namespace weft::solver {
namespace {

using comm_thread::TeamThread;

/// The error that rounding leaves of one that is subtracted from its own square.
constexpr double least_share = 1e-15;

/// Products at once.
constexpr std::size_t most_width = 8;

}  // namespace

SolutionSpace::SolutionSpace(spmv::SparseOperator& op, spmv::Mode mode, int most)
    : op_(op),
      mode_(mode),
      most_(most),
      vectors_(static_cast<std::size_t>(most) + 1),
      products_(static_cast<std::size_t>(most) + 1) {}

void SolutionSpace::keep(int count) {
  size_ = std::min(size_, count);
  product_count_ = std::min(product_count_, count);
}

void SolutionSpace::collective_make_vector(int number) {
  const auto i = static_cast<std::size_t>(number);
  if (!vectors_[i]) vectors_[i] = op_.collective_make_operand();
  if (products_[i].size() == 0) products_[i] = Array(op_.element_count());
}

std::vector<double*> SolutionSpace::collective_vectors() {
  size_ = std::clamp(size_, 0, most_);
  product_count_ = std::clamp(product_count_, 0, size_);
  std::vector<double*> vectors;
  for (int i = 0; i < size_; ++i) {
    collective_make_vector(i);
    vectors.push_back(vectors_[static_cast<std::size_t>(i)]->values());
  }
  for (int i = 0; i < product_count_; ++i)
    vectors.push_back(products_[static_cast<std::size_t>(i)].data());
  return vectors;
}

void SolutionSpace::collective_multiply(spmv::Operand& vector, double* product) {
  perfmodel::PhaseTimer timer;
  op_.team().run([&](const TeamThread& thread) {
    op_.apply(thread, mode_, vector, product, timer, {});
    thread.barrier();
  });
}

/// Products of some differences, for which the matrix is read once; each has the bits of one alone.
void SolutionSpace::collective_multiply_block(std::size_t first, std::size_t width) {
  auto& block = blocks_[width];
  if (!block) block = op_.collective_make_vector(static_cast<int>(width));
  rooms_.resize(static_cast<std::size_t>(op_.team().thread_count()));
  for (Array& room : rooms_)
    if (room.size() == 0) room = Array(std::size_t{spmv::BlockProduct::piece_rows} * most_width);
  perfmodel::PhaseTimer timer;
  op_.team().run([&](const TeamThread& thread) {
    op_.for_each_segment(thread.index, [&](std::size_t begin, std::int64_t count) {
      std::array<const double*, most_width> from{};
      for (std::size_t v = 0; v < width; ++v) from[v] = vectors_[first + v]->values() + begin;
      spmv::interleave(std::span(from).first(width), static_cast<std::size_t>(count),
                       block->values() + begin * width);
    });
    const auto on_rows = [&](const TeamThread&, const spmv::BlockRows& rows) {
      const auto begin = static_cast<std::size_t>(rows.begin);
      std::array<double*, most_width> to{};
      for (std::size_t v = 0; v < width; ++v) to[v] = products_[first + v].data() + begin;
      spmv::separate(rows.y, static_cast<std::size_t>(rows.end) - begin,
                     std::span(to).first(width));
    };
    op_.apply_block(thread, mode_, *block,
                    {rooms_[static_cast<std::size_t>(thread.index)].data(), true},
                    std::cref(on_rows), timer);
    thread.barrier();
  });
}

/// Products of solutions that were taken one at a time change as the differences do.
void SolutionSpace::collective_find_products(int count) {
  if (taken_count_ > 1) product_count_ = 0;
  if (taken_count_ == 1 && product_count_ > 0) {
    if (newest_product_.size() == 0) newest_product_ = Array(op_.element_count());
    collective_multiply(*vectors_.front(), newest_product_.data());
    product_count_ = std::min({product_count_ + 1, count, size_});
    std::vector<double*> changed;
    for (int i = 0; i < product_count_; ++i)
      changed.push_back(products_[static_cast<std::size_t>(i)].data());
    roll(newest_product_.data(), changed);
  }
  taken_count_ = 0;
  while (product_count_ < count) {
    const auto first = static_cast<std::size_t>(product_count_);
    std::size_t width = most_width;
    while (width > static_cast<std::size_t>(count - product_count_)) width /= 2;
    if (width == 1)
      collective_multiply(*vectors_[first], products_[first].data());
    else
      collective_multiply_block(first, width);
    product_count_ += static_cast<int>(width);
  }
}

/// Sums cost what they are made for: most guesses and all judgements need a few.
comm_thread::ReproducibleSum& SolutionSpace::collective_sums(std::size_t count) {
  return sums_
      .try_emplace(count, op_.communicator(), op_.comm_thread(), op_.team().thread_count(),
                   static_cast<int>(count))
      .first->second;
}

std::vector<double> SolutionSpace::collective_dots(std::span<const Pair> pairs) {
  const std::int64_t size = op_.matrix().block_size();
  comm_thread::ReproducibleSum& sums = collective_sums(pairs.size());
  op_.team().run([&](const TeamThread& thread) {
    for (const spmv::Segment& segment : op_.segments(thread.index))
      for (std::int64_t i = 0; i < segment.count; i += size) {
        const std::size_t begin = segment.begin + static_cast<std::size_t>(i);
        const std::int64_t count = std::min(size, segment.count - i);
        int scalar = 0;
        for (const Pair& pair : pairs)
          sums.part(thread.index, scalar++)
              .add(spmv::block_dot(pair.a + begin, pair.b + begin, count));
      }
    sums.collective_reduce(thread);
  });
  std::vector<double> dots;
  for (int i = 0; i < static_cast<int>(pairs.size()); ++i) dots.push_back(sums.result(i));
  return dots;
}

bool SolutionSpace::collective_is_last(std::span<const double> x) {
  const double* const last = vectors_.front()->values();
  std::atomic<bool> is_same = true;
  op_.team().run([&](const TeamThread& thread) {
    bool is_mine_same = true;
    op_.for_each_element(thread.index, [&](std::size_t i) { is_mine_same &= x[i] == last[i]; });
    if (!is_mine_same) is_same.store(false, std::memory_order_relaxed);
  });
  return op_.communicator().min(std::int64_t{is_same.load() ? 1 : 0}) == 1;
}

void SolutionSpace::copy(std::span<const double> from, double* to) {
  op_.team().run([&](const TeamThread& thread) {
    op_.for_each_element(thread.index, [&](std::size_t i) { to[i] = from[i]; });
  });
}

void SolutionSpace::combine(std::span<const double* const> vectors, std::span<const double> factors,
                            std::span<double> x) {
  op_.team().run([&](const TeamThread& thread) {
    op_.for_each_segment(thread.index, [&](std::size_t first, std::int64_t count) {
      const std::size_t end = first + static_cast<std::size_t>(count);
      std::fill(x.data() + first, x.data() + end, 0.0);
      constexpr std::size_t chunk = 1024;  // of x, which stays in the first cache
      for (std::size_t begin = first; begin < end; begin += chunk)
        for (std::size_t v = 0; v < vectors.size(); ++v)
          for (std::size_t i = begin; i < std::min(begin + chunk, end); ++i)
            x[i] += factors[v] * vectors[v][i];
    });
  });
}

/// Makes backward differences up to the newest, of those up to the one before.
void SolutionSpace::roll(const double* newest, std::span<double* const> differences) {
  op_.team().run([&](const TeamThread& thread) {
    op_.for_each_element(thread.index, [&](std::size_t i) {
      double difference = newest[i];
      for (double* const vector : differences) {
        const double before = vector[i];
        vector[i] = difference;
        difference -= before;
      }
    });
  });
}

bool SolutionSpace::collective_guess(std::span<const double> b, std::span<const double> other,
                                     int count, bool is_symmetric, std::span<double> x) {
  count = std::min(count, size_);
  squares_.clear();
  digits_.clear();
  const bool has_other = op_.communicator().max(std::int64_t{other.empty() ? 0 : 1}) > 0 &&
                         !(count > 0 && collective_is_last(other));
  if (count == 0 && !has_other) return false;
  collective_find_products(count);
  std::vector<const double*> vectors;
  std::vector<const double*> products;
  const auto add = [&](std::size_t i) {
    vectors.push_back(vectors_[i]->values());
    products.push_back(products_[i].data());
  };
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) add(i);
  if (has_other) {
    collective_make_vector(most_);
    copy(other, vectors_.back()->values());
    collective_multiply(*vectors_.back(), products_.back().data());
    add(static_cast<std::size_t>(most_));
  }
  const std::vector<const double*>& tested = is_symmetric ? vectors : products;
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < vectors.size(); ++i)
    for (std::size_t j = i; j < vectors.size(); ++j) pairs.push_back({tested[i], products[j]});
  for (const double* const vector : tested) pairs.push_back({vector, b.data()});
  pairs.push_back({b.data(), b.data()});
  const std::vector<double> dots = collective_dots(pairs);
  const auto upper = std::span(dots).first(vectors.size() * (vectors.size() + 1) / 2);
  const auto best =
      find_best_combination(upper, std::span(dots).subspan(upper.size(), vectors.size()));
  if (!best) return false;
  combine(vectors, best->factors, x);
  squares_.assign(best->squares.begin(), best->squares.begin() + count);
  is_error_known_ = !is_symmetric;
  first_square_ = dots.back();
  return true;
}

void SolutionSpace::collective_judge(std::span<const double> b, std::span<const double> x) {
  digits_.clear();
  if (squares_.empty()) return;
  const Pair pair{x.data(), b.data()};
  const double first = is_error_known_ ? first_square_ : collective_dots({&pair, 1}).front();
  double before = first;
  for (const double square : squares_) {
    const double after = std::max(before - square, least_share * first);
    digits_.push_back(before > 0 && after > 0 ? 0.5 * std::log10(before / after) : 0.0);
    before = after;
  }
  squares_.clear();
}

void SolutionSpace::collective_take(std::span<const double> x) {
  const int count = std::min(size_ + 1, most_);
  if (count == 0) return;
  for (int i = size_; i < count; ++i) collective_make_vector(i);
  size_ = count;
  ++taken_count_;
  std::vector<double*> changed;
  for (int i = 0; i < count; ++i)
    changed.push_back(vectors_[static_cast<std::size_t>(i)]->values());
  roll(x.data(), changed);
}

}  // namespace weft::solver
