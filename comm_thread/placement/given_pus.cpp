#include "comm_thread/placement/given_pus.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "comm_thread/mpi/number_in.h"
#include "comm_thread/placement/number_words.h"

namespace weft::comm_thread {
namespace {

using Numbers = std::vector<unsigned>;

class GivenPusFinder {
 public:
  explicit GivenPusFinder(const PuFacts& facts) : facts_(facts) { given_.home = facts.bound; }

  GivenPus find() && {
    if (facts_.bound.empty()) return std::move(given_);
    undo_openmp();
    undo_likwid();
    if (facts_.pins && facts_.pins_beyond_mask)
      leave_mask();
    else
      find_owner();
    return std::move(given_);
  }

 private:
  void add(FindingSeverity severity, std::string text) {
    given_.findings.push_back({severity, std::move(text)});
  }

  std::string value_of(const char* name) const {
    const char* const value = facts_.variable ? facts_.variable(name) : nullptr;
    return value ? value : "";
  }

  /// "OMP_PROC_BIND=close", where it is set.
  std::string setting_of(const char* name) const {
    constexpr std::size_t longest = 40;
    std::string value = value_of(name);
    if (value.empty()) return {};
    if (value.size() > longest) value = value.substr(0, longest) + "...";
    return name + ("=" + value);
  }

  std::string settings_of(std::initializer_list<const char*> names) const {
    std::string settings;
    for (const char* const name : names) {
      const std::string setting = setting_of(name);
      if (!setting.empty()) settings += (settings.empty() ? "" : " and ") + setting;
    }
    return settings;
  }

  /// The threads were meant to have `all`, of which the calling one has got `mine`.
  bool is_narrowed_to(const Numbers& mine, const Numbers& all) const {
    return given_.home == mine || std::ranges::includes(given_.home, all);
  }

  void undo_openmp() {
    const auto& [all, current] = facts_.places;
    if (all.empty() || !is_narrowed_to(current, all)) return;
    const bool is_narrow = given_.home.size() < all.size();
    given_.home = all;
    // "cores" and the like name all that there is; "{0}", "cores(2)" and numbers choose.
    chosen_ = setting_of("GOMP_CPU_AFFINITY");
    if (value_of("OMP_PLACES").find_first_of("{(") != std::string::npos)
      chosen_ = setting_of("OMP_PLACES");
    if (!is_narrow) return;
    std::string by =
        settings_of({"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"});
    if (by.empty()) by = "the OpenMP runtime";
    if (facts_.pins)
      add(FindingSeverity::repaired,
          by + " had bound the main thread to one place: undone, because weft pins its threads "
               "itself, within all places, and does not need it");
    else
      add(FindingSeverity::note,
          by + " has bound the calling thread to one place: threads are counted for all places");
  }

  /// LIKWID_PIN has the PUs of the threads in order, that of the main thread last.
  void undo_likwid() {
    const std::string pins = value_of("LIKWID_PIN");
    const auto main = number_in<unsigned>(std::string_view(pins).substr(pins.rfind(',') + 1));
    const Numbers all = parse_list(pins);
    if (!main || all.empty() || !std::ranges::includes(facts_.permitted, all)) return;
    if (!is_narrowed_to({*main}, all)) return;
    if (given_.home.size() < all.size())
      add(FindingSeverity::note,
          "likwid-pin (" + setting_of("LIKWID_PIN") + ") had bound the main thread to one PU: " +
              (facts_.pins ? "weft pins its threads itself, within all that it names"
                           : "threads are counted for all that it names"));
    given_.home = all;
    likwid_ = "likwid-pin (" + setting_of("LIKWID_PIN") + ")";
  }

  void leave_mask() {
    if (given_.home != facts_.permitted)
      add(FindingSeverity::note,
          "--pin-beyond-mask: threads are placed beyond the mask that weft was started with");
    given_.home = facts_.permitted;
  }

  /// The words for what keeps the threads to their home, and how far that goes.
  void find_owner() {
    if (!likwid_.empty()) {
      given_.owner = {likwid_, "give it more to use all cores"};
      return;
    }
    if (!chosen_.empty()) {
      given_.owner = {chosen_, "unset it to use all cores"};
      return;
    }
    if (facts_.find_launcher) {
      LauncherMask launcher = facts_.find_launcher(given_.home);
      if (!launcher.name.empty()) {
        if (facts_.pins) given_.reach = std::move(launcher.pus);
        return;
      }
    }
    const std::string slurm = setting_of("SLURM_CPU_BIND");
    const std::string other = setting_of("KMP_AFFINITY");
    given_.owner.name = "the mask that weft was started with (taskset, or the job)";
    if (!slurm.empty() && slurm.find("none") == std::string::npos)
      given_.owner.name = "the mask of the job (" + slurm + ")";
    else if (!other.empty() && other.find("disabled") == std::string::npos &&
             other.find("none") == std::string::npos)
      given_.owner.name =
          "the mask of the process (taskset, the job, or an OpenMP runtime by " + other + ")";
    given_.owner.way_out =
        facts_.pins ? "--pin-beyond-mask uses all cores" : "give it more to use all cores";
  }

  const PuFacts& facts_;
  GivenPus given_;
  std::string chosen_;  // the variable that names places
  std::string likwid_;
};

}  // namespace

GivenPus given_pus(const PuFacts& facts) { return GivenPusFinder(facts).find(); }

}  // namespace weft::comm_thread
