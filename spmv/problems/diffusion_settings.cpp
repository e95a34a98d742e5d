#include "spmv/problems/diffusion_settings.h"

#include <cmath>

namespace weft::spmv {
namespace {

constexpr const char* known_coefficients =
    "constant, jumps:RATIO, checkerboard:BLOCK,RATIO, lognormal:SIGMA,seed=1 or file=PATH";

constexpr std::string_view file_key = "file=";

/// Coefficients from exp(-700) to exp(700) are finite and above 0; a normal number made of 53
/// random bits is less than 9 from 0.
constexpr double largest_sigma = 700.0 / 9;

void parse_lognormal(const ProblemReader& reader, std::string_view sigma,
                     std::span<const std::string_view> words, DiffusionSettings& settings) {
  settings.kind = DiffusionSettings::Kind::lognormal;
  settings.sigma = reader.finite(sigma, "a standard deviation");
  if (std::abs(settings.sigma) > largest_sigma)
    reader.fail("found lognormal:" + text_of(settings.sigma) + "; expected at most " +
                text_of(std::floor(largest_sigma)));
  for (const auto& [key, seed] : reader.keys_and_values(words, "seed")) {
    if (key != "seed") reader.fail("found the key '" + std::string(key) + "'; expected seed");
    settings.seed = reader.number<std::uint64_t>(seed, "a seed, a whole number of at least 0");
  }
}

}  // namespace

DiffusionSettings DiffusionSettings::parse(const ProblemReader& reader,
                                           const std::array<GlobalIndex, 3>& sizes,
                                           std::span<const std::string_view> words) {
  const std::string expected = std::string("expected ") + known_coefficients;
  if (words.empty()) reader.fail("found no coefficient; " + expected);
  const std::size_t colon = words[0].find(':');
  const std::string_view kind = words[0].substr(0, colon);
  const std::string_view value =
      colon == std::string_view::npos ? std::string_view{} : words[0].substr(colon + 1);
  const auto expect_words = [&](std::size_t least, std::size_t most) {
    if (words.size() < least || words.size() > most)
      reader.fail("found " + std::to_string(words.size()) + " words for the coefficient; " +
                  expected);
  };
  DiffusionSettings settings;
  if (words[0] == "constant") {
    expect_words(1, 1);
  } else if (kind == "jumps") {
    expect_words(1, 1);
    settings.kind = Kind::jumps;
    settings.ratio = reader.weight(value);
  } else if (kind == "checkerboard") {
    expect_words(2, 2);
    settings.kind = Kind::checkerboard;
    settings.block = reader.positive(value, "points of a block's edge");
    settings.ratio = reader.weight(words[1]);
  } else if (kind == "lognormal") {
    expect_words(1, 2);
    parse_lognormal(reader, value, words.subspan(1), settings);
  } else if (words[0].starts_with(file_key)) {
    expect_words(1, 1);
    settings.kind = Kind::file;
    settings.file = std::make_shared<const CoefficientFile>(
        reader, std::string(words[0].substr(file_key.size())), sizes);
  } else {
    reader.fail("found the coefficient '" + std::string(words[0]) + "'; " + expected);
  }
  return settings;
}

std::string DiffusionSettings::text() const {
  switch (kind) {
    case Kind::constant:
      break;
    case Kind::jumps:
      return "jumps:" + text_of(ratio);
    case Kind::checkerboard:
      return "checkerboard:" + std::to_string(block) + "," + text_of(ratio);
    case Kind::lognormal:
      return "lognormal:" + text_of(sigma) + ",seed=" + std::to_string(seed);
    case Kind::file:
      return std::string(file_key) + file->path();
  }
  return "constant";
}

}  // namespace weft::spmv
