#pragma once

#include <string>
#include <vector>

namespace weft::perfmodel {

/// Operations of a loop by kind: how many it has for each element, or how many cores do a second.
///
/// A vector counts as the doubles that it holds, whatever its length, and a float as half a double,
/// so that the counts are the same for every instruction set. What each trick of a kernel saves is
/// subtracted, and a value that stays in a register is loaded once.
struct Operations {
  double loads = 0;  // from the first-level cache, also of prefetches: a line is one double
  double shifted_loads = 0;  // of vectors that do not begin where their length divides the address
  double stores = 0;
  double additions = 0;  // and subtractions
  double multiplications = 0;
  double integer_additions = 0;  // of vectors of words
  double shuffles = 0;  // of vectors, with the conversions from and to floats

  Operations& operator+=(const Operations& other);
};
Operations operator+(Operations a, const Operations& b);
Operations operator*(double factor, Operations operations);

/// Additions each of which needs the result of the one before.
struct AdditionChain {
  double additions = 0;  // for each element
  double in_flight = 1;  // chains that a core works on at the same time
};

/// Work of a kernel beside the transfer from memory, counted in its loop.
struct CoreWork {
  std::string element = "row";  // "row", "nonzero", "point": what the numbers below are for
  double count = 0;  // elements in one run
  Operations vectors{};  // for each element
  Operations scalars{};  // for each element, one by one; a shuffle of a short vector counts as one
  AdditionChain chain{};
};

/// Operations a second of all cores together, each kind alone, on data in registers and in the
/// first-level cache.
struct OperationRates {
  Operations each{};
  double arithmetic = 0;  // additions and multiplications, as many of one as of the other
};
struct CoreRates {
  OperationRates vectors{};
  OperationRates scalars{};
  double chained_additions = 0;  // one chain on each core
};

/// The least time that one kind of operations takes.
struct CoreBound {
  std::string resource;  // "additions"
  std::string element;
  double per_element = 0;
  double per_second = 0;  // of all cores
  double seconds = 0;

  /// "additions, 14 per row at 5.9 G/s".
  std::string text() const;
};

/// Bounds of `work` by all kinds of operations that it has, the longest first.
///
/// Additions and multiplications are a kind of their own, too, because processors exist where both
/// share their units: with units of their own the time of the mixture is never the longest.
std::vector<CoreBound> core_bounds(const CoreWork& work, const CoreRates& rates);

/// Sorts by time, then by name.
void put_longest_first(std::vector<CoreBound>& bounds);

}  // namespace weft::perfmodel
