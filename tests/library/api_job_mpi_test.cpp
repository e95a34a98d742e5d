#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "library/include/weft/weft.hpp"
#include "tests/support/mpi_main.h"
#include "tests/support/thread_count.h"

// Not null under the sanitizers, which keep what is freed for a while. LeakSanitizer finds leaks.
extern "C" __attribute__((weak)) void __asan_init();  // NOLINT
extern "C" __attribute__((weak)) void __tsan_init();  // NOLINT

namespace weft::tests {
namespace {

bool is_sanitized() { return __asan_init != nullptr || __tsan_init != nullptr; }

/// Resident memory of this process.
double resident_megabytes() {
  long pages = 0;
  long resident = 0;
  if (std::FILE* const file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) * 1e-6;
}

TEST_CASE("a job tells where its threads are and gives the caller's binding back") {
  cpu_set_t before;
  CPU_ZERO(&before);
  sched_getaffinity(0, sizeof(before), &before);
  for (const Pinning pinning : {Pinning::pin, Pinning::keep, Pinning::none}) {
    const Job job(MPI_COMM_WORLD, {.threads = thread_count(), .pinning = pinning});
    CHECK(job.thread_count() == thread_count());
    const auto places = job.audit();
    CHECK(places.size() ==
          static_cast<std::size_t>(thread_count()) + (job.has_communication_thread() ? 1 : 0));
  }
  cpu_set_t after;
  CPU_ZERO(&after);
  sched_getaffinity(0, sizeof(after), &after);
  CHECK(CPU_EQUAL(&before, &after));
}

TEST_CASE("a job leaves the caller's communicator alone") {
  MPI_Comm mine = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &mine);
  MPI_Comm_set_errhandler(mine, MPI_ERRORS_ARE_FATAL);
  {
    const Job job(mine, {.threads = 1});
    CHECK(job.communicator() != mine);
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(mine, &handler);
    CHECK(handler == MPI_ERRORS_ARE_FATAL);
  }
  int rank = -1;
  CHECK(MPI_Comm_rank(mine, &rank) == MPI_SUCCESS);
  MPI_Comm_free(&mine);
}

TEST_CASE("a job leaves the caller's environment and signal handlers alone") {
  const auto handlers = [] {
    std::vector<void (*)(int)> found;
    for (int signal = 1; signal < 32; ++signal) {
      struct sigaction action = {};
      sigaction(signal, nullptr, &action);
      found.push_back(action.sa_handler);
    }
    return found;
  };
  const auto variables = [] {
    std::vector<std::string> found;
    for (char** each = environ; *each; ++each) found.emplace_back(*each);
    return found;
  };
  const auto handlers_before = handlers();
  const auto variables_before = variables();
  {
    const Job job(MPI_COMM_WORLD, {.threads = thread_count()});
    const Matrix a = Matrix::generate(job, "poisson2d:10");
    Solver solver(a, {{"method", "auto"}});
    const std::vector<double> b = a.right_hand_side();
    std::vector<double> x(b.size());
    CHECK(solver.solve(b, x).converged());
    CHECK(handlers() == handlers_before);
  }
  CHECK(handlers() == handlers_before);
  CHECK(variables() == variables_before);
}

TEST_CASE("two jobs on two parts of the processes solve at the same time") {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  const Job job(half, {.threads = 1});
  const Matrix a = Matrix::generate(job, rank % 2 == 0 ? "poisson3d:10" : "poisson2d:30");
  Solver solver(a, {{"preconditioner", "jacobi"}});
  const std::vector<double> b = a.right_hand_side();
  std::vector<double> x(b.size());
  CHECK(solver.solve(b, x).converged());
  MPI_Comm_free(&half);
}

TEST_CASE("handles keep what they need, in whatever order they end") {
  auto job = std::make_unique<Job>(MPI_COMM_WORLD, JobOptions{.threads = 1});
  auto a = std::make_unique<Matrix>(Matrix::generate(*job, "poisson2d:10"));
  job.reset();
  Solver solver(*a, {});
  const std::vector<double> b = a->right_hand_side();
  std::vector<double> x(b.size());
  a.reset();
  CHECK(solver.solve(b, x).converged());
}

TEST_CASE("jobs made and destroyed do not make a process grow") {
  const auto make = [](int count) {
    for (int i = 0; i < count; ++i) {
      const Job job(MPI_COMM_WORLD, {.threads = thread_count()});
      const Matrix a = Matrix::generate(job, "poisson2d:10");
      Solver solver(a, {});
      const std::vector<double> b = a.right_hand_side();
      std::vector<double> x(b.size());
      solver.solve(b, x);
    }
  };
  make(20);
  const double before = resident_megabytes();
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  make(is_sanitized() ? 30 : size == 1 ? 1000 : 60);
  CHECK(resident_megabytes() < before + (is_sanitized() ? 100 : 8));
}

TEST_CASE("ranks whose job has ended on another rank get an error instead of waiting") {
  auto job = std::make_unique<Job>(MPI_COMM_WORLD, JobOptions{.threads = 1});
  const int last = job->size() - 1;
  if (last == 0) return;
  auto a = std::make_unique<Matrix>(Matrix::generate(*job, "poisson2d:10"));
  auto solver = std::make_unique<Solver>(*a, Options{});
  const std::vector<double> b = a->right_hand_side();
  std::vector<double> x(b.size());
  solver->solve(b, x);
  if (job->rank() == last) {
    // The job ends with the last of its handles.
    solver.reset();
    a.reset();
    job.reset();
    return;
  }
  const auto expect_fault = [&](const auto& work) {
    try {
      work();
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::misuse);
      CHECK(std::string(error.what()).find("rank " + std::to_string(last) + " has left") == 0);
      return;
    }
    CHECK(false);
  };
  expect_fault([&] { solver->solve(b, x); });
  expect_fault([&] { solver->solve_block(b, x, 1); });
  expect_fault([&] { solver->precondition(b, x); });
  expect_fault([&] { a->multiply(b, x); });
  expect_fault([&] { a->right_hand_side(); });
  expect_fault([&] { Matrix::generate(*job, "poisson2d:10"); });
  expect_fault([&] { Matrix::stencil(*job, {4, 4, 4}); });
  expect_fault([&] { Solver(*a, {}); });
  expect_fault([&] { job->expect_all("mine"); });
}

TEST_CASE("a mask is kept where nothing is pinned, and left with pin_beyond_mask") {
  cpu_set_t before;
  CPU_ZERO(&before);
  sched_getaffinity(0, sizeof(before), &before);
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  sched_setaffinity(0, sizeof(one), &one);
  for (const Pinning pinning : {Pinning::keep, Pinning::none}) {
    const Job job(MPI_COMM_WORLD, {.threads = thread_count(), .pinning = pinning});
    for (const ThreadPlace& place : job.audit()) {
      CHECK(place.planned_cpu == static_cast<unsigned>(first));
      if (place.thread <= 0) CHECK(place.allowed_cpus.size() == 1);
    }
  }
  {
    const Job job(MPI_COMM_WORLD, {.threads = 2, .pin_beyond_mask = true});
    const auto places = job.audit();
    if (job.size() == 1 && CPU_COUNT(&before) > 1)
      CHECK(places[0].planned_cpu != places[1].planned_cpu);
  }
  CHECK_THROWS_AS(Job(MPI_COMM_WORLD, {.pinning = Pinning::keep, .pin_beyond_mask = true}), Error);
  sched_setaffinity(0, sizeof(before), &before);
}

TEST_CASE("a communicator that is none is an error") { CHECK_THROWS_AS(Job(MPI_COMM_NULL), Error); }

}  // namespace
}  // namespace weft::tests
