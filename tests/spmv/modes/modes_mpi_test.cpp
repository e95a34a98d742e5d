#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/exact_accumulator.h"
#include "comm_thread/engine/reproducible_sum.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/huge_page_buffer.h"
#include "perfmodel/phase_times.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/problems/random_numbers.h"
#include "spmv/sums/block_dot.h"
#include "tests/support/mpi_main.h"
#include "tests/support/serial_reference.h"
#include "tests/support/thread_count.h"

namespace weft::spmv {
namespace {

using comm_thread::CommThread;
using comm_thread::Communicator;
using comm_thread::ComputeTeam;
using comm_thread::TeamThread;
using comm_thread::ThreadLevel;

bool is_same(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

std::vector<double> random_vector(std::size_t size, std::uint64_t seed) {
  std::vector<double> x;
  for (std::size_t i = 0; i < size; ++i)
    x.push_back(std::ldexp(static_cast<double>(static_cast<std::int64_t>(
                               random_bits(seed, static_cast<GlobalIndex>(i)))),
                           static_cast<int>(i % 9) - 60));
  return x;
}

/// x·y in the one order of weft: row blocks, then an exact sum.
double expected_dot(const std::vector<double>& x, const std::vector<double>& y) {
  const GlobalIndex row_count = std::ssize(x);
  const GlobalIndex block = RowPartition::block_size(row_count);
  comm_thread::ExactAccumulator sum;
  for (GlobalIndex row = 0; row < row_count; row += block)
    sum.add(block_dot(x.data() + row, y.data() + row, std::min(block, row_count - row)));
  return sum.rounded();
}

/// ‖A‖∞, each row summed in ascending order.
double expected_norm(const tests::ReferenceMatrix& reference) {
  double largest = 0;
  for (const auto& row : reference) {
    double sum = 0;
    for (const auto& [column, value] : row) sum += std::abs(value);
    largest = std::max(largest, sum);
  }
  return largest;
}

/// One operator on the ranks and threads of this run, compared with the serial reference.
class ModeCheck {
 public:
  ModeCheck(const Communicator& communicator, ThreadLevel level,
            const tests::ReferenceMatrix& reference, MatrixFormat format)
      : reference_(reference),
        team_(tests::thread_count(), comm_thread::WaitPolicy::yield),
        comm_thread_({.thread_level = level}),
        operator_(communicator, comm_thread_, team_,
                  tests::collective_distribute(
                      communicator, team_, reference,
                      RowPartition::by_rows(std::ssize(reference), communicator.size())),
                  format),
        dot_(communicator, comm_thread_, team_.thread_count(), 1),
        x_(operator_.collective_make_vector()),
        y_(x_->own().size()) {}

  std::string format_name() const { return operator_.matrix().format_name(); }

  /// The same bits as in one go, and a pause after each piece of all threads' rows.
  void check_pieces(const std::vector<double>& x) {
    const SplitMatrix& matrix = operator_.matrix();
    const auto first = static_cast<std::size_t>(matrix.matrix().first_row());
    std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(first), x_->own().size(),
                x_->own().begin());
    std::vector<double> whole(y_.size());
    std::vector<int> pauses(static_cast<std::size_t>(team_.thread_count()));
    std::vector<comm_thread::ExactAccumulator> sums(2 * pauses.size());
    team_.run([&](const TeamThread& thread) {
      const auto index = static_cast<std::size_t>(thread.index);
      const double* const values = static_cast<Operand&>(*x_).values();
      const LocalRows& rows = matrix;
      rows.multiply(RowSet::all, thread, values, whole.data(), {&sums[2 * index]});
      rows.multiply_in_pieces(RowSet::all, thread, values, y_.data(), {&sums[2 * index + 1]},
                              [&] { ++pauses[index]; });
    });
    for (std::size_t row = 0; row < whole.size(); ++row) CHECK(is_same(whole[row], y_[row]));
    for (std::size_t thread = 0; thread < pauses.size(); ++thread) {
      const auto cuts = matrix.thread_rows();
      CHECK(pauses[thread] > 0);
      CHECK(pauses[thread] <= (cuts[thread + 1] - cuts[thread]) / 1000);
      CHECK(is_same(sums[2 * thread].rounded(), sums[2 * thread + 1].rounded()));
    }
  }

  /// The right bits in both forms, while one is chosen and after that.
  void check_trial(const std::vector<double>& x) {
    const std::int64_t products =
        Communicator::collective_world().max(std::int64_t{operator_.expect_products(1'000'000)});
    CHECK(products == 9);
    for (int i = 0; i < 4; ++i) check_all_modes(x);  // five products each
    CHECK(operator_.expect_products(1'000'000) == 0);
  }
  /// True if rows are stored as SELL on this rank, or will be.
  bool may_be_sliced() const { return operator_.matrix().may_be_sliced(); }
  void store_as_sell() { operator_.changeable_matrix().take_sell(team_); }

  void check_all_modes(std::vector<double> x) {
    CHECK(operator_.collective_norm() == expected_norm(reference_));
    for (const Mode mode :
         {Mode::vector, Mode::overlap, Mode::overlap_test, Mode::task, Mode::vector}) {
      CAPTURE(name(mode));
      for (double& value : x) value *= -1.25;  // the old contents of the halo are always wrong
      const std::vector<double> y = tests::multiply(reference_, x);
      multiply(mode, x);
      CHECK(wrong_count(y) == 0);
      CHECK(is_same(dot_.result(), expected_dot(x, y)));
    }
  }

 private:
  void multiply(Mode mode, const std::vector<double>& x) {
    const auto first = static_cast<std::size_t>(operator_.matrix().matrix().first_row());
    const auto cuts = operator_.matrix().thread_rows();
    perfmodel::PhaseTimer timer;
    std::fill(y_.data(), y_.data() + y_.size(), -7.0);
    team_.run([&](const TeamThread& thread) {
      const auto index = static_cast<std::size_t>(thread.index);
      for (auto row = static_cast<std::size_t>(cuts[index]);
           row < static_cast<std::size_t>(cuts[index + 1]); ++row)
        x_->own()[row] = x[first + row];
      operator_.multiply(thread, mode, *x_, y_.span(), timer, &dot_.part(thread.index));
      dot_.collective_reduce(thread);
    });
  }

  int wrong_count(const std::vector<double>& y) const {
    const auto first = static_cast<std::size_t>(operator_.matrix().matrix().first_row());
    int wrong = 0;
    for (std::size_t row = 0; row < y_.size(); ++row) wrong += !is_same(y_[row], y[first + row]);
    return wrong;
  }

  const tests::ReferenceMatrix& reference_;
  ComputeTeam team_;
  CommThread comm_thread_;
  SparseOperator operator_;
  comm_thread::ReproducibleSum dot_;
  std::unique_ptr<HaloVector<double>> x_;
  perfmodel::HugePageBuffer<double> y_;
};

void check_matrix(const tests::ReferenceMatrix& reference) {
  const auto world = Communicator::collective_world();
  for (const MatrixFormat format :
       {MatrixFormat::automatic, MatrixFormat::crs, MatrixFormat::sell}) {
    ModeCheck check(world, tests::session().thread_level(), reference, format);
    check.check_all_modes(random_vector(reference.size(), 1));
  }
}

TEST_CASE("generated matrices give the bits of the serial reference in every mode") {
  for (const std::string word :
       {"poisson3d:13x12x11", "poisson3d:64x16x16", "poisson2d:17x13", "poisson2d:50x61",
        "poisson3d27:12", "anisotropic3d:11x12x13,1,0.1,0.01", "irregular:2000",
        "irregular:700,bandwidth=699"}) {
    CAPTURE(word);
    check_matrix(tests::reference_matrix(Problem::parse(word)));
  }
}

TEST_CASE("planes that are gone through in strips give the same bits in every mode") {
  check_matrix(tests::reference_matrix(Problem::parse("poisson2d:140000x4")));
}

TEST_CASE("long lines are multiplied as stencils, unless CRS is asked for") {
  const auto world = Communicator::collective_world();
  for (const std::string word : {"poisson3d:64x16x16", "poisson2d:256x32"}) {
    CAPTURE(word);
    const auto reference = tests::reference_matrix(Problem::parse(word));
    const ThreadLevel level = tests::session().thread_level();
    CHECK(ModeCheck(world, level, reference, MatrixFormat::automatic)
              .format_name()
              .find("stencil, ") == 0);
    CHECK(ModeCheck(world, level, reference, MatrixFormat::crs).format_name() == "CRS");
  }
}

TEST_CASE("rows of long lines with any values are multiplied as shifted rows") {
  constexpr GlobalIndex line = 90;
  tests::ReferenceMatrix grid(line * line);
  for (std::size_t i = 0; i < grid.size(); ++i) {
    const auto row = static_cast<GlobalIndex>(i);
    for (const GlobalIndex distance :
         {-line, GlobalIndex{-1}, GlobalIndex{0}, GlobalIndex{1}, line}) {
      const bool leaves_line =
          std::abs(distance) == 1 && (row + distance + line) / line != row / line + 1;
      if (row + distance < 0 || row + distance >= line * line || leaves_line) continue;
      grid[i][row + distance] = 1.0 / static_cast<double>(3 + 5 * row + distance + line);
    }
  }
  check_matrix(grid);
  CHECK(ModeCheck(Communicator::collective_world(), tests::session().thread_level(), grid,
                  MatrixFormat::automatic)
            .format_name() == "CRS, shifted rows");
}

TEST_CASE("every mode gives the same bits while storage is tried, and after that") {
  const auto world = Communicator::collective_world();
  const auto reference = tests::reference_matrix(Problem::parse("irregular:6000,bandwidth=60"));
  const std::vector<double> x = random_vector(reference.size(), 5);
  ModeCheck tried(world, tests::session().thread_level(), reference, MatrixFormat::automatic);
  CHECK(tried.may_be_sliced());
  CHECK(tried.format_name() == "CRS");
  tried.check_trial(x);
  ModeCheck taken(world, tests::session().thread_level(), reference, MatrixFormat::automatic);
  taken.store_as_sell();
  CHECK(taken.format_name() == "SELL-8");
  taken.check_all_modes(x);
  // Nobody forecasts products here.
  ModeCheck many(world, tests::session().thread_level(), reference, MatrixFormat::automatic);
  for (int i = 0; i < 9; ++i) many.check_all_modes(x);
}

TEST_CASE("a product in pieces has the bits of the whole, and pauses after each") {
  const auto world = Communicator::collective_world();
  const auto reference = tests::reference_matrix(Problem::parse("poisson3d:64x32x32"));
  for (const MatrixFormat format : {MatrixFormat::automatic, MatrixFormat::crs, MatrixFormat::sell})
    ModeCheck(world, tests::session().thread_level(), reference, format)
        .check_pieces(random_vector(reference.size(), 2));
}

TEST_CASE("without a communication thread the bits are the same") {
  const auto world = Communicator::collective_world();
  const auto reference = tests::reference_matrix(Problem::parse("poisson2d:256x32"));
  ModeCheck check(world, ThreadLevel::serialized, reference, MatrixFormat::automatic);
  check.check_all_modes(random_vector(reference.size(), 3));
}

TEST_CASE("rows are summed in ascending global column order, wherever the columns live") {
  // Each row has another sum in any other order.
  check_matrix({{{0, 1e16}, {3, 1}, {4, 1}, {5, -1e16}},
                {{1, 1}, {2, 1e16}, {5, -1e16}},
                {{0, 0.1}, {1, 0.2}, {4, 0.3}, {5, 0.4}},
                {{0, -1e16}, {1, 1}, {3, 1e16}},
                {{0, 1}, {2, 1e-16}, {4, -1}},
                {{0, 1e16}, {1, 1}, {2, -1e16}, {3, 1}, {4, 3}, {5, 0.7}}});
}

TEST_CASE("rows without entries give zero") {
  tests::ReferenceMatrix matrix(11);
  matrix[2] = {{0, 1.5}, {10, 2.5}};
  matrix[9] = {{2, -1.0}};
  check_matrix(matrix);
  check_matrix(tests::ReferenceMatrix(5));
  tests::ReferenceMatrix long_matrix = tests::reference_matrix(Problem::parse("poisson2d:256x32"));
  for (std::size_t row = 700; row < 3000; row += 397) long_matrix[row].clear();
  check_matrix(long_matrix);
}

TEST_CASE("matrices with fewer rows than ranks are multiplied") {
  check_matrix({{{0, 3.0}}});
  check_matrix({{{0, 3.0}, {1, 4.0}}, {{0, 5.0}, {1, 6.0}}});
}

TEST_CASE("unsymmetric patterns are multiplied") {
  tests::ReferenceMatrix upper(1500);
  for (std::size_t row = 0; row < upper.size(); ++row)
    for (std::size_t column = row; column < upper.size(); column += 1 + row % 400)
      upper[row][static_cast<GlobalIndex>(column)] = 1.0 + static_cast<double>(column % 17);
  check_matrix(upper);
}

TEST_CASE("what is not finite in x reaches only the rows that use it") {
  const auto world = Communicator::collective_world();
  for (const std::string word : {"poisson3d:64x16x16", "poisson2d:50x61", "irregular:2000"})
    for (const MatrixFormat format :
         {MatrixFormat::automatic, MatrixFormat::crs, MatrixFormat::sell}) {
      CAPTURE(word);
      const auto reference = tests::reference_matrix(Problem::parse(word));
      ModeCheck check(world, tests::session().thread_level(), reference, format);
      std::vector<double> x = random_vector(reference.size(), 4);
      for (std::size_t i = 3; i < x.size(); i += 251)
        x[i] = i % 2 == 0 ? std::numeric_limits<double>::quiet_NaN()
                          : std::numeric_limits<double>::infinity();
      x.front() = x.back() = std::numeric_limits<double>::quiet_NaN();
      check.check_all_modes(x);
    }
}

}  // namespace
}  // namespace weft::spmv
