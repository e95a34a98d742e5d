#include "spmv/problems/holstein_hubbard_generator.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "spmv/problems/problem.h"

namespace weft::spmv {
namespace {

using Dense = std::vector<std::vector<double>>;

HolsteinHubbardSettings settings_of(const std::string& keys) {
  return Problem::parse("holstein-hubbard:" + keys).holstein_hubbard;
}

Dense zeros(std::size_t size) { return Dense(size, std::vector<double>(size)); }

/// sum += a ⊗ b, the index of a outside.
void add_product(Dense& sum, const Dense& a, const Dense& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a.size(); ++j)
      for (std::size_t k = 0; a[i][j] != 0 && k < b.size(); ++k)
        for (std::size_t l = 0; l < b.size(); ++l)
          sum[i * b.size() + k][j * b.size() + l] += a[i][j] * b[k][l];
}

Dense identity(std::size_t size) {
  Dense one = zeros(size);
  for (std::size_t i = 0; i < size; ++i) one[i][i] = 1;
  return one;
}

std::vector<std::uint32_t> spin_states(int sites, int electrons) {
  std::vector<std::uint32_t> states;
  for (std::uint32_t bits = 0; bits < std::uint32_t{1} << sites; ++bits)
    if (std::popcount(bits) == electrons) states.push_back(bits);
  return states;
}

/// ⟨to| c†_i c_j |from⟩ for i ≠ j: the sign counts the electrons that each operator passes.
double transfer(std::uint32_t to, std::uint32_t from, int i, int j) {
  const auto bit = [](int site) { return std::uint32_t{1} << site; };
  if (!(from & bit(j)) || from & bit(i) || to != ((from ^ bit(j)) | bit(i))) return 0;
  const std::uint32_t rest = from ^ bit(j);
  const int passed = std::popcount(from & (bit(j) - 1)) + std::popcount(rest & (bit(i) - 1));
  return passed % 2 == 0 ? 1 : -1;
}

Dense kinetic_energy(const std::vector<std::uint32_t>& states, int sites, double hopping) {
  Dense energy = zeros(states.size());
  for (std::size_t a = 0; a < states.size(); ++a)
    for (std::size_t b = 0; b < states.size(); ++b)
      for (int i = 0; i < sites; ++i) {
        const int j = (i + 1) % sites;
        energy[a][b] -=
            hopping * (transfer(states[a], states[b], i, j) + transfer(states[a], states[b], j, i));
      }
  return energy;
}

/// All states, in lexicographic order.
std::vector<std::vector<int>> phonon_states(int modes, int most) {
  if (modes == 0) return {{}};
  std::vector<std::vector<int>> states;
  for (int first = 0; first <= most; ++first)
    for (auto rest : phonon_states(modes - 1, most - first)) {
      rest.insert(rest.begin(), first);
      states.push_back(rest);
    }
  return states;
}

/// b†_q + b_q
Dense displacement(const std::vector<std::vector<int>>& states, std::size_t mode) {
  Dense result = zeros(states.size());
  for (std::size_t a = 0; a < states.size(); ++a)
    for (std::size_t b = 0; b < states.size(); ++b) {
      auto raised = states[b];
      ++raised[mode];
      if (states[a] == raised) result[a][b] = result[b][a] = std::sqrt(raised[mode]);
    }
  return result;
}

/// n_i of both spins summed with the amplitudes of a mode: cosines first, then sines.
Dense mode_density(const std::vector<std::uint32_t>& up, const std::vector<std::uint32_t>& down,
                   int sites, int mode) {
  const int cosines = sites / 2;
  const bool is_sine = mode >= cosines;
  const int wave = 1 + (is_sine ? mode - cosines : mode);
  std::vector<double> amplitudes;
  double square = 0;
  for (int site = 0; site < sites; ++site) {
    const double angle = 2 * std::numbers::pi * wave * site / sites;
    amplitudes.push_back(is_sine ? std::sin(angle) : std::cos(angle));
    square += amplitudes.back() * amplitudes.back();
  }
  Dense result = zeros(up.size() * down.size());
  for (std::size_t e = 0; e < result.size(); ++e)
    for (int site = 0; site < sites; ++site) {
      const auto electrons =
          (up[e / down.size()] >> site & 1) + (down[e % down.size()] >> site & 1);
      result[e][e] += electrons * amplitudes[static_cast<std::size_t>(site)] / std::sqrt(square);
    }
  return result;
}

Dense hamiltonian(const HolsteinHubbardSettings& s) {
  const auto up = spin_states(s.sites, s.up);
  const auto down = spin_states(s.sites, s.down);
  const auto phonons = phonon_states(s.sites - 1, s.phonons);
  const std::size_t electron_count = up.size() * down.size();

  Dense electrons = zeros(electron_count);
  add_product(electrons, kinetic_energy(up, s.sites, s.hopping), identity(down.size()));
  add_product(electrons, identity(up.size()), kinetic_energy(down, s.sites, s.hopping));
  for (std::size_t e = 0; e < electron_count; ++e)
    electrons[e][e] += s.repulsion * std::popcount(up[e / down.size()] & down[e % down.size()]);
  Dense lattice = zeros(phonons.size());
  for (std::size_t p = 0; p < phonons.size(); ++p)
    for (const int count : phonons[p]) lattice[p][p] += s.frequency * count;

  Dense sum = zeros(electron_count * phonons.size());
  const auto add = [&](const Dense& of_electrons, const Dense& of_phonons) {
    s.basis == HolsteinBasis::electrons_outer ? add_product(sum, of_electrons, of_phonons)
                                              : add_product(sum, of_phonons, of_electrons);
  };
  add(electrons, identity(phonons.size()));
  add(identity(electron_count), lattice);
  for (int mode = 0; mode < s.mode_count(); ++mode) {
    Dense density = mode_density(up, down, s.sites, mode);
    for (auto& row : density)
      for (double& value : row) value *= -s.coupling * s.frequency;
    add(density, displacement(phonons, static_cast<std::size_t>(mode)));
  }
  return sum;
}

/// The rows [begin, end) as the generator makes them, with the number of entries that are out of
/// order or, off the diagonal, zero; where vanishing ones are dropped, rounding errors too.
Dense generated(const HolsteinHubbardSettings& settings, GlobalIndex begin, GlobalIndex end,
                int& faults) {
  const double least = settings.keeps_vanishing ? 0 : 1e-8;
  Dense rows;
  HolsteinHubbardGenerator(settings).visit_rows(
      begin, end,
      [&](GlobalIndex row, std::span<const GlobalIndex> columns, std::span<const double> values) {
        if (row != begin + std::ssize(rows)) ++faults;
        rows.emplace_back(static_cast<std::size_t>(settings.row_count()));
        for (std::size_t i = 0; i < columns.size(); ++i) {
          if (i > 0 && columns[i] <= columns[i - 1]) ++faults;
          if (columns[i] != row && std::abs(values[i]) <= least) ++faults;
          rows.back()[static_cast<std::size_t>(columns[i])] = values[i];
        }
      });
  return rows;
}

TEST_CASE("Holstein-Hubbard matrices are the sum of Kronecker products that defines them") {
  for (const std::string basis : {"HMEp", "HMeP"})
    for (const std::string keys :
         {"sites=2,up=1,down=1,phonons=3,U=4", "sites=3,up=2,down=1,phonons=3,g=0.7,omega=0.5",
          "sites=4,up=2,down=1,phonons=2,t=0.3,U=-1",
          "sites=4,up=2,down=2,phonons=2,vanishing=dropped", "sites=5,up=1,down=1,phonons=2",
          "sites=3,up=0,down=1,phonons=2", "sites=2,up=2,down=0,phonons=0",
          "sites=3,up=1,down=1,phonons=2,t=0", "sites=3,up=1,down=1,phonons=2,g=0"}) {
      INFO(keys << ",basis=" << basis);
      const auto settings = settings_of(keys + ",basis=" + basis);
      const Dense expected = hamiltonian(settings);
      REQUIRE(std::ssize(expected) == settings.row_count());
      int faults = 0;
      const Dense rows = generated(settings, 0, settings.row_count(), faults);
      CHECK(faults == 0);
      int wrong = 0;
      int unsymmetric = 0;
      for (std::size_t i = 0; i < expected.size(); ++i)
        for (std::size_t j = 0; j < expected.size(); ++j) {
          if (std::abs(rows[i][j] - expected[i][j]) > 1e-13) ++wrong;
          if (rows[i][j] != rows[j][i]) ++unsymmetric;
        }
      CHECK(wrong == 0);
      CHECK(unsymmetric == 0);
    }
}

TEST_CASE("rows of a Holstein-Hubbard matrix made in pieces are the rows made at once") {
  const auto settings = settings_of("sites=4,up=2,down=2,phonons=3");
  int faults = 0;
  const Dense whole = generated(settings, 0, settings.row_count(), faults);
  Dense pieces = generated(settings, 0, 7, faults);
  for (const GlobalIndex end : {GlobalIndex{8}, GlobalIndex{501}, settings.row_count()})
    for (auto& row : generated(settings, std::ssize(pieces), end, faults))
      pieces.push_back(std::move(row));
  CHECK(faults == 0);
  CHECK(pieces == whole);
}

TEST_CASE("states of phonons are numbered without a gap, the first mode slowest") {
  const PhononSpace space(3, 4);
  const auto states = phonon_states(3, 4);
  REQUIRE(space.size() == std::ssize(states));
  for (std::size_t number = 0; number < states.size(); ++number) {
    std::vector<int> found(3);
    space.find(static_cast<GlobalIndex>(number), found);
    CHECK(found == states[number]);
    CHECK(space.number(states[number]) == static_cast<GlobalIndex>(number));
  }
}

TEST_CASE("six sites with six electrons and fifteen phonons have 400 x 15504 states") {
  const HolsteinHubbardSettings settings;
  CHECK(settings.electron_state_count() == 400);
  CHECK(settings.phonon_state_count() == 15504);
  CHECK(settings.row_count() == 6201600);
}

TEST_CASE("the matrix of six sites has as many nonzeros as the published one") {
  // Of 5 modes x 400 electronic states, so many couplings are entries; counted with one phonon,
  // where each makes two entries.
  const auto couplings = [](const std::string& keys) {
    GlobalIndex entries = 0;
    const auto settings = settings_of("phonons=1" + keys);
    HolsteinHubbardGenerator(settings).visit_rows(
        0, settings.row_count(),
        [&](GlobalIndex, std::span<const GlobalIndex> columns, std::span<const double>) {
          entries += std::ssize(columns);
        });
    const GlobalIndex others = 6 * (400 + 2 * 20 * 72);  // the diagonal, and hops of either spin
    return (entries - others) / 2;
  };
  CHECK(couplings("") == 1792);
  CHECK(couplings(",vanishing=dropped") == 2000 - 618);
  // With fifteen phonons, 11628 states allow one more in a given mode.
  CHECK(15504 * (400 + 2 * 20 * 72) + 2 * 11628 * couplings("") == 92527872);
}

}  // namespace
}  // namespace weft::spmv
