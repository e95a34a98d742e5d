#include "spmv/problems/holstein_hubbard_generator.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <span>

namespace weft::spmv {
namespace {

/// φ_m(i). Sine and cosine of long double, rounded once, do not depend on the machine's library;
/// the angles are rounded as a plain program does, because that decides which of the vanishing
/// couplings of the published matrix are not quite zero.
std::vector<double> make_amplitudes(int sites) {
  std::vector<double> amplitudes;
  const auto add_mode = [&](int wave, auto function) {
    const double norm = 2 * wave == sites ? 1 / std::sqrt(sites) : std::sqrt(2.0 / sites);
    for (int site = 0; site < sites; ++site) {
      const double angle = 2 * std::numbers::pi * wave * site / sites;
      amplitudes.push_back(norm * static_cast<double>(function(static_cast<long double>(angle))));
    }
  };
  for (int wave = 1; 2 * wave <= sites; ++wave)
    add_mode(wave, [](long double angle) { return std::cos(angle); });
  for (int wave = 1; 2 * wave < sites; ++wave)
    add_mode(wave, [](long double angle) { return std::sin(angle); });
  return amplitudes;
}

/// Sums of amplitudes that are below this are zero by symmetry, all others well above.
constexpr double largest_rounding_error = 1e-10;

/// Σ_i φ(i) n_i over the occupied sites. `amplitudes`: [sites]
double sum_of_occupied(std::span<const double> amplitudes, std::uint32_t occupied) {
  double sum = 0;
  for (std::size_t site = 0; site < amplitudes.size(); ++site)
    if (occupied >> site & 1) sum += amplitudes[site];
  return sum;
}

}  // namespace

HolsteinHubbardGenerator::HolsteinHubbardGenerator(const HolsteinHubbardSettings& settings)
    : settings_(settings),
      up_(settings.sites, settings.up),
      down_(settings.sites, settings.down),
      phonon_space_(settings.mode_count(), settings.phonons),
      amplitudes_(make_amplitudes(settings.sites)) {}

void HolsteinHubbardGenerator::find(GlobalIndex state, Electrons& electrons) const {
  if (electrons.state == state) return;
  electrons.state = state;
  const GlobalIndex up = state / down_.size();
  const GlobalIndex down = state % down_.size();

  electrons.hops.clear();
  const auto add_up = [&](const SpinSpace::Hop& hop) {
    electrons.hops.emplace_back(hop.state * down_.size() + down, -settings_.hopping * hop.sign);
  };
  const auto up_hops = up_.hops(up);
  if (settings_.hopping != 0) {
    for (const auto& hop : up_hops)
      if (hop.state < up) add_up(hop);
    for (const auto& hop : down_.hops(down))
      electrons.hops.emplace_back(up * down_.size() + hop.state, -settings_.hopping * hop.sign);
    for (const auto& hop : up_hops)
      if (hop.state > up) add_up(hop);
  }

  electrons.coupling.clear();
  const auto sites = static_cast<std::size_t>(settings_.sites);
  for (std::size_t first = 0; first < amplitudes_.size(); first += sites) {
    const auto mode = std::span(amplitudes_).subspan(first, sites);
    const double sum =
        sum_of_occupied(mode, up_.occupied(up)) + sum_of_occupied(mode, down_.occupied(down));
    const bool vanishes = !settings_.keeps_vanishing && std::abs(sum) < largest_rounding_error;
    electrons.coupling.push_back(vanishes ? 0.0 : -settings_.coupling * settings_.frequency * sum);
  }
  electrons.energy = settings_.repulsion * std::popcount(up_.occupied(up) & down_.occupied(down));
}

void HolsteinHubbardGenerator::find(GlobalIndex state, Phonons& phonons) const {
  if (phonons.state == state) return;
  phonons.state = state;
  const auto modes = static_cast<std::size_t>(settings_.mode_count());
  phonons.counts.resize(modes);
  phonon_space_.find(state, phonons.counts);

  const auto add_step = [&](std::size_t mode, int change) {
    const double factor = std::sqrt(phonons.counts[mode] + (change > 0 ? 1 : 0));
    phonons.counts[mode] += change;
    phonons.steps.push_back({phonon_space_.number(phonons.counts), mode, factor});
    phonons.counts[mode] -= change;
  };
  phonons.steps.clear();
  int total = 0;
  for (std::size_t mode = 0; mode < modes; ++mode) {
    total += phonons.counts[mode];
    if (phonons.counts[mode] > 0) add_step(mode, -1);
  }
  // The first mode is the slowest index: it has the farthest states on both sides.
  for (std::size_t mode = modes; total < settings_.phonons && mode-- > 0;) add_step(mode, 1);
  phonons.energy = settings_.frequency * total;
}

void HolsteinHubbardGenerator::visit_rows(GlobalIndex begin, GlobalIndex end,
                                          const RowVisitor& visit) const {
  const bool electrons_outer = settings_.basis == HolsteinBasis::electrons_outer;
  const GlobalIndex inner_states =
      electrons_outer ? phonon_space_.size() : up_.size() * down_.size();
  const GlobalIndex electron_stride = electrons_outer ? inner_states : 1;
  const GlobalIndex phonon_stride = electrons_outer ? 1 : inner_states;
  Electrons electrons;
  Phonons phonons;
  std::vector<GlobalIndex> columns;
  std::vector<double> values;
  GlobalIndex row = 0;
  const auto add = [&](GlobalIndex column, double value) {
    columns.push_back(column);
    values.push_back(value);
  };
  const auto add_hops = [&](bool above) {
    for (const auto& [state, value] : electrons.hops)
      if ((state > electrons.state) == above)
        add(row + (state - electrons.state) * electron_stride, value);
  };
  const auto add_steps = [&](bool above) {
    for (const auto& step : phonons.steps)
      if ((step.state > phonons.state) == above && electrons.coupling[step.mode] != 0)
        add(row + (step.state - phonons.state) * phonon_stride,
            electrons.coupling[step.mode] * step.factor);
  };
  const auto add_part = [&](bool outer, bool above) {
    outer == electrons_outer ? add_hops(above) : add_steps(above);
  };
  for (row = begin; row < end; ++row) {
    find(electrons_outer ? row / inner_states : row % inner_states, electrons);
    find(electrons_outer ? row % inner_states : row / inner_states, phonons);
    columns.clear();
    values.clear();
    for (const bool outer : {true, false}) add_part(outer, false);
    add(row, electrons.energy + phonons.energy);
    for (const bool outer : {false, true}) add_part(outer, true);
    visit(row, columns, values);
  }
}

}  // namespace weft::spmv
