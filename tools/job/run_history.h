#pragma once

#include <cstdint>
#include <vector>

#include "perfmodel/stopwatch.h"
#include "tools/job/job_report.h"

namespace weft::tools {

/// The residual after iterations, at most `capacity` of them: of a longer run every second, fourth,
/// … iteration and the last. Allocates once. Thread: one.
class ResidualHistory {
 public:
  ResidualHistory() { points_.reserve(capacity); }

  void add(std::int64_t iteration, double residual) {
    last_ = {iteration, watch_.seconds(), residual};
    if (iteration % stride_ != 0) return;
    if (points_.size() == capacity) halve();
    if (iteration % stride_ == 0) points_.push_back(last_);
  }

  /// Triples of iteration, seconds since the start and relative residual.
  Json report() const {
    Json list = Json::array();
    for (const Point& point : points_)
      list.push_back({point.iteration, point.seconds, point.residual});
    if (last_.iteration > 0 && (points_.empty() || points_.back().iteration != last_.iteration))
      list.push_back({last_.iteration, last_.seconds, last_.residual});
    return list;
  }

 private:
  struct Point {
    std::int64_t iteration = 0;
    double seconds = 0;
    double residual = 0;
  };
  static constexpr std::size_t capacity = 2048;

  void halve() {
    stride_ *= 2;
    std::erase_if(points_, [&](const Point& point) { return point.iteration % stride_ != 0; });
  }

  perfmodel::Stopwatch watch_;
  std::vector<Point> points_;
  Point last_;
  std::int64_t stride_ = 1;
};

}  // namespace weft::tools
