#include "solver/checkpoint/checkpoint_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string_view>
#include <type_traits>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using comm_thread::InputError;

constexpr std::string_view magic = "weft checkpoint\n";
constexpr std::uint64_t version = 1;

/// A header as the file holds it.
struct Stored {
  std::array<char, 16> magic{};
  std::uint64_t version = 0;
  CheckpointHeader header;
  std::uint64_t check = 0;  // of everything before
};
static_assert(std::is_trivially_copyable_v<Stored>);
static_assert(sizeof(Stored) <= CheckpointHeader::byte_count);
static_assert(std::endian::native == std::endian::little);

std::uint64_t check_of(const Stored& stored) {
  return XXH3_64bits(&stored, offsetof(Stored, check));
}

class File {
 public:
  File() = default;
  ~File() {
    if (number_ >= 0) ::close(number_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  /// False where it cannot be opened.
  bool open(const std::string& path, int flags) {
    number_ = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
    return number_ >= 0;
  }
  bool write(std::int64_t offset, std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t done = pwrite(number_, bytes.data(), bytes.size(), offset);
      if (done < 0 && errno == EINTR) continue;
      if (done == 0) errno = ENOSPC;
      if (done <= 0) return false;
      offset += done;
      bytes = bytes.subspan(static_cast<std::size_t>(done));
    }
    return true;
  }
  /// False where the file ends before, with errno 0, or cannot be read.
  bool read(std::int64_t offset, std::span<std::byte> bytes) const {
    while (!bytes.empty()) {
      errno = 0;
      const ssize_t done = pread(number_, bytes.data(), bytes.size(), offset);
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) return false;
      offset += done;
      bytes = bytes.subspan(static_cast<std::size_t>(done));
    }
    return true;
  }
  bool flush() const { return fsync(number_) == 0; }
  std::int64_t size() const {
    struct stat status{};
    return fstat(number_, &status) == 0 ? status.st_size : -1;
  }

 private:
  int number_ = -1;
};

[[noreturn]] void fail_to_write(const std::string& path) {
  throw InputError(path + ": cannot be written (" + std::strerror(errno) + ")");
}

std::string new_checkpoint(const std::string& path) { return path + ".new"; }

/// Makes a renamed file last.
void flush_folder(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  File file;
  if (file.open(folder.empty() ? "." : folder.string(), O_RDONLY | O_DIRECTORY)) file.flush();
}

/// A second name of FILE, until it is FILE.previous.
std::string linked_checkpoint(const std::string& path) {
  return previous_checkpoint(path) + ".new";
}

/// FILE becomes FILE.previous, and FILE.new FILE, which is there all the time.
void replace(const std::string& path) {
  const std::string previous = previous_checkpoint(path);
  const std::string linked = linked_checkpoint(path);
  unlink(linked.c_str());
  if (link(path.c_str(), linked.c_str()) == 0) {
    if (std::rename(linked.c_str(), previous.c_str()) != 0) fail_to_write(path);
    // A run that was killed between the two renames has left one file under both names, and then
    // rename does nothing.
    unlink(linked.c_str());
  } else if (errno != ENOENT && std::rename(path.c_str(), previous.c_str()) != 0) {
    fail_to_write(path);  // of a file system without links
  }
  if (std::rename(new_checkpoint(path).c_str(), path.c_str()) != 0) fail_to_write(path);
  flush_folder(path);
}

CheckpointHeader read_header(const std::string& path) {
  File file;
  Stored stored;
  if (!file.open(path, O_RDONLY))
    throw InputError(path + ": cannot be read (" + std::strerror(errno) +
                     "); expected a checkpoint");
  const bool is_read = file.read(0, std::as_writable_bytes(std::span(&stored, 1)));
  if (!is_read && errno != 0)
    throw InputError(path + ": cannot be read (" + std::strerror(errno) +
                     "); expected a checkpoint");
  if (!is_read || std::string_view(stored.magic.data(), stored.magic.size()) != magic)
    throw InputError(path + ": is not a checkpoint; expected a file that " +
                     comm_thread::option_name("checkpoint") + " has written");
  if (stored.version != version)
    throw InputError(path + ": found version " + std::to_string(stored.version) +
                     " of the format; expected version " + std::to_string(version));
  const CheckpointHeader& header = stored.header;
  if (check_of(stored) != stored.check || header.scalar_count > CheckpointHeader::most_scalars)
    throw InputError(path + ": the checksum of its header differs; expected a whole checkpoint");
  const std::int64_t rows = header.identity.row_count;
  const auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() / 16);
  const bool has_sane_size =
      rows > 0 && header.vector_count <= CheckpointHeader::most_vectors &&
      static_cast<std::uint64_t>(rows) * header.vector_count < most &&
      static_cast<std::uint64_t>(rows) < most / CheckpointHeader::most_vectors;
  if (!has_sane_size || file.size() != header.offset(header.vector_count))
    throw InputError(path + ": has " + std::to_string(file.size()) +
                     " bytes, which contradicts its header; expected a whole checkpoint");
  return header;
}

/// The checksum of all vectors, over all ranks.
std::uint64_t collective_checksum(const Communicator& communicator, const PackedRows& rows,
                                  std::span<const double> values) {
  std::uint64_t own = 0;
  for (std::size_t vector = 0; vector * rows.count() < values.size(); ++vector)
    own += rows.checksum(values.data() + vector * rows.count(), vector);
  return collective_add(communicator, own);
}

}  // namespace

std::string previous_checkpoint(const std::string& path) { return path + ".previous"; }

void collective_check_checkpoint_path(const Communicator& communicator, const std::string& path) {
  comm_thread::collective_attempt(communicator, [&] {
    if (!communicator.is_root()) return;
    struct stat status{};
    if (stat(path.c_str(), &status) == 0) {
      if (!S_ISREG(status.st_mode))
        throw InputError(path + ": is not a file; expected the name of a checkpoint");
      std::array<char, magic.size()> begin{};
      File file;
      const bool is_checkpoint =
          status.st_size == 0 ||
          (file.open(path, O_RDONLY) && file.read(0, std::as_writable_bytes(std::span(begin))) &&
           std::string_view(begin.data(), begin.size()) == magic);
      if (!is_checkpoint)
        throw InputError(path + ": is something else than a checkpoint; expected another name");
    }
    const std::string fresh = new_checkpoint(path);
    File file;
    if (!file.open(fresh, O_WRONLY | O_CREAT | O_TRUNC))
      throw InputError(path + ": cannot be written (" + std::strerror(errno) +
                       "); expected a writable folder");
    unlink(fresh.c_str());
    unlink(linked_checkpoint(path).c_str());  // of a run that was killed
  });
}

void collective_write_checkpoint(const Communicator& communicator, const std::string& path,
                                 CheckpointHeader& header, const PackedRows& rows,
                                 std::span<const double> values) {
  const std::string fresh = new_checkpoint(path);
  File file;
  try {
    comm_thread::collective_attempt(communicator, [&] {
      if (communicator.is_root() && !file.open(fresh, O_WRONLY | O_CREAT | O_TRUNC))
        fail_to_write(path);
    });
    comm_thread::collective_attempt(communicator, [&] {
      if (!communicator.is_root() && !file.open(fresh, O_WRONLY)) fail_to_write(path);
      for (std::size_t vector = 0; vector < header.vector_count; ++vector)
        for (const PackedRows::Run& run : rows.runs())
          if (!file.write(
                  header.offset(vector) + 8 * run.global_row,
                  std::as_bytes(values.subspan(vector * rows.count() + run.packed, run.count))))
            fail_to_write(path);
      if (!file.flush()) fail_to_write(path);
    });
    header.checksum = collective_checksum(communicator, rows, values);
    comm_thread::collective_attempt(communicator, [&] {
      if (!communicator.is_root()) return;
      Stored stored;
      std::ranges::copy(magic, stored.magic.begin());
      stored.version = version;
      stored.header = header;
      stored.check = check_of(stored);
      std::array<std::byte, CheckpointHeader::byte_count> bytes{};
      std::memcpy(bytes.data(), &stored, sizeof(stored));
      if (!file.write(0, bytes) || !file.flush()) fail_to_write(path);
      replace(path);
    });
  } catch (const InputError&) {
    if (communicator.is_root()) unlink(fresh.c_str());
    throw;
  }
}

CheckpointHeader collective_read_checkpoint_header(const Communicator& communicator,
                                                   const std::string& path) {
  CheckpointHeader header;
  comm_thread::collective_attempt(communicator, [&] { header = read_header(path); });
  return header;
}

void collective_read_checkpoint(const Communicator& communicator, const std::string& path,
                                const CheckpointHeader& header, const PackedRows& rows,
                                std::span<double> values) {
  comm_thread::collective_attempt(communicator, [&] {
    File file;
    bool is_read = file.open(path, O_RDONLY);
    for (std::size_t vector = 0; vector < header.vector_count; ++vector)
      for (const PackedRows::Run& run : rows.runs())
        is_read = is_read && file.read(header.offset(vector) + 8 * run.global_row,
                                       std::as_writable_bytes(values.subspan(
                                           vector * rows.count() + run.packed, run.count)));
    if (!is_read)
      throw InputError(path + ": cannot be read (" +
                       (errno ? std::strerror(errno) : "it has become shorter") +
                       "); expected a checkpoint");
  });
  const bool is_same = collective_checksum(communicator, rows, values) == header.checksum;
  comm_thread::collective_attempt(communicator, [&] {
    if (!is_same)
      throw InputError(path + ": the checksum of its vectors differs; expected a whole checkpoint");
  });
}

}  // namespace weft::solver
