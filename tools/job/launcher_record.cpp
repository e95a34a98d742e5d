#include "tools/job/launcher_record.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>

namespace weft::tools {
namespace {

void write_record(const std::string& record) {
  const std::string text = '\x1e' + record + '\n';
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

bool has_launcher() { return std::getenv("WEFT_LAUNCHER") != nullptr; }

void tell_launcher(const std::string& record) {
  if (!has_launcher()) return;
  std::fflush(stderr);
  write_record(record);
}

void tell_launcher_if_possible(const std::string& record) {
  if (!has_launcher()) return;
  // A pipe that can be written to takes a short text whole.
  pollfd file{STDERR_FILENO, POLLOUT, 0};
  if (poll(&file, 1, 0) == 1 && (file.revents & POLLOUT) != 0) write_record(record);
}

}  // namespace weft::tools
