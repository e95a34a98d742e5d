#pragma once

namespace weft::perfmodel {

/// Part of the calling thread's work that LIKWID counts separately under `likwid-perfctr -m`;
/// without LIKWID it costs a load and a branch. Regions of one name do not nest.
/// Thread: any; each region in one thread.
class MarkedRegion {
 public:
  /// Lifetime: `name` outlives the region.
  explicit MarkedRegion(const char* name) : name_(start_ ? name : nullptr) {
    if (name_) start_(name_);
  }
  ~MarkedRegion() {
    if (name_) stop_(name_);
  }
  MarkedRegion(const MarkedRegion&) = delete;
  MarkedRegion& operator=(const MarkedRegion&) = delete;

  /// Calls `start` and `stop` in every region from now on; null: calls nothing. Thread: the main
  /// thread, while no other thread is in a region.
  using Function = int (*)(const char*);
  static void install(Function start, Function stop) {
    start_ = start;
    stop_ = stop;
  }
  static bool is_installed() { return start_ != nullptr; }

 private:
  inline static Function start_ = nullptr;
  inline static Function stop_ = nullptr;

  const char* name_;
};

}  // namespace weft::perfmodel
