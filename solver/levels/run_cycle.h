#pragma once

#include <cstddef>

namespace weft::solver {

/// automatic: W where it is cheap, else V. V: one visit of each level. W: from the second level on,
/// the next level corrects twice.
enum class CycleForm { automatic, v, w };

/// One visit of level `number` and, by way of it, of all coarser ones:
///
///     V    0           0        W    0                   0
///            1       1                 1       1       1
///              2   2                     2   2   2   2
///                3                         3       3
///
/// `steps` are those of one thread; every thread of the team makes the same calls:
/// corrections(level): by the next level, in one visit; 0: there is none;
/// solve(level): x of the last level;
/// descend(level, is_first): smooths before the first correction; the next right-hand side;
/// ascend(level, is_last): corrects x by that of the next level; smooths after the last correction.
template <class Steps>
void run_cycle(const Steps& steps, std::size_t number) {
  const int corrections = steps.corrections(number);
  if (corrections == 0) return steps.solve(number);
  for (int i = 0; i < corrections; ++i) {
    steps.descend(number, i == 0);
    run_cycle(steps, number + 1);
    steps.ascend(number, i + 1 == corrections);
  }
}

/// use(a value of the precision that is wanted): float or double.
template <class Use>
auto with_precision(bool is_double, const Use& use) {
  return is_double ? use(double{}) : use(float{});
}

}  // namespace weft::solver
