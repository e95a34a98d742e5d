#include "spmv/grid/diffusion_operator.h"

#include <algorithm>
#include <cmath>

#include "perfmodel/fetch.h"
#include "perfmodel/simd.h"
#include "spmv/grid/rows_ahead.h"
#include "spmv/grid/shares.h"
#include "spmv/grid/strips.h"
#include "spmv/sums/binned_sum.h"

namespace weft::spmv {
namespace {

using perfmodel::fetch;
using perfmodel::for_lanes;
using perfmodel::load;
using perfmodel::store;

/// Where a row of a box begins in the arrays, and how far its neighbours are.
struct Row {
  const double* x;
  double* y;
  std::array<const double*, 3> couplings;
  std::ptrdiff_t row;
  std::ptrdiff_t plane;
};

/// Point i of a row: 18 flops. Terms are added in ascending order of column, and couplings for the
/// diagonal as the generator adds them, so that the bits are those of the matrix.
template <class Value>
[[gnu::always_inline]] inline void multiply_at(const Row& at, std::ptrdiff_t i, Value& product) {
  const auto& [cx, cy, cz] = at.couplings;
  const double* const u = at.x + i;
  const auto behind = load<Value>(cz + i);
  const auto below = load<Value>(cy + i);
  const auto left = load<Value>(cx + i);
  const auto right = load<Value>(cx + i + 1);
  const auto above = load<Value>(cy + i + at.row);
  const auto ahead = load<Value>(cz + i + at.plane);
  const auto diagonal = ((((behind + below) + left) + right) + above) + ahead;
  const auto before = (behind * load<Value>(u - at.plane) + below * load<Value>(u - at.row)) +
                      left * load<Value>(u - 1);
  product = (((diagonal * load<Value>(u) - before) - right * load<Value>(u + 1)) -
             above * load<Value>(u + at.row)) -
            ahead * load<Value>(u + at.plane);
}

/// Reads 32 bytes and writes 8 (16 with write-allocate) a point: the planes behind and below come
/// from cache. Adds x·y to `sum` where `has_sum`. `soon`: from here to what is fetched.
template <class Simd, bool has_sum>
[[gnu::always_inline]] inline void multiply_row(const Row& at, std::ptrdiff_t soon,
                                                std::ptrdiff_t count, BinnedSum::In<Simd>& sum) {
  const auto step = [&]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
    fetch<Value>(i, at.x + at.plane + soon, at.couplings[2] + at.plane + soon,
                 at.couplings[0] + soon, at.couplings[1] + soon);
    Value product{};
    multiply_at<Value>(at, i, product);
    store(at.y + i, product);
    if constexpr (has_sum) sum.add(load<Value>(at.x + i) * product);
  };
  if constexpr (has_sum)
    for_lanes_of_sums<Simd>(count, step, sum);
  else
    for_lanes<Simd>(count, step);
}

}  // namespace

DiffusionOperator::DiffusionOperator(const comm_thread::Communicator& communicator,
                                     comm_thread::CommThread& comm_thread,
                                     const comm_thread::ComputeTeam& team, const Problem& problem)
    : GridOperator(communicator, comm_thread, team, problem.grid, false) {
  for (auto& values : couplings_) values = perfmodel::HugePageBuffer<double>(element_count());
  const DiffusionGenerator generator(problem);
  team.run([&](const comm_thread::TeamThread& thread) {
    for (const GridBox& box : share_of_rows(layout().own(), thread.index, thread.count))
      for (GlobalIndex z = box.begin[2]; z < box.end[2]; ++z) {
        // Consecutive rows of the matrix in one go: the generator keeps the last lines.
        const bool has_whole_lines = box.size(0) == grid().x;
        const GlobalIndex lines = has_whole_lines ? box.size(1) : 1;
        for (GlobalIndex y = box.begin[1]; y < box.end[1]; y += lines)
          take_couplings(generator, box, y, z, lines);
      }
  });
  norm_ = collective_find_norm();
}

void DiffusionOperator::take_couplings(const DiffusionGenerator& generator, const GridBox& box,
                                       GlobalIndex y, GlobalIndex z, GlobalIndex lines) {
  const GridBox& own = layout().own();
  const auto row = static_cast<std::size_t>(layout().row_stride());
  const auto plane = static_cast<std::size_t>(layout().plane_stride());
  const GlobalIndex line = grid().x * (y + grid().y * z);
  GlobalIndex x = box.begin[0];
  std::size_t i = layout().index(x, y, z);
  generator.visit_couplings(line + box.begin[0], line + grid().x * (lines - 1) + box.end[0],
                            [&](const std::array<double, 6>& couplings) {
                              for (std::size_t d = 0; d < 3; ++d)
                                couplings_[d][i] = couplings[2 - d];
                              // The last own points have the couplings with the next ones, too.
                              couplings_[0][i + 1] = couplings[3];
                              if (y + 1 == own.end[1]) couplings_[1][i + row] = couplings[4];
                              if (z + 1 == own.end[2]) couplings_[2][i + plane] = couplings[5];
                              ++i;
                              if (++x < box.end[0]) return;
                              x = box.begin[0];
                              ++y;
                              i = layout().index(x, y, z);
                            });
}

double DiffusionOperator::diagonal(std::size_t element) const {
  const auto& [cx, cy, cz] = couplings_;
  return ((((cz[element] + cy[element]) + cx[element]) + cx[element + 1]) +
          cy[element + static_cast<std::size_t>(stride(1))]) +
         cz[element + static_cast<std::size_t>(stride(2))];
}

/// Adds a row as SparseOperator does, so that sums whose bits depend on the norm are the same.
double DiffusionOperator::collective_find_norm() const {
  const GridBox& own = layout().own();
  const GridBox domain = partition().domain();
  const auto inside = [&](bool is_inside, double coupling) { return is_inside ? coupling : 0; };
  double largest = 0;
  for (GlobalIndex z = own.begin[2]; z < own.end[2]; ++z)
    for (GlobalIndex y = own.begin[1]; y < own.end[1]; ++y) {
      std::size_t i = layout().index(own.begin[0], y, z);
      for (GlobalIndex x = own.begin[0]; x < own.end[0]; ++x, ++i) {
        double sum = inside(z > 0, couplings(2)[i]);
        sum += inside(y > 0, couplings(1)[i]);
        sum += inside(x > 0, couplings(0)[i]);
        sum += diagonal(i);
        sum += inside(x + 1 < domain.end[0], couplings(0)[i + 1]);
        sum += inside(y + 1 < domain.end[1], couplings(1)[i + static_cast<std::size_t>(stride(1))]);
        sum += inside(z + 1 < domain.end[2], couplings(2)[i + static_cast<std::size_t>(stride(2))]);
        largest = std::max(largest, sum);
      }
    }
  return communicator().max(largest);
}

std::int64_t DiffusionOperator::nonzero_count() const {
  const GridSize& size = grid();
  return 7 * global_row_count() - 2 * (size.x * size.y + size.y * size.z + size.x * size.z);
}

std::string DiffusionOperator::format_name() const {
  return "7-point couplings, no matrix, " + boxes_name();
}

std::int64_t DiffusionOperator::stored_bytes() const {
  return static_cast<std::int64_t>(3 * sizeof(double) * element_count());
}

void DiffusionOperator::copy_diagonal(std::span<double> values) const {
  for_each_element([&](std::size_t i) { values[i] = diagonal(i); });
}

void DiffusionOperator::multiply_box(const GridBox& box, const double* x, double* y, RowSum x_dot_y,
                                     const std::function<void()>& pause) const {
  if (box.is_empty()) return;
  BinnedSum sum(x_dot_y.bound);
  perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    BinnedSum::In<Simd> local(sum);
    for (const GridBox& strip : strips(box, layout(), 7)) {
      const RowsAhead ahead(layout(), strip.size(0), strip.begin[1], strip.end[1]);
      for (GlobalIndex z = strip.begin[2]; z < strip.end[2]; ++z) {
        for (GlobalIndex row = strip.begin[1]; row < strip.end[1]; ++row) {
          const std::size_t first = layout().index(strip.begin[0], row, z);
          const Row at{x + first,
                       y + first,
                       {couplings(0) + first, couplings(1) + first, couplings(2) + first},
                       layout().row_stride(),
                       layout().plane_stride()};
          const std::ptrdiff_t soon = ahead.from(row);
          if (x_dot_y.part)
            multiply_row<Simd, true>(at, soon, strip.size(0), local);
          else
            multiply_row<Simd, false>(at, soon, strip.size(0), local);
        }
        if (pause) pause();
      }
    }
    local.store(sum);
  });
  if (x_dot_y.part) sum.flush(*x_dot_y.part);
}

}  // namespace weft::spmv
