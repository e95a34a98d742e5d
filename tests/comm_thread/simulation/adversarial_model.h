#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <utility>

#include "comm_thread/simulation/network_model.h"
#include "comm_thread/termination/flag_tree.h"
#include "tests/comm_thread/simulation/adversarial_run.h"

namespace weft::comm_thread {

constexpr double microsecond = 1e-6;

/// Random numbers that are the same everywhere, unlike the standard library's distributions.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t below(std::uint64_t count) { return engine_() % count; }
  bool one_in(std::uint64_t count) { return below(count) == 0; }
  double fraction() { return static_cast<double>(engine_() >> 11U) * 0x1p-53; }

 private:
  std::mt19937_64 engine_;
};

/// Delays of any length, most short; plants faults.
class AdversarialModel final : public NetworkModel {
 public:
  AdversarialModel(Dice& dice, PlantedFault fault, bool uses_flags)
      : dice_(dice), fault_(fault), uses_flags_(uses_flags) {}

  double arrival(const SimulatedRoute& route, std::size_t bytes, double now) override {
    static_cast<void>(route);
    static_cast<void>(bytes);
    return now + delay();
  }

  double acknowledgement(const SimulatedRoute& route, double now) override {
    static_cast<void>(route);
    const bool is_dropped =
        fault_ == PlantedFault::dropped_acknowledgement && !uses_flags_ && dice_.one_in(200);
    return is_dropped ? std::numeric_limits<double>::infinity() : now + delay();
  }

  double reduction(int rank_count, double now) override {
    static_cast<void>(rank_count);
    return now + delay();
  }

  bool carries(const SimulatedRoute& route, std::span<std::byte> payload) override {
    if (!uses_flags_) return true;
    constexpr int flag_tag = 0;
    constexpr int decision_tag = 2;
    if (payload.empty())  // an acknowledgement
      return fault_ != PlantedFault::dropped_acknowledgement || !dice_.one_in(4);
    if (payload.size() != sizeof(FlagMessage)) return true;
    FlagMessage message;
    std::memcpy(&message, payload.data(), sizeof message);
    if (route.from == 0 && route.tag == decision_tag && message.flag == Verdict::converged)
      has_fired_ = true;
    if (fault_ == PlantedFault::lost_retraction && route.tag == flag_tag &&
        message.flag == Verdict::none && !message.is_last) {
      message.flag = Verdict::converged;
      std::memcpy(payload.data(), &message, sizeof message);
    }
    return true;
  }

  void calm_down() { is_calm_ = true; }

  /// True once after the root of the flags has sent the decision that all have converged.
  bool take_has_fired() { return std::exchange(has_fired_, false); }

 private:
  double delay() {
    if (is_calm_) return microsecond;
    if (dice_.one_in(50)) return 5000 * microsecond * dice_.fraction();
    return 50 * microsecond * dice_.fraction();
  }

  Dice& dice_;
  PlantedFault fault_;
  bool uses_flags_;
  bool is_calm_ = false;
  bool has_fired_ = false;
};

}  // namespace weft::comm_thread
