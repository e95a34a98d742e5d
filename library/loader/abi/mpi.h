/// MPI as weft's loader offers it: each function is a pointer, which `weft::loader` sets when it
/// has opened an MPI library. Sources that are compiled with this header are linked with no MPI.
///
/// Handles and constants are those of the common binary interface (MPI 5.0, chapter 20 and
/// appendix A), so that its libraries are called directly. Only what weft uses is here.
///
/// Thread: the pointers are set before any other thread calls.
#pragma once

#include <cstddef>
#include <cstdint>

// The names are those of MPI's standard.
// NOLINTBEGIN(readability-identifier-naming, bugprone-macro-parentheses)

using MPI_Aint = std::intptr_t;
using MPI_Count = std::int64_t;
using MPI_Comm = struct MPI_ABI_Comm*;
using MPI_Datatype = struct MPI_ABI_Datatype*;
using MPI_Errhandler = struct MPI_ABI_Errhandler*;
using MPI_Group = struct MPI_ABI_Group*;
using MPI_Info = struct MPI_ABI_Info*;
using MPI_Message = struct MPI_ABI_Message*;
using MPI_Op = struct MPI_ABI_Op*;
using MPI_Request = struct MPI_ABI_Request*;
using MPI_Win = struct MPI_ABI_Win*;

struct MPI_Status {
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
  int MPI_internal[5];
};

using MPI_Comm_copy_attr_function = int(MPI_Comm, int, void*, void*, void*, int*);
using MPI_Comm_delete_attr_function = int(MPI_Comm, int, void*, void*);

enum {
  MPI_SUCCESS = 0,
  MPI_MODE_NOCHECK = 1024,
  MPI_ANY_SOURCE = -1,
  MPI_ANY_TAG = -2,
  MPI_PROC_NULL = -3,
  MPI_UNDEFINED = -32766,
  MPI_THREAD_SINGLE = 0,
  MPI_THREAD_FUNNELED = 1024,
  MPI_THREAD_SERIALIZED = 2048,
  MPI_THREAD_MULTIPLE = 4096,
  MPI_COMM_TYPE_SHARED = 221,
  MPI_WIN_UNIFIED = 321,
  MPI_WIN_SEPARATE = 322,
  MPI_KEYVAL_INVALID = 0,
  MPI_TAG_UB = 501,
  MPI_WIN_MODEL = 605,
  MPI_MAX_ERROR_STRING = 512,
  MPI_MAX_LIBRARY_VERSION_STRING = 8192
};

// Macros, as in every mpi.h: pointers with a value are no constants of C++.
#define MPI_SUM (reinterpret_cast<MPI_Op>(0x21))
#define MPI_MIN (reinterpret_cast<MPI_Op>(0x22))
#define MPI_MAX (reinterpret_cast<MPI_Op>(0x23))
#define MPI_REPLACE (reinterpret_cast<MPI_Op>(0x3c))
#define MPI_COMM_NULL (reinterpret_cast<MPI_Comm>(0x100))
#define MPI_COMM_WORLD (reinterpret_cast<MPI_Comm>(0x101))
#define MPI_COMM_SELF (reinterpret_cast<MPI_Comm>(0x102))
#define MPI_GROUP_NULL (reinterpret_cast<MPI_Group>(0x108))
#define MPI_WIN_NULL (reinterpret_cast<MPI_Win>(0x110))
#define MPI_MESSAGE_NULL (reinterpret_cast<MPI_Message>(0x128))
#define MPI_INFO_NULL (reinterpret_cast<MPI_Info>(0x130))
#define MPI_ERRORS_RETURN (reinterpret_cast<MPI_Errhandler>(0x143))
#define MPI_REQUEST_NULL (reinterpret_cast<MPI_Request>(0x180))
#define MPI_DATATYPE_NULL (reinterpret_cast<MPI_Datatype>(0x200))
#define MPI_INT (reinterpret_cast<MPI_Datatype>(0x209))
#define MPI_DOUBLE (reinterpret_cast<MPI_Datatype>(0x214))
#define MPI_CHAR (reinterpret_cast<MPI_Datatype>(0x243))
#define MPI_BYTE (reinterpret_cast<MPI_Datatype>(0x247))
#define MPI_UINT32_T (reinterpret_cast<MPI_Datatype>(0x251))
#define MPI_INT64_T (reinterpret_cast<MPI_Datatype>(0x258))
#define MPI_UINT64_T (reinterpret_cast<MPI_Datatype>(0x259))
#define MPI_IN_PLACE (reinterpret_cast<void*>(1))
#define MPI_STATUS_IGNORE (static_cast<MPI_Status*>(nullptr))
#define MPI_STATUSES_IGNORE (static_cast<MPI_Status*>(nullptr))
#define MPI_COMM_NULL_COPY_FN (static_cast<MPI_Comm_copy_attr_function*>(nullptr))

extern int (*MPI_Abort)(MPI_Comm, int);
extern int (*MPI_Accumulate)(const void*, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype,
                             MPI_Op, MPI_Win);
extern int (*MPI_Allgather)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);
extern int (*MPI_Allreduce)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
extern int (*MPI_Bcast)(void*, int, MPI_Datatype, int, MPI_Comm);
extern int (*MPI_Comm_create_keyval)(MPI_Comm_copy_attr_function*, MPI_Comm_delete_attr_function*,
                                     int*, void*);
extern int (*MPI_Comm_dup)(MPI_Comm, MPI_Comm*);
extern int (*MPI_Comm_free)(MPI_Comm*);
extern int (*MPI_Comm_get_attr)(MPI_Comm, int, void*, int*);
extern int (*MPI_Comm_group)(MPI_Comm, MPI_Group*);
extern int (*MPI_Comm_idup)(MPI_Comm, MPI_Comm*, MPI_Request*);
extern int (*MPI_Comm_rank)(MPI_Comm, int*);
extern int (*MPI_Comm_set_attr)(MPI_Comm, int, void*);
extern int (*MPI_Comm_set_errhandler)(MPI_Comm, MPI_Errhandler);
extern int (*MPI_Comm_size)(MPI_Comm, int*);
extern int (*MPI_Comm_split_type)(MPI_Comm, int, int, MPI_Info, MPI_Comm*);
extern int (*MPI_Error_string)(int, char*, int*);
extern int (*MPI_Exscan)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
extern int (*MPI_Finalize)();
extern int (*MPI_Finalized)(int*);
extern int (*MPI_Get_elements_x)(const MPI_Status*, MPI_Datatype, MPI_Count*);
extern int (*MPI_Get_library_version)(char*, int*);
extern int (*MPI_Group_free)(MPI_Group*);
extern int (*MPI_Group_translate_ranks)(MPI_Group, int, const int*, MPI_Group, int*);
extern int (*MPI_Iallgather)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm,
                             MPI_Request*);
extern int (*MPI_Iallgatherv)(const void*, int, MPI_Datatype, void*, const int*, const int*,
                              MPI_Datatype, MPI_Comm, MPI_Request*);
extern int (*MPI_Iallreduce)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request*);
extern int (*MPI_Ibarrier)(MPI_Comm, MPI_Request*);
extern int (*MPI_Ibcast)(void*, int, MPI_Datatype, int, MPI_Comm, MPI_Request*);
extern int (*MPI_Iexscan)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request*);
extern int (*MPI_Igather)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int, MPI_Comm,
                          MPI_Request*);
extern int (*MPI_Igatherv)(const void*, int, MPI_Datatype, void*, const int*, const int*,
                           MPI_Datatype, int, MPI_Comm, MPI_Request*);
extern int (*MPI_Improbe)(int, int, MPI_Comm, int*, MPI_Message*, MPI_Status*);
extern int (*MPI_Info_create)(MPI_Info*);
extern int (*MPI_Info_free)(MPI_Info*);
extern int (*MPI_Info_set)(MPI_Info, const char*, const char*);
extern int (*MPI_Init_thread)(int*, char***, int, int*);
extern int (*MPI_Initialized)(int*);
extern int (*MPI_Iprobe)(int, int, MPI_Comm, int*, MPI_Status*);
extern int (*MPI_Irecv)(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
extern int (*MPI_Isend)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
extern int (*MPI_Issend)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
extern int (*MPI_Mrecv)(void*, int, MPI_Datatype, MPI_Message*, MPI_Status*);
extern int (*MPI_Put)(const void*, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype, MPI_Win);
extern int (*MPI_Query_thread)(int*);
extern int (*MPI_Recv)(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status*);
extern int (*MPI_Recv_init)(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
extern int (*MPI_Request_free)(MPI_Request*);
extern int (*MPI_Rput)(const void*, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype, MPI_Win,
                       MPI_Request*);
extern int (*MPI_Send)(const void*, int, MPI_Datatype, int, int, MPI_Comm);
extern int (*MPI_Send_init)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
extern int (*MPI_Ssend_init)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
extern int (*MPI_Start)(MPI_Request*);
extern int (*MPI_Startall)(int, MPI_Request*);
extern int (*MPI_Test)(MPI_Request*, int*, MPI_Status*);
extern int (*MPI_Testall)(int, MPI_Request*, int*, MPI_Status*);
extern int (*MPI_Testsome)(int, MPI_Request*, int*, int*, MPI_Status*);
extern int (*MPI_Type_commit)(MPI_Datatype*);
extern int (*MPI_Type_contiguous)(int, MPI_Datatype, MPI_Datatype*);
extern int (*MPI_Type_create_struct)(int, const int*, const MPI_Aint*, const MPI_Datatype*,
                                     MPI_Datatype*);
extern int (*MPI_Type_free)(MPI_Datatype*);
extern int (*MPI_Waitall)(int, MPI_Request*, MPI_Status*);
extern int (*MPI_Win_allocate)(MPI_Aint, int, MPI_Info, MPI_Comm, void*, MPI_Win*);
extern int (*MPI_Win_allocate_shared)(MPI_Aint, int, MPI_Info, MPI_Comm, void*, MPI_Win*);
extern int (*MPI_Win_flush)(int, MPI_Win);
extern int (*MPI_Win_flush_local)(int, MPI_Win);
extern int (*MPI_Win_flush_local_all)(MPI_Win);
extern int (*MPI_Win_free)(MPI_Win*);
extern int (*MPI_Win_get_attr)(MPI_Win, int, void*, int*);
extern int (*MPI_Win_lock_all)(int, MPI_Win);
extern int (*MPI_Win_shared_query)(MPI_Win, int, MPI_Aint*, int*, void*);
extern int (*MPI_Win_sync)(MPI_Win);
extern int (*MPI_Win_unlock_all)(MPI_Win);
extern double (*MPI_Wtime)();
extern int (*PMPI_Get_library_version)(char*, int*);

// NOLINTEND(readability-identifier-naming, bugprone-macro-parentheses)
