#include "solver/panels/panel_products.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "comm_thread/placement/compute_team.h"
#include "spmv/rows/partition.h"

namespace weft::solver {
namespace {

using comm_thread::TeamThread;

/// Rows that a pass over several panels keeps in the second cache.
constexpr std::int64_t rows_of_chunk = 256;
constexpr int widest = 8;

/// Where an entry of a matrix that stands row by row is.
std::size_t index_of(int row, int column, int columns) {
  return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
         static_cast<std::size_t>(column);
}

/// Powers of two that make numbers of these sizes at most 1; 1 for 0 and what is not finite.
std::vector<double> shrinking(std::span<const double> sizes) {
  constexpr int most_exponent = 1000;
  std::vector<double> scale;
  for (const double size : sizes) {
    int exponent = 0;
    if (size > 0 && std::isfinite(size)) std::frexp(size, &exponent);
    scale.push_back(std::ldexp(1.0, -std::clamp(exponent, -most_exponent, most_exponent)));
  }
  return scale;
}

}  // namespace

PanelProducts::PanelProducts(const spmv::LinearOperator& op, int width, int most_panels)
    : op_(op),
      width_(width),
      chunk_rows_(std::min(rows_of_chunk, spmv::RowPartition::block_size(op.global_row_count()))),
      rooms_(static_cast<std::size_t>(op.team().thread_count())),
      exact_(op.communicator(), op.comm_thread(), op.team().thread_count(), most_panels * width),
      bounded_(op.communicator(), op.comm_thread(), op.team().thread_count(),
               most_panels * width * most_panels * width) {}

PanelProducts::Panel PanelProducts::make_panel() const {
  Panel panel(op_.element_count() * static_cast<std::size_t>(width_));
  run_over_chunks([&](const TeamThread&, std::int64_t begin, std::int64_t rows) {
    std::fill_n(panel.data() + begin * width_, rows * width_, 0.0);
  });
  return panel;
}

template <class Work>
void PanelProducts::run_over_chunks(const Work& work) const {
  op_.team().run([&](const TeamThread& thread) {
    op_.for_each_segment(thread.index, [&](std::size_t first, std::int64_t count) {
      const std::int64_t end = static_cast<std::int64_t>(first) + count;
      for (auto begin = static_cast<std::int64_t>(first); begin < end; begin += chunk_rows_)
        work(thread, begin, std::min(chunk_rows_, end - begin));
    });
  });
}

std::vector<double> PanelProducts::collective_norms(Panels list) {
  run_over_chunks([&](const TeamThread& thread, std::int64_t begin, std::int64_t rows) {
    for (std::size_t panel = 0; panel < list.size(); ++panel) {
      std::array<double, widest> squares{};
      const double* const values = list[panel] + begin * width_;
      for (std::int64_t row = 0; row < rows; ++row)
        for (int column = 0; column < width_; ++column) {
          const double value = values[row * width_ + column];
          squares[static_cast<std::size_t>(column)] += value * value;
        }
      for (int column = 0; column < width_; ++column)
        exact_.part(thread.index, static_cast<int>(panel) * width_ + column)
            .add(squares[static_cast<std::size_t>(column)]);
    }
  });
  op_.team().run([&](const TeamThread& thread) { exact_.collective_reduce(thread); });
  std::vector<double> norms;
  for (int column = 0; column < static_cast<int>(list.size()) * width_; ++column)
    norms.push_back(std::sqrt(exact_.result(column)));
  return norms;
}

void PanelProducts::make_room(std::size_t size) {
  for (std::vector<double>& room : rooms_)
    if (room.size() < size) room.resize(size);
}

/// Adds what some rows give to the sums of a thread.
void PanelProducts::add_products(int thread, Panels s, Panels t, std::int64_t begin,
                                 std::int64_t rows, std::span<const double> scale_of_s,
                                 std::span<const double> scale_of_t) {
  const int height = static_cast<int>(s.size()) * width_;
  const int columns = static_cast<int>(t.size()) * width_;
  double* const sums = rooms_[static_cast<std::size_t>(thread)].data();
  BoundedSum::Part& part = bounded_.part(thread);
  for (std::size_t panel = 0; panel < t.size(); ++panel) {
    sum_products(width_, s, begin, t[panel] + begin * width_, rows, sums);
    for (int row = 0; row < height; ++row)
      for (int column = 0; column < width_; ++column) {
        const int of_all = static_cast<int>(panel) * width_ + column;
        part.add(index_of(row, of_all, columns), sums[index_of(row, column, width_)] *
                                                     scale_of_s[static_cast<std::size_t>(row)] *
                                                     scale_of_t[static_cast<std::size_t>(of_all)]);
      }
  }
}

SmallMatrix PanelProducts::collective_products(Panels s, Panels t) {
  const std::vector<double> scale_of_s = shrinking(collective_norms(s));
  const std::vector<double> scale_of_t = shrinking(collective_norms(t));
  make_room(scale_of_s.size() * static_cast<std::size_t>(width_));
  run_over_chunks([&](const TeamThread& thread, std::int64_t begin, std::int64_t rows) {
    add_products(thread.index, s, t, begin, rows, scale_of_s, scale_of_t);
  });
  op_.team().run([&](const TeamThread& thread) { bounded_.collective_reduce(thread); });
  SmallMatrix products(static_cast<int>(scale_of_s.size()), static_cast<int>(scale_of_t.size()));
  for (int row = 0; row < products.rows(); ++row)
    for (int column = 0; column < products.columns(); ++column)
      products(row, column) =
          bounded_.result(static_cast<int>(index_of(row, column, products.columns()))) /
          scale_of_s[static_cast<std::size_t>(row)] / scale_of_t[static_cast<std::size_t>(column)];
  return products;
}

/// C as the kernels take it: for each panel of results [panels · width, width], row by row.
std::vector<double> PanelProducts::coefficients(const SmallMatrix& c, int panels,
                                                int results) const {
  std::vector<double> all;
  all.reserve(index_of(panels * width_, 0, results * width_));
  for (int to = 0; to < results; ++to)
    for (int row = 0; row < panels * width_; ++row)
      for (int column = 0; column < width_; ++column) all.push_back(c(row, to * width_ + column));
  return all;
}

void PanelProducts::combine(Panels q, const SmallMatrix& c, std::span<double* const> results) {
  const std::vector<double> all =
      coefficients(c, static_cast<int>(q.size()), static_cast<int>(results.size()));
  const std::size_t size = index_of(static_cast<int>(q.size()) * width_, 0, width_);
  make_room(static_cast<std::size_t>(chunk_rows_ * width_) * results.size());
  run_over_chunks([&](const TeamThread& thread, std::int64_t begin, std::int64_t rows) {
    const auto count = static_cast<std::size_t>(rows * width_);
    double* const made = rooms_[static_cast<std::size_t>(thread.index)].data();
    std::fill_n(made, count * results.size(), 0.0);
    for (std::size_t to = 0; to < results.size(); ++to)
      add_combination(width_, q, begin, all.data() + to * size, rows, made + to * count);
    for (std::size_t to = 0; to < results.size(); ++to)
      std::copy_n(made + to * count, count, results[to] + begin * width_);
  });
}

void PanelProducts::add(Panels q, const SmallMatrix& c, std::span<double* const> results) const {
  const std::vector<double> all =
      coefficients(c, static_cast<int>(q.size()), static_cast<int>(results.size()));
  const std::size_t size = index_of(static_cast<int>(q.size()) * width_, 0, width_);
  run_over_chunks([&](const TeamThread&, std::int64_t begin, std::int64_t rows) {
    for (std::size_t to = 0; to < results.size(); ++to)
      add_combination(width_, q, begin, all.data() + to * size, rows, results[to] + begin * width_);
  });
}

}  // namespace weft::solver
