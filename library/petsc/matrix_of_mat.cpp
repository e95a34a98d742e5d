#include "library/petsc/matrix_of_mat.h"

#include <petsc/private/petscimpl.h>

#include <algorithm>
#include <array>
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
  const PetscScalar* value(PetscInt entry) const { return values_ + entry; }
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

/// The two blocks of this rank's rows of a MATMPIAIJ. In a row the block of this rank's columns
/// lies between the others, and both have their columns in order:
///
///     others before | own block | others behind
class DividedRows {
 public:
  explicit DividedRows(Mat mat) : blocks_(mat), own_(blocks_.own), others_(blocks_.others) {}

  PetscInt row_count() const { return own_.row_count(); }
  PetscInt entry_count() const { return own_.entry_count() + others_.entry_count(); }

  /// Calls visit_others(entries, first, last) and visit_own(entries, first, last) for the parts of
  /// each row in turn, and end_row() behind it.
  template <class VisitOthers, class VisitOwn, class EndRow>
  void visit(const VisitOthers& visit_others, const VisitOwn& visit_own,
             const EndRow& end_row) const {
    for (PetscInt row = 0; row < own_.row_count(); ++row) {
      const PetscInt begin = others_.begin(row);
      const PetscInt end = others_.end(row);
      PetscInt behind = begin;
      while (behind < end && column_of_other(behind) < blocks_.first) ++behind;
      visit_others(others_, begin, behind);
      visit_own(own_, own_.begin(row), own_.end(row));
      visit_others(others_, behind, end);
      end_row();
    }
  }

  PetscInt column_of_own(PetscInt entry) const { return blocks_.first + own_.column(entry); }
  PetscInt column_of_other(PetscInt entry) const {
    return blocks_.columns_of_others[others_.column(entry)];
  }

 private:
  struct Blocks {
    explicit Blocks(Mat mat) {
      check(MatMPIAIJGetSeqAIJ(mat, &own, &others, &columns_of_others));
      check(MatGetOwnershipRangeColumn(mat, &first, nullptr));
    }
    Mat own = nullptr;
    Mat others = nullptr;
    const PetscInt* columns_of_others = nullptr;
    PetscInt first = 0;
  };

  Blocks blocks_;
  SequentialRows own_;
  SequentialRows others_;
};

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

/// In the order of RowArrays.
std::vector<double> values_of(const DividedRows& rows) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(rows.entry_count()));
  const auto append = [&](const SequentialRows& of, PetscInt first, PetscInt last) {
    values.insert(values.end(), of.value(first), of.value(last));
  };
  rows.visit(append, append, [] {});
  return values;
}

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
  const DividedRows own(aij);
  rows.offsets.reserve(static_cast<std::size_t>(own.row_count()) + 1);
  rows.offsets.push_back(0);
  rows.columns.reserve(static_cast<std::size_t>(own.entry_count()));
  own.visit(
      [&](const SequentialRows&, PetscInt first, PetscInt last) {
        for (; first < last; ++first) rows.columns.push_back(own.column_of_other(first));
      },
      [&](const SequentialRows&, PetscInt first, PetscInt last) {
        for (; first < last; ++first) rows.columns.push_back(own.column_of_own(first));
      },
      [&] { rows.offsets.push_back(std::ssize(rows.columns)); });
  rows.values = values_of(own);
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
    values = values_of(DividedRows(aij));
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
