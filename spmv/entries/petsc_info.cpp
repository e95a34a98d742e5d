#include "spmv/entries/petsc_info.h"

#include <array>
#include <cstdint>
#include <fstream>

#include "comm_thread/mpi/number_in.h"

namespace weft::spmv {
namespace {

GlobalIndex block_size_in(std::istream& info) {
  std::string word;
  while (info >> word) {
    if (!word.starts_with("-") || !word.ends_with("matload_block_size")) continue;
    std::string size;
    info >> size;
    const auto number = comm_thread::number_in<GlobalIndex>(size);
    return number && *number > 0 ? *number : 0;
  }
  return 0;
}

}  // namespace

GlobalIndex collective_petsc_block_size(const comm_thread::Communicator& communicator,
                                        const std::string& path) {
  std::array<std::int64_t, 1> size{};
  if (communicator.is_root()) {
    std::ifstream info(path + ".info");
    if (info) size[0] = block_size_in(info);
  }
  communicator.broadcast(size, 0);
  return size[0];
}

}  // namespace weft::spmv
