// lab_probe: what the network between two hosts of tools/lab gives.
//
//   lab_probe serve             answers one client
//   lab_probe measure ADDRESS   prints bits per second, and half of a round trip in microseconds:
//                               the median and what 95 % are below
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr in_port_t port = 5077;
constexpr unsigned give_up_seconds = 60;
constexpr char last_ping = 'l';
constexpr std::size_t chunk_bytes = std::size_t{256} << 10;

constexpr int warm_up_pings = 5;
constexpr std::size_t min_pings = 5;
constexpr std::size_t max_pings = 1000;
constexpr Seconds ping_time{0.3};
constexpr Seconds stream_time{0.5};

int check(int result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

double seconds_since(Clock::time_point start) { return Seconds(Clock::now() - start).count(); }

/// A TCP connection whose small messages leave at once.
class Connection {
 public:
  explicit Connection(int socket) : socket_(socket) {
    const int on = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  ~Connection() { close(socket_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void send_all(const void* data, std::size_t bytes) const {
    const char* const first = static_cast<const char*>(data);
    for (std::size_t sent = 0; sent < bytes;)
      sent += static_cast<std::size_t>(
          check(static_cast<int>(send(socket_, first + sent, bytes - sent, MSG_NOSIGNAL)), "send"));
  }

  /// Returns the number of bytes received, 0 when the other side sends no more.
  std::size_t receive_some(void* data, std::size_t bytes) const {
    return static_cast<std::size_t>(
        check(static_cast<int>(recv(socket_, data, bytes, 0)), "receive"));
  }

  void receive_all(void* data, std::size_t bytes) const {
    if (check(static_cast<int>(recv(socket_, data, bytes, MSG_WAITALL)), "receive") !=
        static_cast<int>(bytes))
      throw std::runtime_error("the other side of the measurement has gone");
  }

  void end_sending() const { shutdown(socket_, SHUT_WR); }

 private:
  int socket_;
};

sockaddr_in address_of(in_addr host) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr = host;
  return address;
}

int new_socket() { return check(socket(AF_INET, SOCK_STREAM, 0), "socket"); }

int accept_one() {
  const int listener = new_socket();
  const int on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const sockaddr_in any = address_of({INADDR_ANY});
  check(bind(listener, reinterpret_cast<const sockaddr*>(&any), sizeof any), "bind");
  check(listen(listener, 1), "listen");
  const int accepted = check(accept(listener, nullptr, nullptr), "accept");
  close(listener);
  return accepted;
}

/// The server may not be there yet.
int connect_to(const std::string& host) {
  in_addr number{};
  if (inet_pton(AF_INET, host.c_str(), &number) != 1)
    throw std::runtime_error(host + " is no address");
  const sockaddr_in address = address_of(number);
  while (true) {
    const int client = new_socket();
    if (connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
      return client;
    if (errno != ECONNREFUSED) check(-1, "connect");
    close(client);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void answer_pings(const Connection& client) {
  char ping = 0;
  do {
    client.receive_all(&ping, 1);
    client.send_all(&ping, 1);
  } while (ping != last_ping);
}

/// Bits per second of a stream, without the `ramp` in which TCP finds out what the network gives.
double receive_stream(const Connection& client, Seconds ramp) {
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
  const Connection client(accept_one());
  answer_pings(client);
  double ramp_seconds = 0.0;
  client.receive_all(&ramp_seconds, sizeof ramp_seconds);
  const double bits_per_second = receive_stream(client, Seconds(ramp_seconds));
  client.send_all(&bits_per_second, sizeof bits_per_second);
}

double round_trip(const Connection& server, char ping) {
  const auto start = Clock::now();
  server.send_all(&ping, 1);
  server.receive_all(&ping, 1);
  return seconds_since(start);
}

/// Seconds of each round trip, ascending.
std::vector<double> round_trips(const Connection& server) {
  for (int ping = 0; ping < warm_up_pings; ++ping) round_trip(server, 'w');
  std::vector<double> seconds;
  const auto start = Clock::now();
  while (seconds.size() < min_pings ||
         (seconds.size() < max_pings && seconds_since(start) < ping_time.count()))
    seconds.push_back(round_trip(server, 'p'));
  round_trip(server, last_ping);
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

/// Sends for a while; returns the bits per second that the server saw.
double stream(const Connection& server, Seconds ramp) {
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
  const Connection server(connect_to(host));
  const auto seconds = round_trips(server);
  const double median = seconds[seconds.size() / 2];
  const double most = seconds[seconds.size() * 95 / 100];
  constexpr double round_trips_until_steady = 20.0;
  const double bits_per_second =
      stream(server, Seconds(std::clamp(round_trips_until_steady * median, 0.1, 5.0)));
  constexpr double half_in_microseconds = 0.5e6;
  std::printf("%.0f %.1f %.1f\n", bits_per_second, half_in_microseconds * median,
              half_in_microseconds * most);
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
