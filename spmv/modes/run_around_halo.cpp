#include "spmv/modes/run_around_halo.h"

#include <chrono>
#include <functional>

namespace weft::spmv {
namespace {

/// A test is a call of MPI_Testsome: 0.2 µs through shared memory, more than 1 µs where the library
/// asks the operating system. Every 20 µs it costs a few percent at most, and messages that take
/// long enough to be worth hiding need no more of them.
constexpr std::chrono::microseconds time_between_tests{20};

/// Tests an exchange when it is called, but not too often, until it is complete.
class PeriodicTest {
 public:
  explicit PeriodicTest(const comm_thread::Pending& halo) : halo_(halo) {}

  void operator()() {
    if (is_complete_) return;
    const auto now = Clock::now();
    if (now - last_ < time_between_tests) return;
    is_complete_ = halo_.test();
    last_ = now;
  }

 private:
  using Clock = std::chrono::steady_clock;
  const comm_thread::Pending& halo_;
  Clock::time_point last_ = Clock::now();
  bool is_complete_ = false;
};

}  // namespace

using perfmodel::Phase;
using perfmodel::PhaseScope;

std::optional<comm_thread::Pending> pack_and_start(const comm_thread::TeamThread& thread,
                                                   const OverlappedWork& work, Starter starter) {
  auto& messages = work.halo.messages();
  const PhaseScope scope(work.timer, thread.index, Phase::pack);
  work.halo.pack(thread.index);
  thread.barrier();
  if (!thread.is_primary() || messages.is_empty()) return std::nullopt;
  if (starter == Starter::primary_thread) return messages.start_here(work.comm_thread);
  std::optional<comm_thread::Pending> halo = messages.post(work.comm_thread);
  halo->let_begin();
  return halo;
}

void run_around_halo(const comm_thread::TeamThread& thread, const OverlappedWork& work,
                     const std::optional<comm_thread::Pending>& halo, Progress progress) {
  {
    const PhaseScope scope(work.timer, thread.index, Phase::local_part);
    if (halo && progress == Progress::in_tests)
      work.work.run(RowSet::interior, thread, PeriodicTest(*halo));
    else
      work.work.run(RowSet::interior, thread, {});
  }
  if (!work.halo.messages().is_empty()) {
    const PhaseScope scope(work.timer, thread.index, Phase::halo_wait);
    if (halo) halo->wait();
    thread.barrier();
    work.halo.unpack(thread);
  }
  const PhaseScope scope(work.timer, thread.index, Phase::boundary_part);
  work.work.run(RowSet::boundary, thread, {});
}

}  // namespace weft::spmv
