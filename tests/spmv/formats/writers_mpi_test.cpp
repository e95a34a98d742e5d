// Random matrices and vectors, each by every writer at hand: read right, or refused in one line.
#include <sys/wait.h>

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/placement/compute_team.h"
#include "spmv/formats/matrix_file.h"
#include "spmv/rows/distributed_matrix.h"
#include "spmv/rows/partition.h"
#include "tests/support/shared_folder.h"
#include "tests/support/thread_count.h"

namespace weft::spmv {
namespace {

/// A line of the list that the script writes.
struct WrittenFile {
  std::string path;
  bool is_matrix = false;
  GlobalIndex size = 0;
  std::string values;
  std::string word;  // of a refusal; "-" where the file has to be read
};

class Readers {
 public:
  /// False without SciPy.
  bool has_files() const {
    std::int64_t status = 0;
    if (world_.is_root()) {
      constexpr int exit_code_skipped = 77;
      const int code = std::system(("tests/support/written_files " + folder_.file("")).c_str());
      status = WEXITSTATUS(code) == exit_code_skipped ? 1 : code == 0 ? 0 : 2;
    }
    status = world_.sum(status);
    CHECK(status < 2);
    return status == 0;
  }

  std::vector<WrittenFile> files() const {
    std::vector<WrittenFile> files;
    std::ifstream list(folder_.file("cases"));
    for (std::string line; std::getline(list, line);) {
      std::istringstream fields(line);
      std::string name;
      std::string what;
      std::getline(fields, name, '\t');
      std::getline(fields, what, '\t');
      if (name == "missing") {
        if (world_.is_root())
          std::cout << "not tried, because it is not installed: " << what << "\n";
        continue;
      }
      WrittenFile file;
      file.path = folder_.file(name);
      file.is_matrix = what == "matrix";
      fields >> file.size >> file.values >> file.word;
      files.push_back(file);
    }
    return files;
  }

  /// How many of this rank's numbers are wrong.
  std::int64_t wrong_numbers(const WrittenFile& file) const {
    std::int64_t wrong = 0;
    const auto size = static_cast<std::size_t>(file.size);
    if (!file.is_matrix) {
      const auto rows = RowPartition::by_rows(file.size, world_.size());
      const std::vector<double> right = right_values(file, size);
      Remarks unread;
      const std::vector<double> read = collective_read_vector_file(world_, rows, file.path, unread);
      const auto first = static_cast<std::size_t>(rows.begin(world_.rank()));
      for (std::size_t i = 0; i < read.size(); ++i) wrong += read[i] == right[first + i] ? 0 : 1;
      return wrong;
    }
    check_matrix_file(file.path);
    const auto read = collective_read_matrix_file(world_, team_, file.path, PartitionBy::rows);
    if (read.partition.row_count() != file.size) return 1;
    const std::vector<double> right = right_values(file, size * size);
    for (LocalIndex row = 0; row < read.rows.row_count; ++row) {
      std::vector<double> whole(size, 0.0);
      const auto at = static_cast<std::size_t>(row);
      for (auto k = static_cast<std::size_t>(read.rows.row_offsets[at]);
           k < static_cast<std::size_t>(read.rows.row_offsets[at + 1]); ++k)
        whole[static_cast<std::size_t>(read.global_column(read.rows.columns[k]))] +=
            read.rows.values[k];
      for (std::size_t column = 0; column < size; ++column)
        wrong +=
            whole[column] == right[static_cast<std::size_t>(read.first_row() + row) * size + column]
                ? 0
                : 1;
    }
    return wrong;
  }

  const comm_thread::Communicator& world() const { return world_; }

 private:
  std::vector<double> right_values(const WrittenFile& file, std::size_t count) const {
    std::vector<double> values(count);
    std::ifstream stream(folder_.file(file.values), std::ios::binary);
    stream.read(reinterpret_cast<char*>(values.data()),
                static_cast<std::streamsize>(count * sizeof(double)));
    CHECK(stream.good());
    return values;
  }

  const comm_thread::Communicator world_ = comm_thread::Communicator::collective_world();
  const comm_thread::ComputeTeam team_{tests::thread_count(), comm_thread::WaitPolicy{}};
  const tests::SharedFolder folder_{world_};
};

}  // namespace

TEST_CASE("what any writer has written is read right, or refused in one line") {
  const Readers readers;
  if (!readers.has_files()) {
    WARN("skipped: SciPy is missing; tools/setup installs it");
    return;
  }
  const std::vector<WrittenFile> files = readers.files();
  constexpr std::size_t fewest = 300;  // by SciPy alone
  CHECK(files.size() > fewest);
  for (const WrittenFile& file : files) {
    INFO(file.path);
    std::int64_t wrong = 0;
    std::string refusal;
    try {
      wrong = readers.wrong_numbers(file);
    } catch (const comm_thread::InputError& error) {
      refusal = error.what();
    }
    CHECK(readers.world().sum(wrong) == 0);
    const std::vector<std::string> all = readers.world().gather(refusal);
    for (const std::string& other : all) CHECK(other == all.front());
    if (refusal.empty()) continue;
    INFO(refusal);
    CHECK(file.word != "-");
    CHECK_THAT(refusal, Catch::Contains(file.word) && Catch::Contains("expected"));
    CHECK(refusal.find('\n') == std::string::npos);
  }
}

}  // namespace weft::spmv
