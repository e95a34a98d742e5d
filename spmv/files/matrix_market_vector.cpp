#include "spmv/files/matrix_market_vector.h"

#include <cstdint>
#include <string_view>

#include "spmv/files/matrix_market_entries.h"
#include "spmv/files/matrix_market_file.h"
#include "spmv/files/matrix_market_output.h"
#include "spmv/files/matrix_market_pass.h"
#include "spmv/files/number_text.h"

namespace weft::spmv {
namespace {

/// The values of this rank's rows: [own rows][columns].
std::vector<double> collective_read_values(MatrixMarketFile& file, const RowPartition& partition,
                                           GlobalIndex column_count) {
  const comm_thread::Communicator& communicator = file.communicator();
  const MatrixMarketEntries entries(file.header());
  const bool is_array = file.header().format == MatrixMarketHeader::Format::array;
  const bool is_one_row = file.header().row_count != partition.row_count();
  std::int64_t next = is_array ? file.collective_first_number() : 0;
  const GlobalIndex first_row = partition.begin(communicator.rank());
  std::vector<double> own(
      static_cast<std::size_t>(partition.size(communicator.rank()) * column_count));
  const auto read = [&](std::string_view lines, const auto& keep) {
    const auto take = [&](const MatrixEntry& entry) {
      keep(is_one_row ? MatrixEntry{entry.column, entry.row, entry.value} : entry);
    };
    return is_array ? entries.parse_array(lines, next, take)
                    : entries.parse(lines, MatrixMarketEntries::Values::parse, take);
  };
  const auto pass = collective_pass(
      file, MatrixMarketRounds::Dealing::no, partition, read, [&](const MatrixEntry& entry) {
        own[static_cast<std::size_t>((entry.row - first_row) * column_count + entry.column)] +=
            entry.value;
      });
  if (pass.has_fault || pass.entry_count != file.header().entry_count)
    file.collective_fail([&](std::string_view line) { return entries.fault_of(line); },
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
