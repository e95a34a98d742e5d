#pragma once

#include <cstddef>
#include <string>

namespace weft::tools {

/// A TCP connection whose small messages leave at once. Throws std::system_error where a call
/// fails, and std::runtime_error where the other side has gone.
class LabConnection {
 public:
  /// Waits for somebody to connect.
  static LabConnection accept_one();
  /// Waits for the other side to listen. `host`: a numeric address.
  static LabConnection connect_to(const std::string& host);
  ~LabConnection();
  LabConnection(const LabConnection&) = delete;
  LabConnection& operator=(const LabConnection&) = delete;

  void send_all(const void* data, std::size_t bytes) const;
  /// Returns the number of bytes received, 0 when the other side sends no more.
  std::size_t receive_some(void* data, std::size_t bytes) const;
  void receive_all(void* data, std::size_t bytes) const;
  void end_sending() const;

 private:
  explicit LabConnection(int socket);

  int socket_;
};

}  // namespace weft::tools
