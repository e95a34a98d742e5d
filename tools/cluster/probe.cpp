// lab_probe: what the network between two hosts of tools/lab gives.
//
//   lab_probe serve             answers one client
//   lab_probe measure ADDRESS   prints bits per second; half of a round trip in microseconds: the
//                               median and what 95 % are below; seconds of a transfer, and the part
//                               of it that blocking threads hide behind a computation (0 s: not
//                               measured, because of the latency; -1 s: in vain, cores were busy)
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "tools/cluster/connection.h"
#include "tools/cluster/hiding.h"

namespace {

using weft::tools::LabConnection;
using weft::tools::LabHiding;
using weft::tools::measure_hiding;
using weft::tools::serve_hiding;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr unsigned give_up_seconds = 60;
constexpr char last_ping = 'l';
constexpr char last_ping_but_more = 'm';  // after the stream hiding is measured
constexpr std::size_t chunk_bytes = std::size_t{256} << 10;

constexpr int warm_up_pings = 5;
constexpr std::size_t min_pings = 5;
constexpr std::size_t max_pings = 1000;
constexpr Seconds ping_time{0.3};
constexpr Seconds stream_time{0.5};
/// Round trips above which hiding is not measured.
constexpr Seconds longest_to_hide{0.02};

double seconds_since(Clock::time_point start) { return Seconds(Clock::now() - start).count(); }

char answer_pings(const LabConnection& client) {
  char ping = 0;
  do {
    client.receive_all(&ping, 1);
    client.send_all(&ping, 1);
  } while (ping != last_ping && ping != last_ping_but_more);
  return ping;
}

/// Bandwidth of a stream in bits per second, without the `ramp` during which TCP adapts to the
/// network.
double receive_stream(const LabConnection& client, Seconds ramp) {
  std::vector<char> chunk(chunk_bytes);
  std::size_t bytes = 0;
  std::size_t bytes_before = 0;
  double seconds_before = 0.0;
  double seconds = 0.0;
  const auto start = Clock::now();
  while (const std::size_t received = client.receive_some(chunk.data(), chunk.size())) {
    bytes += received;
    seconds = seconds_since(start);
    if (seconds < ramp.count()) {
      bytes_before = bytes;
      seconds_before = seconds;
    }
  }
  constexpr double bits_per_byte = 8.0;
  return bits_per_byte * static_cast<double>(bytes - bytes_before) / (seconds - seconds_before);
}

void serve() {
  char last = 0;
  {
    const LabConnection client = LabConnection::accept_one();
    last = answer_pings(client);
    double ramp_seconds = 0.0;
    client.receive_all(&ramp_seconds, sizeof ramp_seconds);
    const double bits_per_second = receive_stream(client, Seconds(ramp_seconds));
    client.send_all(&bits_per_second, sizeof bits_per_second);
  }
  if (last == last_ping_but_more) serve_hiding(LabConnection::accept_one());
}

double round_trip(const LabConnection& server, char ping) {
  const auto start = Clock::now();
  server.send_all(&ping, 1);
  server.receive_all(&ping, 1);
  return seconds_since(start);
}

/// Seconds of each round trip, ascending.
std::vector<double> round_trips(const LabConnection& server) {
  for (int ping = 0; ping < warm_up_pings; ++ping) round_trip(server, 'w');
  std::vector<double> seconds;
  const auto start = Clock::now();
  while (seconds.size() < min_pings ||
         (seconds.size() < max_pings && seconds_since(start) < ping_time.count()))
    seconds.push_back(round_trip(server, 'p'));
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

/// Sends for a while; returns the bits per second that the server saw.
double stream(const LabConnection& server, Seconds ramp) {
  const double ramp_seconds = ramp.count();
  server.send_all(&ramp_seconds, sizeof ramp_seconds);
  const std::vector<char> chunk(chunk_bytes);
  for (const auto start = Clock::now(); seconds_since(start) < (ramp + stream_time).count();)
    server.send_all(chunk.data(), chunk.size());
  server.end_sending();
  double bits_per_second = 0.0;
  server.receive_all(&bits_per_second, sizeof bits_per_second);
  return bits_per_second;
}

void measure(const std::string& host) {
  double median = 0;
  double most = 0;
  double bits_per_second = 0;
  {
    const LabConnection server = LabConnection::connect_to(host);
    const auto seconds = round_trips(server);
    median = seconds[seconds.size() / 2];
    most = seconds[seconds.size() * 95 / 100];
    round_trip(server, median < longest_to_hide.count() ? last_ping_but_more : last_ping);
    constexpr double round_trips_until_steady = 20.0;
    bits_per_second =
        stream(server, Seconds(std::clamp(round_trips_until_steady * median, 0.1, 5.0)));
  }
  LabHiding hiding;
  if (median < longest_to_hide.count())
    hiding = measure_hiding(LabConnection::connect_to(host), bits_per_second);
  constexpr double half_in_microseconds = 0.5e6;
  std::printf("%.0f %.1f %.1f %.4f %.2f\n", bits_per_second, half_in_microseconds * median,
              half_in_microseconds * most, hiding.transfer_seconds, hiding.hidden_fraction);
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  try {
    alarm(give_up_seconds);
    if (words.size() == 1 && words[0] == "serve") {
      serve();
    } else if (words.size() == 2 && words[0] == "measure") {
      measure(words[1]);
    } else {
      std::fputs("lab_probe: a part of tools/lab; see tools/lab --help\n", stderr);
      return 2;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lab: measurement: %s\n", error.what());
    return 1;
  }
  return 0;
}
