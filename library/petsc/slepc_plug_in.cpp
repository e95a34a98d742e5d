// What PETSc calls when it loads libweft_slepc.so, which has all of libweft_petsc.so, too.
#include <slepceps.h>

#include "library/petsc/registration.h"
#include "library/petsc/weft_eps.h"

extern "C" __attribute__((visibility("default"))) PetscErrorCode
PetscDLLibraryRegister_weft_slepc(void);

/// Makes the types "weft" known, of PC, KSP and EPS.
PetscErrorCode PetscDLLibraryRegister_weft_slepc(void) {
  if (const PetscErrorCode code = weft::petsc::register_types()) return code;
  return EPSRegister("weft", weft::petsc::create_eps);
}
