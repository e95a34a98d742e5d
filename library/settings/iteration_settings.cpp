#include "library/settings/iteration_settings.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
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

constexpr int most_sweeps = 1'000'000;

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

solver::HaloWait wait_of(const std::string& text) {
  if (text == "waitall") return solver::HaloWait::all;
  if (text == "wait") return solver::HaloWait::each;
  throw InputError("found '" + text + "'; expected wait or waitall");
}

/// Faults that commas separate.
std::vector<solver::Fault> faults_of(const std::string& text) {
  std::vector<solver::Fault> faults;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    faults.push_back(solver::Fault::parse(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return faults;
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
      {"wait", [](IterationSettings& s, const std::string& text) { s.wait = wait_of(text); }},
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
      {"seconds",
       [](IterationSettings& s, const std::string& text) {
         const auto value = comm_thread::number_in<double>(text);
         if (!value || !(*value >= 0) || std::isinf(*value))
           throw InputError("found '" + text + "'; expected a number of seconds, 0 or more");
         s.fixed_seconds = *value;
       }},
      {"check-period",
       [](IterationSettings& s, const std::string& text) {
         s.check_period = static_cast<int>(whole_number(text, text, 1, most_sweeps));
       }},
      {"halo-period", [](IterationSettings& s,
                         const std::string& text) { s.halo_period = parse_halo_period(text); }},
      {"in-flight",
       [](IterationSettings& s, const std::string& text) {
         s.max_in_flight = static_cast<int>(whole_number(text, text, 1, 512));
       }},
      {"inject", [](IterationSettings& s, const std::string& text) { s.faults = faults_of(text); }},
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
    if (!found)
      throw InputError(fmt::format("option {}: found an unknown name; expected {}", name, names));
    try {
      found->set(settings, text);
    } catch (const InputError& error) {
      throw InputError("option " + name + ": " + error.what());
    }
  }
  return settings;
}

void IterationSettings::check() const {
  const std::string carrier = comm_thread::name(transport);
  const bool has_channels = transport.kind != comm_thread::TransportKind::two_sided;
  if (is_sync() && has_channels && mode == spmv::Mode::overlap)
    throw InputError("--mode: found overlap with --transport " + carrier +
                     ", which needs the communication thread; expected vector or task");
  if (is_sync() && halo_period == automatic_halo_period)
    throw InputError(
        "--halo-period: found 'auto' with --variant sync; expected a number, or --variant async");
  if (wait == solver::HaloWait::each && (!is_sync() || has_channels))
    throw InputError(fmt::format(
        "--wait: found wait with --variant {}, --transport {}; expected it with sync over "
        "two-sided only",
        is_sync()                            ? "sync"
        : variant == IterationVariant::async ? "async"
                                             : "racy",
        carrier));
}

void IterationSettings::check_faults(int count, const char* who) const {
  for (const solver::Fault& fault : faults)
    if (fault.kind != solver::Fault::Kind::jitter && fault.rank >= count)
      throw InputError(fmt::format("--inject: found {} {}; expected one from 0 to {}", who,
                                   fault.rank, count - 1));
}

int parse_halo_period(const std::string& text) {
  if (text == "auto") return IterationSettings::automatic_halo_period;
  const auto period = comm_thread::number_in<int>(text);
  if (!period || *period < 1 || *period > most_sweeps)
    throw InputError("found '" + text + "'; expected 1 or more, or auto");
  return *period;
}

}  // namespace weft::library
