// What PETSc calls when it loads libweft_petsc.so: by -dll_append FILE, or PetscDLLibraryAppend.
#include <petscksp.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <span>

#include "library/petsc/registration.h"

// NOLINTBEGIN(readability-identifier-naming): PETSc calls a function of this name
extern "C" __attribute__((visibility("default"))) PetscErrorCode
PetscDLLibraryRegister_weft_petsc(void);

/// Makes the types "weft" known, of PC and KSP.
PetscErrorCode PetscDLLibraryRegister_weft_petsc(void) { return weft::petsc::register_types(); }
// NOLINTEND(readability-identifier-naming)

namespace weft::petsc {
namespace {

/// Registers `create` by the names that `option` lists, those of PETSc's own types: a program that
/// names one of them gets weft's. `add`: PCRegister or KSPRegister.
template <class Create>
PetscErrorCode replace_types(const char* option, PetscErrorCode (*add)(const char*, Create),
                             Create create) {
  std::array<char*, 16> names{};
  PetscInt count = names.size();
  PetscBool is_set = PETSC_FALSE;
  if (const PetscErrorCode code =
          PetscOptionsGetStringArray(nullptr, nullptr, option, names.data(), &count, &is_set))
    return code;
  PetscErrorCode result = static_cast<PetscErrorCode>(0);
  for (char* name : std::span(names).first(static_cast<std::size_t>(is_set ? count : 0))) {
    if (!result) result = add(name, create);
    static_cast<void>(PetscFree(name));
  }
  return result;
}

}  // namespace

PetscLogEvent& event_of_taking() {
  static PetscLogEvent event = 0;
  return event;
}

PetscErrorCode register_types() {
  // Of the PETSc that this is linked with: where it is not being started, another one has called.
  if (PETSC_COMM_WORLD == MPI_COMM_NULL) {
    static_cast<void>(PetscFPrintf(
        MPI_COMM_SELF, stderr,
        "libweft_petsc: found another PETSc than the one that this was built for; expected real "
        "numbers in double precision, and the same version and size of integers\n"));
    return static_cast<PetscErrorCode>(PETSC_ERR_SUP);
  }
  if (const PetscErrorCode code =
          PetscLogEventRegister("WeftTakeMat", MAT_CLASSID, &event_of_taking()))
    return code;
  if (const PetscErrorCode code = PCRegister("weft", create_pc)) return code;
  if (const PetscErrorCode code = KSPRegister("weft", create_ksp)) return code;
  if (const PetscErrorCode code = replace_types("-weft_replaces_pc", PCRegister, &create_pc))
    return code;
  return replace_types("-weft_replaces_ksp", KSPRegister, &create_ksp);
}

}  // namespace weft::petsc
