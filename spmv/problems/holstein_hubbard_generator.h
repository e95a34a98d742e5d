#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "spmv/problems/holstein_hubbard_settings.h"
#include "spmv/problems/phonon_space.h"
#include "spmv/problems/spin_space.h"
#include "spmv/rows/row_visitor.h"

namespace weft::spmv {

/// Makes the rows of the Hamiltonian of the Holstein–Hubbard model without storing it.
///
///     state (e, p)       HMEp: row e·P + p      hops ‥ H_e ⊗ 1    phonons ‥ 1 ⊗ H_p, by blocks of
///     e E, P states each   HMeP: row p·E + e
///
/// e numbers up · down, p the phonons (PhononSpace). Couplings that are zero are no entries;
/// the diagonal always is one.
/// Thread: any number at the same time.
/// Source: Hager, Schubert, Schoenemeyer, Wellein 2011 (the matrices HMeP and HMEp).
class HolsteinHubbardGenerator {
 public:
  /// Memory: that of the electrons of one spin.
  explicit HolsteinHubbardGenerator(const HolsteinHubbardSettings& settings);

  /// Visits the rows [begin, end) in ascending order.
  void visit_rows(GlobalIndex begin, GlobalIndex end, const RowVisitor& visit) const;

 private:
  /// Common data of all rows of one electronic state.
  struct Electrons {
    GlobalIndex state = -1;
    std::vector<std::pair<GlobalIndex, double>> hops;  // state, value; ascending
    std::vector<double> coupling;  // per mode, of one phonon more or less; 0 where there is none
    double energy = 0;
  };
  /// Common data of all rows of one state of the phonons.
  struct Phonons {
    struct Step {
      GlobalIndex state;
      std::size_t mode;
      double factor;  // √n of the higher state
    };
    GlobalIndex state = -1;
    std::vector<int> counts;  // per mode
    std::vector<Step> steps;  // ascending
    double energy = 0;
  };

  void find(GlobalIndex state, Electrons& electrons) const;
  void find(GlobalIndex state, Phonons& phonons) const;

  HolsteinHubbardSettings settings_;
  SpinSpace up_;
  SpinSpace down_;
  PhononSpace phonon_space_;
  std::vector<double> amplitudes_;  // φ_m(i): [mode][site]
};

}  // namespace weft::spmv
