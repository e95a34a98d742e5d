#pragma once

#include <petscksp.h>

#include <cstddef>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <vector>
#include <weft/weft.hpp>

/// Calls from PETSc into weft, and back.
namespace weft::petsc {

/// A function of PETSc has failed; PETSc has kept why.
class PetscFault : public std::exception {
 public:
  explicit PetscFault(PetscErrorCode code) : code_(code) {}
  PetscErrorCode code() const { return code_; }

 private:
  PetscErrorCode code_;
};

/// Throws PetscFault where a function of PETSc, inside `answer`, has failed.
inline void check(PetscErrorCode code) {
  if (code) throw PetscFault(code);
}

/// Calls `work`; what it throws becomes an error of PETSc on `object`.
template <class Object, class Work>
PetscErrorCode answer(Object object, const char* function, const Work& work) {
  const MPI_Comm communicator = PetscObjectComm(reinterpret_cast<PetscObject>(object));
  try {
    work();
    return static_cast<PetscErrorCode>(0);
  } catch (const PetscFault& fault) {
    return PetscError(communicator, __LINE__, function, __FILE__, fault.code(), PETSC_ERROR_REPEAT,
                      " ");
  } catch (const Error& error) {
    const auto code = error.code() == ErrorCode::bad_input       ? PETSC_ERR_ARG_WRONG
                      : error.code() == ErrorCode::out_of_memory ? PETSC_ERR_MEM
                                                                 : PETSC_ERR_LIB;
    return PetscError(communicator, __LINE__, function, __FILE__, static_cast<PetscErrorCode>(code),
                      PETSC_ERROR_INITIAL, "weft: %s", error.what());
  } catch (const std::bad_alloc&) {
    return PetscError(communicator, __LINE__, function, __FILE__,
                      static_cast<PetscErrorCode>(PETSC_ERR_MEM), PETSC_ERROR_INITIAL,
                      "weft: out of memory");
  } catch (const std::exception& error) {
    return PetscError(communicator, __LINE__, function, __FILE__,
                      static_cast<PetscErrorCode>(PETSC_ERR_LIB), PETSC_ERROR_INITIAL, "weft: %s",
                      error.what());
  }
}

/// Prints lines to a viewer of text; nothing to another one.
inline void print_lines(PetscViewer viewer, const std::vector<std::string>& lines) {
  PetscBool is_text = PETSC_FALSE;
  check(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &is_text));
  if (!is_text) return;
  for (const std::string& line : lines)
    check(PetscViewerASCIIPrintf(viewer, "  %s\n", line.c_str()));
}

/// The values of a vector to be read, for as long as this lives.
class ReadVec {
 public:
  explicit ReadVec(Vec vector) : vector_(vector) {
    PetscInt count = 0;
    check(VecGetLocalSize(vector, &count));
    check(VecGetArrayRead(vector, &values_));
    count_ = static_cast<std::size_t>(count);
  }
  ~ReadVec() { static_cast<void>(VecRestoreArrayRead(vector_, &values_)); }
  ReadVec(const ReadVec&) = delete;
  ReadVec& operator=(const ReadVec&) = delete;
  std::span<const double> span() const { return {values_, count_}; }

 private:
  Vec vector_;
  const PetscScalar* values_ = nullptr;
  std::size_t count_ = 0;
};

/// The values of a vector to be changed, for as long as this lives.
class ChangedVec {
 public:
  explicit ChangedVec(Vec vector) : vector_(vector) {
    PetscInt count = 0;
    check(VecGetLocalSize(vector, &count));
    check(VecGetArray(vector, &values_));
    count_ = static_cast<std::size_t>(count);
  }
  ~ChangedVec() { static_cast<void>(VecRestoreArray(vector_, &values_)); }
  ChangedVec(const ChangedVec&) = delete;
  ChangedVec& operator=(const ChangedVec&) = delete;
  std::span<double> span() const { return {values_, count_}; }

 private:
  Vec vector_;
  PetscScalar* values_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace weft::petsc
