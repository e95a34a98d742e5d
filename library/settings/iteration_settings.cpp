#include "library/settings/iteration_settings.h"

#include <functional>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/number_in.h"
#include "library/settings/word_number.h"

namespace weft::library {
namespace {

using comm_thread::InputError;

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

struct IterationSetting {
  const char* name;
  std::function<void(IterationSettings& settings, const std::string& text)> set;
};

const std::vector<IterationSetting>& iteration_table() {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  static const std::vector<IterationSetting> all{
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
         s.max_iterations = whole_number(text, text, 0, most);
       }},
      {"check-period",
       [](IterationSettings& s, const std::string& text) {
         s.check_period = static_cast<int>(whole_number(text, text, 1, 1'000'000));
       }},
      {"halo-period",
       [](IterationSettings& s, const std::string& text) {
         s.halo_period = static_cast<int>(whole_number(text, text, 1, 1'000'000));
       }},
      {"in-flight",
       [](IterationSettings& s, const std::string& text) {
         s.max_in_flight = static_cast<int>(whole_number(text, text, 1, 512));
       }},
  };
  return all;
}

}  // namespace

IterationSettings IterationSettings::parse(const std::map<std::string, std::string>& values) {
  IterationSettings settings;
  for (const auto& [name, text] : values) {
    const IterationSetting* found = nullptr;
    std::string names;
    for (const IterationSetting& setting : iteration_table()) {
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
