#include "library/roofline/stream_bench.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "perfmodel/ruler.h"
#include "perfmodel/statistics.h"
#include "perfmodel/stopwatch.h"

namespace weft::library {
namespace {

using comm_thread::Share;
using comm_thread::TeamThread;
using perfmodel::CoreProbe;
using perfmodel::ProbeWidth;
using perfmodel::Stream;

constexpr std::size_t smallest_array_bytes = std::size_t{512} << 20;
/// Elements per sample in caches: some tenths of a millisecond.
constexpr std::int64_t elements_streamed_in_cache = 1 << 21;
constexpr int cache_samples = 15;
constexpr int probe_samples = 5;
constexpr int core_probe_samples = 15;  // of some tenths of a millisecond
/// Part of the memory that is left, for each of three arrays.
constexpr double largest_array_share = 1.0 / 12;
/// Every processor has as much.
constexpr std::size_t first_level_bytes = 32 * 1024;

std::size_t round_down(std::size_t value, std::size_t unit) { return value / unit * unit; }

std::vector<unsigned> domains_of(const comm_thread::Job& job) {
  std::vector<unsigned> domains;
  for (const unsigned pu : job.placement().compute_pus) {
    const auto location = job.topology().find_pu(pu);
    domains.push_back(location ? location->numa_domain : 0);
  }
  return domains;
}

/// Each cache counted by the share of its hardware threads that compute.
double cache_bytes_of(const comm_thread::Job& job) {
  double own = 0;
  for (const unsigned pu : job.placement().compute_pus) {
    const auto cache = job.topology().last_cache_of(pu);
    own += static_cast<double>(cache.bytes) / cache.sharing_pus;
  }
  const double all_threads = static_cast<double>(job.placement().compute_pus.size());
  const auto cache = job.topology().last_cache_of(job.placement().compute_pus.front());
  // One thread alone has all of its cache.
  return std::max(own * job.ranks_on_node(),
                  static_cast<double>(cache.bytes) *
                      std::max(1.0, all_threads * job.ranks_on_node() / cache.sharing_pus));
}

std::size_t array_elements(const comm_thread::Job& job, std::size_t bytes_of_node,
                           double cache_bytes) {
  if (bytes_of_node == 0) {
    const double most = largest_array_share * job.node_memory().available_bytes;
    bytes_of_node =
        std::max(smallest_array_bytes, static_cast<std::size_t>(std::min(8 * cache_bytes, most)));
  }
  const auto ranks = static_cast<std::size_t>(job.ranks_on_node());
  return round_down(bytes_of_node / sizeof(double) / ranks, 8);
}

/// Number of the three equal arrays that a kernel uses.
int arrays_of(Stream stream) {
  switch (stream) {
    case Stream::load:
    case Stream::store:
    case Stream::store_past:
    case Stream::update:
      return 1;
    case Stream::copy:
    case Stream::copy_past:
      return 2;
    case Stream::triad:
    case Stream::triad_past:
      break;
  }
  return 3;
}

}  // namespace

StreamBench::StreamBench(const comm_thread::Job& job, std::size_t array_bytes_of_node)
    : job_(job),
      domains_(domains_of(job)),
      cache_bytes_of_node_(cache_bytes_of(job)),
      a_(array_elements(job, array_bytes_of_node, cache_bytes_of_node_)),
      b_(a_.size()),
      c_(a_.size()),
      kept_alive_(domains_.size()),
      probe_buffers_(domains_.size()) {
  job_.team().run([&](const TeamThread& thread) {
    auto& buffer = probe_buffers_[static_cast<std::size_t>(thread.index)];
    buffer = perfmodel::HugePageBuffer<double>(perfmodel::core_probe_buffer);
    // On pages of its own: lines of one page at several addresses take turns in the cache.
    std::ranges::fill(buffer.span(), 1.0);
    const Share own = share_of_thread(thread.index);
    for (auto* array : {&a_, &b_, &c_})
      std::fill(array->data() + own.begin, array->data() + own.end, 1.0);
  });
}

/// Begins at a whole cache line.
Share StreamBench::share_of_thread(int thread) const {
  const auto lines = comm_thread::share_of(static_cast<std::int64_t>(a_.size() / 8), thread,
                                           static_cast<int>(domains_.size()));
  return {8 * lines.begin, 8 * lines.end};
}

Share StreamBench::work_of(int thread, const std::vector<bool>& takes_part) const {
  const auto index = static_cast<std::size_t>(thread);
  if (!takes_part[index]) return {};
  // Neighbouring threads of one domain.
  std::size_t first = index;
  std::size_t last = index;
  while (first > 0 && domains_[first - 1] == domains_[index]) --first;
  while (last + 1 < domains_.size() && domains_[last + 1] == domains_[index]) ++last;
  int before = 0;
  int all = 0;
  for (std::size_t i = first; i <= last; ++i) {
    if (!takes_part[i]) continue;
    ++all;
    if (i < index) ++before;
  }
  const std::int64_t begin = share_of_thread(static_cast<int>(first)).begin;
  const std::int64_t end = share_of_thread(static_cast<int>(last)).end;
  const Share lines = comm_thread::share_of((end - begin) / 8, before, all);
  return {begin + 8 * lines.begin, begin + 8 * lines.end};
}

double StreamBench::collective_seconds(const std::function<void(const TeamThread&)>& work) const {
  double seconds = 0;
  job_.world().barrier();
  job_.team().run([&](const TeamThread& thread) {
    thread.barrier();
    const perfmodel::Stopwatch watch;
    work(thread);
    thread.barrier();
    if (thread.is_primary()) seconds = watch.seconds();
  });
  return job_.world().max(seconds);
}

double StreamBench::collective_elements_per_second(Stream stream, const Cores& cores) {
  std::vector<bool> takes_part(domains_.size());
  std::int64_t elements = 0;
  const int count = static_cast<int>(domains_.size());
  for (int thread = 0; thread < count; ++thread)
    takes_part[static_cast<std::size_t>(thread)] = cores(TeamThread{thread, count});
  for (int thread = 0; thread < count; ++thread) {
    const Share work = work_of(thread, takes_part);
    elements += work.end - work.begin;
  }
  const double seconds = collective_seconds([&](const TeamThread& thread) {
    const Share work = work_of(thread.index, takes_part);
    if (work.begin == work.end) return;
    kept_alive_[static_cast<std::size_t>(thread.index)] =
        perfmodel::run_stream(stream, a_.data() + work.begin, b_.data() + work.begin,
                              c_.data() + work.begin, work.end - work.begin);
  });
  return static_cast<double>(job_.world().sum(elements)) / seconds;
}

double StreamBench::collective_elements_per_second(Stream stream) {
  return collective_elements_per_second(stream, [](const TeamThread&) { return true; });
}

std::int64_t StreamBench::elements_in_cache(Stream stream, std::size_t cache_bytes) const {
  const std::size_t wanted =
      cache_bytes / 2 / sizeof(double) / static_cast<std::size_t>(arrays_of(stream));
  const auto smallest_share = static_cast<std::size_t>(a_.size() / domains_.size());
  return static_cast<std::int64_t>(
      std::max<std::size_t>(8, round_down(std::min(wanted, smallest_share), 8)));
}

double StreamBench::collective_elements_per_second_in_cache(Stream stream,
                                                            std::size_t cache_bytes) {
  return collective_elements_per_second_in_cache(stream, cache_bytes,
                                                 [](const TeamThread&) { return true; });
}

double StreamBench::collective_elements_per_second_in_cache(Stream stream, std::size_t cache_bytes,
                                                            const Cores& cores) {
  const std::int64_t count = elements_in_cache(stream, cache_bytes);
  const std::int64_t passes = std::max<std::int64_t>(1, elements_streamed_in_cache / count);
  std::vector<double> rates(domains_.size());
  job_.world().barrier();
  job_.team().run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    const std::int64_t begin = share_of_thread(thread.index).begin;
    const auto run = [&](std::int64_t times) {
      kept_alive_[index] = perfmodel::run_stream(stream, a_.data() + begin, b_.data() + begin,
                                                 c_.data() + begin, count, times);
    };
    const bool takes_part = cores(thread);
    if (takes_part) run(1);
    for (int sample = 0; sample < cache_samples; ++sample) {
      thread.barrier();
      if (!takes_part) continue;
      const perfmodel::Stopwatch watch;
      run(passes);
      rates[index] = std::max(rates[index], static_cast<double>(count * passes) / watch.seconds());
    }
  });
  return job_.world().sum(std::accumulate(rates.begin(), rates.end(), 0.0));
}

double StreamBench::collective_flops_per_second() {
  constexpr std::int64_t rounds = 1 << 19;
  const double seconds = collective_seconds([&](const TeamThread& thread) {
    kept_alive_[static_cast<std::size_t>(thread.index)] = perfmodel::run_in_registers(rounds);
  });
  const double threads = static_cast<double>(job_.world().sum(std::ssize(domains_)));
  return threads * static_cast<double>(rounds) * perfmodel::flops_per_register_round / seconds;
}

double StreamBench::collective_operations_per_second(CoreProbe probe, ProbeWidth width) {
  std::vector<double> rates(domains_.size());
  job_.world().barrier();
  job_.team().run([&](const TeamThread& thread) {
    const auto index = static_cast<std::size_t>(thread.index);
    for (int sample = 0; sample < core_probe_samples; ++sample) {
      thread.barrier();
      const perfmodel::Stopwatch watch;
      const double operations =
          perfmodel::run_core_probe(probe, width, probe_buffers_[index].data());
      rates[index] = std::max(rates[index], operations / watch.seconds());
    }
  });
  return job_.world().sum(std::accumulate(rates.begin(), rates.end(), 0.0));
}

perfmodel::CoreRates StreamBench::collective_core_rates() {
  const auto rates_of = [&](ProbeWidth width) {
    const auto rate = [&](CoreProbe probe) {
      return collective_operations_per_second(probe, width);
    };
    return perfmodel::OperationRates{
        .each = {.loads = rate(CoreProbe::loads),
                 .shifted_loads = rate(CoreProbe::shifted_loads),
                 .stores = rate(CoreProbe::stores),
                 .additions = rate(CoreProbe::additions),
                 .multiplications = rate(CoreProbe::multiplications),
                 .integer_additions = rate(CoreProbe::integer_additions),
                 .shuffles = rate(CoreProbe::shuffles)},
        .arithmetic = rate(CoreProbe::arithmetic)};
  };
  return {.vectors = rates_of(ProbeWidth::vector),
          .scalars = rates_of(ProbeWidth::scalar),
          .chained_additions =
              collective_operations_per_second(CoreProbe::chained_additions, ProbeWidth::scalar)};
}

double StreamBench::collective_quick_cache_bytes(double l2_bytes) {
  const double threads =
      static_cast<double>(domains_.size()) * static_cast<double>(job_.ranks_on_node());
  const double last = collective_elements_per_second_in_cache(
      Stream::load, static_cast<std::size_t>(cache_bytes_of_node_ / threads));
  std::vector<double> memory;
  for (int sample = 0; sample < probe_samples; ++sample)
    memory.push_back(collective_elements_per_second(Stream::load));
  const bool is_quick = perfmodel::is_quicker_than_memory(last, perfmodel::median(memory));
  return is_quick ? cache_bytes_of_node_ : l2_bytes * threads;
}

perfmodel::ProbeSpeed StreamBench::collective_probe_speed() {
  const bool is_first_rank = job_.is_root();
  const Cores first = [is_first_rank](const TeamThread& thread) {
    return is_first_rank && thread.index == 0;
  };
  std::vector<double> cache_rates;
  std::vector<double> memory_rates;
  for (int sample = 0; sample < probe_samples; ++sample) {
    cache_rates.push_back(
        collective_elements_per_second_in_cache(Stream::load, first_level_bytes, first));
    memory_rates.push_back(collective_elements_per_second(Stream::load, first));
  }
  const double bytes = perfmodel::traffic_of(Stream::load).total_bytes();
  return {
      .cache_bytes_per_second = bytes * perfmodel::median(cache_rates),
      .memory_bytes_per_second = bytes * perfmodel::median(memory_rates),
      .vector_bytes = perfmodel::probe_vector_bytes(),
      .array_bytes = job_.world().min(static_cast<double>(array_bytes()) * job_.ranks_on_node())};
}

}  // namespace weft::library
