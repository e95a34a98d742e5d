#include "spmv/problem.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <system_error>
#include <vector>

#include "comm_thread/input_error.h"

namespace weft::spmv {
namespace {

using comm_thread::InputError;

constexpr GlobalIndex largest_index = std::numeric_limits<GlobalIndex>::max();

/// The word being read, for messages.
class Reader {
 public:
  explicit Reader(std::string_view word) : word_(word) {}

  [[noreturn]] void fail(const std::string& complaint) const {
    throw InputError("problem '" + std::string(word_) + "': " + complaint);
  }

  template <class Number>
  Number number(std::string_view text, const std::string& expected) const {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = end == text.data() + text.size();
    if (error == std::errc::result_out_of_range && whole)
      fail("found " + std::string(text) + ", which does not fit into 64 bits; expected " +
           expected);
    if (error != std::errc{} || !whole)
      fail("found '" + std::string(text) + "'; expected " + expected);
    return value;
  }

  /// A whole number of at least 1.
  GlobalIndex positive(std::string_view text, const std::string& what) const {
    const std::string expected = what + ", a whole number of at least 1";
    const auto value = number<GlobalIndex>(text, expected);
    if (value < 1) fail("found " + std::string(text) + "; expected " + expected);
    return value;
  }

  double weight(std::string_view text) const {
    const std::string expected = "a weight, a finite number above 0";
    const auto value = number<double>(text, expected);
    if (!std::isfinite(value) || value <= 0)
      fail("found " + std::string(text) + "; expected " + expected);
    return value;
  }

 private:
  std::string_view word_;
};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// `nonzeros_per_row`: at most so many; their number must fit as well as the rows'.
void check_total(const Reader& reader, std::initializer_list<GlobalIndex> factors,
                 GlobalIndex nonzeros_per_row) {
  GlobalIndex left = largest_index / nonzeros_per_row;
  for (const GlobalIndex factor : factors) left /= factor;
  if (left < 1) reader.fail("the number of nonzeros does not fit into 64 bits; expected less");
}

/// `N` or as many sizes as there are dimensions, joined by x.
GridSize parse_grid(const Reader& reader, std::string_view text, int dimensions) {
  const auto parts = split(text, 'x');
  const auto wanted = static_cast<std::size_t>(dimensions);
  if (parts.size() != 1 && parts.size() != wanted)
    reader.fail("found " + std::to_string(parts.size()) + " sizes; expected " +
                (dimensions == 2 ? "N or NXxNY" : "N or NXxNYxNZ"));
  std::array<GlobalIndex, 3> sizes{1, 1, 1};
  for (std::size_t i = 0; i < wanted; ++i)
    sizes[i] = reader.positive(parts.size() == 1 ? parts[0] : parts[i], "a grid size");
  check_total(reader, {sizes[0], sizes[1], sizes[2]}, 27);
  return {sizes[0], sizes[1], sizes[2]};
}

void parse_anisotropic(const Reader& reader, std::string_view text, Problem& problem) {
  const auto parts = split(text, ',');
  if (parts.size() != 4)
    reader.fail("found " + std::to_string(parts.size() - 1) +
                " weights; expected three, as in anisotropic3d:100,1,1,0.01");
  problem.grid = parse_grid(reader, parts[0], 3);
  for (std::size_t i = 0; i < 3; ++i) problem.weights[i] = reader.weight(parts[i + 1]);
  if (!std::isfinite(2 * (problem.weights[0] + problem.weights[1] + problem.weights[2])))
    reader.fail("the weights add up to infinity; expected smaller ones");
}

void set_irregular(const Reader& reader, std::string_view key, std::string_view value,
                   IrregularSettings& settings) {
  if (key == "nnzr")
    settings.nonzeros_per_row = reader.positive(value, "nonzeros per row");
  else if (key == "bandwidth")
    settings.bandwidth = reader.positive(value, "a bandwidth");
  else if (key == "seed")
    settings.seed = reader.number<std::uint64_t>(value, "a seed, a whole number of at least 0");
  else
    reader.fail("found the key '" + std::string(key) + "'; expected nnzr, bandwidth or seed");
}

IrregularSettings parse_irregular(const Reader& reader, std::string_view text) {
  const auto parts = split(text, ',');
  IrregularSettings settings;
  settings.row_count = reader.positive(parts[0], "a number of rows");
  settings.bandwidth = std::max<GlobalIndex>(16, settings.row_count / 50);
  std::vector<std::string_view> seen;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    const std::string_view key = parts[i].substr(0, equals);
    if (equals == std::string_view::npos)
      reader.fail("found '" + std::string(parts[i]) +
                  "'; expected KEY=VALUE with the key nnzr, bandwidth or seed");
    if (std::find(seen.begin(), seen.end(), key) != seen.end())
      reader.fail("found the key '" + std::string(key) + "' twice; expected it once");
    seen.push_back(key);
    set_irregular(reader, key, parts[i].substr(equals + 1), settings);
  }
  // Written so that it cannot overflow: nnzr <= 2 * bandwidth + 1.
  if ((settings.nonzeros_per_row - 1) / 2 + (settings.nonzeros_per_row - 1) % 2 >
      settings.bandwidth)
    reader.fail("found nnzr=" + std::to_string(settings.nonzeros_per_row) + " with bandwidth=" +
                std::to_string(settings.bandwidth) + "; expected nnzr <= 2 * bandwidth + 1");
  check_total(reader, {settings.row_count, 2},
              std::min(settings.nonzeros_per_row, settings.row_count));
  return settings;
}

std::string text_of(double value) {
  std::array<char, 32> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), end};
}

std::string text_of(const GridSize& grid, int dimensions) {
  const std::string x = std::to_string(grid.x);
  const std::string xy = x + "x" + std::to_string(grid.y);
  if (dimensions == 2) return grid.x == grid.y ? x : xy;
  return grid.x == grid.y && grid.y == grid.z ? x : xy + "x" + std::to_string(grid.z);
}

Problem parse_generated(const Reader& reader, std::string_view family, std::string_view rest) {
  Problem problem;
  if (family == "poisson2d") {
    problem.kind = ProblemKind::poisson2d;
    problem.grid = parse_grid(reader, rest, 2);
  } else if (family == "poisson3d") {
    problem.kind = ProblemKind::poisson3d;
    problem.grid = parse_grid(reader, rest, 3);
  } else if (family == "poisson3d27") {
    problem.kind = ProblemKind::poisson3d27;
    problem.grid = parse_grid(reader, rest, 3);
  } else if (family == "anisotropic3d") {
    problem.kind = ProblemKind::anisotropic3d;
    parse_anisotropic(reader, rest, problem);
  } else if (family == "irregular") {
    problem.kind = ProblemKind::irregular;
    problem.irregular = parse_irregular(reader, rest);
  } else {
    reader.fail(
        "not a known problem; expected poisson3d:N, poisson3d:NXxNYxNZ, poisson2d:NXxNY, "
        "poisson3d27:N, anisotropic3d:N,ex,ey,ez, irregular:N,nnzr=15,bandwidth=B,seed=1, "
        "FILE.mtx or FILE.mtx.gz");
  }
  return problem;
}

}  // namespace

Problem Problem::parse(std::string_view word) {
  if (word.ends_with(".mtx") || word.ends_with(".mtx.gz")) {
    Problem problem;
    problem.path = word;
    return problem;
  }
  const std::size_t colon = word.find(':');
  const std::string_view rest =
      colon == std::string_view::npos ? std::string_view{} : word.substr(colon + 1);
  return parse_generated(Reader(word), word.substr(0, colon), rest);
}

GlobalIndex Problem::row_count() const {
  if (is_file()) return 0;
  return has_grid() ? grid.x * grid.y * grid.z : irregular.row_count;
}

std::string Problem::name() const {
  switch (kind) {
    case ProblemKind::poisson2d:
      return "poisson2d:" + text_of(grid, 2);
    case ProblemKind::poisson3d:
      return "poisson3d:" + text_of(grid, 3);
    case ProblemKind::poisson3d27:
      return "poisson3d27:" + text_of(grid, 3);
    case ProblemKind::anisotropic3d:
      return "anisotropic3d:" + text_of(grid, 3) + "," + text_of(weights[0]) + "," +
             text_of(weights[1]) + "," + text_of(weights[2]);
    case ProblemKind::irregular:
      return "irregular:" + std::to_string(irregular.row_count) +
             ",nnzr=" + std::to_string(irregular.nonzeros_per_row) +
             ",bandwidth=" + std::to_string(irregular.bandwidth) +
             ",seed=" + std::to_string(irregular.seed);
    case ProblemKind::file:
      break;
  }
  return path;
}

}  // namespace weft::spmv
