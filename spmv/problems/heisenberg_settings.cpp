#include "spmv/problems/heisenberg_settings.h"

#include <cmath>

#include "spmv/problems/combinations.h"

namespace weft::spmv {
namespace {

/// A state is a number of so many bits.
constexpr int most_spins = 62;

}  // namespace

HeisenbergSettings HeisenbergSettings::parse(const ProblemReader& reader, std::string_view text) {
  const auto parts = split(text, ',');
  if (parts.size() > 2)
    reader.fail("found " + std::to_string(parts.size()) +
                " numbers; expected sites and Sz, as in heisenberg:16,0");
  HeisenbergSettings settings;
  settings.sites = reader.whole(parts[0], "a number of sites", 2, most_spins);
  settings.up = (settings.sites + 1) / 2;
  if (parts.size() == 2) {
    const double up = reader.finite(parts[1], "the total Sz") + settings.sites / 2.0;
    if (!(up >= 0 && up <= settings.sites) || up != std::floor(up))
      reader.fail("found Sz=" + std::string(parts[1]) + " of " + std::to_string(settings.sites) +
                  " spins; expected " + text_of(-settings.sites / 2.0) + " to " +
                  text_of(settings.sites / 2.0) + " in steps of 1");
    settings.up = static_cast<int>(up);
  }
  // A row: itself, and each bond.
  reader.check_total({settings.row_count()}, settings.sites + 1);
  return settings;
}

std::string HeisenbergSettings::text() const {
  return std::to_string(sites) + "," + text_of(up - sites / 2.0);
}

GlobalIndex HeisenbergSettings::row_count() const { return binomial(sites, up); }

}  // namespace weft::spmv
