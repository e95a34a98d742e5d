#pragma once

#include <string>

#include "comm_thread/mpi/communicator.h"

namespace weft::library {

/// Files of a sequence by the pattern of their names: "A_%03d.petsc" for A_000.petsc, A_001.petsc,
/// …; the numbers begin at 0 or 1.
class NumberedFiles {
 public:
  /// Throws comm_thread::InputError where `pattern` has not one %d, %2d … or %02d ….
  explicit NumberedFiles(const std::string& pattern);

  /// True if a word is a pattern: it has a percent sign.
  static bool is_pattern(const std::string& word) { return word.find('%') != std::string::npos; }

  std::string path(int number) const;
  /// True if all ranks see that file. Collective.
  bool collective_exists(const comm_thread::Communicator& ranks, int number) const;
  /// 0 or 1. Collective. Throws comm_thread::InputError where there is neither file, or where one
  /// is missing among those that the folder of rank 0 has.
  int collective_first(const comm_thread::Communicator& ranks) const;

 private:
  void expect_no_gap(int first) const;

  std::string before_;
  std::string after_;
  int width_ = 0;  // of the number, with zeros in front
};

}  // namespace weft::library
