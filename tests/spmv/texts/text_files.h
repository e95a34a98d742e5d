#pragma once

#include <zlib.h>

#include <fstream>
#include <functional>
#include <string>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/placement/compute_team.h"
#include "spmv/files/remarks.h"
#include "spmv/formats/matrix_file.h"
#include "spmv/rows/distributed_matrix.h"
#include "spmv/rows/partition.h"
#include "tests/support/shared_folder.h"
#include "tests/support/thread_count.h"

namespace weft::tests {

/// [4 -1 0; -2 5 -1; 0 -2 6]
inline const std::string all_entries = "0,0=4 0,1=-1 1,0=-2 1,1=5 1,2=-1 2,1=-2 2,2=6 ";

/// Files that all ranks read.
class TextFiles {
 public:
  /// Compressed where the name ends in .gz. Collective.
  std::string put(const std::string& name, const std::string& text) const {
    world.barrier();
    if (world.is_root()) {
      if (name.ends_with(".gz")) {
        const gzFile file = gzopen(path(name).c_str(), "wb");
        gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
        gzclose(file);
      } else {
        std::ofstream(path(name), std::ios::binary) << text;
      }
    }
    world.barrier();
    return path(name);
  }

  std::string path(const std::string& name) const { return folder_.file(name); }

  /// All nonzeros as "row,column=value", from 0, on every rank.
  std::string matrix(const std::string& path, spmv::Remarks& remarks,
                     spmv::IndexBase base = spmv::IndexBase::found,
                     spmv::PartitionBy by = spmv::PartitionBy::rows) const {
    const auto read = collective_read_matrix_file(world, team_, path, by, remarks, base);
    std::string own;
    for (spmv::LocalIndex row = 0; row < read.rows.row_count; ++row)
      for (auto k = read.rows.row_offsets[static_cast<std::size_t>(row)];
           k < read.rows.row_offsets[static_cast<std::size_t>(row) + 1]; ++k) {
        const auto at = static_cast<std::size_t>(k);
        own += std::to_string(read.first_row() + row) + "," +
               std::to_string(read.global_column(read.rows.columns[at])) + "=" +
               short_text(read.rows.values[at]) + " ";
      }
    return together(own);
  }
  std::string matrix(const std::string& path) const {
    spmv::Remarks unread;
    return matrix(path, unread);
  }

  std::string vector(const std::string& path, spmv::GlobalIndex length) const {
    const auto rows = spmv::RowPartition::by_rows(length, world.size());
    std::string own;
    spmv::Remarks unread;
    for (const double value : collective_read_vector_file(world, rows, path, unread))
      own += short_text(value) + " ";
    return together(own);
  }

  /// What reading the matrix, or `work`, complains of, without the folder; "" for nothing.
  std::string fault_of(const std::string& path) const {
    return fault_of([&] { matrix(path); });
  }
  std::string fault_of(const std::function<void()>& work) const {
    try {
      work();
    } catch (const comm_thread::InputError& error) {
      std::string text = error.what();
      const std::string folder = folder_.file("");
      for (std::size_t at; (at = text.find(folder)) != std::string::npos;)
        text.erase(at, folder.size());
      return text;
    }
    return "";
  }

  const comm_thread::Communicator world = comm_thread::Communicator::collective_world();

 private:
  static std::string short_text(double value) {
    std::string text = std::to_string(value);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    return text;
  }

  std::string together(const std::string& own) const {
    std::string all;
    for (const std::string& part : world.gather(own)) all += part;
    world.broadcast(all, 0);
    return all;
  }

  const comm_thread::ComputeTeam team_{thread_count(), comm_thread::WaitPolicy{}};
  const SharedFolder folder_{world};
};

inline std::string joined(const spmv::Remarks& remarks) {
  std::string text;
  for (const std::string& remark : remarks) text += remark + "\n";
  return text;
}

}  // namespace weft::tests
