#include "library/system/linear_system.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
#include "library/system/operator_products.h"
#include "perfmodel/page_stock.h"
#include "spmv/entries/diagonal_sides.h"
#include "spmv/entries/file_entries.h"
#include "spmv/files/matrix_market_header.h"
#include "spmv/formats/matrix_file.h"
#include "spmv/formats/vtk_file.h"
#include "spmv/grid/diffusion_operator.h"
#include "spmv/grid/rows_in_order.h"
#include "spmv/grid/stencil_operator.h"
#include "spmv/problems/generator.h"

namespace weft::library {
namespace {

using comm_thread::InputError;
using comm_thread::option_name;
using comm_thread::TeamThread;
using spmv::RightHandSideKind;

/// Options that only a matrix from a file has. `found`: what there is instead of one.
void expect_no_file_options(const MatrixSettings& settings, const std::string& found,
                            const char* expected) {
  check_needs({{{"triangle", "base"}, false, "with " + found, expected}}, matrix_options(),
              settings);
}

std::unique_ptr<spmv::GridOperator> collective_make_grid_operator(const comm_thread::Crew& crew,
                                                                  const spmv::Problem& problem) {
  if (problem.kind == spmv::ProblemKind::diffusion3d)
    return std::make_unique<spmv::DiffusionOperator>(crew.communicator(), crew.comm_thread(),
                                                     crew.team(), problem);
  return std::make_unique<spmv::StencilOperator>(crew.communicator(), crew.comm_thread(),
                                                 crew.team(), spmv::GridStencil::of(problem));
}

}  // namespace

LoadedMatrix collective_load_matrix(const comm_thread::Communicator& communicator,
                                    const comm_thread::ComputeTeam& team,
                                    const spmv::Problem& problem, const MatrixSettings& settings,
                                    bool keeps_zeros, spmv::Remarks& remarks) {
  const auto partition_by = settings.parsed_partition();
  if (!problem.is_file()) {
    expect_no_file_options(settings, "the generated problem " + problem.name(),
                           "a matrix from a file");
    return {spmv::collective_generate(communicator, team, problem, partition_by)};
  }
  LoadedMatrix loaded{spmv::collective_read_matrix_file(communicator, team, problem.path,
                                                        partition_by, remarks,
                                                        spmv::parse_index_base(settings.base))};
  loaded.half = spmv::collective_settle_entries(communicator, team, problem.path,
                                                spmv::parse_triangle(settings.triangle),
                                                keeps_zeros, loaded.matrix, remarks);
  return loaded;
}

std::int64_t collective_count_right_hand_sides(const comm_thread::Communicator& communicator,
                                               const spmv::Problem& problem,
                                               const spmv::RightHandSide& right_hand_side) {
  if (right_hand_side.kind != RightHandSideKind::file) return 1;
  return spmv::collective_count_columns(communicator, right_hand_side.path, [&] {
    return problem.is_file()
               ? spmv::collective_matrix_file_size(communicator, problem.path).row_count
               : problem.row_count();
  });
}

LinearSystem::LinearSystem(const comm_thread::Crew& crew, spmv::Problem problem,
                           const MatrixSettings& settings, bool is_matrix_free)
    : problem_(std::move(problem)) {
  if (is_matrix_free) {
    expect_no_file_options(settings, option_name("operator", "stencil"), "a matrix");
    use_grid(collective_make_grid_operator(crew, problem_));
    return;
  }
  auto loaded =
      collective_load_matrix(crew.communicator(), crew.team(), problem_, settings, false, remarks_);
  half_ = std::move(loaded.half);
  perfmodel::PageStock::unmap_free();  // else it would stay beside the ordered rows
  collective_use_matrix(crew,
                        collective_order_matrix(crew.communicator(), crew.team(),
                                                std::move(loaded.matrix), settings, name()),
                        std::nullopt, settings.parsed_format());
}

LinearSystem::LinearSystem(const comm_thread::Crew& crew, spmv::DistributedMatrix matrix,
                           const std::optional<spmv::RowPartition>& given,
                           const MatrixSettings& settings) {
  collective_use_matrix(crew, {{}, std::move(matrix)}, given, settings.parsed_format());
}

LinearSystem::LinearSystem(std::unique_ptr<spmv::GridOperator> op, spmv::Problem problem)
    : problem_(std::move(problem)) {
  use_grid(std::move(op));
}

LinearSystem::LinearSystem(std::unique_ptr<spmv::LinearOperator> op,
                           const spmv::RowPartition& given, std::string format)
    : operator_(std::move(op)), format_(std::move(format)), given_(given) {
  map_ = std::make_unique<SameRows>(operator_->team(), given.begin(ranks().rank()),
                                    operator_->element_count());
}

void LinearSystem::collective_use_matrix(const comm_thread::Crew& crew, OrderedMatrix ordered,
                                         const std::optional<spmv::RowPartition>& given,
                                         spmv::MatrixFormat format) {
  const int rank = crew.communicator().rank();
  const spmv::RowPartition rows = ordered.matrix.partition;
  ordering_ = std::move(static_cast<RowOrdering&>(ordered));
  given_ = ordering_.order ? ordering_.order->given() : given.value_or(rows);
  auto op = std::make_unique<spmv::SparseOperator>(crew.communicator(), crew.comm_thread(),
                                                   crew.team(), std::move(ordered.matrix), format);
  if (ordering_.order)
    map_ = std::make_unique<OrderedRows>(*ordering_.order, rank);
  else if (given)
    map_ = std::make_unique<MovedRows>(crew, *given, rows);
  else
    map_ = std::make_unique<SameRows>(crew.team(), rows.begin(rank), op->element_count());
  matrix_ = op.get();
  operator_ = std::move(op);
}

void LinearSystem::use_grid(std::unique_ptr<spmv::GridOperator> op) {
  grid_ = op.get();
  map_ = std::make_unique<GridPoints>(*op);
  operator_ = std::move(op);
}

std::int64_t LinearSystem::nonzero_count() const {
  if (matrix_) return matrix_->matrix().matrix().global_nonzero_count;
  return grid_ ? grid_->nonzero_count() : 0;
}

std::string LinearSystem::format_name() const {
  if (matrix_) return matrix_->matrix().format_name();
  return grid_ ? grid_->format_name() : format_;
}

double LinearSystem::collective_matrix_bytes() const {
  const std::int64_t own = matrix_ ? matrix_->matrix().matrix_bytes()
                           : grid_ ? grid_->stored_bytes()
                                   : std::int64_t{0};
  return static_cast<double>(ranks().sum(own));
}

std::int64_t LinearSystem::collective_boundary_row_count() const {
  return ranks().sum(matrix_ ? matrix_->matrix().boundary_row_count()
                     : grid_ ? grid_->boundary_row_count()
                             : std::int64_t{0});
}

void LinearSystem::remark(const std::string& remark) {
  if (std::ranges::find(remarks_, remark) != remarks_.end()) return;
  remarks_.push_back(remark);
  if (on_remark_) on_remark_(remark);
}

void LinearSystem::tell_remarks(OnRemark on_remark) {
  on_remark_ = std::move(on_remark);
  for (const std::string& each : remarks_) on_remark_(each);
}

SystemContext LinearSystem::context() {
  SystemContext context{.name = name(), .problem = problem_};
  if (given_)
    context.collective_read = [this](const std::string& path) {
      const Vector vector = std::move(collective_read(path).front());
      return std::vector<double>(vector.span().begin(), vector.span().end());
    };
  if (ordering_.order)
    context.collective_given_row = [this](spmv::GlobalIndex row) {
      return library::collective_given_row(ranks(), *ordering_.order, row);
    };
  return context;
}

std::vector<LinearSystem::Vector> LinearSystem::collective_right_hand_sides(
    const spmv::RightHandSide& right_hand_side, std::int64_t most) {
  if (right_hand_side.kind == RightHandSideKind::file) {
    if (!given_)
      throw InputError(
          fmt::format("{}: found the file {} with {}; expected a generated right-hand side, or {}",
                      option_name("rhs"), right_hand_side.path, option_name("operator", "stencil"),
                      option_name("operator", "matrix")));
    return collective_read(right_hand_side.path, most);
  }
  std::vector<Vector> vectors;
  Vector& b = vectors.emplace_back(make_vector(*operator_));
  if (ordering_.order) {
    std::vector<double> own(map_->given_count());
    spmv::fill(right_hand_side, problem_, *given_, ranks().rank(), operator_->team(), own);
    map_->collective_to_operator(own, b.span());
  } else {
    operator_->team().run([&](const TeamThread& thread) {
      operator_->for_each_segment(thread.index, [&](std::size_t begin, std::int64_t count) {
        fill_rows(right_hand_side, problem_, operator_->global_row(begin),
                  b.span().subspan(begin, static_cast<std::size_t>(count)));
      });
    });
  }
  if (right_hand_side.kind == RightHandSideKind::x_random)
    OperatorProducts(*operator_).multiply(b.span(), b.span());
  return vectors;
}

std::vector<LinearSystem::Vector> LinearSystem::collective_read(const std::string& path,
                                                                std::int64_t most) {
  spmv::Remarks found;
  const spmv::FileColumns columns =
      spmv::collective_read_columns_file(ranks(), *given_, path, most, found);
  for (const std::string& each : found) remark(each);
  const auto count = static_cast<std::size_t>(columns.count);
  std::vector<double> column(map_->given_count());
  std::vector<Vector> vectors;
  for (std::size_t c = 0; c < count; ++c) {
    for (std::size_t row = 0; row < column.size(); ++row)
      column[row] = columns.own[row * count + c];
    map_->collective_to_operator(column, vectors.emplace_back(make_vector(*operator_)).span());
  }
  return vectors;
}

std::vector<LinearSystem::Vector> LinearSystem::collective_read_start(const std::string& path,
                                                                      std::size_t count) {
  auto vectors = collective_read(path, static_cast<std::int64_t>(count));
  if (vectors.size() != count)
    throw InputError(fmt::format("{}: found {} column; expected {}, one for each right-hand side",
                                 path, vectors.size(), count));
  return vectors;
}

void LinearSystem::collective_write(const std::vector<std::span<const double>>& vectors,
                                    const std::string& path) const {
  const auto rows =
      given_ ? *given_ : spmv::RowPartition::by_rows(operator_->global_row_count(), ranks().size());
  const std::size_t count = vectors.size();
  const auto write = [&](std::span<const double> own) {
    const spmv::GridSize& grid = problem_.grid;
    if (spmv::is_vtk_file(path))
      spmv::collective_write_vtk_image(ranks(), rows, own, {grid.x, grid.y, grid.z}, path);
    else
      spmv::collective_write_columns_file(ranks(), rows, own, static_cast<std::int64_t>(count),
                                          path);
  };
  if (count == 1 && map_->is_identity()) return write(vectors.front());
  std::vector<double> own(static_cast<std::size_t>(rows.size(ranks().rank())) * count);
  std::vector<double> column(own.size() / count);
  for (std::size_t c = 0; c < count; ++c) {
    if (given_)
      map_->collective_from_operator(vectors[c], column);
    else
      column = spmv::collective_rows_in_order(ranks(), *operator_, vectors[c], rows);
    for (std::size_t row = 0; row < column.size(); ++row) own[row * count + c] = column[row];
  }
  write(own);
}

}  // namespace weft::library
