#include "tools/cluster/hiding.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <exception>
#include <stdexcept>
#include <thread>
#include <vector>

namespace weft::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int repetitions = 21;
constexpr double seconds_of_transfer = 0.01;
constexpr double least_bytes = 1e5;
constexpr double most_bytes = 1e7;
constexpr std::size_t trial_elements = std::size_t{4} << 20;
constexpr double most_elements = double{64} * (1 << 20);

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Parameters that both sides need.
struct Plan {
  std::size_t bytes = 0;
  std::size_t elements = 0;
};

/// As many bytes each way, by two threads that block.
class Exchange {
 public:
  Exchange(const LabConnection& other, std::size_t bytes)
      : sent_(bytes),
        received_(bytes),
        sender_([this, &other] { run([&] { other.send_all(sent_.data(), sent_.size()); }); }),
        receiver_([this, &other] {
          run([&] { other.receive_all(received_.data(), received_.size()); });
        }) {}
  ~Exchange() {
    is_over_ = true;
    start();
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  void start() { begin_.arrive_and_wait(); }
  void finish() {
    end_.arrive_and_wait();
    if (has_failed_) throw std::runtime_error("the other side of the measurement has gone");
  }

 private:
  template <class Work>
  void run(const Work& work) {
    while (true) {
      begin_.arrive_and_wait();
      if (is_over_) return;
      try {
        work();
      } catch (const std::exception&) {
        has_failed_ = true;
      }
      end_.arrive_and_wait();
    }
  }

  std::vector<char> sent_;
  std::vector<char> received_;
  std::atomic<bool> is_over_ = false;
  std::atomic<bool> has_failed_ = false;
  std::barrier<> begin_{3};
  std::barrier<> end_{3};
  std::jthread sender_;
  std::jthread receiver_;
};

/// Reads an array once.
class Computation {
 public:
  explicit Computation(std::size_t count) : values_(count, 1.0) {}

  void run() {
    std::array<double, 8> sums{};
    for (std::size_t i = 0; i + sums.size() <= values_.size(); i += sums.size())
      for (std::size_t lane = 0; lane < sums.size(); ++lane) sums[lane] += values_[i + lane];
    for (const double sum : sums) sum_ = sum_ + sum;
  }

 private:
  std::vector<double> values_;
  volatile double sum_ = 0;
};

/// Measured steps; `meet` begins each on both sides at about the same time.
class Steps {
 public:
  Steps(const LabConnection& other, const Plan& plan)
      : exchange_(other, plan.bytes), computation_(plan.elements) {}

  double compute() {
    const auto start = Clock::now();
    computation_.run();
    return seconds_since(start);
  }
  double transfer() {
    const auto start = Clock::now();
    exchange_.start();
    exchange_.finish();
    return seconds_since(start);
  }
  double both() {
    const auto start = Clock::now();
    exchange_.start();
    computation_.run();
    exchange_.finish();
    return seconds_since(start);
  }

 private:
  Exchange exchange_;
  Computation computation_;
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

double seconds_per_element() {
  Computation trial(trial_elements);
  trial.run();
  const auto start = Clock::now();
  trial.run();
  return seconds_since(start) / static_cast<double>(trial_elements);
}

}  // namespace

LabHiding measure_hiding(const LabConnection& server, double bits_per_second) {
  const auto meet = [&] {
    char ping = 0;
    server.send_all(&ping, 1);
    server.receive_all(&ping, 1);
  };
  const double bytes =
      std::clamp(bits_per_second / 8 * seconds_of_transfer, least_bytes, most_bytes);
  const double elements = 8 * bytes / bits_per_second / seconds_per_element();
  const Plan plan{static_cast<std::size_t>(bytes),
                  static_cast<std::size_t>(std::clamp(elements, 1.0, most_elements))};
  server.send_all(&plan, sizeof plan);
  Steps steps(server, plan);
  std::vector<double> compute;
  std::vector<double> transfer;
  std::vector<double> both;
  for (int i = 0; i < repetitions; ++i) {
    meet();
    compute.push_back(steps.compute());
    meet();
    transfer.push_back(steps.transfer());
    meet();
    both.push_back(steps.both());
  }
  const double alone = median(transfer);
  if (alone < 4 * bytes / bits_per_second) return {-1, 0};  // half of what the link needs
  return {alone, 1 - (median(both) - median(compute)) / alone};
}

void serve_hiding(const LabConnection& client) {
  const auto meet = [&] {
    char ping = 0;
    client.receive_all(&ping, 1);
    client.send_all(&ping, 1);
  };
  Plan plan;
  client.receive_all(&plan, sizeof plan);
  Steps steps(client, plan);
  for (int i = 0; i < repetitions; ++i) {
    meet();
    steps.compute();
    meet();
    steps.transfer();
    meet();
    steps.both();
  }
}

}  // namespace weft::tools
