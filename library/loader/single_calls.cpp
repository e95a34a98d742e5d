// The functions of MPI until a library has been opened, and where there is none: those of one
// process alone. They start nothing and wait for nothing, and there are no messages.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string_view>

// Parameters that one process alone has no use for are not named.
// NOLINTBEGIN(readability-non-const-parameter)

namespace weft::loader {
namespace {

constexpr int no_messages = 1;  // an error code
bool has_begun = false;
bool has_ended = false;
int thread_level = MPI_THREAD_MULTIPLE;

std::size_t bytes_of(int count, MPI_Datatype type) {
  std::size_t bytes = sizeof(double);  // MPI_DOUBLE, MPI_INT64_T, MPI_UINT64_T
  if (type == MPI_BYTE || type == MPI_CHAR) bytes = 1;
  if (type == MPI_INT || type == MPI_UINT32_T) bytes = sizeof(int);
  return static_cast<std::size_t>(count) * bytes;
}

/// What this process gives is what all give.
int copy(const void* from, void* to, int count, MPI_Datatype type) {
  if (from != MPI_IN_PLACE && count > 0) std::memcpy(to, from, bytes_of(count, type));
  return MPI_SUCCESS;
}

/// Nothing is left to wait for.
int complete(MPI_Request* request) {
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

template <class Handle>
int forget(Handle* handle, Handle null) {
  *handle = null;
  return MPI_SUCCESS;
}

int write(std::string_view text, char* to, int* length) {
  std::copy(text.begin(), text.end(), to);
  to[text.size()] = '\0';
  *length = static_cast<int>(text.size());
  return MPI_SUCCESS;
}

int abort_process(MPI_Comm /*of*/, int code) { std::_Exit(code); }

int accumulate(const void* /*from*/, int /*count*/, MPI_Datatype /*type*/, int /*rank*/,
               MPI_Aint /*at*/, int /*count_there*/, MPI_Datatype /*type_there*/, MPI_Op /*how*/,
               MPI_Win /*window*/) {
  return no_messages;
}

int allgather(const void* from, int count, MPI_Datatype type, void* to, int /*count_there*/,
              MPI_Datatype /*type_there*/, MPI_Comm /*of*/) {
  return copy(from, to, count, type);
}

int allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op /*how*/,
              MPI_Comm /*of*/) {
  return copy(from, to, count, type);
}

int bcast(void* /*data*/, int /*count*/, MPI_Datatype /*type*/, int /*root*/, MPI_Comm /*of*/) {
  return MPI_SUCCESS;
}

int comm_create_keyval(MPI_Comm_copy_attr_function* /*copy*/,
                       MPI_Comm_delete_attr_function* /*end*/, int* key, void* /*state*/) {
  *key = 1;
  return MPI_SUCCESS;
}

/// Without messages, all communicators are one.
int comm_dup(MPI_Comm /*of*/, MPI_Comm* made) {
  *made = MPI_COMM_SELF;
  return MPI_SUCCESS;
}

int comm_free(MPI_Comm* which) { return forget(which, MPI_COMM_NULL); }

int comm_get_attr(MPI_Comm /*of*/, int key, void* value, int* is_set) {
  static int largest_tag = std::numeric_limits<int>::max();
  *is_set = key == MPI_TAG_UB;
  if (*is_set) *static_cast<int**>(value) = &largest_tag;
  return MPI_SUCCESS;
}

int comm_group(MPI_Comm /*of*/, MPI_Group* group) { return forget(group, MPI_GROUP_NULL); }

int comm_idup(MPI_Comm of, MPI_Comm* made, MPI_Request* request) {
  comm_dup(of, made);
  return complete(request);
}

int comm_rank(MPI_Comm /*of*/, int* rank) {
  *rank = 0;
  return MPI_SUCCESS;
}

int comm_set_attr(MPI_Comm /*of*/, int /*key*/, void* /*value*/) { return MPI_SUCCESS; }
int comm_set_errhandler(MPI_Comm /*of*/, MPI_Errhandler /*handler*/) { return MPI_SUCCESS; }

int comm_size(MPI_Comm /*of*/, int* size) {
  *size = 1;
  return MPI_SUCCESS;
}

int comm_split_type(MPI_Comm of, int /*type*/, int /*key*/, MPI_Info /*info*/, MPI_Comm* made) {
  return comm_dup(of, made);
}

int error_string(int /*code*/, char* text, int* length) {
  return write("one process without an MPI library has nobody to send messages to", text, length);
}

int exscan(const void* /*from*/, void* /*to*/, int /*count*/, MPI_Datatype /*type*/, MPI_Op /*how*/,
           MPI_Comm /*of*/) {
  return MPI_SUCCESS;
}

int finalize() {
  has_ended = true;
  return MPI_SUCCESS;
}

int finalized(int* is_over) {
  *is_over = has_ended;
  return MPI_SUCCESS;
}

int get_elements_x(const MPI_Status* /*status*/, MPI_Datatype /*type*/, MPI_Count* count) {
  *count = 0;
  return no_messages;
}

int get_library_version(char* text, int* length) {
  return write("weft without an MPI library", text, length);
}

int group_free(MPI_Group* group) { return forget(group, MPI_GROUP_NULL); }

int group_translate_ranks(MPI_Group /*of*/, int count, const int* ranks, MPI_Group /*to*/,
                          int* found) {
  std::transform(ranks, ranks + count, found,
                 [](int rank) { return rank == 0 ? 0 : int{MPI_UNDEFINED}; });
  return MPI_SUCCESS;
}

int iallgather(const void* from, int count, MPI_Datatype type, void* to, int /*count_there*/,
               MPI_Datatype /*type_there*/, MPI_Comm /*of*/, MPI_Request* request) {
  copy(from, to, count, type);
  return complete(request);
}

int iallgatherv(const void* from, int count, MPI_Datatype type, void* to, const int* /*counts*/,
                const int* offsets, MPI_Datatype type_there, MPI_Comm /*of*/,
                MPI_Request* request) {
  copy(from, static_cast<std::byte*>(to) + bytes_of(offsets[0], type_there), count, type);
  return complete(request);
}

int iallreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op /*how*/,
               MPI_Comm /*of*/, MPI_Request* request) {
  copy(from, to, count, type);
  return complete(request);
}

int ibarrier(MPI_Comm /*of*/, MPI_Request* request) { return complete(request); }

int ibcast(void* /*data*/, int /*count*/, MPI_Datatype /*type*/, int /*root*/, MPI_Comm /*of*/,
           MPI_Request* request) {
  return complete(request);
}

int iexscan(const void* /*from*/, void* /*to*/, int /*count*/, MPI_Datatype /*type*/,
            MPI_Op /*how*/, MPI_Comm /*of*/, MPI_Request* request) {
  return complete(request);
}

int igather(const void* from, int count, MPI_Datatype type, void* to, int /*count_there*/,
            MPI_Datatype /*type_there*/, int /*root*/, MPI_Comm /*of*/, MPI_Request* request) {
  copy(from, to, count, type);
  return complete(request);
}

int igatherv(const void* from, int count, MPI_Datatype type, void* to, const int* counts,
             const int* offsets, MPI_Datatype type_there, int /*root*/, MPI_Comm of,
             MPI_Request* request) {
  return iallgatherv(from, count, type, to, counts, offsets, type_there, of, request);
}

int improbe(int /*source*/, int /*tag*/, MPI_Comm /*of*/, int* is_there, MPI_Message* message,
            MPI_Status* /*status*/) {
  *is_there = 0;
  return forget(message, MPI_MESSAGE_NULL);
}

int info_create(MPI_Info* info) { return forget(info, MPI_INFO_NULL); }
int info_set(MPI_Info /*info*/, const char* /*key*/, const char* /*value*/) { return MPI_SUCCESS; }

int init_thread(int* /*count*/, char*** /*arguments*/, int wanted, int* provided) {
  has_begun = true;
  thread_level = wanted;
  *provided = wanted;
  return MPI_SUCCESS;
}

int initialized(int* is_initialised) {
  *is_initialised = has_begun;
  return MPI_SUCCESS;
}

int iprobe(int /*source*/, int /*tag*/, MPI_Comm /*of*/, int* is_there, MPI_Status* /*status*/) {
  *is_there = 0;
  return MPI_SUCCESS;
}

int mrecv(void* /*to*/, int /*count*/, MPI_Datatype /*type*/, MPI_Message* /*message*/,
          MPI_Status* /*status*/) {
  return no_messages;
}

int put(const void* /*from*/, int /*count*/, MPI_Datatype /*type*/, int /*rank*/, MPI_Aint /*at*/,
        int /*count_there*/, MPI_Datatype /*type_there*/, MPI_Win /*window*/) {
  return no_messages;
}

int query_thread(int* level) {
  *level = thread_level;
  return MPI_SUCCESS;
}

int receive(void* /*to*/, int /*count*/, MPI_Datatype /*type*/, int /*source*/, int /*tag*/,
            MPI_Comm /*of*/, MPI_Status* /*status*/) {
  return no_messages;
}

int begin_receive(void* /*to*/, int /*count*/, MPI_Datatype /*type*/, int /*source*/, int /*tag*/,
                  MPI_Comm /*of*/, MPI_Request* /*request*/) {
  return no_messages;
}

int request_free(MPI_Request* request) { return complete(request); }

int rput(const void* /*from*/, int /*count*/, MPI_Datatype /*type*/, int /*rank*/, MPI_Aint /*at*/,
         int /*count_there*/, MPI_Datatype /*type_there*/, MPI_Win /*window*/,
         MPI_Request* /*request*/) {
  return no_messages;
}

int send(const void* /*from*/, int /*count*/, MPI_Datatype /*type*/, int /*rank*/, int /*tag*/,
         MPI_Comm /*of*/) {
  return no_messages;
}

int begin_send(const void* /*from*/, int /*count*/, MPI_Datatype /*type*/, int /*rank*/,
               int /*tag*/, MPI_Comm /*of*/, MPI_Request* /*request*/) {
  return no_messages;
}

int start(MPI_Request* /*request*/) { return no_messages; }
int startall(int count, MPI_Request* /*requests*/) {
  return count == 0 ? int{MPI_SUCCESS} : no_messages;
}

int test(MPI_Request* request, int* is_complete, MPI_Status* /*status*/) {
  *is_complete = 1;
  return complete(request);
}

int testall(int /*count*/, MPI_Request* /*requests*/, int* are_complete, MPI_Status* /*statuses*/) {
  *are_complete = 1;
  return MPI_SUCCESS;
}

int testsome(int /*count*/, MPI_Request* /*requests*/, int* completed_count, int* /*completed*/,
             MPI_Status* /*statuses*/) {
  *completed_count = MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int type_commit(MPI_Datatype* /*type*/) { return MPI_SUCCESS; }

int type_contiguous(int /*count*/, MPI_Datatype /*of*/, MPI_Datatype* made) {
  return forget(made, MPI_DATATYPE_NULL);
}

int type_create_struct(int /*count*/, const int* /*lengths*/, const MPI_Aint* /*offsets*/,
                       const MPI_Datatype* /*types*/, MPI_Datatype* made) {
  return forget(made, MPI_DATATYPE_NULL);
}

int type_free(MPI_Datatype* type) { return forget(type, MPI_DATATYPE_NULL); }

int waitall(int /*count*/, MPI_Request* /*requests*/, MPI_Status* /*statuses*/) {
  return MPI_SUCCESS;
}

/// A window is its memory.
int win_allocate(MPI_Aint bytes, int /*unit*/, MPI_Info /*info*/, MPI_Comm /*of*/, void* memory,
                 MPI_Win* window) {
  constexpr std::size_t page = 4096;
  const std::size_t pages = static_cast<std::size_t>(bytes) / page + 1;
  void* const made = std::aligned_alloc(page, pages * page);
  if (!made) return no_messages;
  std::memset(made, 0, pages * page);
  *static_cast<void**>(memory) = made;
  *window = static_cast<MPI_Win>(made);
  return MPI_SUCCESS;
}

int win_flush(int /*rank*/, MPI_Win /*window*/) { return MPI_SUCCESS; }
int win_sync(MPI_Win /*window*/) { return MPI_SUCCESS; }

int win_free(MPI_Win* window) {
  std::free(static_cast<void*>(*window));
  return forget(window, MPI_WIN_NULL);
}

int win_get_attr(MPI_Win /*window*/, int key, void* value, int* is_set) {
  static int model = MPI_WIN_UNIFIED;
  *is_set = key == MPI_WIN_MODEL;
  if (*is_set) *static_cast<int**>(value) = &model;
  return MPI_SUCCESS;
}

int win_lock_all(int /*assertion*/, MPI_Win /*window*/) { return MPI_SUCCESS; }

/// The size is not asked for.
int win_shared_query(MPI_Win window, int /*rank*/, MPI_Aint* /*bytes*/, int* unit, void* memory) {
  *unit = 1;
  *static_cast<void**>(memory) = static_cast<void*>(window);
  return MPI_SUCCESS;
}

double seconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

}  // namespace

}  // namespace weft::loader

// The functions of a process that has opened no library.
// NOLINTBEGIN(readability-identifier-naming)
decltype(MPI_Abort) MPI_Abort = weft::loader::abort_process;
decltype(MPI_Accumulate) MPI_Accumulate = weft::loader::accumulate;
decltype(MPI_Allgather) MPI_Allgather = weft::loader::allgather;
decltype(MPI_Allreduce) MPI_Allreduce = weft::loader::allreduce;
decltype(MPI_Bcast) MPI_Bcast = weft::loader::bcast;
decltype(MPI_Comm_create_keyval) MPI_Comm_create_keyval = weft::loader::comm_create_keyval;
decltype(MPI_Comm_dup) MPI_Comm_dup = weft::loader::comm_dup;
decltype(MPI_Comm_free) MPI_Comm_free = weft::loader::comm_free;
decltype(MPI_Comm_get_attr) MPI_Comm_get_attr = weft::loader::comm_get_attr;
decltype(MPI_Comm_group) MPI_Comm_group = weft::loader::comm_group;
decltype(MPI_Comm_idup) MPI_Comm_idup = weft::loader::comm_idup;
decltype(MPI_Comm_rank) MPI_Comm_rank = weft::loader::comm_rank;
decltype(MPI_Comm_set_attr) MPI_Comm_set_attr = weft::loader::comm_set_attr;
decltype(MPI_Comm_set_errhandler) MPI_Comm_set_errhandler = weft::loader::comm_set_errhandler;
decltype(MPI_Comm_size) MPI_Comm_size = weft::loader::comm_size;
decltype(MPI_Comm_split_type) MPI_Comm_split_type = weft::loader::comm_split_type;
decltype(MPI_Error_string) MPI_Error_string = weft::loader::error_string;
decltype(MPI_Exscan) MPI_Exscan = weft::loader::exscan;
decltype(MPI_Finalize) MPI_Finalize = weft::loader::finalize;
decltype(MPI_Finalized) MPI_Finalized = weft::loader::finalized;
decltype(MPI_Get_elements_x) MPI_Get_elements_x = weft::loader::get_elements_x;
decltype(MPI_Get_library_version) MPI_Get_library_version = weft::loader::get_library_version;
decltype(MPI_Group_free) MPI_Group_free = weft::loader::group_free;
decltype(MPI_Group_translate_ranks) MPI_Group_translate_ranks = weft::loader::group_translate_ranks;
decltype(MPI_Iallgather) MPI_Iallgather = weft::loader::iallgather;
decltype(MPI_Iallgatherv) MPI_Iallgatherv = weft::loader::iallgatherv;
decltype(MPI_Iallreduce) MPI_Iallreduce = weft::loader::iallreduce;
decltype(MPI_Ibarrier) MPI_Ibarrier = weft::loader::ibarrier;
decltype(MPI_Ibcast) MPI_Ibcast = weft::loader::ibcast;
decltype(MPI_Iexscan) MPI_Iexscan = weft::loader::iexscan;
decltype(MPI_Igather) MPI_Igather = weft::loader::igather;
decltype(MPI_Igatherv) MPI_Igatherv = weft::loader::igatherv;
decltype(MPI_Improbe) MPI_Improbe = weft::loader::improbe;
decltype(MPI_Info_create) MPI_Info_create = weft::loader::info_create;
decltype(MPI_Info_free) MPI_Info_free = weft::loader::info_create;
decltype(MPI_Info_set) MPI_Info_set = weft::loader::info_set;
decltype(MPI_Init_thread) MPI_Init_thread = weft::loader::init_thread;
decltype(MPI_Initialized) MPI_Initialized = weft::loader::initialized;
decltype(MPI_Iprobe) MPI_Iprobe = weft::loader::iprobe;
decltype(MPI_Irecv) MPI_Irecv = weft::loader::begin_receive;
decltype(MPI_Isend) MPI_Isend = weft::loader::begin_send;
decltype(MPI_Issend) MPI_Issend = weft::loader::begin_send;
decltype(MPI_Mrecv) MPI_Mrecv = weft::loader::mrecv;
decltype(MPI_Put) MPI_Put = weft::loader::put;
decltype(MPI_Query_thread) MPI_Query_thread = weft::loader::query_thread;
decltype(MPI_Recv) MPI_Recv = weft::loader::receive;
decltype(MPI_Recv_init) MPI_Recv_init = weft::loader::begin_receive;
decltype(MPI_Request_free) MPI_Request_free = weft::loader::request_free;
decltype(MPI_Rput) MPI_Rput = weft::loader::rput;
decltype(MPI_Send) MPI_Send = weft::loader::send;
decltype(MPI_Send_init) MPI_Send_init = weft::loader::begin_send;
decltype(MPI_Ssend_init) MPI_Ssend_init = weft::loader::begin_send;
decltype(MPI_Start) MPI_Start = weft::loader::start;
decltype(MPI_Startall) MPI_Startall = weft::loader::startall;
decltype(MPI_Test) MPI_Test = weft::loader::test;
decltype(MPI_Testall) MPI_Testall = weft::loader::testall;
decltype(MPI_Testsome) MPI_Testsome = weft::loader::testsome;
decltype(MPI_Type_commit) MPI_Type_commit = weft::loader::type_commit;
decltype(MPI_Type_contiguous) MPI_Type_contiguous = weft::loader::type_contiguous;
decltype(MPI_Type_create_struct) MPI_Type_create_struct = weft::loader::type_create_struct;
decltype(MPI_Type_free) MPI_Type_free = weft::loader::type_free;
decltype(MPI_Waitall) MPI_Waitall = weft::loader::waitall;
decltype(MPI_Win_allocate) MPI_Win_allocate = weft::loader::win_allocate;
decltype(MPI_Win_allocate_shared) MPI_Win_allocate_shared = weft::loader::win_allocate;
decltype(MPI_Win_flush) MPI_Win_flush = weft::loader::win_flush;
decltype(MPI_Win_flush_local) MPI_Win_flush_local = weft::loader::win_flush;
decltype(MPI_Win_flush_local_all) MPI_Win_flush_local_all = weft::loader::win_sync;
decltype(MPI_Win_free) MPI_Win_free = weft::loader::win_free;
decltype(MPI_Win_get_attr) MPI_Win_get_attr = weft::loader::win_get_attr;
decltype(MPI_Win_lock_all) MPI_Win_lock_all = weft::loader::win_lock_all;
decltype(MPI_Win_shared_query) MPI_Win_shared_query = weft::loader::win_shared_query;
decltype(MPI_Win_sync) MPI_Win_sync = weft::loader::win_sync;
decltype(MPI_Win_unlock_all) MPI_Win_unlock_all = weft::loader::win_sync;
decltype(MPI_Wtime) MPI_Wtime = weft::loader::seconds;
decltype(PMPI_Get_library_version) PMPI_Get_library_version = weft::loader::get_library_version;
// NOLINTEND(readability-identifier-naming)

// NOLINTEND(readability-non-const-parameter)
