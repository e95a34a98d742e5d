#include "spmv/files/matrix_market_output.h"

#include <array>
#include <map>
#include <optional>
#include <utility>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/sparse_exchange.h"
#include "spmv/files/temporary_file.h"
#include "spmv/files/text_sink.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;
using comm_thread::InputError;

constexpr std::size_t piece_bytes = 1 << 20;

/// Forms the items of this rank in one run, piece by piece.
class Pieces {
 public:
  Pieces(const TextItems& items, std::int64_t run)
      : items_(items), item_(run * items.count), end_(item_ + items.count) {}

  bool has_more() const { return item_ < end_; }

  std::string next() {
    std::string text;
    while (has_more() && text.size() < piece_bytes) items_.append(item_++, text);
    return text;
  }

 private:
  const TextItems& items_;
  std::int64_t item_;
  std::int64_t end_;
};

void write_plain(const Communicator& communicator, const std::string& temporary,
                 const std::string& path, const TextItems& items) {
  std::int64_t begin = 0;  // of a run
  for (std::int64_t run = 0; run < items.run_count; ++run) {
    const bool has_header = run == 0 && communicator.is_root();
    std::int64_t own_bytes = has_header ? std::ssize(items.header) : 0;
    for (Pieces pieces(items, run); pieces.has_more();) own_bytes += std::ssize(pieces.next());
    const std::int64_t offset = begin + communicator.exclusive_prefix_sum(own_bytes);
    comm_thread::collective_attempt(communicator, [&] {
      TextSink sink = TextSink::plain(temporary, path, offset);
      if (has_header) sink.write(items.header);
      for (Pieces pieces(items, run); pieces.has_more();) sink.write(pieces.next());
      sink.finish();
    });
    begin += communicator.sum(own_bytes);
  }
}

/// One round: rank `turn` sends its next piece, rank 0 compresses it.
/// Returns whether that rank has more; throws on all ranks.
bool collective_compress_piece(const Communicator& communicator, int turn, Pieces& pieces,
                               std::optional<TextSink>& sink) {
  std::map<int, comm_thread::Bytes> messages;
  if (communicator.rank() == turn) {
    const std::string text = pieces.next();
    const auto* begin = reinterpret_cast<const std::byte*>(text.data());
    messages[0].assign(begin, begin + text.size());
  }
  const bool has_more = communicator.rank() == turn && pieces.has_more();
  const auto received = comm_thread::collective_sparse_exchange(communicator, std::move(messages));
  std::string fault;
  try {
    for (const auto& [rank, bytes] : received)
      sink->write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  } catch (const InputError& error) {
    fault = error.what();
  }
  std::array<std::int64_t, 2> state{has_more, !fault.empty()};
  communicator.sum(state);
  if (state[1] > 0) comm_thread::collective_agree_on_error(communicator, fault);
  return state[0] > 0;
}

void write_compressed(const Communicator& communicator, const std::string& temporary,
                      const std::string& path, const TextItems& items) {
  std::optional<TextSink> sink;
  comm_thread::collective_attempt(communicator, [&] {
    if (!communicator.is_root()) return;
    sink.emplace(TextSink::compressed(temporary, path));
    sink->write(items.header);
  });
  for (std::int64_t run = 0; run < items.run_count; ++run) {
    Pieces pieces(items, run);
    for (int turn = 0; turn < communicator.size(); ++turn)
      while (collective_compress_piece(communicator, turn, pieces, sink)) continue;
  }
  comm_thread::collective_attempt(communicator, [&] {
    if (sink) sink->finish();
  });
}

}  // namespace

void collective_write_text(const Communicator& communicator, const std::string& path,
                           const TextItems& items) {
  std::optional<TemporaryFile> file;
  comm_thread::collective_attempt(communicator, [&] {
    if (communicator.is_root()) file.emplace(path);
  });
  std::string temporary = file ? file->path() : "";
  communicator.broadcast(temporary, 0);
  if (path.ends_with(".gz"))
    write_compressed(communicator, temporary, path, items);
  else
    write_plain(communicator, temporary, path, items);
  comm_thread::collective_attempt(communicator, [&] {
    if (file) file->put_in_place();
  });
}

void collective_check_writable(const Communicator& communicator, const std::string& path) {
  comm_thread::collective_attempt(communicator, [&] {
    if (communicator.is_root()) TemporaryFile probe(path);
  });
}

}  // namespace weft::spmv
