#include "library/petsc/matrix_of_mat.h"

#include <petsc/private/petscimpl.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "library/petsc/call.h"
#include "library/petsc/shared_job.h"

namespace weft::petsc {
namespace {

static_assert(std::is_same_v<PetscScalar, double>,
              "weft solves real systems in double precision: found a PETSc with other numbers");

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

  PetscInt row_count() const { return row_count_; }
  PetscInt begin(PetscInt row) const { return offsets_[row]; }
  PetscInt end(PetscInt row) const { return offsets_[row + 1]; }
  PetscInt entry_count() const { return row_count_ > 0 ? offsets_[row_count_] : 0; }
  PetscInt column(PetscInt entry) const { return columns_[entry]; }
  PetscScalar value(PetscInt entry) const { return values_[entry]; }
  std::span<const double> values() const {
    return {values_, static_cast<std::size_t>(entry_count())};
  }

 private:
  Mat mat_;
  PetscInt row_count_ = 0;
  const PetscInt* offsets_ = nullptr;
  const PetscInt* columns_ = nullptr;
  const PetscScalar* values_ = nullptr;
};

/// Calls visit(row, column, value) for the entries of this rank's rows of a MATMPIAIJ, the columns
/// of a row ascending. The block of this rank's columns lies between the others of a row:
///
///     others before | own block | others behind
template <class Visit>
void visit_rows(Mat mat, const Visit& visit) {
  Mat own = nullptr;
  Mat others = nullptr;
  const PetscInt* columns_of_others = nullptr;
  PetscInt first = 0;
  check(MatMPIAIJGetSeqAIJ(mat, &own, &others, &columns_of_others));
  check(MatGetOwnershipRangeColumn(mat, &first, nullptr));
  const SequentialRows own_rows(own);
  const SequentialRows other_rows(others);
  for (PetscInt row = 0; row < own_rows.row_count(); ++row) {
    PetscInt other = other_rows.begin(row);
    const auto visit_other = [&] {
      visit(row, columns_of_others[other_rows.column(other)], other_rows.value(other));
      ++other;
    };
    while (other < other_rows.end(row) && columns_of_others[other_rows.column(other)] < first)
      visit_other();
    for (PetscInt entry = own_rows.begin(row); entry < own_rows.end(row); ++entry)
      visit(row, first + own_rows.column(entry), own_rows.value(entry));
    while (other < other_rows.end(row)) visit_other();
  }
}

bool is_sequential(Mat aij) {
  PetscBool is = PETSC_FALSE;
  check(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(aij), MATSEQAIJ, &is));
  return is == PETSC_TRUE;
}

/// Rows in the arrays that weft takes.
struct RowArrays {
  std::vector<std::int64_t> offsets;  // [row count + 1]
  std::vector<std::int64_t> columns;
  std::vector<double> values;
};

RowArrays rows_of(Mat aij) {
  RowArrays rows;
  if (is_sequential(aij)) {
    const SequentialRows own(aij);
    rows.offsets.resize(static_cast<std::size_t>(own.row_count()) + 1);
    rows.columns.resize(static_cast<std::size_t>(own.entry_count()));
    for (PetscInt row = 0; row < own.row_count(); ++row)
      rows.offsets[static_cast<std::size_t>(row) + 1] = own.end(row);
    for (PetscInt entry = 0; entry < own.entry_count(); ++entry)
      rows.columns[static_cast<std::size_t>(entry)] = own.column(entry);
    rows.values.assign(own.values().begin(), own.values().end());
    return rows;
  }
  PetscInt row_count = 0;
  MatInfo info{};
  check(MatGetLocalSize(aij, &row_count, nullptr));
  check(MatGetInfo(aij, MAT_LOCAL, &info));
  rows.offsets.resize(static_cast<std::size_t>(row_count) + 1);
  rows.columns.reserve(static_cast<std::size_t>(info.nz_used));
  rows.values.reserve(static_cast<std::size_t>(info.nz_used));
  visit_rows(aij, [&](PetscInt row, PetscInt column, PetscScalar value) {
    rows.columns.push_back(column);
    rows.values.push_back(value);
    rows.offsets[static_cast<std::size_t>(row) + 1] =
        static_cast<std::int64_t>(rows.columns.size());
  });
  // Rows without entries.
  for (std::size_t row = 1; row < rows.offsets.size(); ++row)
    rows.offsets[row] = std::max(rows.offsets[row], rows.offsets[row - 1]);
  return rows;
}

/// The number of this rank's first row. Throws Error where the matrix is not square.
std::int64_t first_row_of(Mat aij) {
  PetscInt first = 0;
  PetscInt end = 0;
  PetscInt row_count = 0;
  PetscInt column_count = 0;
  check(MatGetSize(aij, &row_count, &column_count));
  if (row_count != column_count)
    throw Error(ErrorCode::bad_input, "Mat: found " + std::to_string(row_count) + " rows and " +
                                          std::to_string(column_count) +
                                          " columns; expected a square matrix");
  check(MatGetOwnershipRange(aij, &first, &end));
  return first;
}

/// The rows of all ranks of the group, at its leader.
RowArrays collective_gather(const NodeGroup& group, const RowArrays& own) {
  group.collective_expect_fit(std::max(std::ssize(own.columns), std::ssize(own.offsets)));
  std::vector<std::int64_t> counts(own.offsets.size() - 1);
  for (std::size_t row = 0; row < counts.size(); ++row)
    counts[row] = own.offsets[row + 1] - own.offsets[row];
  const std::vector<std::int64_t> lengths =
      group.collective_gather(std::span(std::as_const(counts)));
  RowArrays all{{0},
                group.collective_gather(std::span(own.columns)),
                group.collective_gather(std::span(own.values))};
  for (const std::int64_t length : lengths) all.offsets.push_back(all.offsets.back() + length);
  return all;
}

Matrix collective_from_rows(const Job& job, std::int64_t first, const RowArrays& rows) {
  // PETSc says of every matrix what it is, so that half of one is not meant.
  return Matrix::from_rows(job, {first, rows.offsets, rows.columns, rows.values},
                           {{"triangle", "as-is"}});
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

}  // namespace

MatrixOfMat::~MatrixOfMat() { clear(); }

void MatrixOfMat::clear() {
  if (converted_) static_cast<void>(MatDestroy(&converted_));
  matrix_.reset();
  is_made_ = false;
}

void MatrixOfMat::collective_make(Mat aij) {
  matrix_.reset();
  const std::int64_t first = first_row_of(aij);
  RowArrays rows = rows_of(aij);
  if (!group_) {
    matrix_.emplace(collective_from_rows(
        job_of(PetscObjectComm(reinterpret_cast<PetscObject>(aij))), first, rows));
    return;
  }
  rows = collective_gather(*group_, rows);
  group_->collective_lead(
      [&] { matrix_.emplace(collective_from_rows(group_->job(), first, rows)); });
}

void MatrixOfMat::collective_update(Mat aij) {
  if (!group_ && is_sequential(aij)) return matrix_->update_values(SequentialRows(aij).values());
  std::vector<double> values;
  if (is_sequential(aij)) {
    const SequentialRows rows(aij);
    values.assign(rows.values().begin(), rows.values().end());
  } else {
    visit_rows(aij, [&](PetscInt, PetscInt, PetscScalar value) { values.push_back(value); });
  }
  if (!group_) return matrix_->update_values(values);
  values = group_->collective_gather(std::span(std::as_const(values)));
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

MatFacts MatrixOfMat::collective_facts(Mat mat) const {
  MatFacts facts = facts_of(mat);
  if (!group_) return facts;
  facts.near_null = group_->collective_gather(std::span(std::as_const(facts.near_null)));
  facts.null_space = group_->collective_gather(std::span(std::as_const(facts.null_space)));
  return facts;
}

}  // namespace weft::petsc
