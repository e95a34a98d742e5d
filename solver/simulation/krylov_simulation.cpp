#include "solver/simulation/krylov_simulation.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/simulation/simulated_network.h"
#include "solver/simulation/event_queue.h"
#include "solver/simulation/krylov_part.h"
#include "solver/simulation/machine_model.h"
#include "solver/simulation/part_shape.h"

namespace weft::solver {
namespace {

KrylovSimulationOptions checked(const KrylovSimulationOptions& options) {
  check(options.machine);
  expect_between("simulated ranks", options.rank_count, 1, 1 << 20);
  expect_between("points of a part", options.points, 1, 10'000);
  expect_between("real points of a part", options.real_points, 1, 64);
  expect_between("most iterations", options.max_iterations, 1, 1'000'000'000);
  expect_between("slow rank", options.machine.slow_rank, -1, options.rank_count - 1);
  expect_positive("tolerance", options.tolerance);
  return options;
}

/// What a rank does next. Only passes take time of its own; waits take that of others.
enum class Action {
  post_halo,
  wait_halo,
  interior,
  boundary,  // or all of the product
  post_sums,
  wait_sums,
  update,
  turn,
  end_iteration,
};

/// What all ranks do: once at the beginning, and then again and again.
struct Script {
  std::vector<Action> prologue;
  std::vector<Action> iteration;
};

std::vector<Action> product(spmv::Mode mode) {
  using enum Action;
  if (mode == spmv::Mode::vector) return {post_halo, wait_halo, boundary};
  if (mode == spmv::Mode::overlap) return {interior, post_halo, wait_halo, boundary};
  return {post_halo, interior, wait_halo, boundary};
}

Script script_of(SimulatedKrylov method, spmv::Mode mode) {
  using enum Action;
  const auto with_product = [mode](std::vector<Action> before, const std::vector<Action>& after) {
    const std::vector<Action> middle = product(mode);
    before.insert(before.end(), middle.begin(), middle.end());
    before.insert(before.end(), after.begin(), after.end());
    return before;
  };
  switch (method) {
    case SimulatedKrylov::spmv:
      return {{}, with_product({}, {end_iteration})};
    case SimulatedKrylov::cg:
      return {{post_sums, wait_sums, turn},
              with_product(
                  {}, {post_sums, wait_sums, update, post_sums, wait_sums, turn, end_iteration})};
    case SimulatedKrylov::cg_one_reduction:
      return {with_product({}, {post_sums, wait_sums}),
              with_product({update}, {post_sums, wait_sums, end_iteration})};
    case SimulatedKrylov::cg_pipelined:
      return {product(mode), with_product({post_sums}, {wait_sums, update, end_iteration})};
  }
  throw std::logic_error("unknown method");
}

/// Bytes that a pass moves for each point, divided by those of a sweep: a product reads one vector
/// and writes another, 24 bytes with the line that is fetched to be written.
double passes(SimulatedKrylov method, Action action) {
  if (action == Action::boundary) return 1;
  if (action == Action::turn) return 1;
  if (action != Action::update) return 0;
  if (method == SimulatedKrylov::cg) return 2;  // x, r read and written; p, product read
  return method == SimulatedKrylov::cg_one_reduction ? 3 : 13.0 / 3;
}

/// One run. What is called "rank" here is simulated.
class KrylovRun {
 public:
  explicit KrylovRun(const KrylovSimulationOptions& options);

  KrylovSimulationResult run();

 private:
  struct Place {
    std::size_t next = 0;  // action of prologue and iteration
    int iteration_count = 0;
    std::uint64_t pass_count = 0;
    bool is_waiting = false;
    bool has_ended = false;
    double wait_begin = 0;
  };

  Action action(const Place& place) const {
    const std::size_t first = script_.prologue.size();
    return place.next < first ? script_.prologue[place.next]
                              : script_.iteration[place.next - first];
  }
  void step_on(Place& place) const {
    if (++place.next == script_.prologue.size() + script_.iteration.size())
      place.next = script_.prologue.size();
  }
  /// Goes on until a pass takes time, something is missing, or the run ends.
  void advance(int rank);
  double seconds_of(int rank, Place& place, Action action);
  /// True if what is waited for is there.
  bool wait(KrylovPart& part, Place& place, Action action);
  bool has_ended(const KrylovPart& part, Place& place) const;
  KrylovSimulationResult collect() const;

  KrylovSimulationOptions options_;
  PartShape shape_;
  MachineModel model_;
  comm_thread::SimulatedNetwork network_;
  Script script_;
  std::vector<std::unique_ptr<KrylovPart>> parts_;
  std::vector<Place> places_;
  EventQueue events_;
  double charged_points_;
  double right_hand_side_square_;
  double halo_wait_ = 0;  // of all ranks
  double sum_wait_ = 0;
  double end_seconds_ = 0;
  std::uint64_t event_count_ = 0;
};

KrylovRun::KrylovRun(const KrylovSimulationOptions& options)
    : options_(checked(options)),
      shape_(ranks_per_direction(options.rank_count), options.real_points),
      model_(polling_machine(options.machine), options.rank_count, options.seed),
      network_(options.rank_count, model_),
      script_(script_of(options.method, options.mode)),
      places_(static_cast<std::size_t>(options.rank_count)),
      charged_points_(std::pow(options.points, 3)),
      right_hand_side_square_(static_cast<double>(shape_.own_count()) * options.rank_count) {
  model_.charge_payload(std::pow(options.points, 2) / std::pow(options.real_points, 2), 0,
                        KrylovPart::halo_tag);
  for (int rank = 0; rank < options_.rank_count; ++rank)
    parts_.push_back(std::make_unique<KrylovPart>(network_, shape_, rank, options_.method));
  network_.on_due([this](int rank, double seconds) {
    events_.push({seconds, static_cast<std::uint32_t>(rank), EventQueue::Kind::poll});
  });
}

double KrylovRun::seconds_of(int rank, Place& place, Action action) {
  const bool overlaps = options_.mode != spmv::Mode::vector;
  const double interior = overlaps ? shape_.interior_fraction(rank, options_.points) : 0;
  const double product = options_.product_passes;
  const double points =
      charged_points_ * (action == Action::interior   ? interior * product
                         : action == Action::boundary ? (1 - interior) * product
                                                      : passes(options_.method, action));
  return model_.sweep_seconds(rank, place.pass_count++, points);
}

bool KrylovRun::wait(KrylovPart& part, Place& place, Action action) {
  if (!place.is_waiting) place.wait_begin = network_.now();
  const bool is_there = action == Action::wait_halo ? part.has_halo() : part.has_sums();
  place.is_waiting = !is_there;
  if (is_there)
    (action == Action::wait_halo ? halo_wait_ : sum_wait_) += network_.now() - place.wait_begin;
  return is_there;
}

bool KrylovRun::has_ended(const KrylovPart& part, Place& place) const {
  ++place.iteration_count;
  const double threshold = options_.tolerance * options_.tolerance * right_hand_side_square_;
  return place.iteration_count >= options_.max_iterations || part.residual_square() <= threshold;
}

void KrylovRun::advance(int rank) {
  KrylovPart& part = *parts_[static_cast<std::size_t>(rank)];
  Place& place = places_[static_cast<std::size_t>(rank)];
  while (!place.has_ended) {
    const Action next = action(place);
    switch (next) {
      case Action::post_halo:
        part.post_halo();
        break;
      case Action::post_sums:
        part.post_sums();
        break;
      case Action::interior:
        break;
      case Action::boundary:
        part.multiply();
        break;
      case Action::update:
        part.update();
        break;
      case Action::turn:
        part.turn();
        break;
      case Action::end_iteration:
        place.has_ended = has_ended(part, place);
        end_seconds_ = network_.now();
        break;
      case Action::wait_halo:
      case Action::wait_sums:
        if (!wait(part, place, next)) return;
        break;
    }
    step_on(place);
    const bool takes_time = next == Action::interior || passes(options_.method, next) > 0;
    if (!takes_time) continue;
    events_.push({network_.now() + seconds_of(rank, place, next), static_cast<std::uint32_t>(rank),
                  EventQueue::Kind::step});
    return;
  }
}

KrylovSimulationResult KrylovRun::run() {
  for (int rank = 0; rank < options_.rank_count; ++rank)
    events_.push({0, static_cast<std::uint32_t>(rank), EventQueue::Kind::step});
  while (!events_.is_empty()) {
    const EventQueue::Event event = events_.next();
    events_.pop();
    ++event_count_;
    network_.set_now(event.seconds);
    parts_[event.rank]->poll();
    if (event.kind == EventQueue::Kind::step || places_[event.rank].is_waiting)
      advance(static_cast<int>(event.rank));
  }
  if (const std::size_t count = network_.in_flight(); count > 0)
    throw std::logic_error(fmt::format("simulation: {} messages are left in flight", count));
  return collect();
}

KrylovSimulationResult KrylovRun::collect() const {
  KrylovSimulationResult result;
  const KrylovPart& first = *parts_.front();
  result.iteration_count = places_.front().iteration_count;
  result.seconds = end_seconds_;
  if (options_.method != SimulatedKrylov::spmv) {
    result.relative_residual = std::sqrt(first.residual_square() / right_hand_side_square_);
    result.has_converged = result.relative_residual <= options_.tolerance;
  }
  const double rank_seconds = end_seconds_ * options_.rank_count;
  if (rank_seconds > 0) {
    result.halo_wait_fraction = halo_wait_ / rank_seconds;
    result.sum_wait_fraction = sum_wait_ / rank_seconds;
  }
  result.event_count = event_count_;
  for (const auto& part : parts_)
    for (const double value : part->result())
      result.value_hash = (std::rotl(result.value_hash, 5) ^ std::bit_cast<std::uint64_t>(value)) *
                          0x9e3779b97f4a7c15U;
  return result;
}

constexpr std::array<const char*, 4> method_names{"spmv", "cg", "cg-one-reduction", "cg-pipelined"};

}  // namespace

SimulatedKrylov simulated_krylov(std::string_view text) {
  for (std::size_t i = 0; i < method_names.size(); ++i)
    if (text == method_names[i]) return static_cast<SimulatedKrylov>(i);
  throw comm_thread::InputError(
      fmt::format("method: found '{}'; expected spmv, cg, cg-one-reduction or cg-pipelined", text));
}

std::string name(SimulatedKrylov method) {
  return method_names.at(static_cast<std::size_t>(method));
}

KrylovSimulationResult simulate_krylov(const KrylovSimulationOptions& options) {
  return KrylovRun(options).run();
}

}  // namespace weft::solver
