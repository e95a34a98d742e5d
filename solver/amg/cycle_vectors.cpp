#include "solver/amg/cycle_vectors.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "spmv/rows/vector_halo.h"

namespace weft::solver::amg {
namespace {

template <class Value>
using Levels = std::vector<std::unique_ptr<Level<Value>>>;

/// Notes what every level exchanges in a cycle.
template <class Value>
void report_exchanges(const Settings& settings, Levels<Value>& levels,
                      const CoarsestLevel* coarsest) {
  const auto add = [](Level<Value>& level, spmv::VectorHalo<Value>& halo, int count) {
    if (count > 0) level.report.passes.front().add(halo, count);
  };
  int visits = 1;
  int corrections = 1;  // by this level, in one visit of the finer one
  for (std::size_t i = 0; i < levels.size(); ++i) {
    Level<Value>& level = *levels[i];
    visits *= corrections;
    level.report.visits = visits;
    corrections = correction_count(settings.form, levels, i);
    if (!level.off_diagonal) continue;
    const bool has_links = level.link_inverse.has_value();
    const int first = settings.degree > 1 || has_links ? visits : 0;  // of smoothing
    const int others = has_links ? 0 : visits * std::max(0, settings.degree - 2);
    const int sides = level.restriction ? 2 : 1;  // before and after the coarse correction
    add(level, *level.b_to_smooth, first);
    if (others > 0) add(level, *level.z_to_smooth[0], sides * others);
    if (!level.restriction) continue;
    add(level, *level.x_to_multiply, (1 + corrections) * visits);
    add(level, *level.r_to_smooth, first);
    add(level, *level.r_to_restrict, corrections * visits);
    add(level, *levels[i + 1]->x_to_prolongate, corrections * visits);
  }
  if (coarsest) {
    PassReport& last = levels.back()->report.passes.front();
    last.sent_bytes += visits * coarsest->sent_bytes();
    last.sent_messages += std::int64_t{visits} * coarsest->message_count();
  }
}

}  // namespace

template <class Value>
void make_cycle_vectors(const comm_thread::Crew& crew, const Settings& settings,
                        Levels<Value>& levels, const CoarsestLevel* coarsest) {
  for (std::size_t i = 0; i < levels.size(); ++i) {
    Level<Value>& level = *levels[i];
    const auto halo_of = [](const auto& op) { return op ? op->plan().halo_count : 0; };
    const std::int64_t own = std::max(halo_of(level.off_diagonal), halo_of(level.link_inverse));
    const std::int64_t finer = i > 0 ? halo_of(levels[i - 1]->prolongation) : 0;
    level.x = LevelVector<Value>(crew, level.thread_rows, std::max(own, finer));
    if (i > 0)
      level.x_to_prolongate.emplace(crew, levels[i - 1]->prolongation->plan(), level.thread_rows,
                                    level.x.data());
    level.report.allocated_bytes = level.x.bytes();
    if (!level.off_diagonal) continue;
    level.b = LevelVector<Value>(crew, level.thread_rows, own);
    const spmv::HaloPlan& to_smooth = smoothing_operator(level).plan();
    level.b_to_smooth.emplace(crew, to_smooth, level.thread_rows, level.b.data());
    level.x_to_multiply.emplace(crew, level.off_diagonal->plan(), level.thread_rows,
                                level.x.data());
    level.r =
        LevelVector<Value>(crew, level.thread_rows, std::max(own, halo_of(level.restriction)));
    level.r_to_smooth.emplace(crew, to_smooth, level.thread_rows, level.r.data());
    if (settings.degree > 2) {
      level.rest = LevelVector<Value>(crew, level.thread_rows, 0);
      for (std::size_t k = 0; k < 2; ++k) {
        level.z[k] = LevelVector<Value>(crew, level.thread_rows, own);
        level.z_to_smooth[k].emplace(crew, level.off_diagonal->plan(), level.thread_rows,
                                     level.z[k].data());
      }
    }
    level.report.allocated_bytes += level.b.bytes() + level.r.bytes() + level.rest.bytes() +
                                    level.z[0].bytes() + level.z[1].bytes() +
                                    level.off_diagonal->bytes();
    if (level.link_inverse) level.report.allocated_bytes += level.link_inverse->bytes();
    level.report.boundary_rows = level.off_diagonal->boundary_row_count();
    if (level.restriction) {
      level.r_to_restrict.emplace(crew, level.restriction->plan(), level.thread_rows,
                                  level.r.data());
      level.off_diagonal->hold_back(crew, level.restriction->plan().send_list);
      level.report.allocated_bytes += level.restriction->bytes() + level.prolongation->bytes();
    }
  }
  report_exchanges(settings, levels, coarsest);
}

template void make_cycle_vectors(const comm_thread::Crew&, const Settings&, Levels<float>&,
                                 const CoarsestLevel*);
template void make_cycle_vectors(const comm_thread::Crew&, const Settings&, Levels<double>&,
                                 const CoarsestLevel*);

}  // namespace weft::solver::amg
