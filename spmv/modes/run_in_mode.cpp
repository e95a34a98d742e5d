#include "spmv/modes/run_in_mode.h"

#include "spmv/modes/overlap_mode.h"
#include "spmv/modes/task_mode.h"
#include "spmv/modes/vector_mode.h"

namespace weft::spmv {

void run_in_mode(const comm_thread::TeamThread& thread, Mode mode, const OverlappedWork& work) {
  switch (mode) {
    case Mode::vector:
      return run_in_vector_mode(thread, work);
    case Mode::overlap:
      return run_in_overlap_mode(thread, work, Progress::in_wait);
    case Mode::overlap_test:
      return run_in_overlap_mode(thread, work, Progress::in_tests);
    case Mode::task:
      return run_in_task_mode(thread, work);
  }
}

double predicted_seconds(Mode mode, const perfmodel::ModeCosts& costs) {
  switch (mode) {
    case Mode::vector:
    case Mode::overlap:
      return perfmodel::sequential_seconds(costs);
    case Mode::overlap_test:
      return perfmodel::overlapped_seconds(costs);
    case Mode::task:
      break;
  }
  return perfmodel::overlapped_seconds(costs) + costs.handover;
}

}  // namespace weft::spmv
