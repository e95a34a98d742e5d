#include "library/settings/schwarz_word.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/number_in.h"
#include "library/settings/word_number.h"
#include "library/settings/word_settings.h"

namespace weft::library {
namespace {

using solver::SchwarzPreconditioner;

constexpr std::string_view schwarz_word = "schwarz";
constexpr std::int64_t most_pieces = std::numeric_limits<std::int32_t>::max();

/// Throws comm_thread::InputError.
double share_above_zero(const std::string& item, std::string_view digits) {
  const auto number = comm_thread::number_in<double>(digits);
  if (!number || !(*number > 0 && *number <= 1))
    throw comm_thread::InputError("found '" + item + "'; expected a number above 0, up to 1");
  return *number;
}

bool is_word(const std::string& text, std::string_view name) {
  return text == name || text.starts_with(std::string(name) + ":");
}

/// Behind the colon.
std::string settings_of(const std::string& text) {
  const std::size_t colon = text.find(':');
  return colon == std::string::npos ? "" : text.substr(colon + 1);
}

/// `options` with the settings in `text`.
SchwarzPreconditioner::Options parse(SchwarzPreconditioner::Options options,
                                     const std::string& text) {
  bool has_shift = false;
  for (const auto& [item, key, value] : settings_in(text)) {
    has_shift = has_shift || key == "shift";
    if (key == "overlap")
      options.overlap =
          static_cast<int>(whole_number(item, value, 0, solver::SchwarzOptions::most_overlap));
    else if (key == "subdomains")
      options.piece_count = whole_number(item, value, 0, most_pieces);
    else if (item == "kind=symmetric")
      options.kind = SchwarzPreconditioner::Kind::symmetric;
    else if (item == "kind=restricted")
      options.kind = SchwarzPreconditioner::Kind::restricted;
    else if (item == "kind=optimized")
      options.kind = SchwarzPreconditioner::Kind::optimized;
    else if (key == "shift")
      options.shift = share_above_zero(item, value);
    else if (item == "partition=rows" || item == "partition=metis")
      options.partition = value == "metis" ? SchwarzPreconditioner::Partition::graph
                                           : SchwarzPreconditioner::Partition::rows;
    else
      throw comm_thread::InputError(
          "found '" + item +
          "'; expected overlap=G, subdomains=S, partition=rows|metis, "
          "kind=symmetric|restricted|optimized or shift=P, joined by commas");
  }
  if (has_shift && options.kind != SchwarzPreconditioner::Kind::optimized)
    throw comm_thread::InputError("found shift without kind=optimized; expected both");
  return options;
}

}  // namespace

bool is_schwarz(const std::string& text) { return is_word(text, schwarz_word); }

bool is_block_factor(const std::string& text) {
  return is_word(text, "ilu0") || is_word(text, "block-lu");
}

SchwarzPreconditioner::Options parse_block_factor(const std::string& text) {
  auto options = parse({.overlap = 0}, settings_of(text));
  options.solver = is_word(text, "ilu0") ? solver::SchwarzOptions::Solver::incomplete
                                         : solver::SchwarzOptions::Solver::lu;
  return options;
}

SchwarzPreconditioner::Options parse_schwarz(const std::string& text,
                                             SchwarzPreconditioner::Kind by_default) {
  SchwarzPreconditioner::Options options;
  options.kind = by_default;
  return parse(options, settings_of(text));
}

}  // namespace weft::library
