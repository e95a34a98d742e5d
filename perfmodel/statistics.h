#pragma once

#include <vector>

namespace weft::perfmodel {

/// Median and spread (the range of the middle half) of repeated measurements.
struct Statistics {
  double median = 0;
  double spread = 0;
};

/// `samples`: at least one.
Statistics summarise(std::vector<double> samples);
double median(std::vector<double> samples);

}  // namespace weft::perfmodel
