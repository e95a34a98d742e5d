// Solves with amg, for tests of the preconditioner.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/input_error.h"
#include "solver/amg/amg_preconditioner.h"
#include "solver/amg/coarsening/near_null_space.h"
#include "solver/methods/method_table.h"
#include "spmv/modes/mode.h"
#include "spmv/problems/elasticity_generator.h"
#include "tests/solver/amg/crew_system.h"

namespace weft::solver::amg {

using comm_thread::Communicator;
using comm_thread::TeamThread;
using spmv::GlobalIndex;
using tests::CrewSystem;
using tests::ReferenceMatrix;

inline std::vector<double> some_vector(std::size_t size, int seed) {
  std::vector<double> r;
  for (std::size_t i = 0; i < size; ++i)
    r.push_back(static_cast<double>((i * i + static_cast<std::size_t>(seed) * i) % 17) - 7.5);
  return r;
}

/// M times this rank's part of r. Collective.
inline std::vector<double> apply(CrewSystem& system, AmgPreconditioner& preconditioner,
                                 const std::vector<double>& r) {
  std::vector<double> z(system.count());
  system.team().run(
      [&](const TeamThread& thread) { preconditioner.apply(thread, r.data(), z.data()); });
  return z;
}

inline double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

struct Solved {
  SolveReport report;
  std::vector<double> x;
};

/// CG on A·x = b to a tight tolerance. Collective.
inline Solved solve(CrewSystem& system, const Settings& settings, const std::vector<double>& b,
                    const std::string& method = "cg", NearNullSpace space = {}) {
  AmgPreconditioner preconditioner(system.op(), settings, std::move(space));
  KrylovMethod::Options options;
  options.mode = settings.mode;
  options.preconditioner = &preconditioner;
  options.stop.tolerance = 1e-10;
  const auto solver = find_krylov_method(method)->collective_make(system.op(), options);
  Solved solved{.report = solver->solve(system.own(b)), .x = {}};
  solved.x.assign(solver->solution().begin(), solver->solution().end());
  return solved;
}

/// The modes of a rigid body, of elasticity3d.
inline NearNullSpace modes_of(const CrewSystem& system, const std::string& problem) {
  const spmv::ElasticityGenerator generator(spmv::Problem::parse(problem));
  std::vector<double> coordinates;
  const auto first = static_cast<GlobalIndex>(system.first());
  for (GlobalIndex row = first; row < first + static_cast<GlobalIndex>(system.count()); ++row)
    for (const double coordinate : generator.coordinates(row / 3))
      coordinates.push_back(coordinate);
  return rigid_body_modes(coordinates, 3, first);
}

/// The graph Laplacian of a path, with nothing at its ends: singular.
inline ReferenceMatrix path(GlobalIndex size, GlobalIndex first, ReferenceMatrix matrix = {}) {
  matrix.resize(static_cast<std::size_t>(first + size));
  for (GlobalIndex row = first; row < first + size; ++row)
    for (const GlobalIndex other : {row - 1, row + 1})
      if (other >= first && other < first + size) {
        matrix[static_cast<std::size_t>(row)][other] = -1;
        matrix[static_cast<std::size_t>(row)][row] += 1;
      }
  return matrix;
}

inline const Settings with_levels{.direct_rows = 20};

}  // namespace weft::solver::amg
