#include "library/include/weft/weft.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/launcher_check.h"
#include "comm_thread/mpi/mpi_session.h"
#include "comm_thread/mpi/option_name.h"
#include "comm_thread/placement/node_memory.h"
#include "tools/build_defs/commit.h"
#include "tools/commands/compare_command.h"
#include "tools/commands/convert_command.h"
#include "tools/commands/eigen_command.h"
#include "tools/commands/file_conflict.h"
#include "tools/commands/generate_command.h"
#include "tools/commands/help_text.h"
#include "tools/commands/jacobi_command.h"
#include "tools/commands/progress_command.h"
#include "tools/commands/roofline_command.h"
#include "tools/commands/schwarz_command.h"
#include "tools/commands/simulate_command.h"
#include "tools/commands/solve_command.h"
#include "tools/commands/spectrum_command.h"
#include "tools/commands/spmv_command.h"
#include "tools/commands/topology_command.h"
#include "tools/job/argument_fault.h"
#include "tools/job/config_file.h"
#include "tools/job/effective_options.h"
#include "tools/job/exit_codes.h"
#include "tools/job/input_agreement.h"
#include "tools/job/job_report.h"
#include "tools/job/launcher_record.h"
#include "tools/job/option_binding.h"
#include "tools/job/patience.h"
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
  return text + fmt::format("  {:<14} {} (BSD-3-Clause): the command line", "CLI11", CLI11_VERSION);
}

/// `weft help [COMMAND]`: `printed` becomes the help of a command, or that of the program.
void add_help_command(CLI::App& program, std::string& printed) {
  CLI::App& command = *program.add_subcommand("help", "tell the options of a command");
  const auto words = std::make_shared<std::vector<std::string>>();
  command.add_option("command", *words, "the command, such as solve or study cg")
      ->type_name("COMMAND");
  command.callback([&program, words, &printed] {
    CLI::App* asked = &program;
    for (const std::string& word : *words) {
      const auto inner = asked->get_subcommands(
          [&](const CLI::App* candidate) { return candidate->get_name() == word; });
      if (inner.empty())
        throw InputError("found '" + word +
                         "'; expected a command: " + weft::tools::names_of_commands(*asked));
      asked = inner.front();
    }
    // App::help would show the help of this command.
    const std::string name = asked == &program ? "weft" : "weft " + weft::tools::name_of(*asked);
    printed = asked->get_formatter()->make_help(asked, name, CLI::AppFormatMode::Normal);
  });
}

/// --config and --print-config, which stand behind the command.
void add_config_options(CLI::App& program, bool& prints_config) {
  program
      .set_config("--config", "",
                  "read options that are not given here from a file as\n"
                  "--print-config writes it: [COMMAND], then OPTION = VALUE lines")
      ->type_name("FILE");
  program.allow_config_extras(false);
  program
      .add_flag("--print-config", prints_config,
                "write the options as they would apply, for --config, and run nothing")
      ->configurable(false);
}

/// --give-up-after, which every command takes.
void add_patience_option(CLI::App& program) {
  program
      .add_option("--give-up-after", weft::tools::patience_seconds(),
                  "end the job with exit code 5 when a rank has given no sign of life for so long")
      ->check(weft::tools::is_number(weft::library::any_above_zero))
      ->type_name("SECONDS")
      ->capture_default_str();
}

/// --allow-singletons, which every command takes.
void add_singletons_option(CLI::App& program, bool& allows_singletons) {
  program
      .add_flag("--allow-singletons", allows_singletons,
                "run alone in each of several processes of a launcher of another MPI library")
      ->configurable(false);
}

/// Throws InputError where the launcher has started several processes and MPI knows of one.
void expect_own_launcher(bool allows_singletons) {
  if (allows_singletons) return;
  const std::string fault =
      weft::comm_thread::fault_of_launcher([](const char* name) { return std::getenv(name); });
  if (!fault.empty())
    throw InputError(fault + ", or --allow-singletons for runs that do not know of each other");
}

/// Adds all commands.
void add_commands(CLI::App& program, const MpiSession& session, int& exit_code) {
  const int rank_count = Communicator::collective_world().size();
  weft::tools::add_solve_command(program, session, rank_count, exit_code);
  weft::tools::add_eigen_command(program, session, exit_code);
  weft::tools::add_spectrum_command(program, session, exit_code);
  weft::tools::add_jacobi_command(program, session, exit_code);
  weft::tools::add_schwarz_command(program, session, exit_code);
  weft::tools::add_spmv_command(program, session, exit_code);
  weft::tools::add_roofline_command(program, session, exit_code);
  weft::tools::add_compare_command(program, session, exit_code);
  weft::tools::add_study_command(program, session, exit_code);
  weft::tools::add_simulate_command(program, session, exit_code);
  weft::tools::add_generate_command(program, session, exit_code);
  weft::tools::add_convert_command(program, session, exit_code);
  weft::tools::add_topology_command(program, session, exit_code);
  weft::tools::add_progress_command(program, session, exit_code);
}

/// What `weft --help` says besides the options.
void describe_program(CLI::App& program) {
  program.require_subcommand(1);
  program.set_version_flag("--version", version_text);
  program.formatter(std::make_shared<weft::tools::HelpText>());
  program.set_help_flag("-h,--help", "what people use, with examples");
  program.set_help_all_flag("--help-all", "every option with all its words");
  program.footer(
      "Examples:\n"
      "  tools/run solve poisson3d:128 --ranks 2\n"
      "  mpiexec.mpich -n 4 weft solve matrix.mtx.gz --method pcg-jacobi --json -\n"
      "Environment:\n"
      "  WEFT_STALL_SECONDS=S  a rank says for whom it waits after S seconds (default 10)\n"
      "  WEFT_INSTRUCTION_SET=avx512|avx2|sse2  takes kernels for less than this processor has\n"
      "  WEFT_THREAD_LEVEL=serialized|funneled  asks MPI for less than MPI_THREAD_MULTIPLE\n"
      "weft COMMAND --help, or weft help COMMAND, tells more, weft COMMAND --help-all\n"
      "everything. The options above may stand behind a command, too.");
}

/// What is checked once the arguments are parsed, and before a command runs. `printed`: becomes the
/// options, where these are asked for.
void check_when_parsed(CLI::App& program, const bool& prints_config, const bool& allows_singletons,
                       std::string& printed) {
  for (CLI::App* const command : program.get_subcommands({})) {
    command->fallthrough();
    for (CLI::App* const inner : command->get_subcommands({})) inner->fallthrough();
  }
  program.parse_complete_callback([&] {
    const CLI::App& command = weft::tools::chosen_command(program);
    weft::tools::command_in_effect() = weft::tools::name_of(command);
    // A rank that prints its options runs nothing, whatever other ranks do.
    if (prints_config) weft::tools::command_in_effect() += " --print-config";
    weft::tools::options_in_effect() = weft::tools::effective_options(command);
    expect_own_launcher(allows_singletons);
    if (!prints_config) weft::tools::check_files_differ(command);
    if (!prints_config || &command == &program) return;
    printed = weft::tools::config_of(command);
    throw CLI::Success();
  });
}

/// Every rank parses its arguments, and none communicates before it has; rank 0 speaks.
/// Collective.
int run(int argument_count, char** arguments, const MpiSession& session, bool is_root) {
  int exit_code = 0;
  CLI::App program("Solves large sparse linear systems on ranks with a communication thread each.",
                   "weft");
  describe_program(program);
  add_commands(program, session, exit_code);
  std::string printed;  // by rank 0, once all ranks agree on the command
  add_help_command(program, printed);
  bool prints_config = false, allows_singletons = false;
  add_config_options(program, prints_config);
  const auto config_file = std::make_shared<weft::tools::ConfigFile>(program);
  program.config_formatter(config_file);
  add_patience_option(program);
  add_singletons_option(program, allows_singletons);
  check_when_parsed(program, prints_config, allows_singletons, printed);
  std::string fault;
  std::optional<CLI::ParseError> success;  // asks for help, or has printed what was asked for
  try {
    if (!wanted_thread_level())
      throw InputError(
          "WEFT_THREAD_LEVEL: found another value; expected multiple, serialized or funneled");
    program.parse(argument_count, arguments);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0)
      success = error;
    else
      fault = weft::tools::fault_of_arguments(program, *config_file, error);
  } catch (const InputError& error) {
    fault = config_file->with_place(error.what());
  }
  // A rank without a fault of its own may be at the start of its job.
  fault = weft::tools::collective_agreed_fault(fault);
  if (!fault.empty()) {
    if (is_root) fmt::print(stderr, "weft: {}\n", weft::tools::one_line(fault));
    return weft::tools::exit_code_bad_input;
  }
  if (is_root) fmt::print("{}", printed);
  if (success && is_root) program.exit(*success);
  return exit_code;
}

void introduce(int rank) {
  weft::tools::tell_launcher(
      fmt::format("rank {} {} {}", rank, getpid(), weft::tools::host_name()));
}

/// Rank 0 tells the exit code when all ranks have one: the proof that none was lost before.
void collective_tell_end(int exit_code) {
  const auto world = Communicator::collective_world();
  const std::int64_t agreed = world.max(std::int64_t{exit_code});
  if (world.is_root()) weft::tools::tell_launcher(fmt::format("exit {}", agreed));
}

}  // namespace

int main(int argument_count, char** arguments) {
  // With its window type "rdma", Open MPI 4.1 crashes together with OpenSHMEM when both end.
  setenv("OMPI_MCA_osc", "^rdma", 0);
  weft::comm_thread::name_options_with_dashes();
  // A file longer than `ulimit -f` allows is an error of the write, not the end of the job.
  std::signal(SIGXFSZ, SIG_IGN);
  const double bytes_before = weft::comm_thread::resident_bytes();
  const MpiSession session(wanted_thread_level().value_or(ThreadLevel::multiple));
  weft::comm_thread::mpi_bytes() = weft::comm_thread::resident_bytes() - bytes_before;
  const int rank = MpiSession::rank();
  try {
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
