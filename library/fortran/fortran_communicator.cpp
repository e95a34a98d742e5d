#include "library/include/weft/weft.h"

/// weft_job_create for a communicator as Fortran has it, which the module `weft` calls.
extern "C" int weft_fortran_job_create(MPI_Fint communicator, const weft_job_options* options,
                                       weft_job** job) {
  return weft_job_create(MPI_Comm_f2c(communicator), options, job);
}
