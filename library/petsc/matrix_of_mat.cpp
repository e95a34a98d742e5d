#include "library/petsc/matrix_of_mat.h"

#include <petsc/private/petscimpl.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "library/petsc/call.h"
#include "library/petsc/registration.h"
#include "library/petsc/shared_job.h"

namespace weft::petsc {
namespace {

static_assert(std::is_same_v<PetscScalar, double>,
              "weft solves real systems in double precision: found a PETSc with other numbers");

/// Time that PETSc's log counts, for as long as this lives.
class Logged {
 public:
  explicit Logged(PetscLogEvent event) : event_(event) { check(begin()); }
  ~Logged() { static_cast<void>(end()); }
  Logged(const Logged&) = delete;
  Logged& operator=(const Logged&) = delete;

 private:
  PetscErrorCode begin() const {
    return PetscLogEventBegin(event_, nullptr, nullptr, nullptr, nullptr);
  }
  PetscErrorCode end() const {
    return PetscLogEventEnd(event_, nullptr, nullptr, nullptr, nullptr);
  }

  PetscLogEvent event_;
};

/// The rows of a MATSEQAIJ in PETSc's own arrays, for as long as this lives.
class SequentialRows {
 public:
  explicit SequentialRows(Mat mat) : mat_(mat) {
    PetscBool is_done = PETSC_FALSE;
    check(
        MatGetRowIJ(mat, 0, PETSC_FALSE, PETSC_FALSE, &row_count_, &offsets_, &columns_, &is_done));
    check(MatSeqAIJGetArrayRead(mat, &values_));
  }
  ~SequentialRows() {
    PetscBool is_done = PETSC_FALSE;
    static_cast<void>(MatSeqAIJRestoreArrayRead(mat_, &values_));
    static_cast<void>(MatRestoreRowIJ(mat_, 0, PETSC_FALSE, PETSC_FALSE, &row_count_, &offsets_,
                                      &columns_, &is_done));
  }
  SequentialRows(const SequentialRows&) = delete;
  SequentialRows& operator=(const SequentialRows&) = delete;

  DividedRows<PetscInt>::Block block() const {
    static constexpr PetscInt none = 0;
    if (row_count_ == 0) return {{&none, 1}, {}, {}};
    const auto entry_count = static_cast<std::size_t>(offsets_[row_count_]);
    return {{offsets_, static_cast<std::size_t>(row_count_) + 1},
            {columns_, entry_count},
            {values_, entry_count}};
  }

 private:
  Mat mat_;
  PetscInt row_count_ = 0;
  const PetscInt* offsets_ = nullptr;
  const PetscInt* columns_ = nullptr;
  const PetscScalar* values_ = nullptr;
};

/// This rank's rows of a MATAIJ in PETSc's own arrays, for as long as this lives.
class RowsOfMat {
 public:
  explicit RowsOfMat(Mat aij) {
    PetscBool is_sequential = PETSC_FALSE;
    check(
        PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(aij), MATSEQAIJ, &is_sequential));
    PetscInt first = 0;
    check(MatGetOwnershipRange(aij, &first, nullptr));
    rows_.first_row = first;
    if (is_sequential) {
      own_.emplace(aij);
      rows_.own = own_->block();
      return;
    }
    Mat own = nullptr;
    Mat others = nullptr;
    const PetscInt* columns_of_others = nullptr;
    PetscInt column_count = 0;
    check(MatMPIAIJGetSeqAIJ(aij, &own, &others, &columns_of_others));
    check(MatGetSize(others, nullptr, &column_count));
    own_.emplace(own);
    others_.emplace(others);
    rows_.own = own_->block();
    rows_.others = others_->block();
    rows_.columns_of_others = {columns_of_others, static_cast<std::size_t>(column_count)};
  }

  const DividedRows<PetscInt>& rows() const { return rows_; }

 private:
  std::optional<SequentialRows> own_;
  std::optional<SequentialRows> others_;
  DividedRows<PetscInt> rows_;
};

/// Rows in the arrays of weft::Rows.
struct RowArrays {
  std::int64_t first_row = 0;
  std::vector<std::int64_t> offsets;  // [row count + 1]
  std::vector<std::int64_t> columns;
  std::vector<double> values;
};

/// This rank's rows, with global columns in ascending order.
RowArrays row_arrays_of(Mat aij) {
  PetscInt first = 0;
  PetscInt end = 0;
  check(MatGetOwnershipRange(aij, &first, &end));
  RowArrays all{first, {0}, {}, {}};
  for (PetscInt row = first; row < end; ++row) {
    PetscInt count = 0;
    const PetscInt* columns = nullptr;
    const PetscScalar* values = nullptr;
    check(MatGetRow(aij, row, &count, &columns, &values));
    all.columns.insert(all.columns.end(), columns, columns + count);
    all.values.insert(all.values.end(), values, values + count);
    all.offsets.push_back(std::ssize(all.columns));
    check(MatRestoreRow(aij, row, &count, &columns, &values));
  }
  return all;
}

/// Throws Error where the matrix is not square.
void expect_square(Mat aij) {
  PetscInt row_count = 0;
  PetscInt column_count = 0;
  check(MatGetSize(aij, &row_count, &column_count));
  if (row_count != column_count)
    throw Error(ErrorCode::bad_input, "Mat: found " + std::to_string(row_count) + " rows and " +
                                          std::to_string(column_count) +
                                          " columns; expected a square matrix");
}

/// The rows of all ranks of the group, at its leader.
RowArrays collective_gather(const NodeGroup& group, const RowArrays& own) {
  group.collective_expect_fit(std::max(std::ssize(own.columns), std::ssize(own.offsets)));
  std::vector<std::int64_t> counts(own.offsets.size() - 1);
  for (std::size_t row = 0; row < counts.size(); ++row)
    counts[row] = own.offsets[row + 1] - own.offsets[row];
  const std::vector<std::int64_t> lengths =
      group.collective_gather(std::span(std::as_const(counts)));
  RowArrays all{own.first_row,
                {0},
                group.collective_gather(std::span(own.columns)),
                group.collective_gather(std::span(own.values))};
  for (const std::int64_t length : lengths) all.offsets.push_back(all.offsets.back() + length);
  return all;
}

/// The vectors of `space` beside each other, the constant one first where it is among them.
std::vector<double> block_of(MatNullSpace space, PetscInt rows, int& count) {
  PetscBool has_constant = PETSC_FALSE;
  PetscInt vector_count = 0;
  const Vec* vectors = nullptr;
  check(MatNullSpaceGetVecs(space, &has_constant, &vector_count, &vectors));
  const std::size_t constants = has_constant ? 1 : 0;
  const std::size_t width = constants + static_cast<std::size_t>(vector_count);
  std::vector<double> block(static_cast<std::size_t>(rows) * width, 1.0);
  for (PetscInt v = 0; v < vector_count; ++v) {
    const ReadVec vector(vectors[v]);
    const std::span<const double> values = vector.span();
    for (std::size_t row = 0; row < values.size(); ++row)
      block[row * width + constants + static_cast<std::size_t>(v)] = values[row];
  }
  count = static_cast<int>(width);
  return block;
}

MatFacts facts_of(Mat mat) {
  MatFacts facts;
  PetscInt rows = 0;
  check(MatGetLocalSize(mat, &rows, nullptr));
  check(MatGetBlockSize(mat, &facts.block_size));
  MatNullSpace space = nullptr;
  check(MatGetNearNullSpace(mat, &space));
  if (space) facts.near_null = block_of(space, rows, facts.near_null_count);
  check(MatGetNullSpace(mat, &space));
  if (!space) return facts;
  PetscBool has_constant = PETSC_FALSE;
  PetscInt vector_count = 0;
  check(MatNullSpaceGetVecs(space, &has_constant, &vector_count, nullptr));
  facts.has_constant_null_space = has_constant && vector_count == 0;
  if (facts.has_constant_null_space) return facts;
  int count = 0;
  facts.null_space = block_of(space, rows, count);
  if (count > 1)
    throw Error(ErrorCode::bad_input,
                "null space of the Mat: found " + std::to_string(count) + " vectors; expected one");
  return facts;
}

/// Where all ranks have a node for every 2 or 3 of their rows.
void collective_add_coordinates(Mat mat, const NodeCoordinates& nodes, MatFacts& facts) {
  PetscInt rows = 0;
  check(MatGetLocalSize(mat, &rows, nullptr));
  const bool fits = nodes.dimensions >= 2 && nodes.dimensions <= 3 &&
                    std::ssize(nodes.values) == rows && rows % nodes.dimensions == 0;
  const int own = fits ? nodes.dimensions : 0;
  std::array<int, 2> least{own, -own};
  MPI_Allreduce(MPI_IN_PLACE, least.data(), 2, MPI_INT, MPI_MIN,
                PetscObjectComm(reinterpret_cast<PetscObject>(mat)));
  if (least[0] != -least[1] || own == 0) return;
  facts.dimensions = own;
  const auto width = static_cast<std::size_t>(own);
  facts.coordinates.reserve(nodes.values.size() * width);
  for (auto node = nodes.values.begin(); node != nodes.values.end(); node += own)
    for (std::size_t row = 0; row < width; ++row)
      facts.coordinates.insert(facts.coordinates.end(), node, node + own);
}

}  // namespace

MatrixOfMat::~MatrixOfMat() { clear(); }

void MatrixOfMat::clear() {
  if (converted_) static_cast<void>(MatDestroy(&converted_));
  matrix_.reset();
  is_made_ = false;
}

void MatrixOfMat::collective_make(Mat aij) {
  matrix_.reset();
  expect_square(aij);
  if (!group_) {
    matrix_.emplace(Matrix::from_rows(job_of(PetscObjectComm(reinterpret_cast<PetscObject>(aij))),
                                      RowsOfMat(aij).rows(), options_));
    return;
  }
  const RowArrays rows = collective_gather(*group_, row_arrays_of(aij));
  Options options = options_;
  // PETSc says of every matrix what it is, so that half of one is not meant.
  options.set("triangle", "as-is");
  group_->collective_lead([&] {
    matrix_.emplace(Matrix::from_rows(
        group_->job(), {rows.first_row, rows.offsets, rows.columns, rows.values}, options));
  });
}

void MatrixOfMat::collective_update(Mat aij) {
  if (!group_) return matrix_->update_values(RowsOfMat(aij).rows());
  const RowArrays own = row_arrays_of(aij);
  const std::vector<double> values = group_->collective_gather(std::span(own.values));
  group_->collective_lead([&] { matrix_->update_values(values); });
}

Mat MatrixOfMat::collective_as_aij(Mat mat, bool has_same_places) {
  PetscBool is_aij = PETSC_FALSE;
  check(PetscObjectBaseTypeCompareAny(reinterpret_cast<PetscObject>(mat), &is_aij, MATSEQAIJ,
                                      MATMPIAIJ, ""));
  if (is_aij) return mat;
  if (!has_same_places && converted_) check(MatDestroy(&converted_));
  check(MatConvert(mat, MATAIJ, has_same_places ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX,
                   &converted_));
  return converted_;
}

MatrixOfMat::News MatrixOfMat::collective_take(Mat mat) {
  const auto object = reinterpret_cast<PetscObject>(mat);
  PetscObjectId id = 0;
  PetscObjectState places = 0;
  PetscObjectState values = 0;
  check(PetscObjectGetId(object, &id));
  check(MatGetNonzeroState(mat, &places));
  check(PetscObjectStateGet(object, &values));
  const bool has_same_places = is_made_ && id == id_ && places == places_;
  if (has_same_places && values == values_) return News::nothing;
  const Logged logged(event_of_taking());
  const Mat aij = collective_as_aij(mat, has_same_places);
  if (has_same_places)
    collective_update(aij);
  else
    collective_make(aij);
  is_made_ = true;
  id_ = id;
  places_ = places;
  values_ = values;
  return has_same_places ? News::values : News::all;
}

MatFacts MatrixOfMat::collective_facts(Mat mat, const NodeCoordinates& nodes) const {
  MatFacts facts = facts_of(mat);
  collective_add_coordinates(mat, nodes, facts);
  if (!group_) return facts;
  facts.coordinates = group_->collective_gather(std::span(std::as_const(facts.coordinates)));
  facts.near_null = group_->collective_gather(std::span(std::as_const(facts.near_null)));
  facts.null_space = group_->collective_gather(std::span(std::as_const(facts.null_space)));
  return facts;
}

}  // namespace weft::petsc
