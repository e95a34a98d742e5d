#include "solver/multigrid/couplings/roughness.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "spmv/grid/shares.h"

namespace weft::solver {
namespace {

using comm_thread::Communicator;
using comm_thread::ComputeTeam;
using comm_thread::TeamThread;
using spmv::GlobalIndex;
using spmv::GridBox;

/// Logarithms are counted in these units.
constexpr double units_of_two = 1 << 20;

/// Logarithm to the base of 2 from which two couplings of a point are unlike.
constexpr double unlike = 1.5;

/// About log₂(value) in units of 2⁻²⁰, plus a constant, increasing: exponent and first bits.
std::int64_t logarithm(double value) { return std::bit_cast<std::int64_t>(value) >> 32; }

template <std::size_t count>
using Sums = std::array<std::int64_t, count>;

/// Adds up what row(y, z, sums) adds for the rows of `own`, on all threads and ranks.
template <std::size_t count, class Row>
Sums<count> collective_sums(const Communicator& communicator, const ComputeTeam& team,
                            const GridBox& own, const Row& row) {
  std::vector<Sums<count>> of_threads(static_cast<std::size_t>(team.thread_count()));
  team.run([&](const TeamThread& thread) {
    Sums<count> sums{};
    for (const GridBox& part : spmv::share_of_rows(own, thread.index, thread.count))
      for (GlobalIndex z = part.begin[2]; z < part.end[2]; ++z)
        for (GlobalIndex y = part.begin[1]; y < part.end[1]; ++y) row(y, z, sums);
    of_threads[static_cast<std::size_t>(thread.index)] = sums;
  });
  Sums<count> totals{};
  for (const Sums<count>& sums : of_threads)
    for (std::size_t i = 0; i < count; ++i) totals[i] += sums[i];
  communicator.sum(std::span<std::int64_t>(totals));
  return totals;
}

/// Calls use(d, coupling) for those of a point with the points before it.
template <class Use>
void for_each_before(const GridCouplings& couplings, const std::array<GlobalIndex, 3>& at,
                     std::size_t element, const Use& use) {
  for (std::size_t d = 0; d < 3; ++d)
    if (const double value = couplings.before(d)[element]; at[d] > 0 && value > 0) use(d, value);
}

}  // namespace

std::array<double, 3> collective_mean_logarithms(const Communicator& communicator,
                                                 const ComputeTeam& team,
                                                 const GridCouplings& couplings,
                                                 const GridBox& own) {
  // Of logarithms, and how many.
  const auto totals =
      collective_sums<6>(communicator, team, own, [&](GlobalIndex y, GlobalIndex z, Sums<6>& sums) {
        std::size_t element = couplings.layout().index(own.begin[0], y, z);
        for (GlobalIndex x = own.begin[0]; x < own.end[0]; ++x, ++element)
          for_each_before(couplings, {x, y, z}, element, [&](std::size_t d, double value) {
            sums[d] += logarithm(value);
            ++sums[d + 3];
          });
      });
  std::array<double, 3> means{};
  for (std::size_t d = 0; d < 3; ++d)
    if (totals[d + 3] > 0)
      means[d] = static_cast<double>(totals[d]) / static_cast<double>(totals[d + 3]) / units_of_two;
  return means;
}

double collective_rough_share(const Communicator& communicator, const ComputeTeam& team,
                              const GridCouplings& couplings, const GridBox& own) {
  const auto means = collective_mean_logarithms(communicator, team, couplings, own);
  const auto [rough, points] =
      collective_sums<2>(communicator, team, own, [&](GlobalIndex y, GlobalIndex z, Sums<2>& sums) {
        std::size_t element = couplings.layout().index(own.begin[0], y, z);
        for (GlobalIndex x = own.begin[0]; x < own.end[0]; ++x, ++element) {
          double least = std::numeric_limits<double>::infinity();
          double most = -least;
          for_each_before(couplings, {x, y, z}, element, [&](std::size_t d, double value) {
            const double above = static_cast<double>(logarithm(value)) / units_of_two - means[d];
            least = std::min(least, above);
            most = std::max(most, above);
          });
          if (most - least > unlike) ++sums[0];
          ++sums[1];
        }
      });
  return points > 0 ? static_cast<double>(rough) / static_cast<double>(points) : 0;
}

}  // namespace weft::solver
