#include "library/system/search_forecast.h"

#include <algorithm>

#include "library/system/eigen_search.h"
#include "library/system/solve_forecast.h"

namespace weft::library {
namespace {

/// Bytes of the mass matrix with its halo.
double collective_mass_bytes(const comm_thread::Communicator& communicator,
                             const spmv::Problem& problem, const EigenSettings& settings) {
  const MemoryForecast mass = collective_forecast_system(
      communicator, mass_problem(problem, settings.mass), settings, false);
  double bytes = 0;
  for (const MemoryForecast::Part& part : mass.parts)
    if (part.name != "started" && part.name != "vectors") bytes += part.bytes;
  return bytes;
}

}  // namespace

MemoryForecast collective_forecast_search(const comm_thread::Communicator& communicator,
                                          const spmv::Problem& problem,
                                          const EigenSettings& settings, const SearchUse& use) {
  const SystemSize size = collective_system_size(communicator, problem, settings);
  const int ranks = communicator.size();
  MemoryForecast forecast = collective_forecast_system(communicator, problem, settings, false);
  if (!settings.mass.empty())
    forecast.parts.push_back({"mass", collective_mass_bytes(communicator, problem, settings)});
  if (settings.chosen_method() == solver::EigenMethod::lobpcg)
    collective_add_preconditioner(settings, problem, size, nullptr, forecast);
  forecast.parts.push_back({"search space", search_bytes(settings, size.rows, ranks)});
  if (use.keeps_checkpoints)
    forecast.parts.push_back({"checkpoint", kept_bytes(settings, size.rows, ranks)});
  if (use.counts_certificate)
    forecast.parts.push_back(
        {"certificate", std::max(certificate_bytes(settings, size.rows, size.nonzeros) -
                                     bytes_of_other_vectors(settings, size.rows, ranks),
                                 0.0)});
  return forecast;
}

}  // namespace weft::library
