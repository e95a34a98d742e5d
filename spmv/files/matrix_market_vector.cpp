#include "spmv/files/matrix_market_vector.h"

#include <cstdint>
#include <string_view>

#include "spmv/files/matrix_market_entries.h"
#include "spmv/files/matrix_market_file.h"
#include "spmv/files/matrix_market_output.h"
#include "spmv/files/matrix_market_pass.h"
#include "spmv/files/number_text.h"
#include "spmv/files/text_fault.h"

namespace weft::spmv {
namespace {

/// Number of data lines in this rank's part of the file, up to a fault, which the next pass finds
/// too.
std::int64_t count_own_values(MatrixMarketFile& file) {
  std::int64_t count = 0;
  if (!file.has_own_lines()) return count;
  try {
    TextLines lines = file.own_lines();
    for (std::string_view block = lines.next(); !block.empty(); block = lines.next())
      count += count_lines(block).data_lines;
  } catch (const TextFault&) {
  }
  return count;
}

/// Calls `keep(entry)` for the value in each line of data, the first one being number `next` of
/// all columns, which is advanced. Returns the number of values, or -1 for a fault.
template <class Keep>
std::int64_t parse_values(std::string_view lines, std::int64_t& next, const ArraySize& size,
                          Keep&& keep) {
  std::int64_t count = 0;
  while (!lines.empty()) {
    const std::string_view line = take_lines(lines, 0);
    if (!is_data_line(line)) continue;
    if (next >= size.row_count * size.column_count) return -1;
    MatrixEntry entry{next % size.row_count, next / size.row_count, 0.0};
    ++next;
    const char* end = parse_real(skip_blanks(line.data()), line.data() + line.size(), entry.value);
    if (!end || *skip_blanks(end) != '\n') return -1;
    keep(entry);
    ++count;
  }
  return count;
}

/// The values of this rank's rows: [own rows][columns].
std::vector<double> collective_read_values(MatrixMarketFile& file, const RowPartition& partition,
                                           GlobalIndex column_count) {
  const comm_thread::Communicator& communicator = file.communicator();
  std::int64_t next = communicator.exclusive_prefix_sum(count_own_values(file));
  const GlobalIndex first_row = partition.begin(communicator.rank());
  const ArraySize size{partition.row_count(), column_count};
  std::vector<double> own(
      static_cast<std::size_t>(partition.size(communicator.rank()) * column_count));
  const auto read = [&](std::string_view lines, const auto& keep) {
    return parse_values(lines, next, size, keep);
  };
  const auto pass = collective_pass(
      file, MatrixMarketRounds::Dealing::no, partition, read, [&](const MatrixEntry& entry) {
        own[static_cast<std::size_t>((entry.row - first_row) * column_count + entry.column)] =
            entry.value;
      });
  if (pass.has_fault || pass.entry_count != size.row_count * column_count)
    file.collective_fail(fault_of_real,
                         "the file changed while it was read; expected it to stay as it is");
  return own;
}

}  // namespace

std::vector<double> collective_read_vector(const comm_thread::Communicator& communicator,
                                           const RowPartition& partition, const std::string& path) {
  auto file = MatrixMarketFile::collective_open(
      communicator, path,
      [&](const MatrixMarketHeader& header) { check_is_vector(header, partition.row_count()); });
  return collective_read_values(file, partition, 1);
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

void collective_write_vector(const comm_thread::Communicator& communicator,
                             const RowPartition& partition, std::span<const double> own,
                             const std::string& path) {
  TextItems items;
  items.header =
      "%%MatrixMarket matrix array real general\n" + std::to_string(partition.row_count()) + " 1\n";
  items.count = std::ssize(own);
  items.append = [own](std::int64_t item, std::string& text) {
    append_number(text, own[static_cast<std::size_t>(item)]);
    text += '\n';
  };
  collective_write_text(communicator, path, items);
}

}  // namespace weft::spmv
