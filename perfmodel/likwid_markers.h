#pragma once

#include <string>
#include <vector>

namespace weft::perfmodel {

/// LIKWID's marker interface, loaded at run time: `likwid-perfctr -m` prepares the counters in the
/// environment, and every MarkedRegion is counted from then on. Programs run without LIKWID.
///
/// Lifetime: one object at a time. Regions are counted while it lives; its destructor writes the
/// counts for likwid-perfctr.
class LikwidMarkers {
 public:
  static constexpr const char* usual_library = "liblikwid.so.5.2";

  /// Throws std::runtime_error with the loader's message if `library` cannot be used.
  /// Thread: the main thread.
  explicit LikwidMarkers(const std::string& library);
  ~LikwidMarkers();
  LikwidMarkers(const LikwidMarkers&) = delete;
  LikwidMarkers& operator=(const LikwidMarkers&) = delete;

  /// Thread: every thread that has regions, pinned, before its first region.
  void start_thread() const;

  /// Counts of a thread in one region so far.
  struct Counts {
    int calls = 0;
    double seconds = 0;
    std::vector<double> events;  // in the order of the event set
    /// True if the region was entered but no event occurred: the counters do not work in this
    /// thread.
    bool are_zero() const;
  };
  /// Returns the counts of the calling thread. Thread: any, outside the region.
  Counts counts(const char* region) const;

 private:
  struct Functions;
  void* library_;
  const Functions* functions_;
};

/// Names in an event set in the form that likwid-perfctr passes on:
/// "INSTR_RETIRED_ANY:FIXC0,CAS_COUNT_RD:MBOX0C0" gives INSTR_RETIRED_ANY and CAS_COUNT_RD. Of
/// several sets, separated by '|', only the first is read.
std::vector<std::string> event_names(const std::string& event_set);

/// Bytes moved between memory and the processors according to the events; negative if none of them
/// counts memory traffic. Shape: names, counts: equal.
double memory_bytes(const std::vector<std::string>& names, const std::vector<double>& counts);

/// Reason why the kernel of this machine does not allow counting cycles, such as "perf_event_open:
/// No such file or directory"; empty if it does.
std::string why_no_hardware_counters();

}  // namespace weft::perfmodel
