#include "library/options/iteration_settings.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
#include "library/options/option_values.h"

namespace weft::library {
namespace {

using comm_thread::InputError;
using comm_thread::option_name;
using Iteration = IterationSettings;

constexpr int most_sweeps = 1'000'000;
constexpr int automatic_halo_period = solver::AsyncIteration::automatic_halo_period;

/// A value that has words of its own.
template <class Member, class Parse, class Name>
ValueOf<Iteration> parsed(Member member, Parse parse, Name name, const char* type) {
  return {
      [=](Iteration& s, const std::string& word, const std::string&) { s.*member = parse(word); },
      [=](const Iteration& s) { return std::string(name(s.*member)); }, type};
}

ValueOf<Iteration> halo_period_value() {
  return {[](Iteration& s, const std::string& word, const std::string&) {
            if (word == "auto") {
              s.halo_period = automatic_halo_period;
              return;
            }
            try {
              s.halo_period = static_cast<int>(whole_number(word, word, 1, most_sweeps));
            } catch (const InputError&) {
              throw InputError("found '" + word + "'; expected 1 or more, or auto");
            }
          },
          [](const Iteration& s) {
            return !s.halo_period                            ? std::string()
                   : *s.halo_period == automatic_halo_period ? "auto"
                                                             : std::to_string(*s.halo_period);
          },
          "N|auto"};
}

/// Faults that commas separate, or one of several.
ValueOf<Iteration> fault_value() {
  ValueOf<Iteration> value{[](Iteration& s, const std::string& word, const std::string&) {
                             s.faults.clear();
                             for (std::size_t begin = 0; begin <= word.size();) {
                               const std::size_t end = std::min(word.find(',', begin), word.size());
                               s.faults.push_back(word.substr(begin, end - begin));
                               static_cast<void>(solver::Fault::parse(s.faults.back()));
                               begin = end + 1;
                             }
                           },
                           [](const Iteration& s) {
                             std::string words;
                             for (const std::string& fault : s.faults)
                               words += (words.empty() ? "" : ",") + fault;
                             return words;
                           },
                           "FAULT"};
  value.is_list = true;
  return value;
}

/// Options of sweeps and of their end.
OptionTable<Iteration> options_of_sweeps() {
  using V = Values<Iteration>;
  using Group = OptionGroup;
  return {
      {"variant", Group::method,
       "kind of the sweeps\n"
       "sync: synchronous; async: asynchronous, newest whole halo; racy: asynchronous, newest\n"
       "elements",
       V::named<IterationVariant>(&Iteration::variant, {{"sync", IterationVariant::synchronous},
                                                        {"async", IterationVariant::async},
                                                        {"racy", IterationVariant::racy}})},
      {"detector", Group::method,
       "how the end of asynchronous sweeps is found\nalways followed by a verification",
       parsed(
           &Iteration::detector, comm_thread::detector_kind,
           [](comm_thread::DetectorKind kind) { return comm_thread::name(kind); },
           "flags|residual|all-reduce|snapshot")},
      {"tolerance", Group::method, "ends where ||b - A x|| is below this times ||b||",
       V::number(&Iteration::tolerance, any_above_zero)},
      {"max-iterations", Group::method, "ends after this many iterations",
       V::whole(&Iteration::max_iterations, 0, std::numeric_limits<std::int64_t>::max(), "COUNT")},
      {"seconds", Group::rest, "run for exactly this time, converged or not; 0: until converged",
       V::number(&Iteration::fixed_seconds, {.expected = "a number of seconds, 0 or more"}, "S")},
      {"check-period", Group::rest,
       "sweeps between two checks of the residual; default: 100 with sync,\nelse 25",
       V::whole(&Iteration::check_period, 1, most_sweeps, "K")}};
}

/// Options of what travels between ranks, and of disturbances.
OptionTable<Iteration> options_of_halos() {
  using V = Values<Iteration>;
  using Group = OptionGroup;
  using Wait = solver::HaloWait;
  using spmv::Mode;
  return {
      {"mode", Group::run, "how halos are exchanged; results have the same bits\nof sync",
       V::named<Mode>(
           &Iteration::mode,
           {{"vector", Mode::vector}, {"overlap", Mode::overlap}, {"task", Mode::task}})},
      {"transport", Group::run, std::string("how halos travel\n") + comm_thread::transport_words(),
       parsed(
           &Iteration::transport, comm_thread::transport_choice,
           [](const comm_thread::TransportChoice& choice) { return comm_thread::name(choice); },
           "TRANSPORT")},
      {"wait", Group::rest,
       "with sync: waitall, for the halos of all neighbours, or wait, for one\n"
       "after the other, copying received halos meanwhile",
       V::named<Wait>(&Iteration::wait, {{"wait", Wait::each}, {"waitall", Wait::all}})},
      {"halo-period", Group::rest,
       "sweeps between two halo exchanges; auto: messages cost 5 % of sweeping;\n"
       "default: 1 with sync, else auto",
       halo_period_value()},
      {"in-flight", Group::rest, "largest number of messages in flight to a neighbour",
       V::whole(&Iteration::max_in_flight, 1, 512, "R")},
      {"inject", Group::run,
       "disturbs the run: slow ranks, late messages\n"
       "slow:RANK:FACTOR, jitter:FRACTION, stall:RANK:SECONDS or pause:RANK:SECONDS; may be\n"
       "given several times",
       fault_value()}};
}

}  // namespace

const OptionTable<IterationSettings>& iteration_options() {
  static const OptionTable<IterationSettings> all = [] {
    OptionTable<Iteration> options = options_of_sweeps();
    append(options, options_of_halos());
    return options;
  }();
  return all;
}

const char* name(IterationVariant variant) {
  return variant == IterationVariant::synchronous ? "sync"
         : variant == IterationVariant::async     ? "async"
                                                  : "racy";
}

IterationSettings IterationSettings::parse(const std::map<std::string, std::string>& values) {
  IterationSettings settings;
  read_options(values, iteration_options(), settings);
  return settings;
}

std::vector<solver::Fault> IterationSettings::parsed_faults() const {
  std::vector<solver::Fault> parsed_ones;
  for (const std::string& fault : faults) parsed_ones.push_back(solver::Fault::parse(fault));
  return parsed_ones;
}

void IterationSettings::check() const {
  const std::string carrier = option_name("transport", comm_thread::name(transport));
  const std::string kind = option_name("variant", name(variant));
  const bool has_channels = transport.kind != comm_thread::TransportKind::two_sided;
  check_needs({{{"mode"},
                !is_sync() || !has_channels || mode != spmv::Mode::overlap,
                "overlap with " + carrier + ", which needs the communication thread",
                "vector or task"},
               {{"halo-period"},
                !is_sync() || halo_period != automatic_halo_period,
                "'auto' with " + kind,
                "a number, or " + option_name("variant", "async")},
               {{"wait"},
                is_sync() && !has_channels,
                "wait with " + kind + ", " + carrier,
                "it with sync over two-sided only"}},
              iteration_options(), *this);
}

void IterationSettings::check_faults(int count, const char* who) const {
  for (const solver::Fault& fault : parsed_faults())
    if (fault.kind != solver::Fault::Kind::jitter && fault.rank >= count)
      throw InputError(fmt::format("{}: found {} {}; expected one from 0 to {}",
                                   option_name("inject"), who, fault.rank, count - 1));
}

}  // namespace weft::library
