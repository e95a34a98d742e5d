#include "tests/system/json_report.h"

#include <functional>
#include <vector>

#include <catch2/catch.hpp>

namespace weft::tests {
namespace {

using nlohmann::json;

/// Adds a line for each of `keys` that is missing or of another kind.
void expect(const json& object, const std::string& where, const char* kind,
            bool (json::*is_kind)() const noexcept, const std::vector<const char*>& keys,
            std::string& faults) {
  for (const char* const key : keys) {
    if (!object.is_object() || !object.contains(key))
      faults += where + key + " is missing\n";
    else if (!(object.at(key).*is_kind)())
      faults += where + key + " is not " + kind + ": " + object.at(key).dump() + "\n";
  }
}

json member(const json& object, const char* key) {
  return object.is_object() && object.contains(key) ? object.at(key) : json();
}

void check_phases(const json& phases, std::string& faults) {
  const std::vector<const char*> names{"local_part", "halo_wait",     "boundary_part",
                                       "reduction",  "vector_update", "communication_thread_cpu"};
  expect(phases, "phases.", "an object", &json::is_object, names, faults);
  for (const char* const name : names)
    expect(member(phases, name), std::string("phases.") + name + ".", "a number", &json::is_number,
           {"min", "mean", "max"}, faults);
}

}  // namespace

json report_of(const ProgramResult& result) {
  INFO("standard output: " << result.output << "\nstandard error: " << result.errors);
  const json report = json::parse(result.output, nullptr, false);
  CHECK(report.is_object());
  return report.is_object() ? report : json::object();
}

std::string faults_of_solve_report(const json& report) {
  std::string faults;
  expect(report, "", "a text", &json::is_string, {"command", "method", "mode", "status"}, faults);
  expect(report, "", "a whole number", &json::is_number_integer, {"ranks", "threads", "iterations"},
         faults);
  expect(report, "", "a number", &json::is_number, {"relative_residual", "recurrence_residual"},
         faults);
  expect(report, "", "an object", &json::is_object,
         {"problem", "seconds", "phases", "performance", "placement", "environment"}, faults);
  const json problem = member(report, "problem");
  expect(problem, "problem.", "a text", &json::is_string, {"name"}, faults);
  expect(problem, "problem.", "a whole number", &json::is_number_integer, {"rows", "nonzeros"},
         faults);
  expect(member(report, "seconds"), "seconds.", "a number", &json::is_number,
         {"total", "setup", "solve"}, faults);
  check_phases(member(report, "phases"), faults);
  expect(member(report, "performance"), "performance.", "a number", &json::is_number, {"gflops"},
         faults);
  expect(member(report, "placement"), "placement.", "a list", &json::is_array, {"ranks"}, faults);
  const json environment = member(report, "environment");
  expect(environment, "environment.", "a list", &json::is_array, {"hostnames"}, faults);
  expect(environment, "environment.", "a text", &json::is_string,
         {"cpu", "mpi", "compiler", "commit", "thread_level"}, faults);
  if (!environment.contains("openmp")) faults += "environment.openmp is missing\n";
  return faults;
}

std::string fingerprint(const std::string& text) {
  return std::to_string(text.size()) + " bytes, hash " +
         std::to_string(std::hash<std::string>()(text));
}

}  // namespace weft::tests
