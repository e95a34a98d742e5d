#include "spmv/texts/hypre_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/number_in.h"
#include "spmv/files/matrix_market_entries.h"
#include "spmv/files/matrix_market_header.h"
#include "spmv/files/text_fault.h"
#include "spmv/files/text_lines.h"
#include "spmv/files/text_source.h"
#include "spmv/texts/entry_stream.h"
#include "spmv/texts/fixed_numbers.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;
using comm_thread::InputError;

constexpr std::size_t fewest_digits = 5;
constexpr std::int64_t most_rows = std::int64_t{1} << 53;

/// "NAME." and the number behind it.
std::pair<std::string, std::string_view> parts_of_name(std::string_view path) {
  const std::size_t point = path.rfind('.');
  if (point == std::string_view::npos) return {};
  return {std::string(path.substr(0, point + 1)), path.substr(point + 1)};
}

std::string name_of_part(const std::string& stem, std::int64_t number) {
  std::string digits = std::to_string(number);
  if (digits.size() < fewest_digits) digits.insert(0, fewest_digits - digits.size(), '0');
  return stem + digits;
}

/// The numbers of the files that are there; throws comm_thread::InputError unless they are those
/// from 0 on.
std::int64_t count_parts(const std::string& path) {
  const auto [stem, digits] = parts_of_name(path);
  if (digits.find_first_not_of('0') != std::string_view::npos)
    throw InputError(path + ": found part " + std::string(digits) +
                     " of a matrix or vector of hypre; expected its first one, " +
                     name_of_part(stem, 0) + ", which stands for all of them");
  const std::filesystem::path first(path);
  const auto folder = first.has_parent_path() ? first.parent_path() : std::filesystem::path(".");
  const std::string begin = std::filesystem::path(stem).filename().string();
  std::vector<std::int64_t> numbers;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(begin)) continue;
    const auto number =
        comm_thread::number_in<std::int64_t>(std::string_view(name).substr(begin.size()));
    if (number && *number >= 0 && name == name_of_part(begin, *number)) numbers.push_back(*number);
  }
  if (error)
    throw InputError(folder.string() + ": cannot be listed (" + error.message() +
                     "); expected the folder of " + path);
  std::ranges::sort(numbers);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] != static_cast<std::int64_t>(i))
      throw InputError(name_of_part(stem, static_cast<std::int64_t>(i)) +
                       ": is missing, though there is " + name_of_part(stem, numbers[i]) +
                       "; expected all parts that hypre has written, and none of another run");
  return std::max<std::int64_t>(std::ssize(numbers), 1);
}

/// One file: its rows, which count from `first`.
struct HyprePart {
  std::string path;
  bool is_matrix = false;
  GlobalIndex first = 0;
  GlobalIndex end = 0;
  std::int64_t data_begin = 0;  // characters of its first line
  std::int64_t stored_bytes = 0;
  bool is_compressed = false;
};

/// Throws comm_thread::InputError.
HyprePart read_part(const std::string& path) {
  HyprePart part{.path = path};
  TextSource source = open_text(path);
  std::string line;
  try {
    TextLines lines(source, {});
    std::string_view block = lines.next();
    line = take_lines(block, 0);
  } catch (const TextFault& fault) {
    throw InputError(fault_at(path, 1, fault.what()));
  }
  part.data_begin = static_cast<std::int64_t>(line.size());
  part.stored_bytes = source.stored_bytes();
  part.is_compressed = source.is_compressed();
  // A last line without its '\n' was handed out with one.
  if (!part.is_compressed) part.data_begin = std::min(part.data_begin, part.stored_bytes);
  std::vector<std::int64_t> numbers;
  for (const std::string_view word : words_of(line))
    numbers.push_back(comm_thread::number_in<std::int64_t>(word).value_or(-2));
  part.is_matrix = numbers.size() == 4;
  const bool is_right = (part.is_matrix || numbers.size() == 2) && numbers[0] >= 0 &&
                        numbers[1] >= numbers[0] - 1 && numbers[1] < most_rows;
  if (!is_right)
    throw InputError(fault_at(
        path, 1,
        "found " + in_quotes(line.substr(0, line.find_last_not_of(" \t\r\n") + 1)) +
            "; expected the first and the last row of a part that hypre has written, and of a "
            "matrix the first and the last column"));
  part.first = numbers[0];
  part.end = numbers[1] + 1;
  return part;
}

/// The parts that this rank reads, and what all of them are.
struct HypreShare {
  std::vector<HyprePart> parts{};
  bool is_matrix = false;
  GlobalIndex base = 0;
  GlobalIndex row_count = 0;
};

/// Throws comm_thread::InputError where the parts of this rank do not follow those `before`.
void check_order(const HypreShare& share, GlobalIndex before, const std::string& path) {
  if (share.base > 1)
    throw InputError(fault_at(path, 1,
                              "found " + std::to_string(share.base) +
                                  " as the first row; expected 0, or 1 where rows count from 1"));
  GlobalIndex next = share.base + before;
  for (const HyprePart& part : share.parts) {
    if (part.is_matrix != share.is_matrix)
      throw InputError(fault_at(part.path, 1,
                                std::string("found a part of a ") +
                                    (part.is_matrix ? "matrix" : "vector") +
                                    "; expected one as in " + path));
    if (part.first != next)
      throw InputError(
          fault_at(part.path, 1,
                   "found rows from " + std::to_string(part.first) +
                       " on, where the parts before end at " + std::to_string(next - 1) +
                       (part.first < next ? "; expected no row twice, and no part of another run"
                                          : "; expected no row left out")));
    next = part.end;
  }
}

/// Throws comm_thread::InputError where the parts cannot hold so many rows.
void check_size(const HypreShare& share, std::int64_t stored_bytes, bool is_compressed,
                const std::string& path) {
  if (share.row_count == 0)
    throw InputError(path + ": found no rows in any part; expected at least one");
  try {
    check_fits_file({.format = share.is_matrix ? MatrixMarketHeader::Format::coordinate
                                               : MatrixMarketHeader::Format::array,
                     .row_count = share.row_count,
                     .column_count = share.is_matrix ? share.row_count : 1,
                     .entry_count = share.is_matrix ? 0 : share.row_count},
                    stored_bytes, is_compressed);
  } catch (const TextFault& fault) {
    throw InputError(path + ": " + fault.what());
  }
}

/// Collective. Throws comm_thread::InputError, the same on every rank.
HypreShare collective_open_parts(const Communicator& communicator, const std::string& path) {
  std::array<std::int64_t, 1> count{};
  comm_thread::collective_attempt(communicator, [&] {
    if (communicator.is_root()) count[0] = count_parts(path);
  });
  communicator.broadcast(count, 0);
  comm_thread::collective_attempt(communicator, [&] { open_text(path); });

  HypreShare share;
  const std::string stem = parts_of_name(path).first;
  const auto own = comm_thread::share_of(count[0], communicator.rank(), communicator.size());
  comm_thread::collective_attempt(communicator, [&] {
    for (std::int64_t number = own.begin; number < own.end; ++number)
      share.parts.push_back(read_part(name_of_part(stem, number)));
  });
  // Where there are fewer parts than ranks, the first one may be of any rank.
  const bool has_first = own.begin == 0 && own.end > 0;
  share.is_matrix = communicator.max(std::int64_t{has_first && share.parts[0].is_matrix}) != 0;
  share.base = communicator.max(has_first ? share.parts[0].first : std::int64_t{-1});
  std::int64_t own_rows = 0;
  std::array<std::int64_t, 2> stored{};  // bytes, and whether some are compressed
  for (const HyprePart& part : share.parts) {
    own_rows += part.end - part.first;
    stored[0] += part.stored_bytes;
    stored[1] += part.is_compressed;
  }
  communicator.sum(stored);
  const GlobalIndex before = communicator.exclusive_prefix_sum(own_rows);
  share.row_count = communicator.sum(own_rows);
  comm_thread::collective_attempt(communicator, [&] {
    check_order(share, before, path);
    check_size(share, stored[0], stored[1] > 0, path);
  });
  return share;
}

/// Entries of the parts of this rank, line by line; those of a vector are in column 0.
class PartEntries final : public EntryStream {
 public:
  explicit PartEntries(const HypreShare& share) : share_(share) {}

  void rewind() override {
    lines_.reset();
    next_part_ = 0;
    find_lines();
  }

  bool is_at_end() const override { return block_.empty(); }

  void read(bool has_values, std::vector<MatrixEntry>& entries) override {
    constexpr std::size_t most = 1 << 13;
    entries.clear();
    while (entries.size() < most && !block_.empty()) {
      const std::string_view line = take_lines(block_, 0);
      if (line.find_first_not_of(" \t\r\n") != std::string_view::npos) {
        MatrixEntry entry;
        if (const std::string fault = take_entry(line, has_values, entry); !fault.empty())
          throw InputError(fault_at(part().path, line_, fault));
        entries.push_back(entry);
      }
      ++line_;
      if (block_.empty()) find_lines();
    }
  }

 private:
  const HyprePart& part() const { return share_.parts[next_part_ - 1]; }

  /// The next lines, of this part or one behind it; none at the end.
  void find_lines() {
    block_ = {};
    while (true) {
      if (lines_) {
        try {
          block_ = lines_->next();
        } catch (const TextFault& fault) {
          throw InputError(fault_at(part().path, line_, fault.what()));
        }
        if (!block_.empty()) return;
        lines_.reset();
      }
      if (next_part_ == share_.parts.size()) return;
      ++next_part_;
      source_.emplace(open_text(part().path));
      lines_.emplace(*source_, TextRange{part().data_begin, TextRange::to_the_end});
      line_ = 2;
    }
  }

  /// Reads a line, which ends in '\n'; returns its fault.
  std::string take_entry(std::string_view line, bool has_values, MatrixEntry& entry) const {
    const char* text = line.data();
    const char* const end = text + line.size();
    if (std::string fault = take_index("row", part().first, part().end, text, end, entry.row);
        !fault.empty())
      return fault;
    if (share_.is_matrix)
      if (std::string fault = take_index("column", share_.base, share_.base + share_.row_count,
                                         text, end, entry.column);
          !fault.empty())
        return fault;
    if (!has_values) return "";
    const char* const behind = parse_real(skip_blanks(text), end, entry.value);
    if (behind && *skip_blanks(behind) == '\n') return "";
    if (behind && *skip_blanks(behind) == ',')
      return "found a complex number of hypre; expected a real one, because only real systems are "
             "solved";
    return fault_of_real({text, static_cast<std::size_t>(end - text)});
  }

  /// Reads a number from [begin, end), which becomes one from 0.
  std::string take_index(const char* what, GlobalIndex begin, GlobalIndex end, const char*& text,
                         const char* line_end, GlobalIndex& index) const {
    text = skip_blanks(text);
    const auto [stop, error] = std::from_chars(text, line_end, index);
    if (error == std::errc() && (is_blank(*stop) || *stop == '\n') && index >= begin &&
        index < end) {
      index -= share_.base;
      text = stop;
      return "";
    }
    const std::string_view rest(text, static_cast<std::size_t>(line_end - text));
    return "found " + in_quotes(rest.substr(0, rest.find_first_of(" \t\r\n"))) + " as " + what +
           "; expected a whole number from " + std::to_string(begin) + " to " +
           std::to_string(end - 1) +
           (what[0] == 'r' ? ", the rows of this part" : ", the rows of all parts");
  }

  const HypreShare& share_;
  std::size_t next_part_ = 0;
  std::optional<TextSource> source_;
  std::optional<TextLines> lines_;
  std::string_view block_;
  std::int64_t line_ = 2;
};

void note_base(const HypreShare& share, const std::string& path, Remarks& remarks) {
  if (share.base == 1) remarks.push_back(path + ": rows and columns count from 1");
}

}  // namespace

HypreContents collective_look_into_hypre(const Communicator& communicator,
                                         const std::string& path) {
  const HypreShare share = collective_open_parts(communicator, path);
  std::int64_t lines_found = 0;
  comm_thread::collective_attempt(communicator, [&] {
    for (const HyprePart& part : share.parts) {
      TextSource source = open_text(part.path);
      std::int64_t line = 2;
      try {
        TextLines lines(source, {part.data_begin, TextRange::to_the_end});
        for (std::string_view block = lines.next(); !block.empty(); block = lines.next())
          line += std::ranges::count(block, '\n');
      } catch (const TextFault& fault) {
        throw InputError(fault_at(part.path, line, fault.what()));
      }
      lines_found += line - 2;
    }
  });
  return {share.is_matrix, share.row_count, communicator.sum(lines_found)};
}

DistributedMatrix collective_read_hypre_matrix(const Communicator& communicator,
                                               const comm_thread::ComputeTeam& team,
                                               const std::string& path, PartitionBy partition,
                                               Remarks& remarks) {
  const HypreShare share = collective_open_parts(communicator, path);
  if (!share.is_matrix) throw InputError(path + ": found a vector of hypre; expected a matrix");
  PartEntries entries(share);
  note_base(share, path, remarks);
  return collective_read_stream(communicator, team,
                                {path, share.row_count, StreamedMatrix::Symmetry::general}, entries,
                                partition, remarks);
}

std::vector<double> collective_read_hypre_vector(const Communicator& communicator,
                                                 const RowPartition& partition,
                                                 const std::string& path, Remarks& remarks) {
  const HypreShare share = collective_open_parts(communicator, path);
  if (share.is_matrix) throw InputError(path + ": found a matrix of hypre; expected a vector");
  if (share.row_count != partition.row_count())
    throw InputError(path + ": found a vector of length " + std::to_string(share.row_count) +
                     "; expected length " + std::to_string(partition.row_count()));
  PartEntries entries(share);
  const GlobalIndex first_row = partition.begin(communicator.rank());
  std::vector<double> own(static_cast<std::size_t>(partition.size(communicator.rank())));
  std::vector<unsigned char> times(own.size());
  collective_deal(communicator, partition, entries, true, StreamedMatrix::Symmetry::general,
                  [&](const MatrixEntry& entry) {
                    const auto row = static_cast<std::size_t>(entry.row - first_row);
                    own[row] = entry.value;
                    times[row] = static_cast<unsigned char>(std::min(times[row] + 1, 2));
                  });
  comm_thread::collective_attempt(communicator, [&] {
    const auto wrong = std::ranges::find_if(times, [](unsigned char n) { return n != 1; });
    if (wrong == times.end()) return;
    throw InputError(path + ": found " + (*wrong == 0 ? "no value" : "more than one value") +
                     " for row " +
                     std::to_string(share.base + first_row + (wrong - times.begin())) +
                     " in its parts; expected one for each row");
  });
  note_base(share, path, remarks);
  return own;
}

}  // namespace weft::spmv
