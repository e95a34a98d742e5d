#include "library/petsc/shared_job.h"

#include <array>
#include <cstddef>

#include "library/petsc/call.h"

namespace weft::petsc {
namespace {

std::vector<Job>& jobs() {
  static std::vector<Job> all;
  return all;
}

/// Called by PetscFinalize, before MPI ends.
PetscErrorCode end_jobs() {
  jobs().clear();
  return static_cast<PetscErrorCode>(0);
}

JobOptions options_of_database() {
  JobOptions options;
  // PETSc's ranks are the caller's, and so are the cores that they run on.
  options.pinning = Pinning::keep;
  PetscInt threads = 0;
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

}  // namespace

Job job_of(MPI_Comm communicator) {
  for (const Job& job : jobs()) {
    int relation = MPI_UNEQUAL;
    MPI_Comm_compare(job.communicator(), communicator, &relation);
    if (relation == MPI_IDENT || relation == MPI_CONGRUENT) return job;
  }
  if (jobs().empty()) check(PetscRegisterFinalize(end_jobs));
  jobs().emplace_back(communicator, options_of_database());
  return jobs().back();
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
