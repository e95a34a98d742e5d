#include "comm_thread/placement/launcher_mask.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>

#include "comm_thread/mpi/number_in.h"
#include "comm_thread/placement/number_words.h"

namespace weft::comm_thread {
namespace {

/// What /proc/PID/status says about a process.
struct ProcessStatus {
  std::string name;
  int parent = 0;
  std::vector<unsigned> pus;
};

ProcessStatus status_of(const std::filesystem::path& file_path) {
  ProcessStatus status;
  std::ifstream file(file_path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(":\t");
    if (colon == std::string::npos) continue;
    const std::string_view key = std::string_view(line).substr(0, colon);
    const std::string_view value = std::string_view(line).substr(colon + 2);
    if (key == "Name") status.name = value;
    if (key == "PPid") status.parent = number_in<int>(value).value_or(0);
    if (key == "Cpus_allowed_list") status.pus = parse_list(value);
  }
  return status;
}

/// Processes of MPICH, Intel MPI, MVAPICH and Open MPI that start ranks. The kernel keeps 15
/// characters of a name.
bool is_launcher(std::string_view name) {
  constexpr std::array exact{"hydra_pmi_proxy", "hydra_bstrap_pr", "mpispawn", "orted",
                             "orterun",         "prted",           "prterun",  "prte"};
  constexpr std::array endings{"", ".mpich", ".hydra", ".openmpi", ".gforker"};
  if (std::ranges::find(exact, name) != exact.end()) return true;
  return (name.starts_with("mpirun") || name.starts_with("mpiexec")) &&
         std::ranges::find(endings, name.substr(name.starts_with("mpirun") ? 6 : 7)) !=
             endings.end();
}

}  // namespace

LauncherMask find_launcher_mask(std::span<const unsigned> own, const std::filesystem::path& root) {
  constexpr int most_generations = 32;
  int process = status_of(root / "proc/self/status").parent;
  for (int i = 0; i < most_generations && process > 1; ++i) {
    ProcessStatus status = status_of(root / "proc" / std::to_string(process) / "status");
    const bool has_all = std::ranges::includes(status.pus, own);
    if (is_launcher(status.name))
      return has_all && status.pus.size() > own.size()
                 ? LauncherMask{std::move(status.name), std::move(status.pus)}
                 : LauncherMask{};
    if (!has_all || status.pus.size() != own.size()) return {};
    process = status.parent;
  }
  return {};
}

}  // namespace weft::comm_thread
