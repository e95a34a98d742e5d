#include "spmv/problems/holstein_hubbard_settings.h"

#include <cmath>

#include "spmv/problems/combinations.h"

namespace weft::spmv {
namespace {

/// Hops are tabled for each spin: 184756 states of 10 electrons on 20 sites.
constexpr int most_sites = 20;
constexpr int most_phonons = 1000;

HolsteinBasis parse_basis(const ProblemReader& reader, std::string_view text) {
  if (text == "HMEp") return HolsteinBasis::electrons_outer;
  if (text == "HMeP") return HolsteinBasis::phonons_outer;
  reader.fail("found '" + std::string(text) + "'; expected the basis HMEp or HMeP");
}

bool parse_vanishing(const ProblemReader& reader, std::string_view text) {
  if (text != "kept" && text != "dropped")
    reader.fail("found '" + std::string(text) +
                "'; expected that vanishing couplings are kept or dropped");
  return text == "kept";
}

void set(const ProblemReader& reader, std::string_view key, std::string_view value,
         const std::string& known, HolsteinHubbardSettings& settings) {
  if (key == "sites")
    settings.sites = reader.whole(value, "a number of sites", 2, most_sites);
  else if (key == "up")
    settings.up = reader.whole(value, "a number of electrons", 0, most_sites);
  else if (key == "down")
    settings.down = reader.whole(value, "a number of electrons", 0, most_sites);
  else if (key == "phonons")
    settings.phonons = reader.whole(value, "a number of phonons", 0, most_phonons);
  else if (key == "t")
    settings.hopping = reader.finite(value, "a hopping");
  else if (key == "U")
    settings.repulsion = reader.finite(value, "a repulsion");
  else if (key == "omega")
    settings.frequency = reader.finite(value, "a frequency");
  else if (key == "g")
    settings.coupling = reader.finite(value, "a coupling");
  else if (key == "basis")
    settings.basis = parse_basis(reader, value);
  else if (key == "vanishing")
    settings.keeps_vanishing = parse_vanishing(reader, value);
  else
    reader.fail("found the key '" + std::string(key) + "'; expected " + known);
}

void check(const ProblemReader& reader, const HolsteinHubbardSettings& settings) {
  if (settings.up > settings.sites || settings.down > settings.sites)
    reader.fail("found up=" + std::to_string(settings.up) + ",down=" +
                std::to_string(settings.down) + " with sites=" + std::to_string(settings.sites) +
                "; expected at most one of each per site");
  // No entry is larger: hops, pairs of electrons, phonons, and what two electrons a site do.
  const double largest = 2 * std::abs(settings.hopping) +
                         std::abs(settings.repulsion) * most_sites +
                         std::abs(settings.frequency) * most_phonons *
                             (1 + 2 * most_sites * std::abs(settings.coupling));
  if (!std::isfinite(largest)) reader.fail("entries may be infinite; expected smaller factors");
  // A row: itself, each electron to both sides, and each mode one up and one down.
  reader.check_total({settings.electron_state_count(), settings.phonon_state_count()},
                     1 + 6 * settings.sites);
}

}  // namespace

HolsteinHubbardSettings HolsteinHubbardSettings::parse(const ProblemReader& reader,
                                                       std::span<const std::string_view> parts) {
  const std::string known = "sites, up, down, phonons, t, U, omega, g, basis or vanishing";
  HolsteinHubbardSettings settings;
  for (const auto& [key, value] : reader.keys_and_values(parts, known))
    set(reader, key, value, known, settings);
  check(reader, settings);
  return settings;
}

std::string HolsteinHubbardSettings::text() const {
  return "sites=" + std::to_string(sites) + ",up=" + std::to_string(up) +
         ",down=" + std::to_string(down) + ",phonons=" + std::to_string(phonons) +
         ",t=" + text_of(hopping) + ",U=" + text_of(repulsion) + ",omega=" + text_of(frequency) +
         ",g=" + text_of(coupling) +
         ",basis=" + (basis == HolsteinBasis::electrons_outer ? "HMEp" : "HMeP") +
         ",vanishing=" + (keeps_vanishing ? "kept" : "dropped");
}

GlobalIndex HolsteinHubbardSettings::electron_state_count() const {
  return binomial(sites, up) * binomial(sites, down);
}

GlobalIndex HolsteinHubbardSettings::phonon_state_count() const {
  return binomial(phonons + mode_count(), mode_count());
}

}  // namespace weft::spmv
