#include "comm_thread/mpi/message_type.h"

#include <array>
#include <limits>

#include "comm_thread/mpi/mpi_error.h"

namespace weft::comm_thread {
namespace {

constexpr int gib = 1 << 30;

/// One element of `bytes` bytes.
MPI_Datatype make_large_type(std::size_t bytes) {
  const auto whole = static_cast<int>(bytes / gib);
  const auto rest = static_cast<int>(bytes % gib);
  MPI_Datatype block = MPI_DATATYPE_NULL;
  check_mpi(MPI_Type_contiguous(gib, MPI_BYTE, &block), "describe a large message");
  const std::array lengths{whole, rest};
  const std::array<MPI_Aint, 2> offsets{0, static_cast<MPI_Aint>(bytes) - rest};
  const std::array types{block, MPI_Datatype{MPI_BYTE}};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check_mpi(MPI_Type_create_struct(2, lengths.data(), offsets.data(), types.data(), &type),
            "describe a large message");
  check_mpi(MPI_Type_free(&block), "describe a large message");
  check_mpi(MPI_Type_commit(&type), "describe a large message");
  return type;
}

}  // namespace

MessageType::MessageType(std::size_t bytes) {
  const bool fits = bytes <= static_cast<std::size_t>(std::numeric_limits<int>::max());
  count_ = fits ? static_cast<int>(bytes) : 1;
  if (!fits) handle_ = make_large_type(bytes);
}

MessageType::~MessageType() {
  if (handle_ != MPI_BYTE) MPI_Type_free(&handle_);
}

std::size_t byte_count(const MPI_Status& status) {
  MPI_Count count = 0;
  check_mpi(MPI_Get_elements_x(&status, MPI_BYTE, &count), "read the length of a message");
  return static_cast<std::size_t>(count);
}

}  // namespace weft::comm_thread
