#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "perfmodel/huge_page_buffer.h"
#include "spmv/matrix/stencil_chunks.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::spmv {

/// A lossless, much smaller form of rows that repeat themselves, as those of a stencil do.
///
/// Eight consecutive rows form a chunk. A chunk is described by slots: all entries with the same
/// distance between row and column, one lane a row. Chunks with the same slots share one pattern,
/// and chunks that follow each other with one pattern are a run of four bytes, however many
/// nonzeros they have.
///
///     6×6 example, chunk of 3 rows, tridiagonal   slots of rows 3 4 5:
///     row 3:  -1  2 -1                            distance -1: -1 -1 -1
///     row 4:     -1  2 -1                         distance  0:  2  2  2
///     row 5:        -1  2                         distance +1: -1 -1  · (masked)
///
/// Slots are in ascending order of global distance and a masked lane is left out of the sum, so
/// the bits are those of multiply_crs.
///
/// Where rows repeat themselves but for the main diagonal, as those of −Δ + V and of Anderson's
/// model do, that is stored apart: 8 bytes a row, which a product reads, too.
/// Memory per row: at most 0.5 bytes of runs, 8 of x read, 8 of y written (16 with write-allocate);
/// the patterns stay in the first-level cache.
/// Measured, poisson3d:200 on two cores: docs/notes/products.md.
class StencilEncoding {
 public:
  static constexpr LocalIndex chunk_rows = stencil_chunk_rows;

  /// Encodes rows begin … end-1; nothing when they do not repeat enough to gain from it.
  /// `begin` is a multiple of chunk_rows; rows after the last whole chunk are left to the caller.
  static std::optional<StencilEncoding> encode(const DistributedMatrix& matrix, LocalIndex begin,
                                               LocalIndex end);

  /// The rows that are encoded: begin … encoded_end()-1.
  LocalIndex encoded_end() const { return encoded_end_; }

  /// True if the chunk that begins at `row` reads no entry of x at or beyond `end`.
  bool reads_only_below(LocalIndex row, LocalIndex end) const;

  /// y_i = Σ_j a_ij·x_j for rows first … last-1, whole chunks.
  /// Shape: x: [row_count + halo_count] with 8 readable entries on either side; y: [row_count],
  /// 64-byte aligned at row 0.
  void multiply(LocalIndex first, LocalIndex last, const double* x, double* y) const;

  /// Y = A·X for `width` vectors at once, whose entries stand together row by row, with the bits of
  /// `multiply` for each. Shape: x: [(row_count + halo_count) · width] with 8·width readable
  /// entries on either side; y: [(last - first) · width], of row `first` first. `width`: 2, 4, 8
  /// or 16.
  void multiply_block(LocalIndex first, LocalIndex last, int width, const double* x,
                      double* y) const;

  std::size_t pattern_count() const { return patterns_.size(); }
  /// True if the diagonal is no part of the patterns.
  bool has_diagonal() const { return diagonal_.size() > 0; }

  /// Bytes that a product with all encoded rows reads besides x.
  std::int64_t bytes() const;

 private:
  struct Pattern {
    std::int32_t first_slot;
    std::int32_t slot_count;
    SlotValues kind;
    std::int32_t diagonal_slot;  // whose values stand apart; -1: none
    LocalIndex highest_offset;
  };
  class Encoder;
  /// Chunks that follow each other and have one pattern, within a group of chunks.
  struct Run {
    std::uint16_t pattern;
    std::uint16_t chunks;
  };
  /// A place in the runs.
  struct Position {
    const Run* run;
    LocalIndex chunks;  // that are left of the run
  };
  static constexpr LocalIndex group_chunks = 128;

  explicit StencilEncoding(LocalIndex begin) : begin_(begin) {}

  bool find_patterns(const DistributedMatrix& matrix, LocalIndex end, bool without_diagonal);
  void take_diagonal(const CrsMatrix& rows);
  void append_chunk(std::int32_t pattern);
  StencilRun run_of(const Pattern& pattern, LocalIndex row, LocalIndex chunks) const;
  Position position_of(LocalIndex row) const;
  /// Calls work(pattern, first row, number of chunks) for all runs of rows first … last-1.
  template <class Work>
  void for_each_run(LocalIndex first, LocalIndex last, const Work& work) const;

  LocalIndex begin_;
  LocalIndex encoded_end_ = 0;
  LocalIndex chunk_count_ = 0;
  std::vector<Run> runs_;
  std::vector<std::uint32_t> first_run_;  // of each group
  std::vector<Pattern> patterns_;
  std::vector<StencilSlot> slots_;
  perfmodel::HugePageBuffer<double> diagonal_;  // [encoded rows], or empty
};

}  // namespace weft::spmv
