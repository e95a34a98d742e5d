#pragma once

#include <string>
#include <vector>

namespace weft::perfmodel {

/// LIKWID's marker interface, loaded when it is wanted: `likwid-perfctr -m` prepares the counters
/// in the environment, and every MarkedRegion is counted from then on. Programs run without LIKWID.
///
/// Lifetime: one at a time; while it lives, regions count. What was counted is written for
/// likwid-perfctr when it is destroyed.
class LikwidMarkers {
 public:
  static constexpr const char* usual_library = "liblikwid.so.5.2";

  /// Throws std::runtime_error, with what the loader says, where `library` cannot be used.
  /// Thread: the main thread.
  explicit LikwidMarkers(const std::string& library);
  ~LikwidMarkers();
  LikwidMarkers(const LikwidMarkers&) = delete;
  LikwidMarkers& operator=(const LikwidMarkers&) = delete;

  /// Thread: every thread that has regions, pinned, before its first one.
  void start_thread() const;

  /// What a thread has counted in a region so far.
  struct Counts {
    int calls = 0;
    double seconds = 0;
    std::vector<double> events;  // in the order of the event set
    /// Was there, but no event occurred: the counters do not work in this thread.
    bool are_zero() const;
  };
  /// Thread: any, for itself; not inside a region.
  Counts counts(const char* region) const;

 private:
  struct Functions;
  void* library_;
  const Functions* functions_;
};

/// The names in an event set as likwid-perfctr passes it on:
/// "INSTR_RETIRED_ANY:FIXC0,CAS_COUNT_RD:MBOX0C0" are INSTR_RETIRED_ANY and CAS_COUNT_RD; of
/// several sets, parted by '|', the first.
std::vector<std::string> event_names(const std::string& event_set);

/// Bytes between memory and the processors that the events stand for; negative where none of them
/// counts such. Shape: names, counts: alike.
double memory_bytes(const std::vector<std::string>& names, const std::vector<double>& counts);

/// Why the kernel of this machine lets nobody count cycles: "perf_event_open: No such file or
/// directory"; empty where it does.
std::string why_no_hardware_counters();

}  // namespace weft::perfmodel
