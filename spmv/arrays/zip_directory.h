#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "spmv/arrays/byte_source.h"
#include "spmv/files/remarks.h"

namespace weft::spmv {

/// The members of a zip archive, with sizes above 4 GB too (Zip64); stored or deflated.
/// Source: APPNOTE.TXT of PKWARE, 6.3.10.
class ZipDirectory {
 public:
  /// Throws comm_thread::InputError where `file` is no such archive.
  explicit ZipDirectory(std::shared_ptr<ByteSource> file);

  bool has(const std::string& member) const;
  /// In the order of the archive.
  std::vector<std::string> names() const;
  /// The bytes of a member; a short one has been compared with its checksum. Throws
  /// comm_thread::InputError where there is none of that name.
  std::shared_ptr<ByteSource> open(const std::string& member) const;

  /// Names the members that nobody has opened, and says what stands behind the archive. `but`: a
  /// member that says nothing of numbers.
  Remarks remarks_on_rest(const std::string& but) const;

 private:
  struct Member {
    std::string name;
    bool is_deflated = false;
    std::int64_t packed_size = 0;
    std::int64_t size = 0;
    std::int64_t header_begin = 0;
    std::uint32_t checksum = 0;
    mutable bool is_opened = false;
  };

  const Member* find(const std::string& name) const;

  std::shared_ptr<ByteSource> file_;
  std::vector<Member> members_;
  std::int64_t bytes_behind_ = 0;
};

}  // namespace weft::spmv
