#include "library/petsc/solver_of_mat.h"

#include <cstddef>

#include "library/petsc/option_prefix.h"
#include "library/petsc/shared_job.h"

namespace weft::petsc {
namespace {

bool is_amg(const Options& options) {
  return options.find("preconditioner").value_or("").substr(0, 3) == "amg";
}

void set_unless_given(Options& options, const char* name, const std::string& value) {
  if (!options.find(name)) options.set(name, value);
}

}  // namespace

SolverOfMat::Way SolverOfMat::for_symmetric(const Options& options) {
  Way way{options, true};
  way.options.set("method", "cg");
  return way;
}

SolverOfMat::Way SolverOfMat::for_others(const Options& options) {
  Way way{options, false};
  way.options.set("method", "gmres");
  return way;
}

Options SolverOfMat::with_facts(const Options& options, const MatFacts& facts) const {
  Options used = options;
  if (facts.has_constant_null_space) set_unless_given(used, "null-space", "constant");
  const bool has_coordinates = options.find("coordinates").has_value();
  if (is_amg(options) && facts.block_size > 1 && !has_coordinates)
    set_unless_given(used, "block-size", std::to_string(facts.block_size));
  return used;
}

void SolverOfMat::collective_make(Mat mat, const std::vector<Way>& ways,
                                  const UserPreconditioner* preconditioner) {
  const MatFacts facts = MatrixOfMat::facts_of(mat);
  why_not_.clear();
  solver_.reset();
  for (const Way& way : ways) {
    way_ = {with_facts(way.options, facts), way.is_for_symmetric};
    try {
      if (preconditioner) {
        UserPreconditioner used = *preconditioner;
        used.is_symmetric = way.is_for_symmetric;
        solver_.emplace(matrix(), way_.options, used);
        return;
      }
      SolverVectors vectors;
      const bool takes_near_null = is_amg(way_.options) && !way_.options.find("near-null") &&
                                   !way_.options.find("coordinates");
      if (takes_near_null && facts.near_null_count > 0) {
        vectors.near_null = facts.near_null;
        vectors.near_null_count = facts.near_null_count;
      }
      if (!way_.options.find("null-space")) vectors.null_space = facts.null_space;
      solver_.emplace(matrix(), way_.options, vectors);
      return;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::bad_input) throw;
      if (why_not_.empty()) why_not_ = error.what();
    }
  }
  throw Error(ErrorCode::bad_input, why_not_);
}

void SolverOfMat::collective_take(Mat mat, const std::vector<Way>& ways,
                                  const UserPreconditioner* preconditioner) {
  if (!matrix_.is_made()) solver_.reset();
  const MatrixOfMat::News news = matrix_.collective_take(mat);
  std::string text;
  for (const Way& way : ways) text += petsc::text_of(way.options) + "; ";
  if (solver_ && news != MatrixOfMat::News::all && text == text_of_ways_) return;
  collective_make(mat, ways, preconditioner);
  text_of_ways_ = text;
}

void SolverOfMat::clear() {
  solver_.reset();
  matrix_.clear();
}

std::vector<std::string> SolverOfMat::lines() const {
  std::vector<std::string> lines;
  if (!solver_) return lines;
  lines.push_back("options in use: " + petsc::text_of(way_.options));
  if (!why_not_.empty()) lines.push_back("because: " + why_not_);
  for (const std::string& remark : matrix().remarks()) lines.push_back("note: " + remark);
  return lines;
}

}  // namespace weft::petsc
