// Fake of liblikwid: every call of a region counts 100 of the first event and 64 of the others; a
// thread that was not initialised counts nothing, nor does any with FAKE_LIKWID_COUNTS=no.
#include <likwid.h>

#include <cstdlib>
#include <map>
#include <string>

namespace {

thread_local bool is_started = false;
thread_local std::map<std::string, int> calls;
int open_count = 0;

}  // namespace

void likwid_markerInit() { ++open_count; }
void likwid_markerClose() { --open_count; }
void likwid_markerThreadInit() {
  const char* const counts = std::getenv("FAKE_LIKWID_COUNTS");
  is_started = !counts || std::string(counts) != "no";
}
int likwid_markerStartRegion(const char* /*name*/) { return 0; }
int likwid_markerStopRegion(const char* name) {
  ++calls[name];
  return 0;
}
void likwid_markerGetRegion(const char* name, int* event_count, double* events, double* seconds,
                            int* call_count) {
  *call_count = calls[name];
  *seconds = 0;
  *event_count = 3;
  for (int i = 0; i < 3; ++i) events[i] = is_started ? calls[name] * (i == 0 ? 100.0 : 64.0) : 0;
}
