#include "comm_thread/placement/node_memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "comm_thread/mpi/number_in.h"
#include "comm_thread/placement/control_groups.h"

namespace weft::comm_thread {
namespace {

constexpr double kibibyte = 1024;
constexpr double mebibyte = 1024 * kibibyte;

/// The number after `key` in a file of lines "Key:   123 kB", in bytes.
std::optional<double> kilobytes_of(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    std::istringstream words(line.substr(key.size()));
    double number = 0;
    if (words >> number) return number * kibibyte;
  }
  return std::nullopt;
}

/// The first number in a file; nothing where there is none, such as "max".
std::optional<double> number_of(const std::string& path) {
  std::ifstream file(path);
  double number = 0;
  if (file >> number) return number;
  return std::nullopt;
}

/// What the control groups of this process leave.
double left_in_control_groups() {
  double left = std::numeric_limits<double>::infinity();
  for (const ControlGroup& group : control_groups("memory")) {
    const std::string folder = group.folder.string() + "/";
    const auto limit = number_of(folder + (group.is_v2 ? "memory.max" : "memory.limit_in_bytes"));
    const auto usage =
        number_of(folder + (group.is_v2 ? "memory.current" : "memory.usage_in_bytes"));
    if (!limit || !usage) continue;
    // Pages of files are given back on demand.
    std::ifstream statistics(folder + "memory.stat");
    double cached = 0;
    std::string key;
    for (double value = 0; statistics >> key >> value;)
      if (key == "inactive_file" || key == "active_file") cached += value;
    left = std::min(left, *limit - std::max(0.0, *usage - cached));
  }
  return left;
}

/// Slurm tells megabytes; 0 stands for all of the node.
double allocated_by_slurm(const Variable& variable) {
  const auto number = [&](const char* name) {
    const char* const text = variable ? variable(name) : nullptr;
    return text ? number_in<double>(text) : std::nullopt;
  };
  const auto node = number("SLURM_MEM_PER_NODE");
  if (node && *node > 0) return *node * mebibyte;
  const auto cpu = number("SLURM_MEM_PER_CPU");
  const auto count = number("SLURM_CPUS_ON_NODE");
  if (cpu && count && *cpu > 0 && *count > 0) return *cpu * *count * mebibyte;
  return std::numeric_limits<double>::infinity();
}

}  // namespace

NodeMemory node_memory(const Variable& variable) {
  NodeMemory memory{kilobytes_of("/proc/meminfo", "MemAvailable:")
                        .value_or(std::numeric_limits<double>::infinity()),
                    "this node has free"};
  const auto limit = [&](double bytes, const char* by) {
    if (bytes < memory.available_bytes) memory = {std::max(0.0, bytes), by};
  };
  limit(left_in_control_groups(), "the control group leaves");
  limit(allocated_by_slurm(variable), "Slurm allocates");
  return memory;
}

double resident_bytes() { return kilobytes_of("/proc/self/status", "VmRSS:").value_or(0); }

double peak_resident_bytes() { return kilobytes_of("/proc/self/status", "VmHWM:").value_or(0); }

double page_fault_count() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_minflt + usage.ru_majflt);
}

double& mpi_bytes() {
  static double bytes = 0;
  return bytes;
}

std::string bytes_in_words(double bytes) {
  if (bytes >= 1e12) return fmt::format("{:.4g} TB", 1e-12 * bytes);
  if (bytes >= 1e9) return fmt::format("{:.3g} GB", 1e-9 * bytes);
  return fmt::format("{:.3g} MB", 1e-6 * bytes);
}

}  // namespace weft::comm_thread
