#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
#include "library/api/agreed.h"
#include "library/api/guarded.h"
#include "library/api/matrix_state.h"
#include "library/settings/grid_operator_choice.h"
#include "library/settings/right_hand_side_choice.h"
#include "library/state/block_columns.h"
#include "library/state/caller_operator.h"
#include "spmv/entries/diagonal_sides.h"
#include "spmv/entries/file_entries.h"
#include "spmv/files/matrix_market_header.h"
#include "spmv/grid/stencil_operator.h"
#include "spmv/order/reordering.h"
#include "spmv/problems/generator.h"

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

spmv::PartitionBy partition_by(const SolveSettings& settings) {
  return settings.partition == "nonzeros" ? spmv::PartitionBy::nonzeros : spmv::PartitionBy::rows;
}

/// Orders the rows as the settings say, and makes the operator and the map of its vectors.
/// `given`: the rows of vectors.
void collective_use(State& state, spmv::DistributedMatrix matrix, const spmv::RowPartition& given) {
  comm_thread::Job& threads = state.threads();
  const int rank = state.space.rank();
  const spmv::RowPartition loaded = matrix.partition;
  state.given = given;
  state.nonzero_count = matrix.global_nonzero_count;
  if (state.caller_rows && !state.settings.has_given_order())
    throw InputError(
        "options order, partition: found them for rows of the caller; expected neither");
  auto ordered = library::collective_order_matrix(state.space, threads.team(), std::move(matrix),
                                                  state.settings.order, state.settings.partition);
  state.order = std::move(ordered.order);
  auto op = std::make_unique<spmv::SparseOperator>(state.space, threads.comm_thread(),
                                                   threads.team(), std::move(ordered.matrix),
                                                   state.settings.parsed_format());
  state.sparse = op.get();
  if (state.order)
    state.map = std::make_unique<library::OrderedRows>(*state.order, rank);
  else if (state.caller_rows && state.caller_rows->moves())
    state.map = std::make_unique<library::MovedRows>(op->crew(), given, loaded);
  else
    state.map =
        std::make_unique<library::SameRows>(threads.team(), given.begin(rank), op->element_count());
  state.op = std::move(op);
}

/// Whether rows of the caller, with the values that they have, are only half of a matrix.
void note_half(State& state) {
  const std::string half = state.caller_rows->half();
  state.half = half.empty() ? "" : "matrix: " + half;
}

void use_grid(State& state, std::unique_ptr<spmv::GridOperator> op) {
  state.grid_format = op->format_name();
  state.nonzero_count = op->nonzero_count();
  state.map = std::make_unique<library::GridPoints>(*op);
  state.op = std::move(op);
  state.settings.operator_kind = "stencil";
}

void expect_length(const State& state, const char* what, std::size_t found, int count) {
  const std::size_t expected =
      state.map->given_count() * static_cast<std::size_t>(std::max(count, 0));
  comm_thread::collective_agree_on_error(
      state.space, count < 1 ? fmt::format("count: found {}; expected 1 or more", count)
                   : found == expected
                       ? ""
                       : fmt::format("{} of rank {}: found {} entries; expected {}, one for each "
                                     "row of the rank",
                                     what, state.space.rank(), found, expected));
}

library::OperatorProducts& products_of(State& state) {
  if (!state.products) state.products = std::make_unique<library::OperatorProducts>(*state.op);
  return *state.products;
}

}  // namespace

Matrix::State::State(std::shared_ptr<Job::State> of_job, library::SolveSettings wanted)
    : job(std::move(of_job)),
      space(job->job->comm_thread_world().collective_duplicate()),
      settings(std::move(wanted)) {}

std::string Matrix::State::format_name() const {
  return sparse ? sparse->matrix().format_name() : grid_format;
}

Matrix::Matrix(std::shared_ptr<State> state) : state_(std::move(state)) {}

Matrix Matrix::from_rows(const Job& job, const Rows& rows, const Options& options, Values values) {
  return guarded([&] {
    auto state = collective_make_state(job, options);
    if (!state->settings.base.empty())
      throw InputError(option_name("base") +
                       ": found with rows of the caller; expected a matrix from a file");
    state->caller_rows =
        std::make_unique<library::CallerRows>(state->space, state->threads().team(), rows, values,
                                              spmv::parse_triangle(state->settings.triangle));
    if (const std::string& remark = state->caller_rows->remark(); !remark.empty())
      state->remarks.push_back("matrix: " + remark);
    note_half(*state);
    collective_use(*state, state->caller_rows->take_matrix(), state->caller_rows->given());
    return Matrix(std::move(state));
  });
}

Matrix Matrix::from_file(const Job& job, const std::string& path, const Options& options) {
  return guarded([&] {
    auto state = collective_make_state(job, options);
    state->problem.path = path;
    state->name = path;
    const comm_thread::ComputeTeam& team = state->threads().team();
    auto matrix = spmv::collective_read_matrix_file(state->space, team, path,
                                                    partition_by(state->settings), state->remarks,
                                                    spmv::parse_index_base(state->settings.base));
    state->half = spmv::collective_settle_entries(state->space, team, path,
                                                  spmv::parse_triangle(state->settings.triangle),
                                                  false, matrix, state->remarks);
    const spmv::RowPartition given = matrix.partition;
    collective_use(*state, std::move(matrix), given);
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
    if (!state->settings.triangle.empty())
      throw InputError(option_name("triangle") + ": found with the generated problem " +
                       parsed.name() + "; expected rows or a file");
    if (!state->settings.base.empty())
      throw InputError(option_name("base") + ": found with the generated problem " + parsed.name() +
                       "; expected a file");
    state->problem = parsed;
    state->name = parsed.name();
    if (state->settings.is_matrix_free()) {
      use_grid(*state,
               library::collective_make_grid_operator(state->space, state->threads().comm_thread(),
                                                      state->threads().team(), parsed));
      return Matrix(std::move(state));
    }
    auto matrix = spmv::collective_generate(state->space, state->threads().team(), parsed,
                                            partition_by(state->settings));
    const spmv::RowPartition given = matrix.partition;
    collective_use(*state, std::move(matrix), given);
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
    use_grid(*state,
             std::make_unique<spmv::StencilOperator>(state->space, state->threads().comm_thread(),
                                                     state->threads().team(), stencil));
    return Matrix(std::move(state));
  });
}

Matrix Matrix::from_operator(const Job& job, const UserOperator& user) {
  return guarded([&] {
    job.expect_all("making a matrix");
    auto state = std::make_shared<State>(job.state(), SolveSettings{});
    auto op = std::make_unique<library::CallerOperator>(
        state->space, state->threads().comm_thread(), state->threads().team(), user);
    state->given = op->partition();
    state->grid_format = "operator of the caller";
    state->map = std::make_unique<library::SameRows>(state->threads().team(), user.first_row,
                                                     op->element_count());
    state->op = std::move(op);
    return Matrix(std::move(state));
  });
}

std::int64_t Matrix::row_block(std::int64_t row_count) {
  return spmv::RowPartition::block_size(row_count);
}

std::int64_t Matrix::row_count() const { return state_->op->global_row_count(); }
std::int64_t Matrix::local_row_count() const {
  return static_cast<std::int64_t>(state_->map->given_count());
}
std::int64_t Matrix::nonzero_count() const { return state_->nonzero_count; }
std::string Matrix::format() const { return state_->format_name(); }

std::vector<double> Matrix::State::collective_read(const std::string& path) {
  spmv::Remarks found;
  auto vector = spmv::collective_read_vector_file(space, *given, path, found);
  for (std::string& remark : found)
    if (std::ranges::find(remarks, remark) == remarks.end()) remarks.push_back(std::move(remark));
  return vector;
}

std::vector<std::string> Matrix::remarks() const {
  std::vector<std::string> remarks = state_->remarks;
  if (!state_->half.empty()) remarks.push_back(state_->half);
  return remarks;
}

std::int64_t Matrix::global_row(std::int64_t local) const {
  if (local < 0 || local >= local_row_count())
    throw Error(ErrorCode::misuse, fmt::format("global_row: found {}; expected 0 to {}", local,
                                               local_row_count() - 1));
  return state_->map->global_row(static_cast<std::size_t>(local));
}

void Matrix::update_values(std::span<const double> values) {
  guarded([&] {
    if (!state_->caller_rows)
      throw InputError("update_values: found a matrix that was not made of the caller's rows");
    state_->job->roll_call.collective_answer("new values");
    const bool has_other_places =
        state_->caller_rows->collective_update(values, state_->sparse->changeable_matrix());
    ++state_->values_version;
    if (has_other_places) ++state_->places_version;
    state_->nonzero_count = state_->sparse->matrix().matrix().global_nonzero_count;
    note_half(*state_);
  });
}

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
    if (state.map->is_identity()) return products.multiply_block(x, y, count);
    const std::size_t elements = state.op->element_count();
    const auto stride = static_cast<std::size_t>(count);
    const library::BlockColumns columns(*state.map, elements, count);
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
    const auto wanted = library::choose_right_hand_side(word, state.problem);
    std::vector<double> b(state.map->given_count());
    if (wanted.kind == spmv::RightHandSideKind::file) {
      if (!state.given)
        throw InputError("right-hand side: found the file " + wanted.path +
                         " for a grid without a matrix; expected a generated one");
      return state.collective_read(wanted.path);
    }
    if (state.given) {
      spmv::fill(wanted, state.problem, *state.given, state.space.rank(), state.threads().team(),
                 b);
    } else {
      for (std::size_t i = 0; i < b.size(); i += state.map->consecutive_rows(i))
        spmv::fill_rows(wanted, state.problem, state.map->global_row(i),
                        std::span(b).subspan(i, state.map->consecutive_rows(i)));
    }
    if (wanted.kind == spmv::RightHandSideKind::x_random) multiply(std::vector(b), b);
    return b;
  });
}

}  // namespace v0
}  // namespace weft
