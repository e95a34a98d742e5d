// lab_delay MICROSECONDS HOST...: the cables of tools/lab where they have a latency.
//
//   host's eth0 (TAP) ──► queue: MICROSECONDS ──► port of the switch (TAP) ──► bridge
//   host's eth0 (TAP) ◄────────── at once ─────── port of the switch (TAP) ◄── bridge
//
// HOST is a process of the host; cable I makes eth0 there and portI here. Both exist as long as
// this program runs, until a signal ends it. All frames wait equally long, so one queue in the
// order of arrival serves all cables. A frame that finds the queue full is lost, as in a switch.
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
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <deque>
#include <exception>
#include <span>
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

/// The two ends of the cable of one host.
struct Cable {
  int host = -1;
  int port = -1;
};

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
  DelayLine(std::vector<Cable> cables, nanoseconds delay)
      : cables_(std::move(cables)), delay_(delay), buffer_(max_frame_bytes) {
    for (const Cable& cable : cables_) {
      polled_.push_back({cable.host, POLLIN, 0});
      polled_.push_back({cable.port, POLLIN, 0});
    }
  }

  [[noreturn]] void run() {
    while (true) {
      wait();
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

  void delay_frames(const Cable& cable) {
    for (int count = 0; count < frames_at_a_time; ++count) {
      const auto frame = read_frame(cable.host);
      if (frame.empty()) return;
      if (queued_bytes_ + frame.size() > max_queued_bytes) continue;
      queued_bytes_ += frame.size();
      queue_.push_back({Clock::now() + delay_, cable.port, {frame.begin(), frame.end()}});
    }
  }

  void pass_frames(const Cable& cable) {
    for (int count = 0; count < frames_at_a_time; ++count) {
      const auto frame = read_frame(cable.port);
      if (frame.empty()) return;
      send(cable.host, frame);
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
  if (words.size() < 2) {
    std::fputs("lab_delay: a part of tools/lab; see tools/lab --help\n", stderr);
    return 2;
  }
  try {
    DelayLine line(lay_cables(std::span(words).subspan(1)), microseconds(std::stol(words[0])));
    ask_for_precision();
    report_ready();
    line.run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lab: %s\n", error.what());
    return 2;
  }
}
