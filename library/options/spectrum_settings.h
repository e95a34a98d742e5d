#pragma once

#include <string>

#include "library/options/option.h"
#include "solver/spectrum/spectral_density.h"

namespace weft::library {

/// What the options of `weft spectrum` about the density itself ask for.
struct SpectrumSettings {
  solver::DensityOptions numbers{};  // moments, vectors, points, seed, mode
  std::string block = "auto";
  std::string kernel = "jackson";
  std::string interval{};  // A:B; empty: none is counted in

  /// All of it, for a solver. Throws comm_thread::InputError.
  solver::DensityOptions options() const;
};

const OptionTable<SpectrumSettings>& spectrum_options();

}  // namespace weft::library
