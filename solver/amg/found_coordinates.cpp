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
#include <vector>

#include "comm_thread/engine/crew.h"
#include "perfmodel/huge_page_buffer.h"
#include "solver/amg/amg_preconditioner.h"
#include "solver/amg/coarsening/level_matrix.h"
#include "solver/amg/lowest_vector.h"
#include "solver/amg/product_sums.h"
#include "solver/amg/rotation_energy.h"
#include "spmv/problems/random_numbers.h"
#include "spmv/rows/vector_halo.h"

namespace weft::solver::amg {
namespace {

using comm_thread::TeamThread;
using spmv::GlobalIndex;

constexpr int most_search_steps = 12;
/// The search ends where a step lowers the quotient by less than this share of it.
constexpr double least_gain = 0.1;
/// It is given up where a step after so many lowers a large quotient by less than this share.
constexpr int least_search_steps = 8;
constexpr double hopeless_gain = 0.03;
/// Where the search leaves more, its vector is not worth settling.
constexpr double most_quotient_of_search = 0.3;
/// Quotients of coordinates are within these: 0 but for nodes next to those that are held. Other
/// smooth vectors have 0.1 to 1.
constexpr double most_quotient = 0.05;
constexpr double least_quotient = -0.1;
/// The vector has settled where its error has less than this share of its own energy L. Slender
/// bodies, in which some errors have little energy, need it this small.
constexpr double most_error = 3e-5;
constexpr int most_settling_steps = 40;
constexpr std::uint64_t search_seed = 20;

using SearchArray = perfmodel::HugePageBuffer<double>;

/// A vector with its products.
struct Direction {
  explicit Direction(std::size_t size) : x(size), energy(size), length(size) {}

  SearchArray x, energy, length;  // x, E·x, and L·x for each component
};

/// The search on the nodes of this rank; vectors have the components of a node together.
class CoordinateSearch {
 public:
  CoordinateSearch(const comm_thread::Crew& crew, const LevelMatrix& level, const NodeRows& nodes)
      : crew_(crew),
        size_(static_cast<std::size_t>(nodes.block_size())),
        energy_(crew, level, nodes),
        laplacian_(crew.communicator(), crew.comm_thread(), crew.team(),
                   energy_.collective_make_laplacian(crew), spmv::MatrixFormat::crs),
        preconditioner_(laplacian_, {.mode = spmv::Mode::vector}),
        sums_(crew),
        node_count_(laplacian_.element_count()),
        places_((node_count_ + static_cast<std::size_t>(energy_.plan().halo_count)) * size_),
        halo_(crew, energy_.plan(), energy_.thread_nodes(), places_.data(),
              static_cast<int>(size_)),
        of_rows_(node_count_ * size_),
        of_nodes_(node_count_),
        to_nodes_(node_count_),
        is_coupled_(node_count_),
        is_at_rim_(energy_.nodes_at_rim()),
        x_(node_count_ * size_),
        w_(node_count_ * size_),
        p_(node_count_ * size_) {
    const spmv::CrsMatrix& rows = laplacian_.matrix().matrix().rows;
    std::int64_t count = 0;
    for (std::size_t node = 0; node < node_count_; ++node)
      if (rows.row_offsets[node + 1] - rows.row_offsets[node] > 1) {
        is_coupled_[node] = 1;
        ++count;
      }
    coupled_count_ = static_cast<double>(crew.communicator().sum(count));
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
      goes_on = quotient < most_quotient_of_search
                    ? gain >= least_gain
                    : step < least_search_steps || gain >= hopeless_gain;
      if (goes_on) collective_precondition(quotient);
    }
    if (quotient > most_quotient_of_search || quotient < least_quotient) return {{}, step};
    step += collective_settle();
    collective_multiply(x_);
    quotient = collective_dot(x_.x, x_.energy) / collective_dot(x_.x, x_.length);
    if (!(quotient <= most_quotient && quotient >= least_quotient)) return {{}, step};
    return {{x_.x.data(), x_.x.data() + x_.x.size()}, step};
  }

 private:
  template <class Work>
  void for_rows(const Work& work) const {
    crew_.team().run([&](const TeamThread& thread) {
      const auto share = comm_thread::share_of(static_cast<std::int64_t>(node_count_ * size_),
                                               thread.index, thread.count);
      for (auto row = static_cast<std::size_t>(share.begin);
           row < static_cast<std::size_t>(share.end); ++row)
        work(row);
    });
  }

  /// A smooth vector in `w_`: M of a random one.
  void begin() {
    const GlobalIndex first =
        laplacian_.matrix().matrix().first_row() * static_cast<GlobalIndex>(size_);
    for_rows([&](std::size_t row) {
      of_rows_[row] = spmv::uniform(search_seed, first + static_cast<GlobalIndex>(row)) - 0.5;
    });
    collective_apply_inverse();
  }

  /// E·x and L·x.
  void collective_multiply(Direction& v) {
    for_rows([&](std::size_t row) { places_[row] = v.x[row]; });
    crew_.team().run([&](const TeamThread& thread) {
      halo_.collective_renew(thread, crew_);
      energy_.multiply(thread, places_.data(), v.energy.data(), v.length.data());
    });
  }

  /// x becomes the lowest vector of the span of x, w and p. Returns its quotient; nothing where
  /// there is none, or numbers are not finite.
  std::optional<double> collective_combine(int step) {
    if (step == 0) std::swap(x_, w_);
    std::array<const double*, 9> vectors{};
    std::array<ProductSums::Pair, ProductSums::most_sums> pairs;
    std::size_t next = 0;
    for (std::size_t i = 0; const Direction* const direction : {&x_, &w_, &p_}) {
      vectors[i] = direction->x.data();
      vectors[3 + i] = direction->energy.data();
      vectors[6 + i] = direction->length.data();
      for (std::size_t j = 0; j <= i; ++j) {
        pairs[next++] = {i, 3 + j};
        pairs[next++] = {i, 6 + j};
      }
      ++i;
    }
    const auto sums = sums_.collective_add(vectors, node_count_ * size_, pairs);
    if (!std::ranges::all_of(sums, [](double sum) { return std::isfinite(sum); }))
      return std::nullopt;
    DirectionMatrix a{};
    DirectionMatrix b{};
    next = 0;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        a[i][j] = a[j][i] = sums[next++];
        b[i][j] = b[j][i] = sums[next++];
      }
    LowestVector lowest;
    if (!find_lowest_vector(a, b, lowest)) return std::nullopt;
    combine(lowest.parts);
    return lowest.quotient;
  }

  /// x and its products become those of the sum of these parts of x, w and p, p what is not of x.
  void combine(const std::array<double, direction_count>& parts) {
    combine_array(parts, x_.x, w_.x, p_.x);
    combine_array(parts, x_.energy, w_.energy, p_.energy);
    combine_array(parts, x_.length, w_.length, p_.length);
  }
  void combine_array(const std::array<double, direction_count>& parts, SearchArray& x,
                     const SearchArray& w, SearchArray& p) const {
    for_rows([&](std::size_t row) {
      p[row] = parts[1] * w[row] + parts[2] * p[row];
      x[row] = parts[0] * x[row] + p[row];
    });
  }

  double collective_dot(const SearchArray& a, const SearchArray& b) {
    constexpr std::array<ProductSums::Pair, 1> pair{{{0, 1}}};
    return sums_.collective_add(std::array<const double*, 2>{a.data(), b.data()},
                                node_count_ * size_, pair)[0];
  }

  /// Solves E·x = 0 at the nodes that are not at the rim, with x as it is at those that are, by
  /// preconditioned conjugate gradients. The lowest vector need not satisfy that: where its
  /// quotient is not 0, the places of a slender body grow or shrink from one end to the other.
  /// Returns the number of steps. What p and w hold is lost.
  int collective_settle() {
    SearchArray& residual = p_.energy;
    Direction direction(p_.x.size());
    collective_multiply(x_);
    const double energy = collective_dot(x_.x, x_.length);
    for_rows([&](std::size_t row) {
      residual[row] = is_at_rim_[row / size_] ? 0 : -x_.energy[row];
      direction.x[row] = 0;
    });
    double before = 0;
    for (int step = 0; step < most_settling_steps; ++step) {
      for_rows([&](std::size_t row) { of_rows_[row] = residual[row]; });
      collective_apply_inverse();
      for_rows([&](std::size_t row) {
        if (is_at_rim_[row / size_]) w_.x[row] = 0;
      });
      const double error = collective_dot(residual, w_.x);
      if (!(error > most_error * energy)) return step;
      const double share = step == 0 ? 0 : error / before;
      before = error;
      for_rows([&](std::size_t row) { direction.x[row] = w_.x[row] + share * direction.x[row]; });
      collective_multiply(direction);
      const double length = error / collective_dot(direction.x, direction.energy);
      if (!std::isfinite(length)) return step;
      for_rows([&](std::size_t row) {
        x_.x[row] += length * direction.x[row];
        if (!is_at_rim_[row / size_]) residual[row] -= length * direction.energy[row];
      });
    }
    return most_settling_steps;
  }

  /// w = M·(E·x − quotient·L·x).
  void collective_precondition(double quotient) {
    for_rows([&](std::size_t row) { of_rows_[row] = x_.energy[row] - quotient * x_.length[row]; });
    collective_apply_inverse();
  }

  /// w = P·M·P·of_rows_ for each component, where P takes the mean away.
  void collective_apply_inverse() {
    for (std::size_t c = 0; c < size_; ++c) {
      for_nodes([&](std::size_t node) { of_nodes_[node] = of_rows_[node * size_ + c]; });
      collective_take_mean_away(of_nodes_);
      preconditioner_.begin_solve();
      laplacian_.team().run([&](const TeamThread& thread) {
        preconditioner_.apply(thread, of_nodes_.data(), to_nodes_.data());
      });
      collective_take_mean_away(to_nodes_);
      for_nodes([&](std::size_t node) { w_.x[node * size_ + c] = to_nodes_[node]; });
    }
  }

  template <class Work>
  void for_nodes(const Work& work) {
    laplacian_.team().run(
        [&](const TeamThread& thread) { laplacian_.for_each_element(thread.index, work); });
  }

  /// Takes the mean over nodes that are coupled with others; the rest become zero.
  void collective_take_mean_away(SearchArray& v) {
    constexpr std::array<ProductSums::Pair, 1> pair{{{0, 1}}};
    const std::array<const double*, 2> vectors{v.data(), is_coupled_.data()};
    const double mean = sums_.collective_add(vectors, node_count_, pair)[0] / coupled_count_;
    for_nodes([&](std::size_t node) { v[node] = is_coupled_[node] * (v[node] - mean); });
  }

  comm_thread::Crew crew_;
  std::size_t size_;
  RotationEnergy energy_;
  spmv::SparseOperator laplacian_;
  AmgPreconditioner preconditioner_;
  ProductSums sums_;
  std::size_t node_count_;
  SearchArray places_;  // of nodes, those of the halo as well
  spmv::VectorHalo<double> halo_;
  SearchArray of_rows_, of_nodes_, to_nodes_;
  SearchArray is_coupled_;  // 1 for nodes that are coupled with others, else 0
  std::vector<char> is_at_rim_;  // by node
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
  return CoordinateSearch(crew, level, nodes).collective_run();
}

}  // namespace weft::solver::amg
