#include "comm_thread/mpi/option_name.h"

namespace weft::comm_thread {
namespace {

bool has_dashes = false;

}  // namespace

std::string option_name(std::string_view name) {
  return (has_dashes ? "--" : "") + std::string(name);
}

std::string option_name(std::string_view name, std::string_view value) {
  return option_name(name) + (has_dashes ? " " : "=") + std::string(value);
}

void name_options_with_dashes() { has_dashes = true; }

}  // namespace weft::comm_thread
