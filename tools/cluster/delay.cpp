// lab_delay CONTROL MICROSECONDS HOST...: the cables of tools/lab where they have a latency.
//
//   host's eth0 (TAP) ──► queue: MICROSECONDS ──► port of the switch (TAP) ──► bridge
//   host's eth0 (TAP) ◄────────── at once ─────── port of the switch (TAP) ◄── bridge
//
// HOST is a process of the host; cable I makes eth0 there and portI here. Both exist as long as
// this program runs, until a signal ends it. All frames wait equally long, so one queue in the
// order of arrival serves all cables. A frame that finds the queue full is lost, as in a switch.
//
// CONTROL is a FIFO that takes lines:
//
//   lose CABLE FRACTION SEED    from now on the cable loses this part of its frames, both ways,
//   which
//                               ones SEED says; 0: none
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <exception>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::nanoseconds;

constexpr std::size_t max_frame_bytes = 65536;
constexpr std::size_t max_queued_bytes = std::size_t{256} << 20;

/// Frames read from one interface before the others get their turn.
constexpr int frames_at_a_time = 16;

int check(int result, const std::string& what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

/// Joins the network namespace behind `path`.
void join_network(const std::string& path) {
  const int file = check(open(path.c_str(), O_RDONLY | O_CLOEXEC), path);
  check(setns(file, CLONE_NEWNET), path);
  close(file);
}

/// Makes an interface in the network namespace of this process.
int open_tap(const std::string& name) {
  const int file = check(open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC), "/dev/net/tun");
  ifreq request{};
  name.copy(static_cast<char*>(request.ifr_name), IFNAMSIZ - 1);
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  check(ioctl(file, TUNSETIFF, &request), "TAP device " + name);
  return file;
}

/// Says which frames a cable loses.
class FrameLoss {
 public:
  FrameLoss() = default;
  FrameLoss(double fraction, std::uint64_t seed) : fraction_(fraction), random_(seed) {}

  bool takes_next() { return fraction_ > 0 && std::bernoulli_distribution(fraction_)(random_); }

 private:
  double fraction_ = 0;
  std::mt19937_64 random_;
};

/// The two ends of the cable of one host.
struct Cable {
  int host = -1;
  int port = -1;
  FrameLoss loss{};
};

/// Both ends, so that it stays open when a writer has left.
int open_control(const std::string& path) {
  return check(open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC), path);
}

std::vector<Cable> lay_cables(std::span<const std::string> hosts) {
  std::vector<Cable> cables;
  for (const std::string& host : hosts) {
    Cable cable;
    cable.port = open_tap("port" + std::to_string(cables.size()));
    join_network("/proc/" + host + "/ns/net");
    cable.host = open_tap("eth0");
    join_network("/proc/1/ns/net");
    cables.push_back(cable);
  }
  return cables;
}

/// Without the right to a real-time priority the delays become less exact.
void ask_for_precision() {
  const sched_param priority{.sched_priority = 10};
  sched_setscheduler(0, SCHED_FIFO, &priority);
  prctl(PR_SET_TIMERSLACK, 1UL);
}

class DelayLine {
 public:
  DelayLine(std::vector<Cable> cables, nanoseconds delay, int control)
      : cables_(std::move(cables)), delay_(delay), control_(control), buffer_(max_frame_bytes) {
    for (const Cable& cable : cables_) {
      polled_.push_back({cable.host, POLLIN, 0});
      polled_.push_back({cable.port, POLLIN, 0});
    }
    polled_.push_back({control_, POLLIN, 0});
  }

  [[noreturn]] void run() {
    while (true) {
      wait();
      if (polled_.back().revents) take_orders();
      for (std::size_t cable = 0; cable < cables_.size(); ++cable) {
        if (polled_[2 * cable].revents) delay_frames(cables_[cable]);
        deliver_due_frames();
        if (polled_[2 * cable + 1].revents) pass_frames(cables_[cable]);
      }
      deliver_due_frames();
    }
  }

 private:
  struct Frame {
    Clock::time_point due;
    int destination = -1;
    std::vector<std::byte> bytes;
  };

  /// Sleeps until a frame has come or is due.
  void wait() {
    timespec timeout{};
    if (!queue_.empty()) {
      const nanoseconds left = std::max(nanoseconds{0}, queue_.front().due - Clock::now());
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
      timeout = {seconds.count(), (left - seconds).count()};
    }
    if (ppoll(polled_.data(), polled_.size(), queue_.empty() ? nullptr : &timeout, nullptr) < 0)
      for (pollfd& file : polled_) file.revents = 0;
  }

  /// Reads one frame; empty: there is none.
  std::span<const std::byte> read_frame(int source) {
    const ssize_t bytes = read(source, buffer_.data(), buffer_.size());
    return std::span(buffer_).first(static_cast<std::size_t>(std::max(ssize_t{0}, bytes)));
  }

  void take_orders() {
    std::array<char, 256> piece{};
    const ssize_t count = read(control_, piece.data(), piece.size());
    if (count > 0) orders_.append(piece.data(), static_cast<std::size_t>(count));
    for (std::size_t end = 0; (end = orders_.find('\n')) != std::string::npos;) {
      obey(orders_.substr(0, end));
      orders_.erase(0, end + 1);
    }
  }

  void obey(const std::string& order) {
    std::istringstream words(order);
    std::string what;
    std::size_t cable = 0;
    double fraction = 0;
    std::uint64_t seed = 0;
    if (words >> what >> cable >> fraction >> seed && what == "lose" && cable < cables_.size() &&
        fraction >= 0 && fraction <= 1)
      cables_[cable].loss = FrameLoss(fraction, seed);
  }

  void delay_frames(Cable& cable) {
    for (int count = 0; count < frames_at_a_time; ++count) {
      const auto frame = read_frame(cable.host);
      if (frame.empty()) return;
      if (cable.loss.takes_next()) continue;
      if (queued_bytes_ + frame.size() > max_queued_bytes) continue;
      queued_bytes_ += frame.size();
      queue_.push_back({Clock::now() + delay_, cable.port, {frame.begin(), frame.end()}});
    }
  }

  void pass_frames(Cable& cable) {
    for (int count = 0; count < frames_at_a_time; ++count) {
      const auto frame = read_frame(cable.port);
      if (frame.empty()) return;
      if (!cable.loss.takes_next()) send(cable.host, frame);
    }
  }

  void deliver_due_frames() {
    while (!queue_.empty() && queue_.front().due <= Clock::now()) {
      send(queue_.front().destination, queue_.front().bytes);
      queued_bytes_ -= queue_.front().bytes.size();
      queue_.pop_front();
    }
  }

  /// An interface that is down loses the frame.
  static void send(int destination, std::span<const std::byte> frame) {
    [[maybe_unused]] const ssize_t sent = write(destination, frame.data(), frame.size());
  }

  std::vector<Cable> cables_;
  nanoseconds delay_;
  int control_;
  std::string orders_;
  std::vector<std::byte> buffer_;
  std::vector<pollfd> polled_;
  std::deque<Frame> queue_;
  std::size_t queued_bytes_ = 0;
};

/// Says that all is well, and then nothing more.
void report_ready() {
  std::puts("ready");
  std::fclose(stdin);
  std::fclose(stdout);
  std::fclose(stderr);
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  if (words.size() < 3) {
    std::fputs("lab_delay: a part of tools/lab; see tools/lab --help\n", stderr);
    return 2;
  }
  try {
    const int control = open_control(words[0]);
    DelayLine line(lay_cables(std::span(words).subspan(2)), microseconds(std::stol(words[1])),
                   control);
    ask_for_precision();
    report_ready();
    line.run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lab: %s\n", error.what());
    return 2;
  }
}
