#include "comm_thread/mpi/mpi_session.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "comm_thread/mpi/mpi_error.h"
#include "comm_thread/mpi/patient_wait.h"

namespace weft::comm_thread {
namespace {

int to_mpi(ThreadLevel level) {
  constexpr std::array levels{MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                              MPI_THREAD_MULTIPLE};
  return levels[static_cast<std::size_t>(level)];
}

ThreadLevel from_mpi(int level) {
  if (level == MPI_THREAD_MULTIPLE) return ThreadLevel::multiple;
  if (level == MPI_THREAD_SERIALIZED) return ThreadLevel::serialized;
  if (level == MPI_THREAD_FUNNELED) return ThreadLevel::funneled;
  return ThreadLevel::single;
}

std::vector<std::function<void()>> work_at_end;

void wait_for_all() {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibarrier(MPI_COMM_WORLD, &request), "wait for the end of all ranks");
  wait_patiently(request, "wait for the end of all ranks");
}

}  // namespace

std::string name(ThreadLevel level) {
  constexpr std::array names{"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED",
                             "MPI_THREAD_MULTIPLE"};
  return names[static_cast<std::size_t>(level)];
}

std::string first_line_of_version(std::string text) {
  text.resize(std::min(text.size(), text.find('\n')));
  std::replace(text.begin(), text.end(), '\t', ' ');
  const auto is_second_blank = [](char a, char b) { return a == ' ' && b == ' '; };
  text.erase(std::unique(text.begin(), text.end(), is_second_blank), text.end());
  return text;
}

bool is_version_of_mpich(const std::string& version) {
  return version.find("MPICH") != std::string::npos || version.starts_with("MVAPICH");
}

MpiSession::MpiSession(ThreadLevel wanted) {
  int is_initialised = 0;
  int provided = MPI_THREAD_SINGLE;
  MPI_Initialized(&is_initialised);
  if (is_initialised) {
    check_mpi(MPI_Query_thread(&provided), "ask for the thread level");
  } else {
    check_mpi(MPI_Init_thread(nullptr, nullptr, to_mpi(wanted), &provided),
              "initialise the library");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    finalises_ = true;
  }
  // MPICH may grant more than was asked for; whoever asks for less wants to see the fall-back.
  thread_level_ = std::min(from_mpi(provided), wanted);
}

MpiSession::~MpiSession() {
  if (!finalises_) return;
  // While an exception unwinds, the other ranks may never reach their MPI_Finalize.
  if (std::uncaught_exceptions() > 0 && !is_exception_on_all_ranks_)
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  wait_for_all();
  for (; !work_at_end.empty(); work_at_end.pop_back()) work_at_end.back()();
  // Open MPI's OpenSHMEM finalizes MPI as well.
  int is_finalized = 0;
  MPI_Finalized(&is_finalized);
  if (!is_finalized) MPI_Finalize();
}

void MpiSession::at_end(std::function<void()> work) { work_at_end.push_back(std::move(work)); }

int MpiSession::rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

std::string MpiSession::library_version() {
  // More than any library writes, whichever has been loaded.
  std::string text(65536, '\0');
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  return first_line_of_version(text.c_str());
}

bool MpiSession::is_mpich() { return is_version_of_mpich(library_version()); }

void MpiSession::abort(int exit_code) {
  // mpiexec loses what it has not passed on yet when it is told to end the job.
  constexpr auto time_to_pass_on = std::chrono::milliseconds(250);
  std::fflush(stderr);
  std::this_thread::sleep_for(time_to_pass_on);
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::abort();
}

}  // namespace weft::comm_thread
