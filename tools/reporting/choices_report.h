#pragma once

#include <optional>
#include <string>
#include <vector>

#include "spmv/matrix/storage_trial.h"
#include "tools/job/job_report.h"

namespace weft::tools {

/// Something that `weft solve FILE` chose besides the method, by the name of its option.
struct Choice {
  std::string what;
  std::string value;
  std::string why;  // a phrase
};

/// What the choices of `weft solve FILE` besides the method led to.
struct ChosenSystem {
  std::string order;  // as the rows are
  std::string order_choice;  // why, where it was chosen
  std::string partition;
  double boundary_share = 0;  // of the rows
  int ranks = 1;
  std::string asked_format;  // auto or a format
  std::string format;  // as reports name it
  std::optional<spmv::StorageTimes> storage_times;  // by which it was chosen
  bool has_undecided_storage = false;
  std::string mode;
  std::string mode_choice;  // why, where it was chosen
  std::string preconditioner;  // with its parameters
};

/// Order, partition, storage, mode and precision, as far as they were chosen.
std::vector<Choice> choices_of(const ChosenSystem& system);

/// The options of `weft solve` that name those choices which have one, as they are typed.
std::string options_of(const std::vector<Choice>& choices);

Json choices_report(const std::vector<Choice>& choices);

/// A line for each.
void print_choices(const Json& report);

}  // namespace weft::tools
