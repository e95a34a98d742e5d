#pragma once

#include <slepceps.h>

namespace weft::petsc {

/// Makes an EPS of the type "weft": the search of weft::eigenvalues, for symmetric matrices.
PetscErrorCode create_eps(EPS eps);

}  // namespace weft::petsc
