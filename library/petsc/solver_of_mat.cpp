#include "library/petsc/solver_of_mat.h"

#include <cstddef>
#include <utility>

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
  const bool has_coordinates = options.find("coordinates") || facts.dimensions > 0;
  if (is_amg(options) && facts.block_size > 1 && !has_coordinates)
    set_unless_given(used, "block-size", std::to_string(facts.block_size));
  return used;
}

/// At the leader of a group, or at all ranks where there is none.
template <class Work>
void SolverOfMat::collective_lead(const Work& work) const {
  if (matrix_.group())
    matrix_.group()->collective_lead(work);
  else
    work();
}

/// A solver for `way_`.
void SolverOfMat::collective_try(const MatFacts& facts, const UserPreconditioner* preconditioner) {
  if (preconditioner) {
    UserPreconditioner used = *preconditioner;
    used.is_symmetric = way_.is_for_symmetric;
    solver_.emplace(matrix_.matrix(), way_.options, used);
    return;
  }
  SolverVectors vectors;
  uses_coordinates_ = false;
  const bool takes_near_null =
      is_amg(way_.options) && !way_.options.find("near-null") && !way_.options.find("coordinates");
  if (takes_near_null && facts.near_null_count > 0) {
    vectors.near_null = facts.near_null;
    vectors.near_null_count = facts.near_null_count;
  } else if (takes_near_null) {
    vectors.coordinates = facts.coordinates;
    vectors.dimensions = facts.dimensions;
    uses_coordinates_ = facts.dimensions > 0;
  }
  if (!way_.options.find("null-space")) vectors.null_space = facts.null_space;
  solver_.emplace(matrix_.matrix(), way_.options, vectors);
}

void SolverOfMat::collective_make(Mat mat, const std::vector<Way>& ways,
                                  const UserPreconditioner* preconditioner) {
  const MatFacts facts = matrix_.collective_facts(mat, nodes_);
  why_not_.clear();
  solver_.reset();
  is_made_ = false;
  for (const Way& way : ways) {
    way_ = {with_facts(way.options, facts), way.is_for_symmetric};
    try {
      collective_lead([&] { collective_try(facts, preconditioner); });
      is_made_ = true;
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
  if (!matrix_.is_made()) is_made_ = false;
  const MatrixOfMat::News news = matrix_.collective_take(mat);
  std::string text;
  for (const Way& way : ways) text += petsc::text_of(way.options) + "; ";
  if (is_made_ && news != MatrixOfMat::News::all && text == text_of_ways_) return;
  collective_make(mat, ways, preconditioner);
  text_of_ways_ = text;
}

void SolverOfMat::collective_precondition(std::span<const double> r, std::span<double> z) {
  const NodeGroup* const group = matrix_.group();
  if (!group) return solver_->precondition(r, z);
  const std::vector<double> from = group->collective_gather(r);
  std::vector<double> to(from.size());
  group->collective_lead([&] { solver_->precondition(from, to); });
  group->collective_scatter(to, z);
}

void SolverOfMat::use_coordinates(NodeCoordinates nodes) {
  nodes_ = std::move(nodes);
  is_made_ = false;
}

void SolverOfMat::clear() {
  solver_.reset();
  is_made_ = false;
  matrix_.clear();
}

std::vector<std::string> SolverOfMat::lines() const {
  std::vector<std::string> lines;
  if (!is_made_) return lines;
  lines.push_back("options in use: " + petsc::text_of(way_.options));
  if (!why_not_.empty()) lines.push_back("because: " + why_not_);
  if (uses_coordinates_) lines.push_back("near-null space: rigid bodies, by the coordinates given");
  if (solver_)
    for (const std::string& remark : matrix_.matrix().remarks()) lines.push_back("note: " + remark);
  return lines;
}

}  // namespace weft::petsc
