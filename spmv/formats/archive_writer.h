#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "spmv/arrays/shared_output.h"

namespace weft::spmv {

/// Writes the members of a ZIP archive of NumPy arrays one after another, and its directory.
/// Members are stored as they are, each with the larger lengths of ZIP64.
class ArchiveWriter {
 public:
  using Append = std::function<void(std::int64_t, std::vector<std::byte>&)>;

  /// Collective. Lifetime: the communicator outlives it.
  ArchiveWriter(const comm_thread::Communicator& communicator, const std::string& path)
      : communicator_(communicator), output_(communicator, path) {}

  /// An array of `count` items of `item_bytes` bytes, of which this rank has `own` from `first` on.
  /// Collective.
  void collective_add(const std::string& name, const std::string& type, const std::string& shape,
                      std::int64_t count, int item_bytes, std::int64_t first, std::int64_t own,
                      const Append& append_item);
  /// Collective.
  void collective_finish();

 private:
  /// A checksum of consecutive bytes.
  struct PieceChecksum {
    void add(std::span<const std::byte> piece);
    void add(const PieceChecksum& next);

    std::uint32_t crc = 0;
    std::int64_t bytes = 0;
  };

  PieceChecksum collective_combine(const std::string& array, const PieceChecksum& own);
  std::string header_of(const std::string& name, const PieceChecksum& checksum, std::int64_t size,
                        bool is_central) const;
  std::string end_of_directory() const;

  const comm_thread::Communicator& communicator_;
  SharedOutput output_;
  std::int64_t offset_ = 0;
  std::uint64_t members_ = 0;
  std::string directory_;
};

}  // namespace weft::spmv
