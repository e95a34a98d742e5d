// Wrong input is an InputError or a TextFault, nothing else: no crash, and no allocation that the
// size of the input does not justify (-malloc_limit_mb). The first byte of an input chooses the
// reader; with WEFT_FUZZ_READER=LETTER all go to one, and with fLETTER all are whole files of that
// format.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "comm_thread/mpi/input_error.h"
#include "spmv/files/matrix_market_entries.h"
#include "spmv/files/matrix_market_header.h"
#include "spmv/files/text_fault.h"
#include "spmv/formats/hdf5_file.h"
#include "spmv/formats/numpy_file.h"
#include "spmv/formats/petsc_file.h"
#include "spmv/formats/scipy_file.h"
#include "spmv/problems/problem.h"
#include "spmv/problems/right_hand_side.h"
#include "tests/fuzz/named_file.h"
#include "tests/fuzz/whole_file.h"
#include "tools/job/config_file.h"
#include "tools/job/effective_options.h"
#include "tools/job/system_options.h"
#include "tools/system/checkpoint_options.h"
#include "tools/system/jacobi_options.h"
#include "tools/system/schwarz_options.h"
#include "tools/system/solve_options.h"

namespace {

using weft::spmv::CsrSource;
using weft::spmv::NumberArray;

/// A file in memory.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : file_(memfd_create("fuzz", MFD_CLOEXEC)) {
    static_cast<void>(!write(file_, bytes.data(), bytes.size()));
  }
  ~MemoryFile() { close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

constexpr std::int64_t most_numbers = 1 << 12;

void read_integers(const NumberArray& array) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(std::min(array.count, most_numbers)));
  array.read(array.count - std::ssize(numbers), numbers, "numbers");
}

void read_reals(const NumberArray& array) {
  std::vector<double> numbers(static_cast<std::size_t>(std::min(array.count, most_numbers)));
  array.read(array.count - std::ssize(numbers), numbers, "numbers");
}

void read_matrix(const CsrSource& source) {
  for (const NumberArray* const array : {&source.rows, &source.columns, &source.values})
    array->check_size("numbers");
  read_integers(source.rows);
  read_integers(source.columns);
  read_reals(source.values);
}

void read_matrix_market(std::string text) {
  text += '\n';
  std::string_view left = text;
  weft::spmv::MatrixMarketHeaderParser parser;
  for (bool is_complete = false; !is_complete;) {
    if (left.empty()) parser.fail_at_end();
    const std::size_t end = left.find('\n') + 1;
    is_complete = parser.take(left.substr(0, end));
    left.remove_prefix(end);
  }
  check_is_square_matrix(parser.header());
  check_fits_file(parser.header(), static_cast<std::int64_t>(text.size()), false);
  const weft::spmv::MatrixMarketEntries entries(parser.header());
  using Values = weft::spmv::MatrixMarketEntries::Values;
  static_cast<void>(entries.parse(left, Values::parse, [](const auto&) {}));
}

void read_triplets(std::string text) {
  text += '\n';
  std::int64_t line = 0;
  const auto header =
      weft::spmv::read_triplet_header("a.sti", text, weft::spmv::TextUse::matrix, line);
  const weft::spmv::MatrixMarketEntries entries(header);
  const std::string_view left =
      std::string_view(text).substr(static_cast<std::size_t>(header.data_begin));
  std::int64_t next = 0;
  using Values = weft::spmv::MatrixMarketEntries::Values;
  if (header.format == weft::spmv::MatrixMarketHeader::Format::array)
    static_cast<void>(entries.parse_array(left, next, [](const auto&) {}));
  else
    static_cast<void>(entries.parse(left, Values::parse, [](const auto&) {}));
}

/// The options of the commands that solve, and --config, as the program has them.
class CommandLine {
 public:
  CommandLine() {
    program_.set_config("--config");
    program_.config_formatter(config_file_);
    weft::tools::add_solve_options(*program_.add_subcommand("solve")->configurable(), solve_);
    CLI::App& jacobi = *program_.add_subcommand("jacobi")->configurable();
    weft::tools::add_jacobi_options(jacobi, jacobi_);
    weft::tools::add_sweep_checkpoint_options(jacobi, jacobi_.checkpoints);
    weft::tools::add_job_options(jacobi, jacobi_);
    CLI::App& schwarz = *program_.add_subcommand("schwarz")->configurable();
    weft::tools::add_schwarz_options(schwarz, schwarz_);
    weft::tools::add_alpha_option(schwarz, schwarz_);
    weft::tools::add_job_options(schwarz, schwarz_);
  }

  /// The last word first. What goes together is checked as the commands do.
  void parse(std::vector<std::string> words) {
    try {
      parse_and_check(std::move(words));
    } catch (const std::runtime_error& error) {
      static_cast<void>(config_file_->with_place(error.what()));
      throw;
    }
  }

 private:
  void parse_and_check(std::vector<std::string> words) {
    program_.parse(std::move(words));
    static_cast<void>(weft::tools::config_of(weft::tools::chosen_command(program_)));
    if (program_.got_subcommand("solve")) {
      solve_.set_defaults(weft::spmv::Problem::parse(solve_.problem), 2);
      solve_.check(*program_.get_subcommand("solve"));
    }
    if (program_.got_subcommand("jacobi")) {
      jacobi_.check(*program_.get_subcommand("jacobi"));
      static_cast<void>(jacobi_.checkpoints.settings());
    }
    if (program_.got_subcommand("schwarz")) schwarz_.check(*program_.get_subcommand("schwarz"));
  }

  CLI::App program_;
  std::shared_ptr<weft::tools::ConfigFile> config_file_ =
      std::make_shared<weft::tools::ConfigFile>(program_);
  weft::tools::SolveOptions solve_;
  weft::tools::JacobiOptions jacobi_;
  weft::tools::SchwarzOptions schwarz_;
};

/// Words between line ends.
void parse_options(const std::string& bytes) {
  std::vector<std::string> words{""};
  for (const char byte : bytes)
    if (byte == '\n')
      words.emplace_back();
    else
      words.back() += byte;
  std::ranges::reverse(words);
  CommandLine().parse(std::move(words));
}

void parse_config(const std::string& bytes) {
  const MemoryFile file(bytes);
  CommandLine().parse({file.path(), "--config"});
}

void read_hdf5(const std::string& bytes) {
  static const weft::tests::NamedFile file;
  const std::string path = file.write(".h5", bytes);
  if (weft::spmv::holds_hdf5_matrix(path))
    read_matrix(weft::spmv::open_hdf5_matrix(path));
  else
    weft::spmv::hdf5_vector_length(path);
}

void read_petsc(const std::string& bytes) {
  static const weft::tests::NamedFile file;
  const std::string path = file.write(".petsc", bytes);
  if (weft::spmv::holds_petsc_matrix(path))
    read_matrix(weft::spmv::open_petsc_matrix(path));
  else
    weft::spmv::petsc_vector_length(path);
}

void read(unsigned char reader, const std::string& bytes) {
  switch (reader) {
    case 'o':
      return parse_options(bytes);
    case 'c':
      return parse_config(bytes);
    case 'p':
      weft::spmv::Problem::parse(bytes);
      return;
    case 'r':
      weft::spmv::RightHandSide::parse(bytes);
      return;
    case 'm':
      return read_matrix_market(bytes);
    case 't':
      return read_triplets(bytes);
    case 'n':
      return read_reals(weft::spmv::open_numpy_array(
          std::make_shared<weft::spmv::FileBytes>(MemoryFile(bytes).path())));
    case 'h':
      return read_hdf5(bytes);
    case 'f':
      return weft::tests::read_whole_file(bytes);
    case 's': {
      const MemoryFile file(bytes);
      return read_matrix(weft::spmv::open_scipy_matrix(file.path()));
    }
    default:
      read_petsc(bytes);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const char* const only = std::getenv("WEFT_FUZZ_READER");
  const unsigned char reader = only && *only ? static_cast<unsigned char>(*only) : data[0];
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (only && *only && only[1] && !bytes.empty()) bytes.front() = only[1];
  try {
    read(reader, bytes);
  } catch (const weft::comm_thread::InputError&) {
    return 0;
  } catch (const weft::spmv::TextFault&) {
    return 0;
  } catch (const CLI::Error&) {
    return 0;
  }
  return 0;
}
