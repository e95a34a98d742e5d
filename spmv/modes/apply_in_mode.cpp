#include "spmv/modes/apply_in_mode.h"

#include "spmv/modes/overlap_mode.h"
#include "spmv/modes/task_mode.h"
#include "spmv/modes/vector_mode.h"

namespace weft::spmv {

void apply_in_mode(const comm_thread::TeamThread& thread, Mode mode,
                   const Multiplication& product) {
  switch (mode) {
    case Mode::vector:
      return multiply_in_vector_mode(thread, product);
    case Mode::overlap:
      return multiply_in_overlap_mode(thread, product, Progress::in_wait);
    case Mode::overlap_test:
      return multiply_in_overlap_mode(thread, product, Progress::in_tests);
    case Mode::task:
      return multiply_in_task_mode(thread, product);
  }
}

}  // namespace weft::spmv
