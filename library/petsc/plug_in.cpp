// What PETSc calls when it loads libweft_petsc.so: by -dll_append FILE, or PetscDLLibraryAppend.
#include <petscksp.h>

#include <cstdio>

#include "library/petsc/registration.h"

extern "C" __attribute__((visibility("default"))) PetscErrorCode
PetscDLLibraryRegister_weft_petsc(void);

/// Makes the types "weft" known, of PC and KSP.
PetscErrorCode PetscDLLibraryRegister_weft_petsc(void) { return weft::petsc::register_types(); }

namespace weft::petsc {

PetscErrorCode register_types() {
  // Of the PETSc that this is linked with: where it is not being started, another one has called.
  if (PETSC_COMM_WORLD == MPI_COMM_NULL) {
    static_cast<void>(PetscFPrintf(
        MPI_COMM_SELF, stderr,
        "libweft_petsc: found another PETSc than the one that this was built for; expected real "
        "numbers in double precision, and the same version and size of integers\n"));
    return static_cast<PetscErrorCode>(PETSC_ERR_SUP);
  }
  if (const PetscErrorCode code = PCRegister("weft", create_pc)) return code;
  return KSPRegister("weft", create_ksp);
}

}  // namespace weft::petsc
