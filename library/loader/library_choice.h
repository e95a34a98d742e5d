#pragma once

#include <functional>
#include <string>
#include <vector>

namespace weft::loader {

/// What decides which MPI library a process calls.
struct Surroundings {
  /// An environment variable, or null.
  std::function<const char*(const char* name)> variable;
  /// The MPI library of an mpi4py that has been imported; empty where none has.
  std::string file_of_mpi4py;
  /// The MPI library that the program itself is linked with, or empty.
  std::string file_of_program{};
  /// The program of the launcher that has started this process; empty where it is not known.
  std::string launcher;
  /// Where libraries are looked for before the loader is asked: lib of Python's environment.
  std::vector<std::string> folders;
};

/// Libraries to try, and why these.
struct Choice {
  /// In this order: paths, or names for the loader. Empty: this process is alone.
  std::vector<std::string> files;
  /// The first part of an error: "found WEFT_MPI=mpich".
  std::string reason;
  /// One of them has to be there: without it the process would take itself to be alone.
  bool is_needed = false;
};

/// By the first of these that says something: mpi4py; the program's own library; WEFT_MPI (mpich,
/// openmpi, mpiabi, none, or the path of a library); the variables of the launcher, whose own
/// libraries come first. Without any of them the process is alone and needs no library.
///
/// Throws std::invalid_argument where WEFT_MPI says something else.
Choice choose_library(const Surroundings& surroundings);

}  // namespace weft::loader
