#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

// What MPI libraries of an interface of their own have in place of the common one's: a struct for
// each interface, with its handles, its status and its constants. Both interfaces are fixed:
// MPICH's since 3.1, that of Open MPI's libmpi.so.40 since 4.0. loader_constants_test compares them
// with mpi.h.

namespace weft::loader {

/// Handles of the common interface below this are predefined ones.
constexpr std::uintptr_t predefined_end = 0x1000;
/// Above the largest predefined handle that weft uses.
constexpr std::size_t known_end = 0x260;

template <class Type>
constexpr bool is_handle = std::is_same_v<Type, MPI_Comm> || std::is_same_v<Type, MPI_Datatype> ||
                           std::is_same_v<Type, MPI_Errhandler> ||
                           std::is_same_v<Type, MPI_Group> || std::is_same_v<Type, MPI_Info> ||
                           std::is_same_v<Type, MPI_Message> || std::is_same_v<Type, MPI_Op> ||
                           std::is_same_v<Type, MPI_Request> || std::is_same_v<Type, MPI_Win>;

/// The handle of the common interface that stands for none.
template <class Handle>
Handle null_handle() {
  if constexpr (std::is_same_v<Handle, MPI_Comm>) return MPI_COMM_NULL;
  if constexpr (std::is_same_v<Handle, MPI_Datatype>) return MPI_DATATYPE_NULL;
  if constexpr (std::is_same_v<Handle, MPI_Group>) return MPI_GROUP_NULL;
  if constexpr (std::is_same_v<Handle, MPI_Info>) return MPI_INFO_NULL;
  if constexpr (std::is_same_v<Handle, MPI_Message>) return MPI_MESSAGE_NULL;
  if constexpr (std::is_same_v<Handle, MPI_Request>) return MPI_REQUEST_NULL;
  if constexpr (std::is_same_v<Handle, MPI_Win>) return MPI_WIN_NULL;
}

/// A predefined handle by its value in the common interface.
template <class Value>
struct KnownHandle {
  std::uintptr_t common;
  Value foreign;
};

/// MPICH, Intel MPI and all others with a libmpi.so.12: handles are numbers.
struct Mpich {
  using Handle = int;
  struct Status {
    int count_low;
    int count_high_and_cancelled;
    int source;
    int tag;
    int error;
  };

  static constexpr int any_source = -2;
  static constexpr int any_tag = -1;
  static constexpr int shared_type = 1;
  static constexpr int no_check = 1024;
  static constexpr int unified_windows = 2;
  static constexpr int largest_tag_key = 0x64400001;
  static constexpr int window_model_key = 0x66000009;
  static constexpr std::intptr_t in_place = -1;
  static constexpr std::intptr_t no_status = 1;

  static constexpr std::array<KnownHandle<unsigned>, 21> handles{{
      {0x21, 0x58000003},  // MPI_SUM
      {0x22, 0x58000002},  // MPI_MIN
      {0x23, 0x58000001},  // MPI_MAX
      {0x3c, 0x5800000d},  // MPI_REPLACE
      {0x100, 0x04000000},  // MPI_COMM_NULL
      {0x101, 0x44000000},  // MPI_COMM_WORLD
      {0x102, 0x44000001},  // MPI_COMM_SELF
      {0x108, 0x08000000},  // MPI_GROUP_NULL
      {0x110, 0x20000000},  // MPI_WIN_NULL
      {0x128, 0x2c000000},  // MPI_MESSAGE_NULL
      {0x130, 0x1c000000},  // MPI_INFO_NULL
      {0x143, 0x54000001},  // MPI_ERRORS_RETURN
      {0x180, 0x2c000000},  // MPI_REQUEST_NULL
      {0x200, 0x0c000000},  // MPI_DATATYPE_NULL
      {0x209, 0x4c000405},  // MPI_INT
      {0x214, 0x4c00080b},  // MPI_DOUBLE
      {0x243, 0x4c000101},  // MPI_CHAR
      {0x247, 0x4c00010d},  // MPI_BYTE
      {0x251, 0x4c00043d},  // MPI_UINT32_T
      {0x258, 0x4c00083a},  // MPI_INT64_T
      {0x259, 0x4c00083e},  // MPI_UINT64_T
  }};

  /// What a status has beside source, tag and error.
  static std::array<int, 3> rest(const Status& status) {
    return {status.count_low, status.count_high_and_cancelled, 0};
  }
  static Status with_rest(const std::array<int, 3>& rest) {
    return {.count_low = rest[0],
            .count_high_and_cancelled = rest[1],
            .source = 0,
            .tag = 0,
            .error = 0};
  }

  static std::uintptr_t number(Handle handle) { return static_cast<unsigned>(handle); }
  static Handle handle(std::uintptr_t number) {
    return static_cast<Handle>(static_cast<unsigned>(number));
  }
};

/// Open MPI 4 and 5: handles are addresses, predefined ones those of variables of the library.
struct OpenMpi {
  using Handle = void*;
  struct Status {
    int source;
    int tag;
    int error;
    int cancelled;
    std::size_t bytes;
  };

  static constexpr int any_source = -1;
  static constexpr int any_tag = -1;
  static constexpr int shared_type = 0;
  static constexpr int no_check = 1;
  static constexpr int unified_windows = 0;
  static constexpr int largest_tag_key = 0;
  static constexpr int window_model_key = 11;
  static constexpr std::intptr_t in_place = 1;
  static constexpr std::intptr_t no_status = 0;

  static constexpr std::array<KnownHandle<const char*>, 21> handles{{
      {0x21, "ompi_mpi_op_sum"},     {0x22, "ompi_mpi_op_min"},
      {0x23, "ompi_mpi_op_max"},     {0x3c, "ompi_mpi_op_replace"},
      {0x100, "ompi_mpi_comm_null"}, {0x101, "ompi_mpi_comm_world"},
      {0x102, "ompi_mpi_comm_self"}, {0x108, "ompi_mpi_group_null"},
      {0x110, "ompi_mpi_win_null"},  {0x128, "ompi_message_null"},
      {0x130, "ompi_mpi_info_null"}, {0x143, "ompi_mpi_errors_return"},
      {0x180, "ompi_request_null"},  {0x200, "ompi_mpi_datatype_null"},
      {0x209, "ompi_mpi_int"},       {0x214, "ompi_mpi_double"},
      {0x243, "ompi_mpi_char"},      {0x247, "ompi_mpi_byte"},
      {0x251, "ompi_mpi_uint32_t"},  {0x258, "ompi_mpi_int64_t"},
      {0x259, "ompi_mpi_uint64_t"},
  }};

  static std::array<int, 3> rest(const Status& status) {
    return {status.cancelled, static_cast<int>(static_cast<unsigned>(status.bytes)),
            static_cast<int>(static_cast<unsigned>(status.bytes >> 32U))};
  }
  static Status with_rest(const std::array<int, 3>& rest) {
    const std::size_t low = static_cast<unsigned>(rest[1]);
    const std::size_t high = static_cast<unsigned>(rest[2]);
    return {.source = 0, .tag = 0, .error = 0, .cancelled = rest[0], .bytes = low | high << 32U};
  }

  static std::uintptr_t number(Handle handle) { return reinterpret_cast<std::uintptr_t>(handle); }
  static Handle handle(std::uintptr_t number) {
    return reinterpret_cast<Handle>(number);  // NOLINT(performance-no-int-to-ptr)
  }
};

/// Handles and statuses of `Library` for those of the common interface, and back.
template <class Library>
class Foreign {
 public:
  using Handle = typename Library::Handle;
  using Status = typename Library::Status;

  static void know(std::uintptr_t common, Handle handle) {
    known_[static_cast<std::size_t>(common)] = handle;
  }

  template <class Common>
  static Handle from_common(Common handle) {
    const auto number = reinterpret_cast<std::uintptr_t>(handle);
    return number < known_end ? known_[static_cast<std::size_t>(number)] : Library::handle(number);
  }

  /// `handle` is no predefined one but that of none: libraries hand out no others.
  template <class Common>
  static Common to_common(Handle handle) {
    const Common none = null_handle<Common>();
    if (handle == from_common(none)) return none;
    return reinterpret_cast<Common>(Library::number(handle));  // NOLINT(performance-no-int-to-ptr)
  }

  static Status* no_status() {
    return reinterpret_cast<Status*>(Library::no_status);  // NOLINT(performance-no-int-to-ptr)
  }

  static int source(int common) { return common == MPI_ANY_SOURCE ? Library::any_source : common; }
  static int tag(int common) { return common == MPI_ANY_TAG ? Library::any_tag : common; }

 private:
  static inline std::array<Handle, known_end> known_{};
};

}  // namespace weft::loader
