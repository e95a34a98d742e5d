#include "comm_thread/probe/progress_verdict.h"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace weft::comm_thread {
namespace {

using Results = std::vector<OverlapResult>;

constexpr auto isend_irecv = ProgressOperation::isend_irecv;
constexpr auto neighbour_exchange = ProgressOperation::neighbour_exchange;

OverlapResult result(ProgressMethod method, double overlap, std::size_t bytes = 40'000'000,
                     ProgressOperation operation = isend_irecv) {
  return {operation, bytes, method, {.pure = 1, .compute = 1, .overlapped = 2 - overlap}};
}

OverlapResult plain(double overlap) { return result(ProgressMethod::plain, overlap); }
OverlapResult library(double overlap) {
  return result(ProgressMethod::mpi_progress_thread, overlap);
}
OverlapResult thread(double overlap) {
  return result(ProgressMethod::communication_thread, overlap);
}

bool begins(const Results& results, const std::string& words) {
  const std::string verdict = progress_verdict(results);
  INFO(verdict);
  CHECK(verdict.starts_with(words));
  return verdict.starts_with(words);
}

TEST_CASE("a library that needs help gets task mode") {
  CHECK(progress_verdict(Results{plain(0.03), thread(0.97)}) ==
        "this MPI does not progress large messages on its own; use task mode "
        "(40 MB: overlap 0.03 plain, 0.97 with the communication thread)");
  CHECK(progress_verdict(Results{plain(0.03), library(0.5), thread(0.97)}) ==
        "this MPI does not progress large messages on its own; use task mode "
        "(40 MB: overlap 0.03 plain, 0.50 with MPI's progress thread, "
        "0.97 with the communication thread)");
  begins({plain(0.5), thread(0.9)},
         "this MPI progresses large messages only in part; use task mode (");
}

TEST_CASE("a progress thread that takes the core from the computation is found out") {
  // It hides the message and makes the computation twice as long.
  OverlapResult slowing = library(1);
  slowing.times = {.pure = 1, .compute = 2, .overlapped = 2};
  CHECK(progress_verdict(Results{plain(0.03), slowing, thread(0.97)}) ==
        "this MPI does not progress large messages on its own; use task mode "
        "(40 MB: overlap 0.03 plain, 1.00 with MPI's progress thread, which slows the computation "
        "by a factor of 2.0, 0.97 with the communication thread)");
}

TEST_CASE("a library that helps itself leaves overlap mode") {
  const std::string words =
      "this MPI progresses large messages on its own; overlap mode suffices (40 MB: ";
  begins({plain(0.9), thread(0.97)}, words);
  begins({plain(0.9)}, words);
}

TEST_CASE("where nothing hides the messages, vector mode remains") {
  begins({plain(0.05), thread(0.1)},
         "this MPI does not progress large messages on its own, nor does the communication "
         "thread hide them here; give it a core of its own or use vector mode (");
  begins({plain(0.05)},
         "this MPI does not progress large messages on its own; no communication thread was "
         "there to do better (");
}

TEST_CASE("the largest messages of halo exchanges decide") {
  // Small ones and other operations would say the contrary.
  const auto method = ProgressMethod::plain;
  begins({result(method, 1, 64'000), plain(0),
          result(method, 1, 40'000'000, ProgressOperation::put_flush),
          result(method, 1, 40'000'000, ProgressOperation::all_reduce), thread(1)},
         "this MPI does not progress large messages on its own; use task mode (");
  CHECK(progress_verdict(Results{result(method, 0.3, 80'000'000),
                                 result(method, 0.5, 80'000'000, neighbour_exchange)}) ==
        "this MPI progresses large messages only in part; no communication thread was there to "
        "do better (80 MB: overlap 0.40 plain)");
}

TEST_CASE("without large messages, or without plain MPI, there is no verdict") {
  CHECK(progress_verdict(Results{result(ProgressMethod::plain, 1, 64'000)}) ==
        "no verdict on large messages: the largest one was 64 kB, it takes 1 MB");
  begins({}, "no verdict on large messages");
  begins({library(0.5)}, "no verdict: MPI was not measured without its progress thread");
}

}  // namespace
}  // namespace weft::comm_thread
