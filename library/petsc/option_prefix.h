#pragma once

#include <petscksp.h>

#include <string>
#include <vector>
#include <weft/weft.hpp>

namespace weft::petsc {

/// The argument of a `setfromoptions`: a pointer to a structure, or, of newer releases, its name.
template <class Function>
struct ItemsOf;
template <class Object, class Items>
struct ItemsOf<PetscErrorCode (*)(Object, Items)> {
  using Type = Items;
};

/// Options of weft that PETSc asks for, each as `-(prefix)NAME` with underscores:
/// "-pc_weft_max_iterations" for the prefix "pc_weft_".
struct PrefixedOptions {
  std::vector<OptionHelp> all;  // solver_options() or eigenvalue_options()
  const char* prefix;
  std::vector<std::string> left_out;
};

/// Reads the options of a `setfromoptions`. PETSc's -help lists them with what they take. Lifetime:
/// only during `setfromoptions`.
template <class Items>
void read_options(Items PetscOptionsObject, const PrefixedOptions& known, Options& options);

/// "preconditioner amg:strength=0.08, tolerance 1e-10"; "" for none.
std::string text_of(const Options& options);

/// One option of PETSc: its name, the line of help, and its value, empty where there is none.
struct PetscOption {
  std::string name;
  std::string help;
  std::string value;
};
/// The options that are not left out, with the values that `options` have.
std::vector<PetscOption> petsc_options(const PrefixedOptions& known, const Options& options);
/// Takes an answer of PETSc. An option without a value means true.
void take(const PetscOption& option, const char* prefix, const std::string& word, Options& options);

template <class Items>
void read_options(Items PetscOptionsObject, const PrefixedOptions& known, Options& options) {
  for (const PetscOption& option : petsc_options(known, options)) {
    std::vector<char> word(4096);
    PetscBool is_set = PETSC_FALSE;
    if (PetscOptionsString_Private(PetscOptionsObject, option.name.c_str(), option.help.c_str(),
                                   "weft", option.value.c_str(), word.data(), word.size(), &is_set))
      throw Error(ErrorCode::bad_input, "option " + option.name + ": PETSc does not read it");
    if (is_set) take(option, known.prefix, word.data(), options);
  }
}

}  // namespace weft::petsc
