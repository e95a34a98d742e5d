#pragma once

#include <string>

#include "comm_thread/mpi/communicator.h"
#include "library/options/spectrum_settings.h"
#include "solver/spectrum/spectrum_report.h"
#include "tools/job/job_report.h"

namespace weft::tools {

/// What a density is, as JSON has it (docs/reference/json.md, `spectrum`). `unit`: what it adds up
/// to, "eigenvalues". `vectors`: random ones. Complete on every rank.
Json spectrum_report(const library::SpectrumSettings& settings, const solver::SpectrumReport& found,
                     const std::string& unit, int vectors);

/// A table of few rows with bars. `unit`: as above.
void print_spectrum(const solver::SpectrumReport& found, const std::string& unit);

/// Refuses a file that is no .npy, .csv or .json, or cannot be written. Collective. Throws
/// comm_thread::InputError.
void collective_check_spectrum_file(const comm_thread::Communicator& world,
                                    const std::string& path);

/// Writes energies, densities and their errors, a row or an element each: columns of .npy and .csv,
/// where .csv names them, or arrays of .json. Collective. Throws comm_thread::InputError.
void collective_write_spectrum(const Job& job, const solver::SpectrumReport& found,
                               const std::string& path);

}  // namespace weft::tools
