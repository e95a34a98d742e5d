#include "tools/cluster/connection.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace weft::tools {
namespace {

constexpr in_port_t port = 5077;

int check(ssize_t result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return static_cast<int>(result);
}

sockaddr_in address_of(in_addr host) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr = host;
  return address;
}

int new_socket() { return check(socket(AF_INET, SOCK_STREAM, 0), "socket"); }

}  // namespace

LabConnection::LabConnection(int socket) : socket_(socket) {
  const int on = 1;
  setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

LabConnection::~LabConnection() { close(socket_); }

LabConnection LabConnection::accept_one() {
  const int listener = new_socket();
  const int on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const sockaddr_in any = address_of({INADDR_ANY});
  check(bind(listener, reinterpret_cast<const sockaddr*>(&any), sizeof any), "bind");
  check(listen(listener, 1), "listen");
  const int accepted = check(accept(listener, nullptr, nullptr), "accept");
  close(listener);
  return LabConnection(accepted);
}

LabConnection LabConnection::connect_to(const std::string& host) {
  in_addr number{};
  if (inet_pton(AF_INET, host.c_str(), &number) != 1)
    throw std::runtime_error(host + " is no address");
  const sockaddr_in address = address_of(number);
  while (true) {
    const int client = new_socket();
    if (connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
      return LabConnection(client);
    if (errno != ECONNREFUSED) check(-1, "connect");
    close(client);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void LabConnection::send_all(const void* data, std::size_t bytes) const {
  const char* const first = static_cast<const char*>(data);
  for (std::size_t sent = 0; sent < bytes;)
    sent += static_cast<std::size_t>(
        check(send(socket_, first + sent, bytes - sent, MSG_NOSIGNAL), "send"));
}

std::size_t LabConnection::receive_some(void* data, std::size_t bytes) const {
  return static_cast<std::size_t>(check(recv(socket_, data, bytes, 0), "receive"));
}

void LabConnection::receive_all(void* data, std::size_t bytes) const {
  char* const first = static_cast<char*>(data);
  for (std::size_t received = 0; received < bytes;) {
    const auto more = static_cast<std::size_t>(
        check(recv(socket_, first + received, bytes - received, MSG_WAITALL), "receive"));
    if (more == 0) throw std::runtime_error("the other side of the measurement has gone");
    received += more;
  }
}

void LabConnection::end_sending() const { shutdown(socket_, SHUT_WR); }

}  // namespace weft::tools
