#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace weft::comm_thread {

/// A message on its way between two nodes, whose time of arrival is not known yet: others that are
/// started earlier may delay it.
struct Letter {
  double started = 0;
  double departed = 0;
  void* target = nullptr;  // in the network that owns the destination
  std::uint32_t from = 0;  // rank
  std::uint32_t bytes = 0;
  enum class Kind : std::uint64_t { port, wire, edge } kind = Kind::port;  // of the target

  std::byte* payload() { return reinterpret_cast<std::byte*>(this + 1); }
};
static_assert(sizeof(Letter) % alignof(double) == 0);

/// Letters from one thread to another, or to itself, in order; any number of them.
///
///     chunk ──► chunk ──► chunk        the reader gives one back that it has emptied
///
/// Memory ordering: the writer publishes a letter by a release store of the chunk's `filled`, and a
/// new chunk by that of `next`; the reader loads both with acquire.
/// Thread: one writes, one reads.
class LetterQueue {
 public:
  /// `payload_bytes`: of the largest letter.
  explicit LetterQueue(std::size_t payload_bytes)
      : stride_((sizeof(Letter) + payload_bytes + alignof(Letter) - 1) / alignof(Letter) *
                alignof(Letter)),
        last_(new Chunk(stride_)),
        first_(last_) {}
  ~LetterQueue() {
    while (first_) delete std::exchange(first_, first_->next.load(std::memory_order_relaxed));
    delete spare_.load(std::memory_order_relaxed);
  }
  LetterQueue(const LetterQueue&) = delete;
  LetterQueue& operator=(const LetterQueue&) = delete;

  /// The letter to write next. Thread: the writer.
  Letter& draft() {
    if (written_ == letters_per_chunk) add_chunk();
    return last_->letter(written_, stride_);
  }
  /// Sends the draft. Thread: the writer.
  void send() { last_->filled.store(++written_, std::memory_order_release); }

  /// The oldest letter, or null. Thread: the reader.
  Letter* front() {
    if (read_ == letters_per_chunk && !leave_chunk()) return nullptr;
    if (read_ == known_filled_) known_filled_ = first_->filled.load(std::memory_order_acquire);
    return read_ < known_filled_ ? &first_->letter(read_, stride_) : nullptr;
  }
  /// Thread: the reader.
  void pop() { ++read_; }

 private:
  static constexpr std::uint32_t letters_per_chunk = 256;

  struct Chunk {
    explicit Chunk(std::size_t stride)
        : memory(std::make_unique<std::byte[]>(letters_per_chunk * stride)) {}
    Letter& letter(std::uint32_t i, std::size_t stride) {
      return *std::launder(reinterpret_cast<Letter*>(memory.get() + i * stride));
    }

    std::unique_ptr<std::byte[]> memory;
    std::atomic<std::uint32_t> filled{0};
    std::atomic<Chunk*> next{nullptr};
  };

  void add_chunk() {
    Chunk* chunk = spare_.exchange(nullptr, std::memory_order_acquire);
    if (!chunk) chunk = new Chunk(stride_);
    last_->next.store(chunk, std::memory_order_release);
    last_ = chunk;
    written_ = 0;
  }

  bool leave_chunk() {
    Chunk* const next = first_->next.load(std::memory_order_acquire);
    if (!next) return false;
    Chunk* const empty = std::exchange(first_, next);
    read_ = 0;
    known_filled_ = 0;
    empty->filled.store(0, std::memory_order_relaxed);
    empty->next.store(nullptr, std::memory_order_relaxed);
    delete spare_.exchange(empty, std::memory_order_acq_rel);
    return true;
  }

  std::size_t stride_;
  // The writer's.
  alignas(64) Chunk* last_;
  std::uint32_t written_ = 0;
  // The reader's.
  alignas(64) Chunk* first_;
  std::uint32_t read_ = 0;
  std::uint32_t known_filled_ = 0;
  alignas(64) std::atomic<Chunk*> spare_{nullptr};
};

}  // namespace weft::comm_thread
