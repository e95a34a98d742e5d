#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace weft::spmv {

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

/// `size` bytes of `whole` from `begin` on.
class PartOfBytes final : public ByteSource {
 public:
  PartOfBytes(std::shared_ptr<ByteSource> whole, std::int64_t begin, std::int64_t size)
      : whole_(std::move(whole)), begin_(begin), size_(size) {}

  std::int64_t size() const override { return size_; }
  void read(std::int64_t offset, std::span<std::byte> piece) override;
  bool is_parallel() const override { return whole_->is_parallel(); }
  const std::string& name() const override { return whole_->name(); }

 private:
  std::shared_ptr<ByteSource> whole_;
  std::int64_t begin_;
  std::int64_t size_;
};

/// What `packed_size` bytes of `whole` from `begin` on inflate to (raw deflate, RFC 1951). Reading
/// forwards costs no more than inflating once; going back starts from the beginning.
/// Thread: one at a time.
class InflatedBytes final : public ByteSource {
 public:
  InflatedBytes(std::shared_ptr<ByteSource> whole, std::int64_t begin, std::int64_t packed_size,
                std::int64_t size);
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
  std::int64_t position_ = 0;
  std::unique_ptr<Stream> stream_;
};

}  // namespace weft::spmv
