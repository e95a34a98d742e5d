#include "solver/multigrid/couplings/roughness.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "perfmodel/simd.h"
#include "spmv/grid/shares.h"

namespace weft::solver {
namespace {

using comm_thread::Crew;
using comm_thread::TeamThread;
using spmv::GlobalIndex;
using spmv::GridBox;

/// Logarithms are counted in these units.
constexpr double units_of_two = 1 << 20;

/// Logarithm to the base of 2 from which two couplings of a point are unlike.
constexpr double unlike = 1.5;

/// About log₂(value) in units of 2⁻²⁰, plus a constant, increasing: exponent and first bits.
[[gnu::always_inline]] inline std::int64_t logarithm(double value) {
  return std::bit_cast<std::int64_t>(value) >> 32;
}

template <std::size_t count>
using Sums = std::array<std::int64_t, count>;

/// Adds up what row(y, z, sums) adds for the rows of `own`, on all threads and ranks.
template <std::size_t count, class Row>
Sums<count> collective_sums(const Crew& crew, const GridBox& own, const Row& row) {
  std::vector<Sums<count>> of_threads(static_cast<std::size_t>(crew.team().thread_count()));
  crew.team().run([&](const TeamThread& thread) {
    Sums<count> sums{};
    for (const GridBox& part : spmv::share_of_rows(own, thread.index, thread.count))
      for (GlobalIndex z = part.begin[2]; z < part.end[2]; ++z)
        for (GlobalIndex y = part.begin[1]; y < part.end[1]; ++y) row(y, z, sums);
    of_threads[static_cast<std::size_t>(thread.index)] = sums;
  });
  Sums<count> totals{};
  for (const Sums<count>& sums : of_threads)
    for (std::size_t i = 0; i < count; ++i) totals[i] += sums[i];
  crew.communicator().sum(std::span<std::int64_t>(totals));
  return totals;
}

/// The couplings of a row with the points before them, from its first own point on, in each
/// direction. Those with the boundary do not count.
struct RowsBefore {
  RowsBefore(const CouplingView& couplings, const GridBox& own, GlobalIndex y, GlobalIndex z)
      : factor(couplings.factor), has_y(y > 0), has_z(z > 0) {
    for (std::size_t d = 0; d < 3; ++d)
      before[d] = couplings.before[d] + couplings.layout.index(own.begin[0], y, z);
  }

  double factor;
  bool has_y;
  bool has_z;
  std::array<const double*, 3> before{};
};

struct Logarithms {
  std::int64_t sum = 0;
  std::int64_t count = 0;
};

[[gnu::always_inline]] inline Logarithms logarithms_of_row(const double* couplings,
                                                           GlobalIndex count, double factor) {
  Logarithms found;
  for (GlobalIndex x = 0; x < count; ++x) {
    const double value = couplings[x] * factor;
    found.sum += value > 0 ? logarithm(value) : 0;
    found.count += value > 0 ? 1 : 0;
  }
  return found;
}

/// The least and the largest logarithm of eight points.
template <class Simd>
struct Extremes {
  using Lane8 = typename Simd::Lane8;
  Lane8 least{std::numeric_limits<double>::infinity()};
  Lane8 most{-std::numeric_limits<double>::infinity()};

  /// `couplings`: 0 where there are none. `mean`: of the direction.
  [[gnu::always_inline]] void add(const Lane8& couplings, double mean) {
    using Word = typename Lane8::Word;
    // The upper half of the bits as a number: a small integer in the last bits of 2⁵² is one.
    const double magic = 0x1p52;
    const auto bits = (couplings.template bits_as<Word>() >> 32) | std::bit_cast<Word>(magic);
    const Lane8 logarithms = bits.template bits_as<double>() - magic;
    const Lane8 above = logarithms / units_of_two - mean;
    const auto is_there = couplings > 0.0;
    least = select(is_there & (least > above), above, least);
    most = select(is_there & (above > most), above, most);
  }
};

/// `count` couplings times `factor`, then zeros.
template <class Lane8>
[[gnu::always_inline]] inline Lane8 scaled_lanes(const double* couplings, GlobalIndex count,
                                                 double factor) {
  if (count >= 8) return perfmodel::load<Lane8>(couplings) * factor;
  double values[8] = {};
  for (GlobalIndex x = 0; x < count; ++x) values[x] = couplings[x] * factor;
  return perfmodel::load<Lane8>(values);
}

/// How many points of the row are rough. `first`: 1 where no point is before the first one.
template <class Simd>
[[gnu::always_inline]] inline std::int64_t rough_points(const RowsBefore& rows, GlobalIndex first,
                                                        GlobalIndex end,
                                                        const std::array<double, 3>& means) {
  using Lane8 = typename Simd::Lane8;
  typename Lane8::template Like<long long> counts(0);
  for (GlobalIndex x = 0; x < end; x += 8) {
    Extremes<Simd> found;
    const auto add = [&](std::size_t d, GlobalIndex skipped) __attribute__((always_inline)) {
      Lane8 values = scaled_lanes<Lane8>(rows.before[d] + x, end - x, rows.factor);
      if (x < skipped) values.set(0, 0);
      found.add(values, means[d]);
    };
    add(0, first);
    if (rows.has_y) add(1, 0);
    if (rows.has_z) add(2, 0);
    counts -= found.most - found.least > unlike;  // all bits set are -1
  }
  return counts.sum();
}

}  // namespace

std::array<double, 3> collective_mean_logarithms(const Crew& crew, const CouplingView& couplings,
                                                 const GridBox& own) {
  // Of logarithms, and how many.
  const auto totals =
      collective_sums<6>(crew, own, [&](GlobalIndex y, GlobalIndex z, Sums<6>& sums) {
        const RowsBefore rows(couplings, own, y, z);
        perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
          for (std::size_t d = 0; d < 3; ++d) {
            if ((d == 1 && !rows.has_y) || (d == 2 && !rows.has_z)) continue;
            const GlobalIndex skipped = d == 0 && own.begin[0] == 0 ? 1 : 0;
            const Logarithms row =
                logarithms_of_row(rows.before[d] + skipped, own.size(0) - skipped, rows.factor);
            sums[d] += row.sum;
            sums[d + 3] += row.count;
          }
        });
      });
  std::array<double, 3> means{};
  for (std::size_t d = 0; d < 3; ++d)
    if (totals[d + 3] > 0)
      means[d] = static_cast<double>(totals[d]) / static_cast<double>(totals[d + 3]) / units_of_two;
  return means;
}

double collective_rough_share(const Crew& crew, const CouplingView& couplings, const GridBox& own) {
  const auto means = collective_mean_logarithms(crew, couplings, own);
  const auto [rough, points] =
      collective_sums<2>(crew, own, [&](GlobalIndex y, GlobalIndex z, Sums<2>& sums) {
        const RowsBefore rows(couplings, own, y, z);
        const GlobalIndex first = own.begin[0] == 0 ? 1 : 0;  // with a point before it
        perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
          sums[0] += rough_points<Simd>(rows, first, own.size(0), means);
        });
        sums[1] += own.size(0);
      });
  return points > 0 ? static_cast<double>(rough) / static_cast<double>(points) : 0;
}

}  // namespace weft::solver
