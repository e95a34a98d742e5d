#include "solver/amg/level_operator.h"

#include <cmath>

#include "perfmodel/simd.h"
#include "spmv/matrix/column_words.h"
#include "spmv/matrix/prefetch.h"

namespace weft::solver::amg {

using spmv::LocalIndex;

template <class Value>
void LevelOperator<Value>::Chunks::add(LocalIndex row, std::int64_t length) {
  ++row_count;
  nonzero_count += length;
  if (length > longest_in_lane) {
    add_chunk((static_cast<std::size_t>(length) + lane_count - 1) / lane_count);
    rows[rows.size() - lane_count] = row;
    return;
  }
  window_.emplace_back(length, row);
  if (window_.size() == window_rows) end();
}

/// A counting sort: longest first, rows of one length in their order.
template <class Value>
void LevelOperator<Value>::Chunks::end() {
  std::array<std::size_t, longest_in_lane + 2> starts{};
  const auto key = [](std::int64_t length) {
    return static_cast<std::size_t>(longest_in_lane - length);
  };
  for (const auto& [length, row] : window_) ++starts[key(length) + 1];
  for (std::size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
  const std::size_t first = rows.size();
  std::size_t key_of_place = 0;
  for (std::size_t place = 0; place < window_.size(); place += lane_count) {
    while (starts[key_of_place + 1] <= place) ++key_of_place;
    add_chunk(static_cast<std::size_t>(longest_in_lane) - key_of_place);
  }
  for (const auto& [length, row] : window_) rows[first + starts[key(length)]++] = row;
  window_.clear();
}

template <class Value>
void LevelOperator<Value>::Chunks::add_chunk(std::size_t slot_count) {
  rows.insert(rows.end(), lane_count, no_row);
  slots.push_back(slot_count);
}

template <class Value>
typename LevelOperator<Value>::Part LevelOperator<Value>::join(Chunks& interior, Chunks& boundary) {
  interior.end();
  boundary.end();
  Part part{.rows = std::move(interior.rows),
            .begin = {0},
            .interior_count = interior.slots.size(),
            .boundary_row_count = boundary.row_count,
            .nonzero_count = interior.nonzero_count + boundary.nonzero_count};
  part.rows.insert(part.rows.end(), boundary.rows.begin(), boundary.rows.end());
  for (const auto* chunks : {&interior, &boundary})
    for (const std::size_t slots : chunks->slots)
      part.begin.push_back(part.begin.back() + slots * lane_count);
  return part;
}

template <class Value>
void LevelOperator<Value>::hold_back(const comm_thread::Crew& crew,
                                     std::span<const LocalIndex> sent_rows) {
  std::vector<bool> is_sent(static_cast<std::size_t>(row_count()));
  for (const LocalIndex row : sent_rows) is_sent[static_cast<std::size_t>(row)] = true;
  crew.team().run([&](const comm_thread::TeamThread& thread) {
    Part& part = parts_[static_cast<std::size_t>(thread.index)];
    part.held_begin = part.held_end = 0;
    std::size_t begin = 0;  // of chunks without a row that is sent
    for (std::size_t chunk = 0; chunk < part.interior_count; ++chunk) {
      const auto rows = std::span(part.rows).subspan(chunk * lane_count, lane_count);
      if (std::ranges::any_of(rows, [&](LocalIndex row) {
            return row != no_row && is_sent[static_cast<std::size_t>(row)];
          }))
        begin = chunk + 1;
      if (chunk + 1 - begin > part.held_end - part.held_begin) {
        part.held_begin = begin;
        part.held_end = chunk + 1;
      }
    }
    part.held_begin =
        std::max(part.held_begin, part.held_end - std::min(part.held_end, part.interior_count / 2));
  });
}

template <class Value>
void LevelOperator<Value>::allocate() {
  std::size_t total = 0;
  for (Part& part : parts_) {
    for (std::size_t& begin : part.begin) begin += total;
    total = part.begin.back();
  }
  values_.resize(total);
  for (Part& part : parts_) {
    part.columns.resize(part.chunk_count());
    part.words = perfmodel::PageArray<std::uint16_t>(2 * (part.begin.back() - part.begin.front()));
  }
}

template <class Value>
void LevelOperator<Value>::store(const Part& part, std::size_t chunk, std::size_t lane,
                                 std::span<const Value> values, std::span<const LocalIndex> columns,
                                 std::span<LocalIndex> of_chunk) {
  if (of_chunk.empty()) return;
  Value* const to = values_.data() + part.begin[chunk];
  if (std::ssize(values) > longest_in_lane) {
    std::ranges::copy(values, to);
    std::ranges::copy(columns, of_chunk.begin());
    std::fill(to + values.size(), to + of_chunk.size(), Value{0});
    std::ranges::fill(of_chunk.subspan(columns.size()), columns.front());
    return;
  }
  std::size_t slot = lane;
  for (std::size_t k = 0; k < values.size(); ++k, slot += lane_count) {
    to[slot] = values[k];
    of_chunk[slot] = columns[k];
  }
  // The first lane has the longest row.
  const LocalIndex column = columns.empty() ? of_chunk.front() : columns.front();
  const auto fill_up = [&](std::size_t from) {
    for (; from < of_chunk.size(); from += lane_count) {
      to[from] = 0;
      of_chunk[from] = column;
    }
  };
  fill_up(slot);
  for (++lane; lane < lane_count && part.rows[chunk * lane_count + lane] == no_row; ++lane)
    fill_up(lane);
}

template <class Value>
void LevelOperator<Value>::store_columns(Part& part, std::size_t chunk,
                                         std::span<const LocalIndex> of_chunk) {
  Columns& columns = part.columns[chunk];
  columns.begin = part.word_count;
  if (of_chunk.empty()) return;
  const auto [least, most] = std::ranges::minmax(of_chunk);
  std::uint16_t* const words = part.words.data() + columns.begin;
  if (spmv::fit_one_word(least, most)) {
    columns.least = least;
    part.word_count += of_chunk.size();
    for (std::size_t slot = 0; slot < of_chunk.size(); ++slot)
      spmv::store_column<false>(words, slot, of_chunk[slot], least);
  } else {
    part.word_count += 2 * of_chunk.size();
    for (std::size_t slot = 0; slot < of_chunk.size(); ++slot)
      spmv::store_column<true>(words, slot, of_chunk[slot], 0);
  }
}

// Per slot 2 or 4 bytes and a value read; per row 4 bytes of order, 3 of places, and x. 2 flops per
// nonzero.
template <class Value>
void LevelOperator<Value>::sum_lanes(const Part& part, std::size_t first, std::size_t last,
                                     const Value* x, Value* sums) const {
  perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    using Lanes = typename Simd::template Lanes<Value, 8>;
    const auto sum_chunk = [&](std::size_t chunk, auto columns,
                               const Value* from) __attribute__((always_inline)) {
      const Value* values = values_.data() + part.begin[chunk];
      const auto add_slot = [&](Lanes& sum) __attribute__((always_inline)) {
        spmv::prefetch(values);
        spmv::prefetch(columns.words);
        sum += Lanes::load(values).times_each([&](int lane) __attribute__((always_inline)) {
          return from[columns[static_cast<std::size_t>(lane)]];
        });
        values += lane_count;
        columns.advance(lane_count);
      };
      Lanes even{};
      Lanes odd{};
      std::size_t slots = (part.begin[chunk + 1] - part.begin[chunk]) / lane_count;
      for (; slots >= 2; slots -= 2) {
        add_slot(even);
        add_slot(odd);
      }
      if (slots > 0) add_slot(even);
      (even + odd).store(sums);
      sums += lane_count;
    };
    for (std::size_t chunk = first; chunk < last; ++chunk) {
      const Columns& place = part.columns[chunk];
      const std::uint16_t* const columns = part.words.data() + place.begin;
      if (place.least == no_row)
        sum_chunk(chunk, spmv::ColumnReader<true>{columns}, x);
      else
        sum_chunk(chunk, spmv::ColumnReader<false>{columns}, x + place.least);
    }
  });
}

template <class Value>
std::int64_t LevelOperator<Value>::nonzero_count() const {
  std::int64_t count = 0;
  for (const Part& part : parts_) count += part.nonzero_count;
  return count;
}

template <class Value>
std::int64_t LevelOperator<Value>::boundary_row_count() const {
  std::int64_t count = 0;
  for (const Part& part : parts_) count += part.boundary_row_count;
  return count;
}

template <class Value>
std::int64_t LevelOperator<Value>::bytes() const {
  std::size_t bytes = values_.size() * sizeof(Value);
  for (const Part& part : parts_)
    bytes += part.word_count * sizeof(std::uint16_t) + part.rows.size() * sizeof(LocalIndex) +
             part.begin.size() * sizeof(std::size_t) + part.columns.size() * sizeof(Columns);
  return static_cast<std::int64_t>(bytes);
}

template <class Value>
double LevelOperator<Value>::largest_row_sum(const comm_thread::Crew& crew) const {
  std::vector<double> largest(parts_.size());
  crew.team().run([&](const comm_thread::TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    const Part& part = parts_[index];
    for (std::size_t chunk = 0; chunk < part.chunk_count(); ++chunk) {
      std::array<double, lane_count> sums{};
      for (std::size_t k = part.begin[chunk]; k < part.begin[chunk + 1]; k += lane_count)
        for (std::size_t lane = 0; lane < lane_count; ++lane)
          sums[lane] += std::abs(static_cast<double>(values_[k + lane]));
      const bool is_one_row = part.rows[chunk * lane_count + 1] == no_row;
      for (std::size_t lane = 1; lane < lane_count; ++lane)
        sums[0] = is_one_row ? sums[0] + sums[lane] : std::max(sums[0], sums[lane]);
      largest[index] = std::max(largest[index], sums[0]);
    }
  });
  return *std::ranges::max_element(largest);
}

template class LevelOperator<float>;
template class LevelOperator<double>;

}  // namespace weft::solver::amg
