#include "comm_thread/termination/reduction_detector.h"

#include <algorithm>

namespace weft::comm_thread {

ReductionDetector::ReductionDetector(const MessageSpace& space, CommThread& comm_thread,
                                     const ReductionProtocol::Options& options,
                                     ContinuousReduction::Engine engine)
    : protocol_(options),
      reduction_(space, comm_thread,
                 {.operations = protocol_.operations(),
                  .engine = engine,
                  .stops_after =
                      [this](const ContinuousReduction::Result& result) {
                        protocol_.take_result(result.values);
                        return protocol_.order().verdict != Verdict::none;
                      },
                  .take =
                      [this](std::span<double> values) {
                        protocol_.fill_contribution(signal_, values);
                        std::ranges::copy(values, taken_.begin());
                      },
                  .has_changed =
                      [this] {
                        protocol_.fill_contribution(signal_, offered_);
                        return !std::ranges::equal(offered_, taken_);
                      }}),
      taken_(protocol_.operations().size()),
      offered_(taken_.size()) {
  reduction_.resume();
}

bool ReductionDetector::progress(const SweepSignal& signal) {
  signal_ = signal;
  if (reduction_.is_stopped() && signal.epoch > protocol_.order().epoch) {
    protocol_.resume(signal);
    reduction_.resume();
  }
  return reduction_.progress();
}

}  // namespace weft::comm_thread
