#include "library/petsc/shared_job.h"

#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include "library/petsc/call.h"

namespace weft::petsc {
namespace {

std::vector<Job>& jobs() {
  static std::vector<Job> all;
  return all;
}

/// The groups of ranks of a communicator.
struct KnownGroup {
  MPI_Comm communicator;  // a copy
  int groups_per_node;
  std::unique_ptr<NodeGroup> group;
};

std::vector<KnownGroup>& groups() {
  static std::vector<KnownGroup> all;
  return all;
}

/// Called by PetscFinalize, before MPI ends.
PetscErrorCode end_jobs() {
  jobs().clear();
  for (KnownGroup& known : groups()) MPI_Comm_free(&known.communicator);
  groups().clear();
  return static_cast<PetscErrorCode>(0);
}

void expect_end() {
  if (jobs().empty() && groups().empty()) check(PetscRegisterFinalize(end_jobs));
}

bool have_same_ranks(MPI_Comm one, MPI_Comm other) {
  int relation = MPI_UNEQUAL;
  MPI_Comm_compare(one, other, &relation);
  return relation == MPI_IDENT || relation == MPI_CONGRUENT;
}

}  // namespace

JobOptions options_of_database(int standard_threads) {
  JobOptions options;
  // PETSc's ranks are the caller's, and so are the cores that they run on.
  options.pinning = Pinning::keep;
  PetscInt threads = standard_threads;
  PetscBool is_set = PETSC_FALSE;
  check(PetscOptionsGetInt(nullptr, nullptr, "-weft_threads", &threads, &is_set));
  if (is_set && (threads < 1 || threads > 4096))
    throw Error(ErrorCode::bad_input, "option -weft_threads: found " + std::to_string(threads) +
                                          "; expected a whole number from 1 to 4096");
  options.threads = static_cast<int>(threads);
  std::array<char, 64> word{};
  check(
      PetscOptionsGetString(nullptr, nullptr, "-weft_pinning", word.data(), word.size(), &is_set));
  if (!is_set) return options;
  const std::string pinning(word.data());
  if (pinning == "pin")
    options.pinning = Pinning::pin;
  else if (pinning == "none")
    options.pinning = Pinning::none;
  else if (pinning != "keep")
    throw Error(ErrorCode::bad_input,
                "option -weft_pinning: found " + pinning + "; expected pin, keep or none");
  return options;
}

Job job_of(MPI_Comm communicator) {
  for (const Job& job : jobs())
    if (have_same_ranks(job.communicator(), communicator)) return job;
  expect_end();
  jobs().emplace_back(communicator, options_of_database());
  return jobs().back();
}

const NodeGroup& group_of(MPI_Comm communicator, int groups_per_node) {
  for (const KnownGroup& known : groups())
    if (known.groups_per_node == groups_per_node &&
        have_same_ranks(known.communicator, communicator))
      return *known.group;
  expect_end();
  auto group = std::make_unique<NodeGroup>(communicator, groups_per_node);
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(communicator, &copy);
  groups().push_back({copy, groups_per_node, std::move(group)});
  return *groups().back().group;
}

std::vector<std::string> lines_of(const Job& job) {
  std::vector<std::string> lines{
      "weft " + version() + ": " + std::to_string(job.size()) + " ranks with " +
      std::to_string(job.thread_count()) + " compute threads each, " +
      (job.has_communication_thread() ? "a communication thread moves messages"
                                      : "the calling thread moves messages")};
  for (const Finding& finding : job.findings()) lines.push_back("note: " + finding.text);
  return lines;
}

}  // namespace weft::petsc
