#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "comm_thread/mpi/communicator.h"
#include "spmv/files/matrix_market_header.h"
#include "spmv/files/remarks.h"
#include "spmv/files/text_lines.h"
#include "spmv/files/text_source.h"

namespace weft::spmv {

class MatrixMarketEntries;

/// A Matrix Market file, or a text of entries with another header or none (matrix_market_header.h),
/// that all ranks read together.
///
///     plain file, 3 ranks    | header | rank 0 | rank 1 | rank 2 |    cut at starts of lines
///     compressed             | header |          rank 0          |    which deals blocks out
///
/// Lifetime: no longer than the communicator. Throws comm_thread::InputError, the same on every
/// rank, with file and line.
class MatrixMarketFile {
 public:
  /// Opens the file, reads the header on rank 0 and broadcasts it. `check`: throws TextFault if the
  /// header is not the expected one. `base`: of a matrix without a header, else it is wrong. `use`:
  /// of a text without such a header.
  /// Collective.
  static MatrixMarketFile collective_open(
      const comm_thread::Communicator& communicator, const std::string& path,
      const std::function<void(const MatrixMarketHeader&)>& check,
      IndexBase base = IndexBase::found, TextUse use = TextUse::matrix);

  /// The header as it stands in the file: sizes that the file does not say are not counted.
  /// Collective.
  static MatrixMarketHeader collective_look(const comm_thread::Communicator& communicator,
                                            const std::string& path, TextUse use);

  const comm_thread::Communicator& communicator() const { return *communicator_; }
  const MatrixMarketHeader& header() const { return header_; }
  bool is_compressed() const { return is_compressed_; }

  /// True if this rank reads lines itself: its share of a plain file; all or none of a compressed
  /// one.
  bool has_own_lines() const { return own_.begin != own_.end; }

  /// Those lines from the start, where there are some. One use after another, not at the same time.
  TextLines own_lines();

  /// How many lines of data stand before this rank's own ones.
  /// Collective. Lines behind a fault are not counted; the next pass finds it, too.
  std::int64_t collective_first_number();

  /// The fault of a data line and its number, from 0; empty if it is correct.
  using FaultOf = std::function<std::string(std::string_view line, std::int64_t number)>;
  /// Finds the first wrong line and throws its fault. `suspicion`: thrown if no line is wrong,
  /// about the size line. Collective.
  [[noreturn]] void collective_fail(const FaultOf& fault_of, const std::string& suspicion);

  /// The number of the first line of data for which `is_wanted` holds, from 1, the same on every
  /// rank; 0 if there is none.
  /// Collective.
  std::int64_t collective_find_line(const std::function<bool(std::string_view)>& is_wanted);

  /// Says what stands behind compressed lines, once they have been read. Collective.
  void collective_remark_on_rest(Remarks& remarks);

  const std::string& path() const { return path_; }

 private:
  MatrixMarketFile(const comm_thread::Communicator& communicator, std::string path, IndexBase base)
      : communicator_(&communicator), path_(std::move(path)), base_(base) {}

  /// Throws comm_thread::InputError.
  void open();
  void collective_read_header(const std::function<void(const MatrixMarketHeader&)>& check,
                              TextUse use);
  void read_header(const std::function<void(const MatrixMarketHeader&)>& check, TextUse use);
  void take_base();
  void check_header(const std::function<void(const MatrixMarketHeader&)>& check) const;
  /// Throws comm_thread::InputError where entries that were counted may be something else.
  void check_counts() const;
  /// This rank's lines.
  struct OwnCount {
    std::int64_t count = 0;
    GlobalIndex least = std::numeric_limits<GlobalIndex>::max();  // row or column
    GlobalIndex most = -1;
    bool has_fault = false;
  };
  OwnCount count_own(const MatrixMarketEntries& entries);
  /// Finds the sizes of a text without any, then checks them.
  void collective_count(const std::function<void(const MatrixMarketHeader&)>& check);
  void collective_share_header();
  void find_own_range();
  LineCount count_own_lines();
  std::string first_fault(const FaultOf& fault_of, std::int64_t line, std::int64_t entry);

  const comm_thread::Communicator* communicator_;
  std::string path_;
  IndexBase base_;
  std::optional<TextSource> source_;  // compressed: on rank 0 only
  MatrixMarketHeader header_;
  bool is_compressed_ = false;
  TextRange own_{0, 0};
};

}  // namespace weft::spmv
