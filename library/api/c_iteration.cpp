#include <cstddef>
#include <span>
#include <utility>

#include "library/api/c_handles.h"

struct weft_iteration {
  weft::Iteration iteration;
};

namespace {

using weft::library::caught;
using weft::library::expect;
using weft::library::made;

weft::UserIteration iteration_of(const weft_user_iteration& given) {
  weft::UserIteration user;
  for (int64_t i = 0; given.neighbours && i < given.neighbour_count; ++i)
    user.neighbours.push_back({given.neighbours[i].rank, given.neighbours[i].send_count,
                               given.neighbours[i].receive_count});
  using Values = std::span<const double>;
  if (given.pack)
    user.pack = [call = given.pack, data = given.user](Values x, std::size_t neighbour,
                                                       std::span<double> out) {
      call(x.data(), static_cast<int64_t>(neighbour), out.data(), data);
    };
  if (given.update)
    user.update = [call = given.update, data = given.user](Values x, Values halo,
                                                           std::span<double> next) {
      call(x.data(), halo.data(), next.data(), data);
    };
  if (given.residual_square)
    user.residual_square = [call = given.residual_square, data = given.user](
                               Values x, Values halo) { return call(x.data(), halo.data(), data); };
  return user;
}

}  // namespace

int weft_iteration_create(const weft_job* job, const weft_user_iteration* user_iteration,
                          const char* options, weft_iteration** iteration) {
  return made(iteration, [&] {
    expect(job, "job");
    expect(user_iteration, "user_iteration");
    return new weft_iteration{weft::Iteration(
        job->job, iteration_of(*user_iteration),
        weft::library::collective_options_of(*job->job.state(), options, "making an iteration"))};
  });
}

void weft_iteration_destroy(weft_iteration* iteration) { delete iteration; }

int weft_iteration_run(weft_iteration* iteration, double* x, int64_t count, double scale,
                       weft_iteration_report* report) {
  return caught([&] {
    expect(iteration, "iteration");
    const std::size_t length = x && count > 0 ? static_cast<std::size_t>(count) : 0;
    const weft::IterationReport done = iteration->iteration.run({x, length}, scale);
    if (!report) return;
    *report = {static_cast<int>(done.status),
               done.iterations,
               done.residual,
               done.seconds,
               done.verdicts,
               done.failed_verifications,
               done.detection_delay_seconds,
               done.messages_sent,
               done.messages_received};
  });
}
