#include "solver/amg/found_coordinates.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "perfmodel/huge_page_buffer.h"
#include "perfmodel/phase_times.h"
#include "solver/amg/amg_preconditioner.h"
#include "solver/amg/coarsening/level_matrix.h"
#include "solver/amg/rotation_energy.h"
#include "spmv/problems/random_numbers.h"
#include "spmv/rows/halo_vector.h"

namespace weft::solver::amg {
namespace {

using comm_thread::TeamThread;
using spmv::GlobalIndex;

constexpr int most_search_steps = 20;
/// The search ends where a step lowers the quotient by less than this share of it: slender bodies
/// need small ones.
constexpr double least_gain = 0.1;
/// It is given up where a step after so many lowers a large quotient by less than this share.
constexpr int least_search_steps = 8;
constexpr double hopeless_gain = 0.03;
/// Quotients of coordinates are within these: 0 but for nodes next to those that are held. Other
/// smooth vectors have 0.1 to 1.
constexpr double most_quotient = 0.05;
constexpr double least_quotient = -0.1;
/// A direction is left out where those before it leave less than this of its square.
constexpr double least_part = 1e-5;
constexpr std::uint64_t search_seed = 20;

using SearchArray = perfmodel::HugePageBuffer<double>;

/// A vector with its products.
struct Direction {
  explicit Direction(std::size_t size) : x(size), energy(size), length(size) {}

  SearchArray x, energy, length;  // x, E·x, and L·x for each component
};

/// Sums of products over all ranks and threads, of whole numbers: in any order the same.
class WholeSums {
 public:
  using Pair = std::pair<const double*, const double*>;

  explicit WholeSums(const spmv::SparseOperator& op)
      : op_(op),
        bits_(std::min(50, 62 - static_cast<int>(std::ceil(
                                    std::log2(static_cast<double>(op.global_row_count()) + 1))))) {}

  /// Σ a_i·b_i of each pair; nothing is said where one is not finite. Collective.
  template <std::size_t count>
  std::array<double, count> collective_add(const std::array<Pair, count>& pairs) const {
    const auto thread_count = static_cast<std::size_t>(op_.team().thread_count());
    std::vector<std::array<double, count>> largest(thread_count, std::array<double, count>{});
    std::vector<std::array<std::int64_t, count>> sums(thread_count,
                                                      std::array<std::int64_t, count>{});
    const auto visit = [&](const TeamThread& thread, const auto& work) {
      op_.for_each_element(thread.index, [&](std::size_t i) {
        for (std::size_t p = 0; p < count; ++p) work(p, pairs[p].first[i] * pairs[p].second[i]);
      });
    };
    op_.team().run([&](const TeamThread& thread) {
      auto& own = largest[static_cast<std::size_t>(thread.index)];
      visit(thread, [&](std::size_t p, double product) {
        const double size = std::abs(product);
        own[p] = size <= own[p] ? own[p] : std::isnan(size) ? infinite : size;
      });
    });
    std::array<double, count> units{};
    for (const auto& of_thread : largest)
      for (std::size_t p = 0; p < count; ++p) units[p] = std::max(units[p], of_thread[p]);
    op_.communicator().max(units);
    for (double& unit : units) unit = unit_of(unit);
    op_.team().run([&](const TeamThread& thread) {
      auto& own = sums[static_cast<std::size_t>(thread.index)];
      visit(thread, [&](std::size_t p, double product) {
        if (units[p] > 0 && std::isfinite(units[p])) own[p] += std::llrint(product / units[p]);
      });
    });
    std::array<std::int64_t, count> totals{};
    for (const auto& of_thread : sums)
      for (std::size_t p = 0; p < count; ++p) totals[p] += of_thread[p];
    op_.communicator().sum(totals);
    std::array<double, count> results{};
    for (std::size_t p = 0; p < count; ++p) results[p] = units[p] * static_cast<double>(totals[p]);
    return results;
  }

 private:
  static constexpr double infinite = std::numeric_limits<double>::infinity();

  /// A power of two: sums of numbers up to `largest` are whole numbers of it below 2^62.
  double unit_of(double largest) const {
    return largest > 0 && std::isfinite(largest) ? std::ldexp(1.0, std::ilogb(largest) + 1 - bits_)
                                                 : largest;
  }

  const spmv::SparseOperator& op_;
  int bits_;
};

/// The lowest vector of a small symmetric matrix A relative to B, by Cholesky's factor of B and
/// Jacobi's rotations.
class LowestVector {
 public:
  static constexpr std::size_t most = 3;
  using Matrix = std::array<std::array<double, most>, most>;

  /// Directions from the first on that are independent count; at least one is.
  LowestVector(const Matrix& a, const Matrix& b) {
    for (std::size_t i = 0; i < most; ++i) scale_[i] = b[i][i] > 0 ? 1 / std::sqrt(b[i][i]) : 0;
    factor(b);
    Matrix c{};
    for (std::size_t i = 0; i < count_; ++i)
      for (std::size_t j = 0; j < count_; ++j) c[i][j] = a[i][j] * scale_[i] * scale_[j];
    // R⁻ᵀ·A·R⁻¹, columns first.
    for (std::size_t i = 0; i < count_; ++i) solve_lower(c[i]);
    for (std::size_t j = 0; j < count_; ++j) {
      std::array<double, most> column{};
      for (std::size_t i = 0; i < count_; ++i) column[i] = c[i][j];
      solve_lower(column);
      for (std::size_t i = 0; i < count_; ++i) c[i][j] = column[i];
    }
    diagonalize(c);
  }

  std::size_t count() const { return count_; }
  double quotient() const { return quotient_; }
  /// How much of each direction.
  const std::array<double, most>& parts() const { return parts_; }

 private:
  void factor(const Matrix& b) {
    for (count_ = 0; count_ < most; ++count_) {
      std::array<double, most>& row = lower_[count_];
      double rest = scale_[count_] > 0 ? 1 : 0;
      for (std::size_t j = 0; j < count_; ++j) {
        double sum = b[count_][j] * scale_[count_] * scale_[j];
        for (std::size_t k = 0; k < j; ++k) sum -= row[k] * lower_[j][k];
        row[j] = sum / lower_[j][j];
        rest -= row[j] * row[j];
      }
      if (!(rest > least_part)) return;
      row[count_] = std::sqrt(rest);
    }
  }
  void solve_lower(std::array<double, most>& v) const {
    for (std::size_t i = 0; i < count_; ++i) {
      for (std::size_t k = 0; k < i; ++k) v[i] -= lower_[i][k] * v[k];
      v[i] /= lower_[i][i];
    }
  }
  void diagonalize(Matrix& c) {
    Matrix vectors{};
    for (std::size_t i = 0; i < most; ++i) vectors[i][i] = 1;
    constexpr int sweeps = 12;
    for (int sweep = 0; sweep < sweeps; ++sweep)
      for (std::size_t p = 0; p + 1 < count_; ++p)
        for (std::size_t q = p + 1; q < count_; ++q) rotate(c, vectors, p, q);
    std::size_t lowest = 0;
    for (std::size_t i = 1; i < count_; ++i)
      if (c[i][i] < c[lowest][lowest]) lowest = i;
    quotient_ = c[lowest][lowest];
    for (std::size_t i = 0; i < count_; ++i) parts_[i] = vectors[i][lowest];
    for (std::size_t i = count_; i-- > 0;) {
      for (std::size_t k = i + 1; k < count_; ++k) parts_[i] -= lower_[k][i] * parts_[k];
      parts_[i] /= lower_[i][i];
    }
    for (std::size_t i = 0; i < count_; ++i) parts_[i] *= scale_[i];
  }
  void rotate(Matrix& c, Matrix& vectors, std::size_t p, std::size_t q) const {
    if (c[p][q] == 0) return;
    const double theta = (c[q][q] - c[p][p]) / (2 * c[p][q]);
    const double t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::sqrt(1 + theta * theta));
    const double cosine = 1 / std::sqrt(1 + t * t);
    const double sine = t * cosine;
    const auto turn = [&](double& of_p, double& of_q) {
      const double before = of_p;
      of_p = cosine * before - sine * of_q;
      of_q = sine * before + cosine * of_q;
    };
    for (std::size_t k = 0; k < count_; ++k) turn(c[k][p], c[k][q]);
    for (std::size_t k = 0; k < count_; ++k) turn(c[p][k], c[q][k]);
    for (std::size_t k = 0; k < count_; ++k) turn(vectors[k][p], vectors[k][q]);
  }

  std::array<double, most> scale_{};
  Matrix lower_{};
  std::size_t count_ = 0;
  double quotient_ = 0;
  std::array<double, most> parts_{};
};

/// The search on the nodes of this rank; vectors have the components of a node together.
class CoordinateSearch {
 public:
  CoordinateSearch(const spmv::SparseOperator& op, RotationEnergy matrices, std::size_t size)
      : size_(size),
        energy_(op.communicator(), op.comm_thread(), op.team(), std::move(matrices.energy),
                spmv::MatrixFormat::crs),
        laplacian_(op.communicator(), op.comm_thread(), op.team(), std::move(matrices.laplacian),
                   spmv::MatrixFormat::crs),
        preconditioner_(laplacian_, {.mode = spmv::Mode::vector}),
        sums_(energy_),
        sums_of_nodes_(laplacian_),
        rows_(energy_.collective_make_vector()),
        nodes_(laplacian_.collective_make_vector()),
        of_rows_(energy_.element_count()),
        of_nodes_(laplacian_.element_count()),
        to_nodes_(laplacian_.element_count()),
        is_coupled_(laplacian_.element_count()),
        x_(energy_.element_count()),
        w_(energy_.element_count()),
        p_(energy_.element_count()) {
    const spmv::CrsMatrix& rows = laplacian_.matrix().matrix().rows;
    std::int64_t count = 0;
    for (std::size_t node = 0; node < is_coupled_.size(); ++node)
      if (rows.row_offsets[node + 1] - rows.row_offsets[node] > 1) {
        is_coupled_[node] = 1;
        ++count;
      }
    coupled_count_ = static_cast<double>(op.communicator().sum(count));
  }

  FoundCoordinates collective_run() {
    begin();
    double quotient = std::numeric_limits<double>::infinity();
    int step = 0;
    for (bool goes_on = true; goes_on && step < most_search_steps; ++step) {
      collective_multiply(w_);
      const double before = quotient;
      const auto lowest = collective_combine(step);
      if (!lowest) return {{}, step};
      quotient = *lowest;
      const double gain = (before - quotient) / std::abs(quotient);
      goes_on = quotient < most_quotient ? gain >= least_gain
                                         : step < least_search_steps || gain >= hopeless_gain;
      if (goes_on) collective_precondition(quotient);
    }
    if (quotient > most_quotient || quotient < least_quotient) return {{}, step};
    return {{x_.x.data(), x_.x.data() + x_.x.size()}, step};
  }

 private:
  template <class Work>
  void for_rows(const Work& work) {
    energy_.team().run(
        [&](const TeamThread& thread) { energy_.for_each_element(thread.index, work); });
  }

  /// A smooth vector in `w_`: M of a random one.
  void begin() {
    const std::int64_t first = energy_.matrix().matrix().first_row();
    for_rows([&](std::size_t row) {
      of_rows_[row] = spmv::uniform(search_seed, first + static_cast<GlobalIndex>(row)) - 0.5;
    });
    collective_apply_inverse();
  }

  /// E·x and L·x.
  void collective_multiply(Direction& v) {
    perfmodel::PhaseTimer not_reported;
    energy_.team().run([&](const TeamThread& thread) {
      energy_.for_each_element(thread.index,
                               [&](std::size_t row) { rows_->values()[row] = v.x[row]; });
      energy_.apply(thread, spmv::Mode::vector, *rows_, v.energy.data(), not_reported, {});
      for (std::size_t c = 0; c < size_; ++c) {
        thread.barrier();
        laplacian_.for_each_element(thread.index, [&](std::size_t node) {
          nodes_->values()[node] = v.x[node * size_ + c];
        });
        laplacian_.apply(thread, spmv::Mode::vector, *nodes_, of_nodes_.data(), not_reported, {});
        thread.barrier();
        laplacian_.for_each_element(
            thread.index, [&](std::size_t node) { v.length[node * size_ + c] = of_nodes_[node]; });
      }
    });
  }

  /// x becomes the lowest vector of the span of x, w and p. Returns its quotient; nothing where
  /// there is none, or numbers are not finite.
  std::optional<double> collective_combine(int step) {
    const std::array<Direction*, 3> all{&x_, &w_, &p_};
    if (step == 0) std::swap(x_, w_);
    using Pair = WholeSums::Pair;
    std::array<Pair, 12> pairs;
    std::size_t next = 0;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        pairs[next++] = {all[i]->x.data(), all[j]->energy.data()};
        pairs[next++] = {all[i]->x.data(), all[j]->length.data()};
      }
    const auto sums = sums_.collective_add(pairs);
    if (!std::ranges::all_of(sums, [](double sum) { return std::isfinite(sum); }))
      return std::nullopt;
    LowestVector::Matrix a{};
    LowestVector::Matrix b{};
    next = 0;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        a[i][j] = a[j][i] = sums[next++];
        b[i][j] = b[j][i] = sums[next++];
      }
    const LowestVector lowest(a, b);
    if (lowest.count() == 0) return std::nullopt;
    const auto [of_x, of_w, of_p] = lowest.parts();
    const auto combine = [&](SearchArray Direction::* part) {
      SearchArray& x = x_.*part;
      SearchArray& w = w_.*part;
      SearchArray& p = p_.*part;
      for_rows([&, of_x = of_x, of_w = of_w, of_p = of_p](std::size_t row) {
        p[row] = of_w * w[row] + of_p * p[row];
        x[row] = of_x * x[row] + p[row];
      });
    };
    combine(&Direction::x);
    combine(&Direction::energy);
    combine(&Direction::length);
    return lowest.quotient();
  }

  /// w = M·(E·x − quotient·L·x).
  void collective_precondition(double quotient) {
    for_rows([&](std::size_t row) { of_rows_[row] = x_.energy[row] - quotient * x_.length[row]; });
    collective_apply_inverse();
  }

  /// w = M·of_rows_ for each component, without its mean.
  void collective_apply_inverse() {
    for (std::size_t c = 0; c < size_; ++c) {
      preconditioner_.begin_solve();
      laplacian_.team().run([&](const TeamThread& thread) {
        laplacian_.for_each_element(
            thread.index, [&](std::size_t node) { of_nodes_[node] = of_rows_[node * size_ + c]; });
        thread.barrier();
        preconditioner_.apply(thread, of_nodes_.data(), to_nodes_.data());
      });
      const auto [sum] = sums_of_nodes_.collective_add(
          std::array<WholeSums::Pair, 1>{{{to_nodes_.data(), is_coupled_.data()}}});
      const double mean = sum / coupled_count_;
      laplacian_.team().run([&](const TeamThread& thread) {
        laplacian_.for_each_element(thread.index, [&](std::size_t node) {
          w_.x[node * size_ + c] = is_coupled_[node] * (to_nodes_[node] - mean);
        });
      });
    }
  }

  std::size_t size_;
  spmv::SparseOperator energy_;
  spmv::SparseOperator laplacian_;
  AmgPreconditioner preconditioner_;
  WholeSums sums_;
  WholeSums sums_of_nodes_;
  std::unique_ptr<spmv::HaloVector<double>> rows_;
  std::unique_ptr<spmv::HaloVector<double>> nodes_;
  SearchArray of_rows_, of_nodes_, to_nodes_;
  SearchArray is_coupled_;  // 1 for nodes that are coupled with others, else 0
  double coupled_count_ = 0;
  Direction x_, w_, p_;
};

}  // namespace

FoundCoordinates collective_find_coordinates(const spmv::SparseOperator& op,
                                             const NodeRows& nodes) {
  const auto rows = op.matrix().thread_rows();
  const LevelMatrix level{.matrix = op.matrix().matrix(),
                          .plan = op.halo_plan(),
                          .thread_rows = {rows.begin(), rows.end()}};
  const comm_thread::Crew crew(op.communicator(), op.comm_thread(), op.team());
  return CoordinateSearch(op, collective_build_rotation_energy(crew, level, nodes),
                          static_cast<std::size_t>(nodes.block_size()))
      .collective_run();
}

}  // namespace weft::solver::amg
