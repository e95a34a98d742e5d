#include "perfmodel/likwid_markers.h"

#include <dlfcn.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "perfmodel/marked_region.h"

namespace weft::perfmodel {
namespace {

constexpr int most_events = 256;
constexpr double bytes_per_transfer = 64;

template <class Function>
Function* find(void* library, const char* name) {
  void* const address = dlsym(library, name);
  if (!address) throw std::runtime_error(std::string("LIKWID has no ") + name);
  return reinterpret_cast<Function*>(address);
}

}  // namespace

/// The functions as LIKWID 5 declares them: its headers are not needed to build.
struct LikwidMarkers::Functions {
  using ThreadInit = void();
  using GetRegion = void(const char* region, int* event_count, double* events, double* seconds,
                         int* calls);
  using Close = void();

  ThreadInit* start_thread;
  GetRegion* counts;
  Close* close;
};

LikwidMarkers::LikwidMarkers(const std::string& library)
    : library_(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)), functions_(nullptr) {
  if (!library_) throw std::runtime_error(dlerror());
  auto* const start = find<int(const char*)>(library_, "likwid_markerStartRegion");
  auto* const stop = find<int(const char*)>(library_, "likwid_markerStopRegion");
  auto* const init = find<void()>(library_, "likwid_markerInit");
  functions_ = new Functions{find<Functions::ThreadInit>(library_, "likwid_markerThreadInit"),
                             find<Functions::GetRegion>(library_, "likwid_markerGetRegion"),
                             find<Functions::Close>(library_, "likwid_markerClose")};
  init();
  MarkedRegion::install(start, stop);
}

/// The library stays loaded: it may have registered exit handlers.
LikwidMarkers::~LikwidMarkers() {
  MarkedRegion::install(nullptr, nullptr);
  functions_->close();
  delete functions_;
}

void LikwidMarkers::start_thread() const { functions_->start_thread(); }

LikwidMarkers::Counts LikwidMarkers::counts(const char* region) const {
  Counts counts;
  int event_count = most_events;
  counts.events.resize(most_events);
  functions_->counts(region, &event_count, counts.events.data(), &counts.seconds, &counts.calls);
  counts.events.resize(static_cast<std::size_t>(std::clamp(event_count, 0, most_events)));
  return counts;
}

bool LikwidMarkers::Counts::are_zero() const {
  return calls > 0 && std::ranges::all_of(events, [](double count) { return count == 0; });
}

std::vector<std::string> event_names(const std::string& event_set) {
  std::vector<std::string> names;
  const std::string first = event_set.substr(0, event_set.find('|'));
  for (std::size_t begin = 0; begin < first.size();) {
    const std::size_t end = std::min(first.find(',', begin), first.size());
    const std::string event = first.substr(begin, end - begin);
    names.push_back(event.substr(0, event.find(':')));
    begin = end + 1;
  }
  return names;
}

double memory_bytes(const std::vector<std::string>& names, const std::vector<double>& counts) {
  double transfers = 0;
  bool is_known = false;
  for (std::size_t i = 0; i < std::min(names.size(), counts.size()); ++i)
    for (const char* const beginning :
         {"CAS_COUNT_RD", "CAS_COUNT_WR", "DRAM_READS", "DRAM_WRITES", "DRAM_CHANNEL_"})
      if (names[i].starts_with(beginning)) {
        transfers += counts[i];
        is_known = true;
      }
  return is_known ? transfers * bytes_per_transfer : -1;
}

std::string why_no_hardware_counters() {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.size = sizeof(attributes);
  attributes.config = PERF_COUNT_HW_CPU_CYCLES;
  attributes.exclude_kernel = 1;
  const auto file = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
  if (file < 0) return std::string("perf_event_open: ") + std::strerror(errno);
  close(static_cast<int>(file));
  return {};
}

}  // namespace weft::perfmodel
