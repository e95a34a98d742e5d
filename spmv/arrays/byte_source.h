#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace weft::spmv {

class PartOfBytes;

/// Bytes at given places: of a file, or of a compressed part of one.
/// Throws comm_thread::InputError with the name of the file.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  /// Bytes there are, as far as the file tells.
  virtual std::int64_t size() const = 0;
  /// Fills `piece` from `offset` on; throws where the bytes end before.
  virtual void read(std::int64_t offset, std::span<std::byte> piece) = 0;
  /// True if `read` may be called by several threads at once, and in any order without loss.
  virtual bool is_parallel() const = 0;
  /// "FILE", for messages.
  virtual const std::string& name() const = 0;
  /// This, where its checksum is for those who read to compare; else null.
  virtual PartOfBytes* unchecked() { return nullptr; }
};

/// A regular file. Thread: any number at once.
class FileBytes final : public ByteSource {
 public:
  explicit FileBytes(std::string path);
  ~FileBytes() override;
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  std::int64_t size() const override { return size_; }
  void read(std::int64_t offset, std::span<std::byte> piece) override;
  bool is_parallel() const override { return true; }
  const std::string& name() const override { return path_; }

 private:
  std::string path_;
  int file_ = -1;
  std::int64_t size_ = 0;
};

/// CRC-32 of a member of an archive.
struct Checksum {
  std::string member;
  std::uint32_t expected = 0;

  /// Throws comm_thread::InputError where the bytes of `file` have another one.
  void compare(std::uint32_t found, const std::string& file) const;
};

/// `size` bytes of `whole` from `begin` on.
///
/// Several ranks, and several threads of each, compute their checksum while they read: each rank
/// counts the bytes of a range that it reads once.
/// Thread: `read` any number at once where `whole` allows it; the others one at a time.
/// Memory ordering: threads add to the sum without order (exclusive or); it is taken after the team
/// has joined.
class PartOfBytes final : public ByteSource {
 public:
  PartOfBytes(std::shared_ptr<ByteSource> whole, std::int64_t begin, std::int64_t size,
              Checksum checksum)
      : whole_(std::move(whole)), begin_(begin), size_(size), checksum_(std::move(checksum)) {}

  std::int64_t size() const override { return size_; }
  void read(std::int64_t offset, std::span<std::byte> piece) override;
  bool is_parallel() const override { return whole_->is_parallel(); }
  const std::string& name() const override { return whole_->name(); }
  PartOfBytes* unchecked() override { return this; }

  const Checksum& checksum() const { return checksum_; }
  /// Begins a new sum, of the bytes in [begin, end) that are read from now on.
  void begin_sum(std::int64_t begin, std::int64_t end);
  /// The sum. The exclusive or of the sums of ranges that make up all bytes is their checksum.
  std::uint32_t sum() const { return sum_; }
  /// The sum of [begin, end), which it reads.
  std::uint32_t sum_of(std::int64_t begin, std::int64_t end);

 private:
  std::shared_ptr<ByteSource> whole_;
  std::int64_t begin_;
  std::int64_t size_;
  Checksum checksum_;
  std::int64_t sum_begin_ = 0;
  std::int64_t sum_end_ = 0;
  std::atomic<std::uint32_t> sum_{0};
};

/// What `packed_size` bytes of `whole` from `begin` on inflate to (raw deflate, RFC 1951). Reading
/// forwards costs no more than inflating once; going back starts from the beginning. Whoever reads
/// to the end compares the checksum.
/// Thread: one at a time.
class InflatedBytes final : public ByteSource {
 public:
  InflatedBytes(std::shared_ptr<ByteSource> whole, std::int64_t begin, std::int64_t packed_size,
                std::int64_t size, Checksum checksum);
  ~InflatedBytes() override;

  std::int64_t size() const override { return size_; }
  void read(std::int64_t offset, std::span<std::byte> piece) override;
  bool is_parallel() const override { return false; }
  const std::string& name() const override { return whole_->name(); }

 private:
  struct Stream;
  void inflate_into(std::span<std::byte> piece);

  std::shared_ptr<ByteSource> whole_;
  std::int64_t begin_;
  std::int64_t packed_size_;
  std::int64_t size_;
  Checksum checksum_;
  std::int64_t position_ = 0;
  std::unique_ptr<Stream> stream_;
};

}  // namespace weft::spmv
