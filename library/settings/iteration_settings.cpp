#include "library/settings/iteration_settings.h"

#include <functional>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/number_in.h"

namespace weft::library {
namespace {

using comm_thread::InputError;

std::int64_t whole_number(const std::string& text, std::int64_t least, std::int64_t most) {
  const auto value = comm_thread::number_in<std::int64_t>(text);
  if (!value || *value < least || *value > most)
    throw InputError(
        fmt::format("found '{}'; expected a whole number from {} to {}", text, least, most));
  return *value;
}

IterationVariant variant_of(const std::string& text) {
  if (text == "sync") return IterationVariant::synchronous;
  if (text == "async") return IterationVariant::async;
  if (text == "racy") return IterationVariant::racy;
  throw InputError("found '" + text + "'; expected sync, async or racy");
}

spmv::Mode mode_of(const std::string& text) {
  const auto mode = spmv::parse_mode(text);
  if (!mode || *mode == spmv::Mode::overlap_test)
    throw InputError("found '" + text + "'; expected vector, overlap or task");
  return *mode;
}

struct Setting {
  const char* name;
  std::function<void(IterationSettings& settings, const std::string& text)> set;
};

const std::vector<Setting>& table() {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  static const std::vector<Setting> all{
      {"variant",
       [](IterationSettings& s, const std::string& text) { s.variant = variant_of(text); }},
      {"mode", [](IterationSettings& s, const std::string& text) { s.mode = mode_of(text); }},
      {"transport",
       [](IterationSettings& s, const std::string& text) {
         s.transport = comm_thread::transport_choice(text);
       }},
      {"detector", [](IterationSettings& s,
                      const std::string& text) { s.detector = comm_thread::detector_kind(text); }},
      {"tolerance",
       [](IterationSettings& s, const std::string& text) {
         const auto value = comm_thread::number_in<double>(text);
         if (!value || !(*value > 0))
           throw InputError("found '" + text + "'; expected a number above 0");
         s.tolerance = *value;
       }},
      {"max-iterations",
       [](IterationSettings& s, const std::string& text) {
         s.max_iterations = whole_number(text, 0, most);
       }},
      {"check-period",
       [](IterationSettings& s, const std::string& text) {
         s.check_period = static_cast<int>(whole_number(text, 1, 1'000'000));
       }},
      {"halo-period",
       [](IterationSettings& s, const std::string& text) {
         s.halo_period = static_cast<int>(whole_number(text, 1, 1'000'000));
       }},
      {"in-flight",
       [](IterationSettings& s, const std::string& text) {
         s.max_in_flight = static_cast<int>(whole_number(text, 1, 512));
       }},
  };
  return all;
}

}  // namespace

IterationSettings IterationSettings::parse(const std::map<std::string, std::string>& values) {
  IterationSettings settings;
  for (const auto& [name, text] : values) {
    const Setting* found = nullptr;
    std::string names;
    for (const Setting& setting : table()) {
      if (name == setting.name) found = &setting;
      names += (names.empty() ? "" : ", ") + std::string(setting.name);
    }
    if (!found) throw InputError("option " + name + ": found an unknown name; expected " + names);
    try {
      found->set(settings, text);
    } catch (const InputError& error) {
      throw InputError("option " + name + ": " + error.what());
    }
  }
  return settings;
}

}  // namespace weft::library
