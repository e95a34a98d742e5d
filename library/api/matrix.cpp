#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
#include "library/api/agreed.h"
#include "library/api/guarded.h"
#include "library/api/matrix_state.h"
#include "library/settings/right_hand_side_choice.h"
#include "library/state/caller_divided_rows.h"
#include "library/state/caller_operator.h"
#include "library/state/caller_rows.h"
#include "library/system/block_columns.h"
#include "spmv/entries/diagonal_sides.h"
#include "spmv/grid/stencil_operator.h"
#include "spmv/problems/problem.h"
#include "spmv/rows/partition.h"

namespace weft {
inline namespace v0 {
namespace {

using comm_thread::InputError;
using comm_thread::option_name;
using library::guarded;
using library::SolveSettings;
using State = Matrix::State;

/// Of a stencil, in a direction.
constexpr std::int64_t most_points = std::int64_t{1} << 31;

const comm_thread::Communicator& world_of(const Job& job) { return job.state()->job->world(); }

std::shared_ptr<State> collective_make_state(const Job& job, const Options& options) {
  job.expect_all("making a matrix");
  SolveSettings settings;
  library::collective_agree_on(world_of(job), "matrix", "", options,
                               [&] { settings = SolveSettings::parse(options.all()); });
  return std::make_shared<State>(job.state(), std::move(settings));
}

/// Whether rows of the caller, with the values that they have, are only half of a matrix.
void note_half(State& state) {
  const std::string half = state.caller_matrix->half();
  state.system->set_half(half.empty() ? "" : "matrix: " + half);
}

/// Before any rows are read.
void expect_given_order(const State& state) {
  library::check_needs({{{"base"}, false, "with rows of the caller", "a matrix from a file"}},
                       library::matrix_options(), state.settings);
  if (!state.settings.has_given_order())
    throw InputError(
        "options order, partition: found them for rows of the caller; expected neither");
}

void collective_use(State& state, std::unique_ptr<library::CallerMatrix> made) {
  state.system = std::make_unique<library::LinearSystem>(
      state.crew(), made->take_matrix(),
      made->moves() ? std::optional(made->given()) : std::nullopt, state.settings);
  if (!made->remark().empty()) state.system->remark("matrix: " + made->remark());
  state.caller_matrix = std::move(made);
  note_half(state);
}

/// What was made of rows of this kind. Throws where the matrix is of other ones.
template <class Made>
Made& made_of(const State& state, const char* kind) {
  if (auto* const made = dynamic_cast<Made*>(state.caller_matrix.get())) return *made;
  throw InputError(fmt::format("update_values: found a matrix that was not made of {}", kind));
}

/// `update(matrix)` gives it new values and returns whether other places have entries.
template <class Update>
void collective_update(State& state, const Update& update) {
  state.job->roll_call.collective_answer("new values");
  const bool has_other_places = update(state.system->matrix_operator()->changeable_matrix());
  ++state.values_version;
  if (has_other_places) ++state.places_version;
  note_half(state);
}

void expect_length(const State& state, const char* what, std::size_t found, int count) {
  const std::size_t expected =
      state.system->map().given_count() * static_cast<std::size_t>(std::max(count, 0));
  comm_thread::collective_agree_on_error(
      state.space, count < 1 ? fmt::format("count: found {}; expected 1 or more", count)
                   : found == expected
                       ? ""
                       : fmt::format("{} of rank {}: found {} entries; expected {}, one for each "
                                     "row of the rank",
                                     what, state.space.rank(), found, expected));
}

library::OperatorProducts& products_of(State& state) {
  if (!state.products)
    state.products = std::make_unique<library::OperatorProducts>(state.system->op());
  return *state.products;
}

}  // namespace

Matrix::State::State(std::shared_ptr<Job::State> of_job, library::SolveSettings wanted)
    : job(std::move(of_job)),
      space(job->job->comm_thread_world().collective_duplicate()),
      settings(std::move(wanted)) {}

Matrix::Matrix(std::shared_ptr<State> state) : state_(std::move(state)) {}

Matrix Matrix::from_rows(const Job& job, const Rows& rows, const Options& options, Values values) {
  return guarded([&] {
    auto state = collective_make_state(job, options);
    expect_given_order(*state);
    collective_use(*state, std::make_unique<library::CallerRows>(
                               state->space, state->crew().team(), rows, values,
                               spmv::parse_triangle(state->settings.triangle)));
    return Matrix(std::move(state));
  });
}

template <class Index>
Matrix Matrix::from_rows(const Job& job, const DividedRows<Index>& rows, const Options& options) {
  return guarded([&] {
    auto state = collective_make_state(job, options);
    expect_given_order(*state);
    if (!state->settings.triangle.empty())
      throw InputError(option_name("triangle", state->settings.triangle) +
                       ": found it for rows in two blocks; expected none");
    collective_use(*state, std::make_unique<library::CallerDividedRows<Index>>(
                               state->space, state->crew().team(), rows));
    return Matrix(std::move(state));
  });
}
template Matrix Matrix::from_rows(const Job&, const DividedRows<std::int32_t>&, const Options&);
template Matrix Matrix::from_rows(const Job&, const DividedRows<std::int64_t>&, const Options&);

Matrix Matrix::from_file(const Job& job, const std::string& path, const Options& options) {
  return guarded([&] {
    auto state = collective_make_state(job, options);
    state->system = std::make_unique<library::LinearSystem>(
        state->crew(), spmv::Problem::of_file(path), state->settings, false);
    return Matrix(std::move(state));
  });
}

Matrix Matrix::generate(const Job& job, const std::string& problem, const Options& options) {
  return guarded([&] {
    job.expect_all("making a matrix");
    spmv::Problem parsed;
    library::collective_agree_on(world_of(job), "matrix", problem, {},
                                 [&] { parsed = spmv::Problem::parse(problem); });
    if (parsed.is_file()) return from_file(job, problem, options);
    auto state = collective_make_state(job, options);
    state->system = std::make_unique<library::LinearSystem>(state->crew(), parsed, state->settings,
                                                            state->settings.is_matrix_free());
    return Matrix(std::move(state));
  });
}

Matrix Matrix::stencil(const Job& job, std::array<std::int64_t, 3> points,
                       std::array<double, 3> weights) {
  return guarded([&] {
    job.expect_all("making a matrix");
    std::string word;
    for (std::size_t d = 0; d < 3; ++d) word += fmt::format("{} {:a} ", points[d], weights[d]);
    library::collective_agree_on(world_of(job), "stencil", word, {}, [&] {
      for (std::size_t d = 0; d < 3; ++d) {
        if (points[d] < 1 || points[d] > most_points)
          throw InputError(fmt::format("stencil: found {} points in a direction; expected 1 to {}",
                                       points[d], most_points));
        if (!(weights[d] >= 0) || !std::isfinite(weights[d]))
          throw InputError(fmt::format(
              "stencil: found the weight {}; expected a finite one, 0 or more", weights[d]));
      }
    });
    auto state = std::make_shared<State>(job.state(), SolveSettings{});
    spmv::GridStencil stencil;
    stencil.grid = {points[0], points[1], points[2]};
    // No neighbours in a direction of one point.
    for (std::size_t d = 0; d < 3; ++d) stencil.weights[d] = points[d] > 1 ? weights[d] : 0;
    stencil.centre = 2 * (stencil.weights[0] + stencil.weights[1] + stencil.weights[2]);
    const comm_thread::Crew crew = state->crew();
    state->system = std::make_unique<library::LinearSystem>(std::make_unique<spmv::StencilOperator>(
        crew.communicator(), crew.comm_thread(), crew.team(), stencil));
    state->settings.operator_kind = "stencil";
    return Matrix(std::move(state));
  });
}

Matrix Matrix::from_operator(const Job& job, const UserOperator& user) {
  return guarded([&] {
    job.expect_all("making a matrix");
    auto state = std::make_shared<State>(job.state(), SolveSettings{});
    const comm_thread::Crew crew = state->crew();
    auto op = std::make_unique<library::CallerOperator>(crew.communicator(), crew.comm_thread(),
                                                        crew.team(), user);
    const spmv::RowPartition rows = op->partition();
    state->system =
        std::make_unique<library::LinearSystem>(std::move(op), rows, "operator of the caller");
    return Matrix(std::move(state));
  });
}

std::int64_t Matrix::row_block(std::int64_t row_count) {
  return spmv::RowPartition::block_size(row_count);
}

std::int64_t Matrix::row_count() const { return state_->system->op().global_row_count(); }
std::int64_t Matrix::local_row_count() const {
  return static_cast<std::int64_t>(state_->system->map().given_count());
}
std::int64_t Matrix::nonzero_count() const { return state_->system->nonzero_count(); }
std::string Matrix::format() const { return state_->system->format_name(); }

std::vector<std::string> Matrix::remarks() const {
  std::vector<std::string> remarks = state_->system->remarks();
  if (!state_->half().empty()) remarks.push_back(state_->half());
  return remarks;
}

std::int64_t Matrix::global_row(std::int64_t local) const {
  if (local < 0 || local >= local_row_count())
    throw Error(ErrorCode::misuse, fmt::format("global_row: found {}; expected 0 to {}", local,
                                               local_row_count() - 1));
  return state_->system->map().global_row(static_cast<std::size_t>(local));
}

void Matrix::update_values(std::span<const double> values) {
  guarded([&] {
    auto& made = made_of<library::CallerRows>(*state_, "the caller's rows");
    collective_update(
        *state_, [&](spmv::SplitMatrix& matrix) { return made.collective_update(values, matrix); });
  });
}

template <class Index>
void Matrix::update_values(const DividedRows<Index>& rows) {
  guarded([&] {
    auto& made =
        made_of<library::CallerDividedRows<Index>>(*state_, "the caller's rows in two blocks");
    collective_update(
        *state_, [&](spmv::SplitMatrix& matrix) { return made.collective_update(rows, matrix); });
  });
}
template void Matrix::update_values(const DividedRows<std::int32_t>&);
template void Matrix::update_values(const DividedRows<std::int64_t>&);

void Matrix::multiply(std::span<const double> x, std::span<double> y) const {
  multiply_block(x, y, 1);
}

void Matrix::multiply_block(std::span<const double> x, std::span<double> y, int count) const {
  guarded([&] {
    State& state = *state_;
    state.job->roll_call.collective_answer("a product");
    expect_length(state, "x", x.size(), count);
    expect_length(state, "y", y.size(), count);
    library::OperatorProducts& products = products_of(state);
    library::VectorMap& map = state.system->map();
    if (map.is_identity()) return products.multiply_block(x, y, count);
    const std::size_t elements = state.system->element_count();
    const auto stride = static_cast<std::size_t>(count);
    const library::BlockColumns columns(map, elements, count);
    auto vectors = columns.collective_to_operator(x);
    std::vector<double> from(elements * stride);
    std::vector<double> to(elements * stride);
    for (std::size_t v = 0; v < stride; ++v)
      for (std::size_t i = 0; i < elements; ++i) from[i * stride + v] = vectors[v][i];
    products.multiply_block(from, to, count);
    for (std::size_t v = 0; v < stride; ++v)
      for (std::size_t i = 0; i < elements; ++i) vectors[v][i] = to[i * stride + v];
    columns.collective_from_operator(vectors, y);
  });
}

std::vector<double> Matrix::right_hand_side(const std::string& word) const {
  return guarded([&] {
    State& state = *state_;
    state.job->roll_call.collective_answer("a right-hand side");
    library::LinearSystem& system = *state.system;
    const auto b =
        system.collective_right_hand_sides(library::choose_right_hand_side(word, system.problem()));
    std::vector<double> given(system.map().given_count());
    system.map().collective_from_operator(b.front().span(), given);
    return given;
  });
}

}  // namespace v0
}  // namespace weft
