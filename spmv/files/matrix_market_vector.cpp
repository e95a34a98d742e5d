#include "spmv/files/matrix_market_vector.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "spmv/files/matrix_market_entries.h"
#include "spmv/files/matrix_market_file.h"
#include "spmv/files/matrix_market_output.h"
#include "spmv/files/matrix_market_pass.h"
#include "spmv/files/number_text.h"
#include "spmv/files/text_fault.h"

namespace weft::spmv {
namespace {

/// Programs call what is symmetric so, a square array of right-hand sides, too.
bool has_half(const MatrixMarketHeader& header) {
  return header.symmetry != MatrixMarketHeader::Symmetry::general;
}

/// Throws TextFault.
void check_columns(const MatrixMarketHeader& header, GlobalIndex row_count, std::int64_t most) {
  const std::array sizes{header.row_count, header.column_count};
  const bool is_array = header.format == MatrixMarketHeader::Format::array;
  if (has_half(header) && (!is_array || most == 1)) check_is_array(header);
  const ColumnCount columns =
      is_array ? columns_of(sizes, row_count, most) : sparse_columns_of(sizes, row_count, most);
  if (!columns.fault.empty()) throw TextFault(columns.fault);
}

/// The values of this rank's rows: [own rows][columns].
std::vector<double> collective_read_values(MatrixMarketFile& file, const RowPartition& partition,
                                           GlobalIndex column_count) {
  const comm_thread::Communicator& communicator = file.communicator();
  const MatrixMarketEntries entries(file.header());
  const bool is_array = file.header().format == MatrixMarketHeader::Format::array;
  const bool has_lines = file.header().has_lines_of_rows;
  const bool is_one_row = file.header().row_count != partition.row_count();
  std::int64_t next = is_array ? file.collective_first_number() : 0;
  const GlobalIndex first_row = partition.begin(communicator.rank());
  std::vector<double> own(
      static_cast<std::size_t>(partition.size(communicator.rank()) * column_count));
  const bool is_half = has_half(file.header());
  const double sign =
      file.header().symmetry == MatrixMarketHeader::Symmetry::skew_symmetric ? -1 : 1;
  const auto read = [&](std::string_view lines, const auto& keep) {
    const auto take = [&](const MatrixEntry& entry) {
      if (!is_one_row) keep(entry);
      if (is_one_row || (is_half && entry.row != entry.column))
        keep(MatrixEntry{entry.column, entry.row, is_half ? sign * entry.value : entry.value});
    };
    return has_lines  ? entries.parse_rows(lines, next, take)
           : is_array ? entries.parse_array(lines, next, take)
                      : entries.parse(lines, MatrixMarketEntries::Values::parse, take);
  };
  const auto pass = collective_pass(
      file, MatrixMarketRounds::Dealing::no, partition, read, [&](const MatrixEntry& entry) {
        own[static_cast<std::size_t>((entry.row - first_row) * column_count + entry.column)] +=
            entry.value;
      });
  if (pass.has_fault || pass.entry_count != file.header().entry_count)
    file.collective_fail(
        [&](std::string_view line, std::int64_t number) { return entries.fault_of(line, number); },
        "the file changed while it was read; expected it to stay as it is");
  return own;
}

}  // namespace

ColumnCount columns_of(std::span<const std::int64_t> sizes, GlobalIndex row_count,
                       std::int64_t most) {
  const auto text = [](std::int64_t number) { return std::to_string(number); };
  while (sizes.size() > 2 && sizes.back() == 1) sizes = sizes.first(sizes.size() - 1);
  const bool is_line =
      std::ranges::count_if(sizes, [](std::int64_t size) { return size != 1; }) <= 1;
  const bool has_columns = sizes.size() == 2 && sizes[0] == row_count;
  if (has_columns && sizes[1] == 0) return {0, "found 0 columns; expected at least one"};
  if (has_columns && (!is_line || row_count == 1)) {
    if (sizes[1] <= most) return {sizes[1]};
    return {0, "found " + text(sizes[0]) + " rows and " + text(sizes[1]) +
                   " columns; expected a vector of " +
                   (most == 1 ? "1 column" : "at most " + text(most) + " columns")};
  }
  if (is_line) {
    std::int64_t length = 1;
    for (const std::int64_t size : sizes) length *= size;
    if (length == row_count) return {1};
    return {0, "found a vector of length " + text(length) + "; expected length " + text(row_count)};
  }
  if (sizes.size() == 2) {
    const std::string found =
        "found " + text(sizes[0]) + " rows and " + text(sizes[1]) + " columns; expected ";
    if (most == 1) return {0, found + "a vector of length " + text(row_count)};
    return {0,
            found + text(row_count) + " rows" +
                (sizes[1] == row_count ? ": write the transpose, which has a vector in each column"
                                       : "")};
  }
  std::string found;
  for (const std::int64_t size : sizes) found += (found.empty() ? "" : " x ") + text(size);
  return {0, "found an array of " + found + " numbers; expected " + text(row_count) +
                 " rows, with a vector in each column"};
}

ColumnCount sparse_columns_of(std::span<const std::int64_t> sizes, GlobalIndex row_count,
                              std::int64_t most) {
  if (sizes.size() == 2 && sizes[0] == sizes[1] && sizes[0] > 1)
    return {0, "found a sparse matrix of " + std::to_string(sizes[0]) +
                   " rows and columns; expected a vector, or several as the columns of an array"};
  return columns_of(sizes, row_count, most);
}

FileColumns collective_read_columns(const comm_thread::Communicator& communicator,
                                    const RowPartition& partition, const std::string& path,
                                    std::int64_t most, Remarks& remarks) {
  auto file = MatrixMarketFile::collective_open(
      communicator, path,
      [&](const MatrixMarketHeader& header) { check_columns(header, partition.row_count(), most); },
      IndexBase::found, TextUse::columns);
  const MatrixMarketHeader& header = file.header();
  const std::int64_t count = header.row_count == partition.row_count() ? header.column_count : 1;
  FileColumns columns{count, collective_read_values(file, partition, count)};
  if (header.field == MatrixMarketHeader::Field::complex)
    remarks.push_back(path + ": all imaginary parts are 0; the numbers are taken as real");
  file.collective_remark_on_rest(remarks);
  return columns;
}

std::int64_t collective_count_text_columns(const comm_thread::Communicator& communicator,
                                           const std::string& path,
                                           const std::function<GlobalIndex()>& row_count) {
  const auto header = MatrixMarketFile::collective_look(communicator, path, TextUse::columns);
  if (header.column_count == 1 || !header.is_counted) return header.column_count;
  const GlobalIndex rows = row_count();
  MatrixMarketFile::collective_open(
      communicator, path,
      [&](const MatrixMarketHeader& of_file) {
        check_columns(of_file, rows, any_number_of_columns);
      },
      IndexBase::found, TextUse::columns);
  return header.row_count == rows ? header.column_count : 1;
}

ArraySize collective_array_size(const comm_thread::Communicator& communicator,
                                const std::string& path) {
  const auto file = MatrixMarketFile::collective_open(communicator, path, check_is_array);
  return {file.header().row_count, file.header().column_count};
}

std::vector<double> collective_read_array(const comm_thread::Communicator& communicator,
                                          const RowPartition& partition, const std::string& path) {
  auto file = MatrixMarketFile::collective_open(communicator, path, check_is_array);
  return collective_read_values(file, partition, file.header().column_count);
}

void collective_write_columns(const comm_thread::Communicator& communicator,
                              const RowPartition& partition, std::span<const double> own,
                              std::int64_t count, const std::string& path) {
  TextItems items;
  items.header = "%%MatrixMarket matrix array real general\n" +
                 std::to_string(partition.row_count()) + " " + std::to_string(count) + "\n";
  items.count = std::ssize(own) / count;
  items.run_count = count;
  items.append = [own, count, rows = items.count](std::int64_t item, std::string& text) {
    append_number(text, own[static_cast<std::size_t>(item % rows * count + item / rows)]);
    text += '\n';
  };
  collective_write_text(communicator, path, items);
}

}  // namespace weft::spmv
