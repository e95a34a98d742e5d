#pragma once

#include <functional>
#include <string>

namespace weft::comm_thread {

/// What the MPI library allows threads to do, weakest first (MPI 4.0, section 11.6).
enum class ThreadLevel { single, funneled, serialized, multiple };

/// "MPI_THREAD_MULTIPLE" and so on.
std::string name(ThreadLevel level);

/// Initialises MPI for the lifetime of the object and finalises it in the destructor. Where MPI is
/// already initialised, it is used at the level that it has and left as it is at the end.
///
/// Asks for MPI_THREAD_MULTIPLE. A library that gives less is accepted: CommThread then starts no
/// thread and the caller's own thread progresses every schedule (see CommThread).
/// Thread: the main thread. Collective over all processes. Sessions end in the reverse of the order
/// in which they began.
class MpiSession {
 public:
  /// `wanted`: the level to ask for; less than `multiple` only to try the fall-back.
  explicit MpiSession(ThreadLevel wanted = ThreadLevel::multiple);
  /// Waits for all processes and finalises.
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  /// The level obtained; never more than the level wanted.
  ThreadLevel thread_level() const { return thread_level_; }

  /// Promises that the exception about to end the session ends it on every rank: MPI is then
  /// finalised as usual. Any other exception aborts the job, because some ranks may go on.
  void expect_exception_on_all_ranks() { is_exception_on_all_ranks_ = true; }

  /// Runs `work` at the end of the session that initialised MPI, while MPI still works; what was
  /// given last runs first. Not when an exception ends the job. Thread: one at a time.
  static void at_end(std::function<void()> work);

  /// First line of the library's own description ("MPICH Version: 4.0.2").
  static std::string library_version();

  /// Ends the whole job at once, on every rank.
  [[noreturn]] static void abort(int exit_code);

 private:
  ThreadLevel thread_level_;
  bool finalises_ = false;
  bool is_exception_on_all_ranks_ = false;
};

}  // namespace weft::comm_thread
