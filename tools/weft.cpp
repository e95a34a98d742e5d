#include "library/include/weft/weft.hpp"

#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/mpi_session.h"
#include "tools/build_defs/commit.h"
#include "tools/commands/compare_command.h"
#include "tools/commands/generate_command.h"
#include "tools/commands/jacobi_command.h"
#include "tools/commands/progress_command.h"
#include "tools/commands/roofline_command.h"
#include "tools/commands/schwarz_command.h"
#include "tools/commands/simulate_command.h"
#include "tools/commands/solve_command.h"
#include "tools/commands/spmv_command.h"
#include "tools/commands/topology_command.h"
#include "tools/job/exit_codes.h"
#include "tools/studies/study_command.h"

namespace {

using weft::comm_thread::Communicator;
using weft::comm_thread::InputError;
using weft::comm_thread::MpiSession;
using weft::comm_thread::ThreadLevel;

/// WEFT_THREAD_LEVEL=serialized|funneled asks MPI for less, to try what weft does then; nothing
/// where the variable holds something else.
std::optional<ThreadLevel> wanted_thread_level() {
  const char* const value = std::getenv("WEFT_THREAD_LEVEL");
  const std::string wanted = value ? value : "multiple";
  if (wanted == "multiple") return ThreadLevel::multiple;
  if (wanted == "serialized") return ThreadLevel::serialized;
  if (wanted == "funneled") return ThreadLevel::funneled;
  return std::nullopt;
}

/// The version, and those of the libraries that weft is built with.
std::string version_text() {
  std::string text = fmt::format("weft {}, commit {}\n", weft::version(), weft::build_commit);
  for (const weft::Dependency& each : weft::dependencies())
    text +=
        fmt::format("  {:<14} {} ({}): {}\n", each.name, each.version, each.licence, each.purpose);
  text.pop_back();
  return text;
}

/// What is wrong with the arguments, in one line.
std::string fault_of_arguments(const CLI::App& program, const CLI::ParseError& error) {
  const std::string text = error.what();
  if (program.get_subcommands().empty()) {
    const std::string found =
        program.remaining().empty() ? "no command" : "'" + program.remaining().front() + "'";
    return "found " + found +
           "; expected solve, jacobi, schwarz, spmv, roofline, compare, study, simulate, generate, "
           "topology or progress";
  }
  if (text.find("; expected") != std::string::npos) return text;
  return text + "; expected arguments as in weft --help";
}

/// Every rank parses the same arguments; rank 0 speaks.
int run(int argument_count, char** arguments, const MpiSession& session, bool is_root) {
  int exit_code = 0;
  CLI::App program("Solves large sparse linear systems on ranks with a communication thread each.",
                   "weft");
  program.require_subcommand(1);
  program.set_version_flag("--version", version_text());
  program.set_help_all_flag("--help-all", "help for all commands");
  weft::tools::add_solve_command(program, session, exit_code);
  weft::tools::add_jacobi_command(program, session, exit_code);
  weft::tools::add_schwarz_command(program, session, exit_code);
  weft::tools::add_spmv_command(program, session, exit_code);
  weft::tools::add_roofline_command(program, session, exit_code);
  weft::tools::add_compare_command(program, session, exit_code);
  weft::tools::add_study_command(program, session, exit_code);
  weft::tools::add_simulate_command(program, session, exit_code);
  weft::tools::add_generate_command(program, session, exit_code);
  weft::tools::add_topology_command(program, session, exit_code);
  weft::tools::add_progress_command(program, session, exit_code);
  program.footer(
      "Examples:\n"
      "  tools/run solve poisson3d:128 --ranks 2\n"
      "  mpiexec.mpich -n 4 weft solve matrix.mtx.gz --method pcg-jacobi --json -\n"
      "Environment:\n"
      "  WEFT_STALL_SECONDS=S  a rank says for whom it waits after S seconds (default 10)\n"
      "  WEFT_THREAD_LEVEL=serialized|funneled  asks MPI for less than MPI_THREAD_MULTIPLE\n"
      "weft COMMAND --help tells more.");
  try {
    if (!wanted_thread_level())
      throw InputError(
          "WEFT_THREAD_LEVEL: found another value; expected multiple, serialized or funneled");
    program.parse(argument_count, arguments);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return is_root ? program.exit(error) : 0;
    if (is_root) fmt::print(stderr, "weft: {}\n", fault_of_arguments(program, error));
    return weft::tools::exit_code_bad_input;
  } catch (const InputError& error) {
    if (is_root) fmt::print(stderr, "weft: {}\n", error.what());
    return weft::tools::exit_code_bad_input;
  }
  return exit_code;
}

/// Writes a record for tools/launch, which asks for records by WEFT_LAUNCHER and does not show
/// them; nothing elsewhere. One write, so that it stays in one piece.
void tell_launcher(const std::string& record) {
  if (!std::getenv("WEFT_LAUNCHER")) return;
  const std::string text = '\x1e' + record + '\n';
  std::fflush(stderr);
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
}

void introduce(int rank) {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  tell_launcher(fmt::format("rank {} {} {}", rank, getpid(), host.data()));
}

/// Rank 0 tells the exit code when all ranks have one: the proof that none was lost before.
void collective_tell_end(int exit_code) {
  const auto world = Communicator::collective_world();
  const std::int64_t agreed = world.max(std::int64_t{exit_code});
  if (world.is_root()) tell_launcher(fmt::format("exit {}", agreed));
}

}  // namespace

int main(int argument_count, char** arguments) {
  // With its window type "rdma", Open MPI 4.1 crashes together with OpenSHMEM when both end.
  setenv("OMPI_MCA_osc", "^rdma", 0);
  const MpiSession session(wanted_thread_level().value_or(ThreadLevel::multiple));
  int rank = 0;
  try {
    {
      const auto world = Communicator::collective_world();
      rank = world.rank();
    }
    introduce(rank);
    const int exit_code = run(argument_count, arguments, session, rank == 0);
    std::fflush(stdout);
    collective_tell_end(exit_code);
    return exit_code;
  } catch (const std::exception& error) {
    // The other ranks do not know: end the job at once.
    fmt::print(stderr, "weft: rank {}: {}\n", rank, error.what());
    std::fflush(stderr);
    MpiSession::abort(EXIT_FAILURE);
  }
}
