#include "spmv/files/matrix_market_file.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
#include "spmv/files/matrix_market_entries.h"
#include "spmv/files/text_fault.h"
#include "spmv/names/file_format.h"

namespace weft::spmv {
namespace {

using comm_thread::collective_agree_on_error;
using comm_thread::InputError;

}  // namespace

MatrixMarketFile MatrixMarketFile::collective_open(
    const comm_thread::Communicator& communicator, const std::string& path,
    const std::function<void(const MatrixMarketHeader&)>& check, IndexBase base, TextUse use) {
  MatrixMarketFile file(communicator, path, base);
  file.collective_read_header(check, use);
  comm_thread::collective_attempt(communicator, [&] { file.find_own_range(); });
  if (!file.header_.is_counted) file.collective_count(check);
  return file;
}

MatrixMarketHeader MatrixMarketFile::collective_look(const comm_thread::Communicator& communicator,
                                                     const std::string& path, TextUse use) {
  MatrixMarketFile file(communicator, path, IndexBase::found);
  file.collective_read_header([](const MatrixMarketHeader&) {}, use);
  return file.header_;
}

void MatrixMarketFile::collective_read_header(
    const std::function<void(const MatrixMarketHeader&)>& check, TextUse use) {
  // Where rank 0 lacks the file, all ranks look, so that the line says which of them lack it.
  std::array<std::int64_t, 1> is_lacking{communicator_->is_root() &&
                                         access(path_.c_str(), R_OK) != 0};
  communicator_->broadcast(is_lacking, 0);
  if (is_lacking[0] != 0) comm_thread::collective_attempt(*communicator_, [&] { open(); });
  comm_thread::collective_attempt(*communicator_, [&] {
    if (!communicator_->is_root()) return;
    read_header(check, use);
    // A last line without its '\n' was handed out with one.
    if (!is_compressed_) header_.data_begin = std::min(header_.data_begin, source_->stored_bytes());
  });
  collective_share_header();
}

void MatrixMarketFile::open() {
  if (source_) return;
  try {
    source_.emplace(path_);
  } catch (const TextAccessFault& fault) {
    throw comm_thread::FileAccessError(path_ + ": " + fault.what());
  } catch (const TextFault& fault) {
    throw InputError(path_ + ": " + fault.what());
  }
}

void MatrixMarketFile::read_header(const std::function<void(const MatrixMarketHeader&)>& check,
                                   TextUse use) {
  open();
  is_compressed_ = source_->is_compressed();
  MatrixMarketHeaderParser parser;
  std::int64_t line = 1;
  try {
    TextLines lines(*source_, {});
    if (is_triplet_name(path_)) {
      header_ = read_triplet_header(path_, lines.next(), use, line);
      take_base();
      if (header_.is_counted) check_header(check);
      return;
    }
    for (bool is_complete = false; !is_complete;) {
      std::string_view block = lines.next();
      if (block.empty()) parser.fail_at_end();
      while (!is_complete && !block.empty()) {
        is_complete = parser.take(take_lines(block, 0));
        line = parser.lines_taken() + (is_complete ? 0 : 1);
      }
    }
    header_ = parser.header();
    if (header_.is_counted) check_header(check);
  } catch (const TextFault& fault) {
    throw InputError(fault_at(path_, line, fault.what()));
  }
}

void MatrixMarketFile::take_base() {
  if (base_ == IndexBase::found) return;
  if (header_.is_counted || header_.format == MatrixMarketHeader::Format::array)
    throw InputError(
        path_ + ": found " +
        (header_.is_counted ? "a header that says where rows count from" : "a vector") + " and " +
        comm_thread::option_name("base") + "; expected it with entries that have no header");
  header_.base = base_ == IndexBase::one ? 1 : 0;
}

void MatrixMarketFile::check_header(
    const std::function<void(const MatrixMarketHeader&)>& check) const {
  check(header_);
  check_fits_file(header_, source_->stored_bytes(), is_compressed_);
}

void MatrixMarketFile::check_counts() const {
  const bool has_sizes = header_.announced_rows > 0 &&
                         header_.announced_rows == header_.row_count - 1 + header_.base &&
                         header_.announced_entries == header_.entry_count - 1;
  if (has_sizes) {
    const std::string rows = std::to_string(header_.announced_rows);
    throw InputError(path_ + ":" + std::to_string(header_.line_count + 1) + ": found \"" + rows +
                     " " + rows + " " + std::to_string(header_.announced_entries) +
                     "\" before as many entries, which seem to be their sizes; expected \"ROW "
                     "COLUMN VALUE\" from the first line on");
  }
  if (header_.words_of_reals == header_.entry_count && base_ == IndexBase::found) {
    const std::string lines = std::to_string(header_.entry_count);
    throw InputError(path_ + ": found " + lines + " lines of " + lines +
                     " reals, which may be a dense matrix or \"ROW COLUMN VALUE\"; expected " +
                     comm_thread::option_name("base", "0") +
                     " or 1 with entries, or a dense matrix as scipy.io.mmwrite(\"FILE.mtx\", A)");
  }
}

MatrixMarketFile::OwnCount MatrixMarketFile::count_own(const MatrixMarketEntries& entries) {
  OwnCount own;
  if (!has_own_lines()) return own;
  const bool is_array = header_.format == MatrixMarketHeader::Format::array;
  const auto take = [&](const MatrixEntry& entry) {
    own.least = std::min({own.least, entry.row, entry.column});
    own.most = std::max({own.most, entry.row, entry.column});
  };
  std::int64_t next = 0;
  try {
    TextLines lines = own_lines();
    for (std::string_view block = lines.next(); !block.empty() && !own.has_fault;
         block = lines.next()) {
      const std::int64_t more = header_.has_lines_of_rows ? entries.parse_rows(block, next, take)
                                : is_array
                                    ? entries.parse_array(block, next, take)
                                    : entries.parse(block, MatrixMarketEntries::Values::skip, take);
      own.has_fault = more < 0;
      own.count += more;
    }
  } catch (const TextFault&) {
    own.has_fault = true;
  }
  return own;
}

void MatrixMarketFile::collective_count(
    const std::function<void(const MatrixMarketHeader&)>& check) {
  const MatrixMarketEntries entries(header_);
  const OwnCount own = count_own(entries);
  if (communicator_->max(std::int64_t{own.has_fault}) > 0)
    collective_fail(
        [&](std::string_view line, std::int64_t number) { return entries.fault_of(line, number); },
        "the file changed while it was read; expected it to stay as it is");
  header_.entry_count = communicator_->sum(own.count);
  if (header_.format == MatrixMarketHeader::Format::array) {
    header_.row_count = header_.entry_count;
  } else {
    // Whoever counts from 0 has a first row. Indices are those from 0 where the base is given.
    const bool is_from_1 = base_ == IndexBase::found && communicator_->min(own.least) > 0;
    if (is_from_1) header_.base = 1;
    header_.row_count = communicator_->max(own.most) + (is_from_1 ? 0 : 1);
    header_.column_count = header_.row_count;
  }
  header_.is_counted = true;
  comm_thread::collective_attempt(*communicator_, [&] {
    if (!communicator_->is_root()) return;
    check_counts();
    try {
      check_header(check);
    } catch (const TextFault& fault) {
      throw InputError(path_ + ": " + fault.what());
    }
  });
}

void MatrixMarketFile::collective_share_header() {
  using Header = MatrixMarketHeader;
  std::array<std::int64_t, 16> numbers{static_cast<int>(header_.format),
                                       static_cast<int>(header_.field),
                                       static_cast<int>(header_.symmetry),
                                       header_.row_count,
                                       header_.column_count,
                                       header_.entry_count,
                                       header_.line_count,
                                       header_.data_begin,
                                       header_.base,
                                       header_.is_counted,
                                       header_.announced_rows,
                                       header_.announced_entries,
                                       header_.has_lines_of_rows,
                                       header_.numbers_a_line,
                                       header_.words_of_reals,
                                       is_compressed_};
  communicator_->broadcast(numbers, 0);
  header_ = {static_cast<Header::Format>(numbers[0]),
             static_cast<Header::Field>(numbers[1]),
             static_cast<Header::Symmetry>(numbers[2]),
             numbers[3],
             numbers[4],
             numbers[5],
             numbers[6],
             numbers[7],
             numbers[8],
             numbers[9] != 0,
             numbers[10],
             numbers[11],
             numbers[12] != 0,
             numbers[13],
             numbers[14]};
  is_compressed_ = numbers[15] != 0;
}

void MatrixMarketFile::find_own_range() {
  const int rank = communicator_->rank();
  if (is_compressed_) {
    if (rank == 0) own_ = {header_.data_begin, TextRange::to_the_end};
    return;
  }
  open();
  try {
    const std::int64_t data_bytes = source_->stored_bytes() - header_.data_begin;
    const auto cut = [&](int before) {
      const int ranks = communicator_->size();
      const std::int64_t share = data_bytes / ranks * before + data_bytes % ranks * before / ranks;
      return before == 0       ? header_.data_begin
             : before == ranks ? TextRange::to_the_end
                               : line_start_from(*source_, header_.data_begin + share);
    };
    own_ = {cut(rank), cut(rank + 1)};
  } catch (const TextFault& fault) {
    throw InputError(path_ + ": " + fault.what());
  }
}

TextLines MatrixMarketFile::own_lines() { return TextLines(*source_, own_); }

LineCount MatrixMarketFile::count_own_lines() {
  LineCount own;
  if (!has_own_lines()) return own;
  try {
    TextLines lines = own_lines();
    for (std::string_view block = lines.next(); !block.empty(); block = lines.next()) {
      const LineCount more = count_lines(block);
      own.lines += more.lines;
      own.data_lines += more.data_lines;
    }
  } catch (const TextFault&) {  // NOLINT(bugprone-empty-catch): lines up to the fault count
  }
  return own;
}

std::int64_t MatrixMarketFile::collective_first_number() {
  return communicator_->exclusive_prefix_sum(count_own_lines().data_lines);
}

std::string MatrixMarketFile::first_fault(const FaultOf& fault_of, std::int64_t line,
                                          std::int64_t entry) {
  if (!has_own_lines()) return "";
  const std::string announced = std::to_string(header_.entry_count);
  const std::string entries = header_.numbers_a_line > 0 ? " lines of numbers" : " entries";
  try {
    TextLines lines = own_lines();
    for (std::string_view block = lines.next(); !block.empty(); block = lines.next()) {
      while (!block.empty()) {
        const std::string_view text = take_lines(block, 0);
        if (is_data_line(text)) {
          if (++entry > header_.entry_count && header_.is_counted)
            throw TextFault("found more" + entries + "; expected the file to end after the " +
                            announced + entries + " of its size line");
          if (const std::string fault = fault_of(text, entry - 1); !fault.empty())
            throw TextFault(fault);
        }
        ++line;
      }
    }
  } catch (const TextFault& fault) {
    return fault_at(path_, line, fault.what());
  }
  if (communicator_->rank() + 1 < communicator_->size() && !is_compressed_) return "";
  if (entry == header_.entry_count || !header_.is_counted) return "";
  return fault_at(path_, line - 1,
                  "the file ends after " + std::to_string(entry) + entries + "; expected the " +
                      announced + " of its size line");
}

std::int64_t MatrixMarketFile::collective_find_line(
    const std::function<bool(std::string_view)>& is_wanted) {
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  std::int64_t lines_read = 0;
  std::int64_t found = none;  // among this rank's lines, from 0
  try {
    if (has_own_lines()) {
      TextLines lines = own_lines();
      for (std::string_view block = lines.next(); !block.empty(); block = lines.next()) {
        while (!block.empty()) {
          const std::string_view text = take_lines(block, 0);
          if (found == none && is_data_line(text) && is_wanted(text)) found = lines_read;
          ++lines_read;
        }
      }
    }
  } catch (const TextFault&) {  // NOLINT(bugprone-empty-catch): no line behind it is found
  }
  const std::int64_t before = communicator_->exclusive_prefix_sum(lines_read);
  const std::int64_t line =
      communicator_->min(found == none ? none : header_.line_count + 1 + before + found);
  return line == none ? 0 : line;
}

void MatrixMarketFile::collective_remark_on_rest(Remarks& remarks) {
  std::array<std::int64_t, 1> bytes{communicator_->is_root() && source_ ? source_->bytes_behind()
                                                                        : 0};
  communicator_->broadcast(bytes, 0);
  remark_on_bytes_behind(path_, "compressed data", bytes[0], remarks);
}

void MatrixMarketFile::collective_fail(const FaultOf& fault_of, const std::string& suspicion) {
  // Behind a fault counts are wrong, but then that is not the first fault.
  const LineCount own = count_own_lines();
  const std::int64_t line = header_.line_count + 1 + communicator_->exclusive_prefix_sum(own.lines);
  const std::int64_t entry = communicator_->exclusive_prefix_sum(own.data_lines);
  collective_agree_on_error(*communicator_, first_fault(fault_of, line, entry));
  throw InputError(fault_at(path_, header_.line_count, suspicion));
}

}  // namespace weft::spmv
