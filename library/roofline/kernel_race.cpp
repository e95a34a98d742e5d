#include "library/roofline/kernel_race.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "perfmodel/marked_region.h"
#include "perfmodel/stopwatch.h"

namespace weft::library {
namespace {

using comm_thread::TeamThread;
using perfmodel::BandwidthRoof;
using perfmodel::CoreBound;
using perfmodel::Prediction;
using perfmodel::Roofs;
using perfmodel::Stream;
using perfmodel::Traffic;

constexpr int warm_up_repetitions = 1;
constexpr int samples_in_cache = 5;
/// Loops that define the roofs: reads alone, then growing shares of writes, all with ordinary
/// stores, as in the kernels.
constexpr std::array roof_streams{Stream::load, Stream::triad, Stream::copy, Stream::update};

using perfmodel::median;

BandwidthRoof roof_of(const std::array<double, roof_streams.size()>& elements_per_second) {
  std::vector<BandwidthRoof::Point> points;
  for (std::size_t i = 0; i < roof_streams.size(); ++i) {
    const auto traffic = perfmodel::traffic_of(roof_streams[i]);
    points.push_back({traffic.write_share(), elements_per_second[i] * traffic.total_bytes()});
  }
  return BandwidthRoof(points);
}

/// The loop with the least write share that is at least `write_share`, but not the first.
std::size_t roof_stream_above(double write_share) {
  std::size_t above = 1;
  while (above + 1 < roof_streams.size() &&
         perfmodel::traffic_of(roof_streams[above]).write_share() < write_share)
    ++above;
  return above;
}

Traffic collective_sum(const comm_thread::Job& job, const Traffic& own) {
  return {job.world().sum(own.read_bytes), job.world().sum(own.written_bytes),
          job.world().sum(own.flops)};
}

}  // namespace

KernelRace::KernelRace(const comm_thread::Job& job, StreamBench& bench, double l2_bytes)
    : job_(job),
      bench_(bench),
      cache_roofs_(collective_cache_roofs(l2_bytes)),
      flops_per_second_(0),
      core_rates_(bench.collective_core_rates()),
      probe_speed_(bench.collective_probe_speed()),
      cache_bytes_of_node_(bench.collective_quick_cache_bytes(l2_bytes)) {
  probe_speed_.cache_bytes = job.world().max(cache_bytes_of_node_);
  std::vector<double> rates;
  for (int i = 0; i < samples_in_cache; ++i) rates.push_back(bench.collective_flops_per_second());
  flops_per_second_ = median(rates);
}

/// Roofs of all cores' second-level caches together.
KernelRace::CacheRoofs KernelRace::collective_cache_roofs(double l2_bytes) {
  std::array<double, roof_streams.size()> rates{};
  for (std::size_t stream = 0; stream < rates.size(); ++stream)
    rates[stream] = bench_.collective_elements_per_second_in_cache(
        roof_streams[stream], static_cast<std::size_t>(l2_bytes));
  // In cache nothing is loaded before it is overwritten: the points are those of the loads and
  // stores themselves.
  std::vector<BandwidthRoof::Point> points;
  for (std::size_t i = 0; i < roof_streams.size(); ++i) {
    const auto traffic = perfmodel::traffic_of(roof_streams[i]);
    points.push_back(
        {traffic.written_bytes / traffic.counted_bytes, rates[i] * traffic.counted_bytes});
  }
  return {BandwidthRoof(points), roof_of(rates)};
}

/// By operations, and by the bytes that go between the first and the second level of the caches.
std::vector<CoreBound> KernelRace::collective_core_bounds(const RooflineKernel& kernel) const {
  perfmodel::CoreWork work = kernel.core;
  work.count = job_.world().sum(work.count);
  std::vector<CoreBound> bounds = perfmodel::core_bounds(work, core_rates_);
  if (work.count <= 0) return bounds;
  const Traffic in_cache = collective_sum(job_, kernel.cache);
  const bool is_in_cache = in_cache.total_bytes() > 0;
  const Traffic moved = is_in_cache ? in_cache : collective_sum(job_, kernel.memory);
  const double seconds =
      (is_in_cache ? cache_roofs_.by_counted_bytes : cache_roofs_.by_all_bytes).seconds(moved);
  bounds.push_back({"bytes from and to the second-level cache", work.element,
                    moved.total_bytes() / work.count, moved.total_bytes() / seconds, seconds});
  put_longest_first(bounds);
  return bounds;
}

KernelRace::Sample KernelRace::collective_sample(const RooflineKernel& kernel, const Roofs& roofs) {
  std::vector<double> seconds(static_cast<std::size_t>(job_.team().thread_count()));
  job_.world().barrier();
  job_.team().run([&](const TeamThread& thread) {
    thread.barrier();
    const perfmodel::MarkedRegion region(kernel.name.c_str());
    const perfmodel::Stopwatch watch;
    kernel.run(thread);
    seconds[static_cast<std::size_t>(thread.index)] = watch.seconds();
  });
  const double own = *std::max_element(seconds.begin(), seconds.end());
  const double mean = job_.world().sum(std::accumulate(seconds.begin(), seconds.end(), 0.0)) /
                      static_cast<double>(job_.world().sum(std::ssize(seconds)));
  const double slowest = job_.world().max(own);
  const Prediction model =
      roofs.predict(collective_sum(job_, kernel.memory), collective_sum(job_, kernel.cache));
  return {slowest, mean / slowest, model.seconds / slowest, model};
}

/// Takes the quickest sample of the slowest thread, as for the rates of operations; 0 where the
/// kernel cannot be run so.
double KernelRace::collective_core_seconds(const RooflineKernel& kernel) {
  if (!kernel.run_in_cache) return 0;
  std::vector<double> least(static_cast<std::size_t>(job_.team().thread_count()));
  job_.team().run([&](const TeamThread& thread) {
    double& own = least[static_cast<std::size_t>(thread.index)];
    for (int i = -warm_up_repetitions; i < samples_in_cache; ++i) {
      thread.barrier();
      const perfmodel::Stopwatch watch;
      const double times = kernel.run_in_cache(thread);
      const double seconds = times > 0 ? watch.seconds() / times : 0;
      own = i <= 0 ? seconds : std::min(own, seconds);
    }
  });
  return job_.world().max(*std::ranges::max_element(least));
}

/// What x costs that is loaded again, where the kernel has a column stream.
void KernelRace::collective_add_reload(const RooflineKernel& kernel, const Roofs& roofs,
                                       KernelResult& result, perfmodel::Evidence& evidence) const {
  const double nonzeros = result.nonzeros = job_.world().sum(kernel.nonzeros);
  if (nonzeros <= 0) return;
  const double reload = job_.world().sum(kernel.reload_bytes);
  Traffic with_reload = result.traffic;
  with_reload.read_bytes += reload;
  evidence.reload_seconds = result.model_seconds * roofs.memory.seconds(with_reload) /
                            roofs.memory.seconds(result.traffic);
  evidence.kappa = result.kappa_simulated = reload / nonzeros;
  if (result.model_seconds > 0)
    result.reload_fraction = result.fraction * (*evidence.reload_seconds / result.model_seconds);
  result.kappa_bound =
      std::max(0.0, 1 / result.fraction - 1) * result.traffic.total_bytes() / nonzeros;
}

/// What bounds the time in the cores, and with that in memory that of loops that take turns.
void KernelRace::collective_add_core_time(const RooflineKernel& kernel, KernelResult& result,
                                          perfmodel::Evidence& evidence) const {
  evidence.core_seconds = result.core_seconds;
  evidence.core_bounds = result.core_bounds = collective_core_bounds(kernel);
  evidence.loops = kernel.loops;
  result.in_turn_seconds =
      perfmodel::seconds_in_turn(kernel.loops, result.core_seconds, result.model_seconds);
}

KernelResult KernelRace::collective_result(const RooflineKernel& kernel,
                                           const std::vector<Sample>& samples, const Roofs& roofs,
                                           double tolerance) {
  std::vector<double> seconds, models, fractions, balances;
  for (const Sample& sample : samples) {
    seconds.push_back(sample.seconds);
    models.push_back(sample.model.seconds);
    fractions.push_back(sample.fraction);
    balances.push_back(sample.balance);
  }
  KernelResult result;
  result.name = kernel.name;
  result.what = kernel.what;
  result.width = kernel.width;
  result.traffic = collective_sum(job_, kernel.memory);
  result.limit = samples[samples.size() / 2].model.limit;
  result.model_seconds = median(models);
  result.seconds = perfmodel::summarise(seconds);
  result.fraction = median(fractions);
  result.balance = median(balances);
  result.core_seconds = collective_core_seconds(kernel);
  result.data_bytes = job_.world().sum(kernel.data_bytes);

  perfmodel::Evidence evidence{
      .model_seconds = result.model_seconds,
      .measured_seconds = result.seconds.median,
      .fraction = result.fraction,
      .spread = result.seconds.spread / result.seconds.median,
      .balance = result.balance,
      .data_bytes = result.data_bytes,
      .cache_bytes = job_.world().sum(cache_bytes_of_node_) / job_.ranks_on_node()};
  if (result.core_seconds > 0) collective_add_core_time(kernel, result, evidence);
  evidence.probe_fault = perfmodel::fault_of_probes(probe_speed_);
  collective_add_reload(kernel, roofs, result, evidence);
  result.verdict = perfmodel::judge(evidence, tolerance);
  return result;
}

/// `rates`: of all loops, some of which may not have run yet.
void KernelRace::collective_keep_rates(std::span<std::vector<double>> rates) {
  elements_per_second_.clear();
  for (const Stream stream : perfmodel::all_streams) {
    auto& rate = rates[static_cast<std::size_t>(stream)];
    if (rate.empty()) rate.push_back(bench_.collective_elements_per_second(stream));
    elements_per_second_.push_back(median(rate));
  }
}

std::vector<KernelResult> KernelRace::collective_run(const std::vector<RooflineKernel>& kernels,
                                                     int repetitions, double tolerance,
                                                     const OnStep& on_step) {
  std::vector<std::vector<Sample>> samples(kernels.size());
  std::vector<std::vector<double>> rates(perfmodel::all_streams.size());
  Roofs roofs{roof_of({1, 1, 1, 1}), cache_roofs_.by_counted_bytes, flops_per_second_};
  std::array<double, roof_streams.size()> now{};
  const auto probe = [&](std::size_t i, bool is_kept) {
    now[i] = bench_.collective_elements_per_second(roof_streams[i]);
    if (is_kept) rates[static_cast<std::size_t>(roof_streams[i])].push_back(now[i]);
  };
  for (std::size_t i = 0; i < now.size(); ++i) probe(i, false);
  std::size_t steps = 0;
  const std::size_t all_steps =
      kernels.size() * static_cast<std::size_t>(repetitions + warm_up_repetitions);
  for (int repetition = -warm_up_repetitions; repetition < repetitions; ++repetition) {
    for (const Stream stream : perfmodel::all_streams)
      if (repetition >= 0 && std::ranges::find(roof_streams, stream) == roof_streams.end())
        rates[static_cast<std::size_t>(stream)].push_back(
            bench_.collective_elements_per_second(stream));
    for (std::size_t kernel = 0; kernel < kernels.size(); ++kernel) {
      on_step(steps++, all_steps);
      // The two loops with the nearest write shares, run right before the kernel.
      const std::size_t above =
          roof_stream_above(collective_sum(job_, kernels[kernel].memory).write_share());
      probe(above - 1, repetition >= 0);
      probe(above, repetition >= 0);
      roofs.memory = roof_of(now);
      const Sample sample = collective_sample(kernels[kernel], roofs);
      if (repetition >= 0) samples[kernel].push_back(sample);
    }
  }
  collective_keep_rates(rates);
  for (std::size_t i = 0; i < now.size(); ++i)
    now[i] = elements_per_second_[static_cast<std::size_t>(roof_streams[i])];
  roofs.memory = roof_of(now);
  std::vector<KernelResult> results;
  for (std::size_t kernel = 0; kernel < kernels.size(); ++kernel)
    results.push_back(collective_result(kernels[kernel], samples[kernel], roofs, tolerance));
  return results;
}

}  // namespace weft::library
