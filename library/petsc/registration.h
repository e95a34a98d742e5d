#pragma once

#include <petscksp.h>

namespace weft::petsc {

/// Makes a PC of the type "weft": a preconditioner of weft for methods of PETSc.
PetscErrorCode create_pc(PC pc);

/// Makes a KSP of the type "weft": a method of weft with its preconditioner, or with that of PETSc
/// where -pc_type names one.
PetscErrorCode create_ksp(KSP ksp);

/// What -log_view counts: making a matrix of weft from a Mat, and giving it new values.
PetscLogEvent& event_of_taking();

/// Makes these types known.
PetscErrorCode register_types();

}  // namespace weft::petsc
