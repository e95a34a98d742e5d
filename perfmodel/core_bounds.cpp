#include "perfmodel/core_bounds.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace weft::perfmodel {
namespace {

using Field = double Operations::*;

constexpr std::array all_fields{&Operations::loads,           &Operations::shifted_loads,
                                &Operations::stores,          &Operations::additions,
                                &Operations::multiplications, &Operations::integer_additions,
                                &Operations::shuffles};

/// Kinds that use nothing in common, or that are counted with nothing else.
struct Kind {
  const char* name;
  Field field;
};
constexpr std::array kinds{Kind{"stores", &Operations::stores},
                           Kind{"additions", &Operations::additions},
                           Kind{"multiplications", &Operations::multiplications},
                           Kind{"integer additions", &Operations::integer_additions},
                           Kind{"shuffles", &Operations::shuffles}};

/// Number of operations for an element and the time that they take on all cores.
struct Cost {
  double count = 0;
  double seconds = 0;

  void add(double more, double per_second) {
    if (more <= 0 || per_second <= 0) return;
    count += more;
    seconds += more / per_second;
  }
};

}  // namespace

Operations& Operations::operator+=(const Operations& other) {
  for (const Field field : all_fields) this->*field += other.*field;
  return *this;
}

Operations operator+(Operations a, const Operations& b) { return a += b; }

Operations operator*(double factor, Operations operations) {
  for (const Field field : all_fields) operations.*field *= factor;
  return operations;
}

std::string CoreBound::text() const {
  return fmt::format("{}, {:.3g} per {} at {:.3g} G/s", resource, per_element, element,
                     1e-9 * per_second);
}

std::vector<CoreBound> core_bounds(const CoreWork& work, const CoreRates& rates) {
  std::vector<CoreBound> bounds;
  const auto add = [&](const char* resource, const Cost& cost) {
    if (cost.seconds > 0)
      bounds.push_back({resource, work.element, cost.count, cost.count / cost.seconds,
                        work.count * cost.seconds});
  };
  const auto add_each = [&](Cost& cost, Field field) {
    cost.add(work.vectors.*field, rates.vectors.each.*field);
    cost.add(work.scalars.*field, rates.scalars.each.*field);
  };
  Cost loads;
  add_each(loads, &Operations::loads);
  add_each(loads, &Operations::shifted_loads);
  add("loads", loads);
  for (const Kind& kind : kinds) {
    Cost cost;
    add_each(cost, kind.field);
    add(kind.name, cost);
  }
  const auto arithmetic = [](const Operations& of) { return of.additions + of.multiplications; };
  Cost both;
  both.add(arithmetic(work.vectors), rates.vectors.arithmetic);
  both.add(arithmetic(work.scalars), rates.scalars.arithmetic);
  add("additions and multiplications", both);
  Cost chain;
  chain.add(work.chain.additions, work.chain.in_flight * rates.chained_additions);
  add("dependent additions", chain);
  put_longest_first(bounds);
  return bounds;
}

void put_longest_first(std::vector<CoreBound>& bounds) {
  std::ranges::sort(bounds, {}, [](const CoreBound& bound) {
    return std::pair<double, const std::string&>(-bound.seconds, bound.resource);
  });
}

}  // namespace weft::perfmodel
