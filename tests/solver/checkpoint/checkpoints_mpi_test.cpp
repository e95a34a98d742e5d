#include <sys/resource.h>

#include <algorithm>
#include <bit>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"
#include "solver/checkpoint/checkpoints.h"
#include "solver/methods/method_table.h"
#include "solver/precondition/diagonal_preconditioner.h"
#include "solver/precondition/schwarz_preconditioner.h"
#include "spmv/grid/stencil.h"
#include "spmv/grid/stencil_operator.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/problems/generator.h"
#include "spmv/problems/right_hand_side.h"
#include "tests/support/mpi_main.h"
#include "tests/support/shared_folder.h"
#include "tests/support/thread_count.h"

namespace weft::solver {
namespace {

namespace fs = std::filesystem;
using comm_thread::CommThread;
using comm_thread::Communicator;
using comm_thread::ComputeTeam;
using spmv::LinearOperator;
using spmv::Mode;
using spmv::Segment;
using tests::SharedFolder;

/// Solution by global row.
using Solution = std::map<std::int64_t, std::uint64_t>;

struct Solved {
  SolveReport report;
  Solution x;
  Checkpoints::Report checkpoints;
};

struct Case {
  std::string method;
  std::string word;
  bool is_matrix_free = false;
  std::string preconditioner;
};

/// Ranks and threads with the system of a case.
class System {
 public:
  System(const Communicator& communicator, int threads, const Case& what)
      : communicator_(communicator),
        case_(what),
        team_(threads, comm_thread::WaitPolicy::yield),
        comm_thread_({.thread_level = tests::session().thread_level()}) {
    const auto problem = spmv::Problem::parse(what.word);
    if (what.is_matrix_free)
      operator_ = std::make_unique<spmv::StencilOperator>(communicator, comm_thread_, team_,
                                                          spmv::GridStencil::of(problem));
    else
      operator_ = std::make_unique<spmv::SparseOperator>(
          communicator, comm_thread_, team_,
          collective_generate(communicator, team_, problem, spmv::PartitionBy::rows));
    if (what.preconditioner == "jacobi")
      preconditioner_ = std::make_unique<DiagonalPreconditioner>(*operator_);
    if (what.preconditioner == "schwarz")
      preconditioner_ = std::make_unique<SchwarzPreconditioner>(
          dynamic_cast<spmv::SparseOperator&>(*operator_),
          SchwarzPreconditioner::Options{.piece_count = 5, .overlap = 1});
    b_.resize(operator_->element_count());
    for_each_row([&](std::size_t i, std::int64_t row) {
      b_[i] = static_cast<double>(row * row % 17) - 7.5;
    });
  }

  Solved solve(Mode mode, std::int64_t most_iterations, const Checkpoints::Options& options) {
    std::unique_ptr<Checkpoints> checkpoints;
    if (!options.path.empty() || !options.from.empty())
      checkpoints = std::make_unique<Checkpoints>(communicator_, comm_thread_, options);
    KrylovMethod::Options settings;
    settings.mode = mode;
    settings.preconditioner = preconditioner_.get();
    settings.stop = {.tolerance = 1e-6, .max_iterations = most_iterations};
    settings.restart = 7;
    settings.checkpoints = checkpoints.get();
    const auto method = find_krylov_method(case_.method)->collective_make(*operator_, settings);
    Solved solved{.report = method->solve(b_), .x = {}, .checkpoints = {}};
    if (checkpoints) {
      checkpoints->close();
      solved.checkpoints = checkpoints->report();
    }
    for_each_row([&](std::size_t i, std::int64_t row) {
      solved.x[row] = std::bit_cast<std::uint64_t>(method->solution()[i]);
    });
    return solved;
  }

 private:
  template <class Work>
  void for_each_row(const Work& work) const {
    for (int thread = 0; thread < team_.thread_count(); ++thread)
      for (const Segment& segment : operator_->segments(thread))
        for (std::size_t i = 0; i < static_cast<std::size_t>(segment.count); ++i)
          work(segment.begin + i,
               operator_->global_row(segment.begin) + static_cast<std::int64_t>(i));
  }

  const Communicator& communicator_;
  Case case_;
  ComputeTeam team_;
  CommThread comm_thread_;
  std::unique_ptr<LinearOperator> operator_;
  std::unique_ptr<Preconditioner> preconditioner_;
  std::vector<double> b_;
};

constexpr std::int64_t no_limit = 5000;

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const KrylovEntry& entry : krylov_methods()) {
    const std::string name = entry.name;
    if (entry.needs_grid || entry.is_cg_variant)
      all.push_back({name, "poisson3d:17x12x9", true, ""});
    if (entry.needs_grid) all.push_back({name, "poisson3d:7x9x20", true, ""});  // turned
    if (entry.needs_grid) continue;
    for (const std::string preconditioner : {"", "jacobi", "schwarz"})
      all.push_back({name, "poisson2d:24x21", false, preconditioner});
  }
  return all;
}

/// Checks what ranks have of a solution.
void check_same(const Solved& found, const Solved& expected) {
  CHECK(found.report.status == expected.report.status);
  CHECK(found.report.iterations == expected.report.iterations);
  CHECK(found.report.restarts == expected.report.restarts);
  CHECK(std::bit_cast<std::uint64_t>(found.report.recurrence_residual) ==
        std::bit_cast<std::uint64_t>(expected.report.recurrence_residual));
  CHECK(std::ranges::all_of(
      found.x, [&](const auto& entry) { return expected.x.at(entry.first) == entry.second; }));
}

TEST_CASE("every method continues on other ranks, threads and modes with the bits of one run") {
  const auto world = Communicator::collective_world();
  const auto alone = Communicator::self();
  const SharedFolder folder(world);
  for (const Case& what : cases()) {
    CAPTURE(what.method, what.is_matrix_free, what.preconditioner);
    System serial(alone, 1, what);
    System together(world, tests::thread_count(), what);
    const Solved expected = serial.solve(Mode::vector, no_limit, {});
    CHECK(expected.report.status == SolveStatus::converged);
    const std::int64_t cut = std::max<std::int64_t>(2, expected.report.iterations * 2 / 3);

    const std::string file = folder.file("together");
    const Solved first =
        together.solve(Mode::task, cut, {.path = file, .every_iterations = cut / 2});
    CHECK(first.report.status == SolveStatus::not_converged);
    CHECK(first.checkpoints.failed == 0);
    CHECK(first.checkpoints.written >= 1);
    world.barrier();
    const Solved apart = serial.solve(Mode::vector, no_limit, {.from = file});
    CHECK(apart.checkpoints.first_iteration >= 0);
    check_same(apart, expected);
    for (const Mode mode : {Mode::overlap, Mode::task})
      check_same(together.solve(mode, no_limit, {.from = file}), expected);

    // An even and an odd number of iterations: MINRES has changed a sign between them.
    const std::string other = folder.file("alone");
    if (world.is_root())
      serial.solve(Mode::vector, cut + 1, {.path = other, .every_iterations = no_limit});
    world.barrier();
    check_same(together.solve(Mode::vector, no_limit, {.from = other}), expected);
  }
}

const Case simple{"cg", "poisson2d:24x21", false, ""};

/// Changes one byte.
void damage(const std::string& path, std::streamoff offset) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(offset);
  const int byte = file.get();
  file.seekp(offset);
  file.put(static_cast<char>(byte ^ 1));
}

TEST_CASE("a damaged checkpoint is found out, and the generation before it taken") {
  const auto world = Communicator::collective_world();
  const SharedFolder folder(world);
  System system(world, tests::thread_count(), simple);
  const Solved expected = system.solve(Mode::task, no_limit, {});
  const std::string file = folder.file("state");
  system.solve(Mode::task, 25, {.path = file, .every_iterations = 10});
  for (const std::streamoff offset : {200, 6000}) {  // in the header, in a vector
    if (world.is_root()) damage(file, offset);
    world.barrier();
    const Solved found = system.solve(Mode::task, no_limit, {.from = file});
    check_same(found, expected);
    CHECK(found.checkpoints.first_iteration == 20);
    CHECK(found.checkpoints.warning.find("checksum") != std::string::npos);
    world.barrier();
    if (world.is_root()) damage(file, offset);
    world.barrier();
  }
  if (world.is_root()) {
    damage(file, 6000);
    fs::remove(previous_checkpoint(file));
  }
  world.barrier();
  CHECK_THROWS_WITH(system.solve(Mode::task, no_limit, {.from = file}),
                    Catch::Contains("the checksum of its vectors differs"));
}

TEST_CASE("what a run leaves that is killed while it replaces a checkpoint is tidied up") {
  const auto world = Communicator::collective_world();
  const SharedFolder folder(world);
  System system(world, 1, simple);
  const std::string file = folder.file("state");
  const std::string previous = previous_checkpoint(file);
  for (const std::string& name : {previous + ".new", previous}) {  // killed before a rename, after
    system.solve(Mode::task, 10, {.path = file});
    if (world.is_root()) {
      fs::remove(name);
      fs::create_hard_link(file, name);
      std::ofstream(file + ".new") << "half a checkpoint";
    }
    world.barrier();
    system.solve(Mode::task, 12, {.path = file});
    if (world.is_root()) {
      CHECK(fs::exists(previous));
      CHECK_FALSE(fs::equivalent(file, previous));
      CHECK_FALSE(fs::exists(previous + ".new"));
      CHECK_FALSE(fs::exists(file + ".new"));
    }
    world.barrier();
  }
}

TEST_CASE("a checkpoint of something else is refused with what differs") {
  const auto world = Communicator::collective_world();
  const SharedFolder folder(world);
  const std::string file = folder.file("state");
  System(world, 1, simple).solve(Mode::task, 10, {.path = file});
  const auto expect = [&](const Case& what, const std::string& why) {
    CHECK_THROWS_WITH(System(world, 1, what).solve(Mode::task, no_limit, {.from = file}),
                      Catch::Contains(why));
  };
  expect({"cg", "poisson2d:24x22", false, ""}, "504 rows; expected one with 528");
  expect({"cg", "poisson2d:21x24", false, ""}, "another matrix");
  expect({"minres", "poisson2d:24x21", false, ""}, "method cg; expected one of minres");
  expect({"cg", "poisson2d:24x21", false, "jacobi"}, "another preconditioner");
  CHECK_NOTHROW(System(world, 1, {"cg", "poisson2d:24x21", true, ""})
                    .solve(Mode::task, no_limit, {.from = file}));
  if (world.is_root()) std::ofstream(folder.file("text")) << "not a checkpoint, but long enough";
  world.barrier();
  CHECK_THROWS_WITH(System(world, 1, simple).solve(Mode::task, 10, {.from = folder.file("text")}),
                    Catch::Contains("is not a checkpoint"));
  CHECK_THROWS_WITH(System(world, 1, simple).solve(Mode::task, 10, {.path = folder.file("text")}),
                    Catch::Contains("something else than a checkpoint"));
  CHECK_THROWS_WITH(
      System(world, 1, simple).solve(Mode::task, 10, {.path = folder.file("none/state")}),
      Catch::Contains("cannot be written"));
}

TEST_CASE("a folder that vanishes and a disk that is full leave the run and the older file alone") {
  const auto world = Communicator::collective_world();
  const SharedFolder folder(world);
  System system(world, tests::thread_count(), simple);
  const Solved expected = system.solve(Mode::task, no_limit, {});

  const std::string file = folder.file("state");
  system.solve(Mode::task, 12, {.path = file});
  // A file may not grow beyond this: as a full disk would.
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit small{6000, limit.rlim_max};
  const auto before = signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  std::vector<std::string> said;
  std::vector<bool> are_last;
  const auto note = [&](const std::string& why, bool is_last) {
    said.push_back(why);
    are_last.push_back(is_last);
  };
  const Solved full = system.solve(Mode::task, no_limit,
                                   {.path = file, .every_iterations = 10, .on_failure = note});
  CHECK(said.empty() != world.is_root());
  said.clear();
  are_last.clear();
  system.solve(Mode::task, 12, {.path = file, .on_failure = note});
  setrlimit(RLIMIT_FSIZE, &limit);
  signal(SIGXFSZ, before);
  check_same(full, expected);
  CHECK(full.checkpoints.failed > 0);
  CHECK(full.checkpoints.written == 0);
  CHECK(full.checkpoints.last_failure.find("File too large") != std::string::npos);
  CHECK(are_last == std::vector<bool>(world.is_root() ? 1 : 0, true));
  for (const std::string& why : said) CHECK_THAT(why, Catch::Contains("File too large"));
  if (world.is_root()) CHECK(!fs::exists(file + ".new"));
  const Solved after = system.solve(Mode::task, no_limit, {.from = file});
  CHECK(after.checkpoints.first_iteration == 12);
  check_same(after, expected);

  if (world.is_root()) fs::create_directory(folder.file("gone"));
  world.barrier();
  bool is_gone = false;
  const Solved vanished =
      system.solve(Mode::task, no_limit,
                   {.path = folder.file("gone/state"), .every_iterations = 10, .stop_signal = [&] {
                      if (!std::exchange(is_gone, true) && world.is_root())
                        fs::remove_all(folder.file("gone"));
                      return 0;
                    }});
  check_same(vanished, expected);
  CHECK(vanished.checkpoints.failed > 0);
}

TEST_CASE("a signal to one rank ends the solve on all with a checkpoint of its last iteration") {
  const auto world = Communicator::collective_world();
  const SharedFolder folder(world);
  System system(world, tests::thread_count(), simple);
  const Solved expected = system.solve(Mode::task, no_limit, {});
  const std::string file = folder.file("state");
  for (const std::string method : {"cg", "gmres", "bicgstab-pipelined"}) {
    CAPTURE(method);
    Case what = simple;
    what.method = method;
    System stopped(world, tests::thread_count(), what);
    const Solved found = stopped.solve(
        Mode::task, no_limit,
        {.path = file, .stop_signal = [&] { return world.rank() == world.size() - 1 ? 15 : 0; }});
    CHECK(found.report.status == SolveStatus::stopped);
    CHECK(found.report.iterations < expected.report.iterations);
    CHECK(found.checkpoints.written == 1);
    const Solved rest = stopped.solve(Mode::task, no_limit, {.from = file});
    check_same(rest, stopped.solve(Mode::task, no_limit, {}));
  }
}

}  // namespace
}  // namespace weft::solver
