#include "spmv/problems/problem_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "comm_thread/mpi/input_error.h"

namespace weft::spmv {

void ProblemReader::fail(const std::string& complaint) const {
  throw comm_thread::InputError("problem '" + std::string(word_) + "': " + complaint);
}

GlobalIndex ProblemReader::positive(std::string_view text, const std::string& what) const {
  const std::string expected = what + ", a whole number of at least 1";
  const auto value = number<GlobalIndex>(text, expected);
  if (value < 1) fail("found " + std::string(text) + "; expected " + expected);
  return value;
}

int ProblemReader::whole(std::string_view text, const std::string& what, int low, int high) const {
  const std::string expected =
      what + ", a whole number, " + std::to_string(low) + " to " + std::to_string(high);
  const auto value = number<GlobalIndex>(text, expected);
  if (value < low || value > high) fail("found " + std::string(text) + "; expected " + expected);
  return static_cast<int>(value);
}

double ProblemReader::weight(std::string_view text) const {
  const std::string expected = "a weight, a finite number above 0";
  const auto value = number<double>(text, expected);
  if (!std::isfinite(value) || value <= 0)
    fail("found " + std::string(text) + "; expected " + expected);
  return value;
}

double ProblemReader::finite(std::string_view text, const std::string& what) const {
  const std::string expected = what + ", a finite number";
  const auto value = number<double>(text, expected);
  if (!std::isfinite(value)) fail("found " + std::string(text) + "; expected " + expected);
  return value;
}

std::vector<std::pair<std::string_view, std::string_view>> ProblemReader::keys_and_values(
    std::span<const std::string_view> parts, const std::string& known) const {
  std::vector<std::pair<std::string_view, std::string_view>> found;
  for (const std::string_view part : parts) {
    const std::size_t equals = part.find('=');
    const std::string_view key = part.substr(0, equals);
    if (equals == std::string_view::npos)
      fail("found '" + std::string(part) + "'; expected KEY=VALUE with the key " + known);
    if (std::any_of(found.begin(), found.end(), [&](const auto& it) { return it.first == key; }))
      fail("found the key '" + std::string(key) + "' twice; expected it once");
    found.emplace_back(key, part.substr(equals + 1));
  }
  return found;
}

void ProblemReader::check_total(std::initializer_list<GlobalIndex> factors,
                                GlobalIndex nonzeros_per_row) const {
  GlobalIndex left = std::numeric_limits<GlobalIndex>::max() / nonzeros_per_row;
  for (const GlobalIndex factor : factors) left /= factor;
  if (left < 1) fail("the number of nonzeros does not fit into 64 bits; expected less");
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string text_of(double value) {
  std::array<char, 32> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), end};
}

}  // namespace weft::spmv
