#include "tools/commands/file_conflict.h"

#include <sys/stat.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "comm_thread/mpi/input_error.h"
#include "tools/job/effective_options.h"

namespace weft::tools {
namespace {

/// The options and the positional arguments of all commands that name files to write.
constexpr std::array outputs{std::string_view{"--json"},     std::string_view{"--trace"},
                             std::string_view{"--solution"}, std::string_view{"--checkpoint"},
                             std::string_view{"--output"},   std::string_view{"--vectors"},
                             std::string_view{"out"},        std::string_view{"file"}};

struct Argument {
  std::string option;
  std::string value;
  bool names_file;  // by its help: --vectors of `weft spectrum` is a number

  bool is_output() const {
    if (!names_file && option.starts_with("--")) return false;
    for (const std::string_view output : outputs)
      if (option == output) return true;
    return false;
  }
};

/// A file that is there, whatever its name.
struct FileIdentity {
  dev_t device = 0;
  ino_t number = 0;
  bool operator==(const FileIdentity&) const = default;
};

std::optional<FileIdentity> identity_of(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return FileIdentity{status.st_dev, status.st_ino};
}

/// The files that an argument may mean: FILE, FILE:NAME and diffusion3d:N,file=FILE.
std::vector<std::string> names_in(const std::string& value) {
  std::vector<std::string> names{value};
  for (std::size_t at = value.find(':'); at != std::string::npos; at = value.find(':', at + 1))
    names.push_back(value.substr(0, at));
  constexpr std::string_view key = ",file=";
  if (const std::size_t at = value.find(key); at != std::string::npos)
    names.push_back(value.substr(at + key.size()));
  return names;
}

/// True if both may be the same file: one that is there, or a name for a new one.
bool are_same(const std::string& first, const std::string& second) {
  for (const std::string& one : names_in(first))
    for (const std::string& other : names_in(second)) {
      const auto found = identity_of(one);
      if (found && found == identity_of(other)) return true;
    }
  std::error_code first_error;
  std::error_code second_error;
  const auto one = std::filesystem::weakly_canonical(std::filesystem::absolute(first), first_error);
  const auto other =
      std::filesystem::weakly_canonical(std::filesystem::absolute(second), second_error);
  return !first_error && !second_error && one == other;
}

std::vector<Argument> arguments_of(const CLI::App& command) {
  std::vector<Argument> arguments;
  for (const CLI::App* app = &command; app; app = app->get_parent())
    for (const CLI::Option* const option : app->get_options())
      if (option->get_expected_max() > 0)
        for (const std::string& value : option->results())
          if (!value.empty() && value != "-")
            arguments.push_back(
                {option->get_name(), value, option->get_type_name().starts_with("FILE")});
  return arguments;
}

}  // namespace

void check_files_differ(const CLI::App& command) {
  const std::vector<Argument> arguments = arguments_of(command);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    for (std::size_t j = 0; j < arguments.size(); ++j) {
      const Argument& output = arguments[i];
      const Argument& other = arguments[j];
      if (i == j || !output.is_output() || (other.is_output() && j > i)) continue;
      if (output.option == "--checkpoint" && other.option == "--restart-from") continue;
      if (!are_same(output.value, other.value)) continue;
      throw comm_thread::InputError(output.value + ": found as an output (" + output.option +
                                    ") and as " + other.option + " " + other.value +
                                    ", the same file; expected a file of its own");
    }
}

}  // namespace weft::tools
