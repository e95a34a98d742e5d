#pragma once

#include <functional>
#include <string>

namespace weft::comm_thread {

/// Thread support of an MPI library, weakest first (MPI 4.0, section 11.6).
enum class ThreadLevel { single, funneled, serialized, multiple };

/// MPI's name of the level, such as "MPI_THREAD_MULTIPLE".
std::string name(ThreadLevel level);

/// First line of what an MPI library says about itself, with one blank for each tab or several.
std::string first_line_of_version(std::string text);

/// True for MPICH and libraries made of it. `version`: as MpiSession::library_version.
bool is_version_of_mpich(const std::string& version);

/// Initialises MPI for the lifetime of the object and finalises it in the destructor. If MPI is
/// already initialised, the session uses it as it is and does not finalise it.
///
/// Asks for MPI_THREAD_MULTIPLE. If the library provides less, CommThread starts no thread and the
/// calling thread progresses every schedule.
/// Thread: the main thread. Collective over all processes. Sessions end in the reverse of the order
/// in which they began.
class MpiSession {
 public:
  /// `wanted`: requested level; less than `multiple` only to test the fallback.
  explicit MpiSession(ThreadLevel wanted = ThreadLevel::multiple);
  /// Waits for all processes and finalises MPI.
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  /// Level obtained, at most the requested one.
  ThreadLevel thread_level() const { return thread_level_; }

  /// Promises that the exception about to end the session ends it on every rank: MPI is then
  /// finalised as usual. Any other exception aborts the job, because some ranks may go on.
  void expect_exception_on_all_ranks() { is_exception_on_all_ranks_ = true; }

  /// Registers `work` to run at the end of the session that initialised MPI, last registered first.
  /// Does not run if an exception ends the job. Thread: one at a time.
  static void at_end(std::function<void()> work);

  /// Rank of this process among all, once a session has begun.
  static int rank();

  /// First line of the library's own description ("MPICH Version: 4.0.2").
  static std::string library_version();

  /// True if the library is MPICH, as it says itself: a program that was built for MPI's common
  /// binary interface meets others, too.
  static bool is_mpich();

  /// Ends the whole job, on every rank, after the time that mpiexec needs to pass on what was
  /// printed: a quarter of a second.
  [[noreturn]] static void abort(int exit_code);

 private:
  ThreadLevel thread_level_;
  bool finalises_ = false;
  bool is_exception_on_all_ranks_ = false;
};

}  // namespace weft::comm_thread
