// Calls every function of MPI that weft calls, in the library that library/loader opens, and checks
// what comes out: alone, or on several ranks. Exit code 1 and a line for each check that fails.
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "library/loader/opened_library.h"

namespace {

int fault_count = 0;
int end_count = 0;  // of an attribute

void check(bool is_true, const char* what) {
  if (is_true) return;
  ++fault_count;
  std::fprintf(stderr, "call_check: found no %s\n", what);
}

void succeed(int code, const char* what) { check(code == MPI_SUCCESS, what); }

struct Ranks {
  MPI_Comm all = MPI_COMM_NULL;
  int rank = 0;
  int size = 1;
  int next() const { return (rank + 1) % size; }
  int previous() const { return (rank + size - 1) % size; }
};

void complete(MPI_Request& request) {
  int is_complete = 0;
  while (!is_complete) succeed(MPI_Test(&request, &is_complete, MPI_STATUS_IGNORE), "test");
  check(request == MPI_REQUEST_NULL, "null request after completion");
}

int on_end(MPI_Comm /*of*/, int /*key*/, void* value, void* state) {
  end_count += value == &end_count && state == &fault_count ? 1 : 0;
  return MPI_SUCCESS;
}

void check_start() {
  int flag = 1;
  MPI_Initialized(&flag);
  check(!flag, "MPI that has not been started");
  int provided = -1;
  succeed(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "start");
  check(provided == MPI_THREAD_SERIALIZED || provided == MPI_THREAD_MULTIPLE, "level of threads");
  int level = -1;
  succeed(MPI_Query_thread(&level), "question for the level");
  check(level == provided, "same level twice");
  MPI_Initialized(&flag);
  check(flag != 0, "MPI that has been started");
  MPI_Finalized(&flag);
  check(!flag, "MPI that has not ended");
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, ' ');
  int length = 0;
  succeed(PMPI_Get_library_version(text.data(), &length), "description");
  check(length > 0 && MPI_Wtime() >= 0, "description of the library, or time");
}

Ranks check_communicators() {
  Ranks ranks;
  MPI_Request request = MPI_REQUEST_NULL;
  succeed(MPI_Comm_idup(MPI_COMM_WORLD, &ranks.all, &request), "duplicate");
  complete(request);
  check(ranks.all != MPI_COMM_NULL, "duplicate of all");
  succeed(MPI_Comm_set_errhandler(ranks.all, MPI_ERRORS_RETURN), "handler of errors");
  succeed(MPI_Comm_rank(ranks.all, &ranks.rank), "rank");
  succeed(MPI_Comm_size(ranks.all, &ranks.size), "size");
  MPI_Comm node = MPI_COMM_NULL;
  succeed(MPI_Comm_split_type(ranks.all, MPI_COMM_TYPE_SHARED, ranks.rank, MPI_INFO_NULL, &node),
          "split");
  int node_size = 0;
  succeed(MPI_Comm_size(node, &node_size), "size of the node");
  check(node_size == ranks.size, "node of all ranks");
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group mine = MPI_GROUP_NULL;
  succeed(MPI_Comm_group(ranks.all, &all), "group");
  succeed(MPI_Comm_group(MPI_COMM_SELF, &mine), "group of one");
  const std::array wanted{ranks.rank, ranks.next()};
  std::array found{-1, -1};
  succeed(MPI_Group_translate_ranks(all, 2, wanted.data(), mine, found.data()), "translation");
  check(found[0] == 0 && (ranks.size == 1 || found[1] == MPI_UNDEFINED), "rank in a group");
  succeed(MPI_Group_free(&all), "end of a group");
  succeed(MPI_Group_free(&mine), "end of a group");
  check(all == MPI_GROUP_NULL, "null group");
  succeed(MPI_Comm_free(&node), "end of a communicator");
  check(node == MPI_COMM_NULL, "null communicator");
  MPI_Comm self = MPI_COMM_NULL;
  succeed(MPI_Comm_dup(MPI_COMM_SELF, &self), "duplicate of one");
  succeed(MPI_Comm_free(&self), "end of a communicator");
  int* largest = nullptr;
  int is_set = 0;
  succeed(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&largest), &is_set),
          "attribute");
  check(is_set && *largest >= 32767, "largest tag");
  int key = MPI_KEYVAL_INVALID;
  succeed(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_end, &key, &fault_count), "key");
  succeed(MPI_Comm_set_attr(MPI_COMM_SELF, key, &end_count), "attribute of one's own");
  return ranks;
}

void check_sums(const Ranks& ranks) {
  MPI_Request request = MPI_REQUEST_NULL;
  const double mine = ranks.rank + 0.5;
  for (MPI_Op operation : {MPI_SUM, MPI_MIN, MPI_MAX}) {
    double result = -1;
    MPI_Iallreduce(&mine, &result, 1, MPI_DOUBLE, operation, ranks.all, &request);
    complete(request);
    const double sum = 0.5 * ranks.size * ranks.size;
    const double expected = operation == MPI_SUM   ? sum
                            : operation == MPI_MIN ? 0.5
                                                   : ranks.size - 0.5;
    check(result == expected, "reduction");
  }
  std::int64_t count = ranks.rank + 1;
  MPI_Iallreduce(MPI_IN_PLACE, &count, 1, MPI_INT64_T, MPI_SUM, ranks.all, &request);
  complete(request);
  check(count == ranks.size * (ranks.size + 1) / 2, "sum in place");
  const std::int64_t one = 1;
  std::int64_t before = 0;
  MPI_Iexscan(&one, &before, 1, MPI_INT64_T, MPI_SUM, ranks.all, &request);
  complete(request);
  check(ranks.rank == 0 || before == ranks.rank, "sum of those before");
  succeed(MPI_Exscan(&one, &before, 1, MPI_INT64_T, MPI_SUM, ranks.all), "sum of those before");
  int least = ranks.size - ranks.rank;
  succeed(MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, ranks.all), "minimum");
  check(least == 1, "minimum in place");
  MPI_Ibarrier(ranks.all, &request);
  complete(request);
}

void check_gathering(const Ranks& ranks) {
  MPI_Request request = MPI_REQUEST_NULL;
  const auto size = static_cast<std::size_t>(ranks.size);
  std::string text = ranks.rank == 0 ? "weft" : "    ";
  MPI_Ibcast(text.data(), 4, MPI_CHAR, 0, ranks.all, &request);
  complete(request);
  check(text == "weft", "text of rank 0");
  std::vector<int> all(size, -1);
  MPI_Iallgather(&ranks.rank, 1, MPI_INT, all.data(), 1, MPI_INT, ranks.all, &request);
  complete(request);
  check(all.front() == 0 && all.back() == ranks.size - 1, "rank of all");
  std::vector<int> counts(size, 1);
  std::vector<std::int64_t> lists(size, -1);
  const std::int64_t mine = ranks.rank;
  MPI_Iallgatherv(&mine, 1, MPI_INT64_T, lists.data(), counts.data(), all.data(), MPI_INT64_T,
                  ranks.all, &request);
  complete(request);
  check(lists.back() == ranks.size - 1, "list of all");
  std::vector<int> gathered(size, -1);
  MPI_Igather(&ranks.rank, 1, MPI_INT, gathered.data(), 1, MPI_INT, 0, ranks.all, &request);
  complete(request);
  check(ranks.rank > 0 || gathered == all, "rank of all on one");
  std::string letters(size, ' ');
  const char letter = static_cast<char>('a' + ranks.rank);
  MPI_Igatherv(&letter, 1, MPI_CHAR, letters.data(), counts.data(), all.data(), MPI_CHAR, 0,
               ranks.all, &request);
  complete(request);
  check(ranks.rank > 0 || letters.back() == 'a' + ranks.size - 1, "letter of all");
  std::vector<std::int64_t> again(size, -1);
  succeed(MPI_Allgather(&mine, 1, MPI_INT64_T, again.data(), 1, MPI_INT64_T, ranks.all), "gather");
  check(again == lists, "list of all again");
  double value = ranks.rank == 0 ? 1.5 : 0;
  succeed(MPI_Bcast(&value, 1, MPI_DOUBLE, 0, ranks.all), "broadcast");
  check(value == 1.5, "number of rank 0");
}

/// A message of a derived type, whose length the other does not know.
void check_probes(const Ranks& ranks) {
  MPI_Datatype block = MPI_DATATYPE_NULL;
  succeed(MPI_Type_contiguous(3, MPI_BYTE, &block), "type");
  const std::array lengths{2, 1};
  const std::array<MPI_Aint, 2> offsets{0, 6};
  const std::array types{block, MPI_BYTE};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  succeed(MPI_Type_create_struct(2, lengths.data(), offsets.data(), types.data(), &type), "struct");
  succeed(MPI_Type_commit(&type), "commit");
  succeed(MPI_Type_free(&block), "end of a type");
  check(block == MPI_DATATYPE_NULL, "null type");
  const std::string sent = "message";
  MPI_Request request = MPI_REQUEST_NULL;
  succeed(MPI_Issend(sent.data(), 1, type, ranks.next(), 7, ranks.all, &request), "send");
  int is_there = 0;
  while (!is_there)
    succeed(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, ranks.all, &is_there, MPI_STATUS_IGNORE),
            "probe");
  is_there = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status{};
  while (!is_there)
    succeed(MPI_Improbe(MPI_ANY_SOURCE, 7, ranks.all, &is_there, &message, &status), "probe");
  check(status.MPI_SOURCE == ranks.previous() && status.MPI_TAG == 7, "source and tag");
  MPI_Count bytes = 0;
  succeed(MPI_Get_elements_x(&status, MPI_BYTE, &bytes), "length");
  check(bytes == 7, "message of seven bytes");
  std::string received(7, ' ');
  succeed(MPI_Mrecv(received.data(), 7, MPI_BYTE, &message, MPI_STATUS_IGNORE), "receive");
  check(received == sent && message == MPI_MESSAGE_NULL, "message");
  int are_complete = 0;
  while (!are_complete)
    succeed(MPI_Testall(1, &request, &are_complete, MPI_STATUSES_IGNORE), "test");
  check(request == MPI_REQUEST_NULL, "null request");
  succeed(MPI_Type_free(&type), "end of a type");
}

void check_messages(const Ranks& ranks) {
  double sent = ranks.rank;
  std::array received{-1.0, -1.0};
  std::array<MPI_Request, 4> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL,
                                      MPI_REQUEST_NULL};
  MPI_Recv_init(received.data(), 1, MPI_DOUBLE, ranks.previous(), 1, ranks.all, requests.data());
  MPI_Recv_init(&received[1], 1, MPI_DOUBLE, ranks.previous(), 2, ranks.all, &requests[1]);
  MPI_Send_init(&sent, 1, MPI_DOUBLE, ranks.next(), 1, ranks.all, &requests[2]);
  MPI_Ssend_init(&sent, 1, MPI_DOUBLE, ranks.next(), 2, ranks.all, &requests[3]);
  for (int round = 0; round < 3; ++round) {
    sent = ranks.rank + 100 * round;
    succeed(MPI_Startall(3, requests.data()), "start");
    succeed(MPI_Start(&requests[3]), "start");
    std::array<int, 4> completed{};
    int total = 0;
    for (int count = 0; count != MPI_UNDEFINED;) {
      succeed(MPI_Testsome(4, requests.data(), &count, completed.data(), MPI_STATUSES_IGNORE),
              "test of some");
      total += count == MPI_UNDEFINED ? 0 : count;
    }
    const double expected = ranks.previous() + 100 * round;
    check(total == 4 && received[0] == expected && received[1] == expected, "message of a round");
  }
  for (MPI_Request& each : requests) {
    succeed(MPI_Request_free(&each), "end of a request");
    check(each == MPI_REQUEST_NULL, "null request");
  }
  int word = -1;
  std::array<MPI_Request, 3> open{MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Irecv(&word, 1, MPI_INT, ranks.previous(), 3, ranks.all, open.data());
  MPI_Isend(&ranks.rank, 1, MPI_INT, ranks.next(), 3, ranks.all, &open[1]);
  succeed(MPI_Waitall(3, open.data(), MPI_STATUSES_IGNORE), "wait");
  check(word == ranks.previous() && open[0] == MPI_REQUEST_NULL, "word");
  if (ranks.rank == 0) {
    MPI_Send(&word, 1, MPI_INT, 1, 4, ranks.all);
  } else if (ranks.rank == 1) {
    succeed(MPI_Recv(&word, 1, MPI_INT, 0, 4, ranks.all, MPI_STATUS_IGNORE), "receive");
    check(word == ranks.size - 1, "word of rank 0");
  }
  const int code = MPI_Send(&word, 1, MPI_INT, ranks.size + 7, 0, ranks.all);
  check(code != MPI_SUCCESS, "error of a rank that is none");
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  succeed(MPI_Error_string(code, text.data(), &length), "text of an error");
  check(length > 0, "text of an error");
}

void check_windows(const Ranks& ranks) {
  std::uint64_t* memory = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  // MPICH 4.0.2 is 8 bytes off in windows of 24 bytes.
  succeed(MPI_Win_allocate(64, 1, MPI_INFO_NULL, ranks.all, static_cast<void*>(&memory), &window),
          "window");
  memory[0] = memory[1] = memory[2] = 0;
  int* model = nullptr;
  int is_set = 0;
  succeed(MPI_Win_get_attr(window, MPI_WIN_MODEL, static_cast<void*>(&model), &is_set), "model");
  check(is_set && (*model == MPI_WIN_UNIFIED || *model == MPI_WIN_SEPARATE), "model of memory");
  succeed(MPI_Win_lock_all(MPI_MODE_NOCHECK, window), "lock");
  MPI_Request barrier = MPI_REQUEST_NULL;
  MPI_Ibarrier(ranks.all, &barrier);
  complete(barrier);
  const auto word = static_cast<std::uint64_t>(ranks.rank) + 1;
  if (ranks.size > 1) {
    succeed(MPI_Put(&word, 8, MPI_BYTE, ranks.next(), 0, 8, MPI_BYTE, window), "put");
    succeed(MPI_Accumulate(&word, 1, MPI_UINT64_T, ranks.next(), 8, 1, MPI_UINT64_T, MPI_REPLACE,
                           window),
            "replacement");
    const std::array<std::uint32_t, 2> half{7, 0};
    MPI_Request request = MPI_REQUEST_NULL;
    succeed(
        MPI_Rput(half.data(), 2, MPI_UINT32_T, ranks.next(), 16, 2, MPI_UINT32_T, window, &request),
        "put with a request");
    complete(request);
    succeed(MPI_Win_flush_local(ranks.next(), window), "flush");
    succeed(MPI_Win_flush_local_all(window), "flush");
    succeed(MPI_Win_flush(ranks.next(), window), "flush");
  }
  MPI_Ibarrier(ranks.all, &barrier);
  complete(barrier);
  succeed(MPI_Win_sync(window), "sync");
  const auto expected = static_cast<std::uint64_t>(ranks.previous()) + 1;
  check(ranks.size == 1 || (memory[0] == expected && memory[1] == expected && memory[2] == 7),
        "words of a neighbour");
  succeed(MPI_Win_unlock_all(window), "unlock");
  succeed(MPI_Win_free(&window), "end of a window");
  check(window == MPI_WIN_NULL, "null window");

  MPI_Info info = MPI_INFO_NULL;
  succeed(MPI_Info_create(&info), "info");
  succeed(MPI_Info_set(info, "alloc_shared_noncontig", "true"), "info");
  succeed(MPI_Win_allocate_shared(64, 1, info, ranks.all, static_cast<void*>(&memory), &window),
          "shared window");
  succeed(MPI_Info_free(&info), "end of an info");
  check(info == MPI_INFO_NULL, "null info");
  std::uint64_t* first = nullptr;
  MPI_Aint bytes = 0;
  int unit = 0;
  succeed(MPI_Win_shared_query(window, 0, &bytes, &unit, static_cast<void*>(&first)), "memory");
  check(first && (ranks.rank > 0 || first == memory), "shared memory");
  succeed(MPI_Win_free(&window), "end of a window");
}

/// "mpich", or what else has been opened.
std::string run() {
  const auto& opened = weft::loader::open_library(weft::loader::surroundings_of_process());
  check_start();
  Ranks ranks = check_communicators();
  const char* const wanted = std::getenv("CALL_CHECK_RANKS");
  if (wanted) check(ranks.size == std::atoi(wanted), "job of all ranks");
  check_sums(ranks);
  check_gathering(ranks);
  if (ranks.size > 1) {
    check_probes(ranks);
    check_messages(ranks);
  }
  check_windows(ranks);
  MPI_Comm_free(&ranks.all);
  MPI_Finalize();
  int is_over = 0;
  MPI_Finalized(&is_over);
  check(is_over != 0, "MPI that has ended");
  check(opened.interface == weft::loader::Interface::none || end_count == 1, "end of an attribute");
  return weft::loader::name(opened.interface);
}

}  // namespace

int main() {
  try {
    const std::string interface = run();
    if (fault_count == 0) std::printf("%s\n", interface.c_str());
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "call_check: %s\n", fault.what());
    return 2;
  }
  return fault_count == 0 ? 0 : 1;
}
