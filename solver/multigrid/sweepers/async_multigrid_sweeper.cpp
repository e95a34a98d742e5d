#include "solver/multigrid/sweepers/async_multigrid_sweeper.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <thread>

#include "solver/multigrid/level_plan.h"
#include "solver/multigrid/passes/interpolation.h"
#include "solver/multigrid/passes/restriction.h"
#include "solver/multigrid/sweepers/growing_nap.h"
#include "spmv/grid/shares.h"

namespace weft::solver {

using comm_thread::ExactAccumulator;
using comm_thread::HaloNeighbour;
using comm_thread::TeamThread;
using spmv::CloseSum;
using spmv::GlobalIndex;
using spmv::GridBox;

namespace {

/// Sweeps in which a rank waits for a message beside its answer.
constexpr int most_waits = 4;

/// Of no answer that a rank has added.
constexpr std::int64_t no_version = std::numeric_limits<std::int64_t>::min();

std::vector<HaloNeighbour> with_shares(std::span<const HaloNeighbour> neighbours,
                                       const CoarseParts& parts) {
  std::vector<HaloNeighbour> longer(neighbours.begin(), neighbours.end());
  std::int64_t sent = 0;
  std::int64_t received = 0;
  for (std::size_t i = 0; i < longer.size(); ++i) {
    HaloNeighbour& neighbour = longer[i];
    neighbour.send_begin = sent;
    neighbour.receive_begin = received;
    neighbour.send_count += 1 + static_cast<std::int64_t>(parts.sent_count(i));
    neighbour.receive_count += 1 + static_cast<std::int64_t>(parts.received_count(i));
    sent += neighbour.send_count;
    received += neighbour.receive_count;
  }
  return longer;
}

/// The own points are smoothed, no others.
int halo_depth_of(const AsyncMultigridSweeper::Options& options) { return options.steps; }

/// The own points whose coarse points get residuals of smoothed points alone.
GridBox inner_points(GridBox own, const GridBox& domain) {
  for (std::size_t d = 0; d < 3; ++d) {
    if (own.begin[d] > domain.begin[d]) own.begin[d] += 2;
    if (own.end[d] < domain.end[d]) own.end[d] -= 2;
    own.end[d] = std::max(own.end[d], own.begin[d]);
  }
  return own;
}

std::vector<int> ranks_of(std::span<const HaloNeighbour> neighbours) {
  std::vector<int> ranks;
  for (const HaloNeighbour& neighbour : neighbours) ranks.push_back(neighbour.rank);
  return ranks;
}

}  // namespace

AsyncMultigridSweeper::AsyncMultigridSweeper(spmv::StencilOperator& op, std::span<const double> b,
                                             const Options& options)
    : values_(op, b, halo_depth_of(options)),
      comm_thread_(op.comm_thread()),
      levels_(grid_levels(op.stencil(), coarsest_points)),
      options_(options),
      gathered_(
          first_gathered(levels_, op.partition(), halo_depth_of(options), options.coarse_steps)),
      parts_(levels_, op.partition(), op.communicator().rank(), ranks_of(values_.neighbours()),
             halo_depth_of(options), options.coarse_steps, gathered_, op.team()),
      neighbours_(with_shares(values_.neighbours(), parts_)),
      messages_(gathered_messages(op.partition()).messages_of(op.communicator().rank())),
      communicator_(op.communicator().collective_duplicate()),
      channels_(communicator_, comm_thread_,
                gathered_messages(op.partition()).specs_of(communicator_),
                comm_thread::Delivery::async, options.transport),
      down_(levels_[0], levels_[1],
            Smoother::one_side(options.steps, levels_[0].largest_eigenvalue())),
      smoothed_(op.layout().own(), halo_depth_of(options)),
      nothing_(GridArray<float>::zeros(op.layout().own(), halo_depth_of(options))),
      restricted_(coarse_points(levels_[0], op.layout().own()), 1),
      restriction_(op.stencil(), levels_[0], levels_[1], op.layout().own(),
                   op.team().thread_count()),
      halos_(neighbours_.size()),
      memories_(static_cast<std::size_t>(op.team().thread_count())),
      squares_(memories_.size(), CloseSum(1)),
      known_squares_(memories_.size(), values_.collective_b_square()) {
  const GridBox& own = op.layout().own();
  const GridBox domain = levels_[0].points();
  tiles_ = cut_into_tiles(own, inner_points(own, domain), own, domain, options.steps + 2,
                          op.team().thread_count());
  for (std::size_t i = 0; i < halos_.size(); ++i) {
    halos_[i].count = static_cast<std::size_t>(values_.neighbours()[i].receive_count);
    for (Halo::Message& message : halos_[i].messages)
      message.values.resize(halos_[i].count + parts_.received_count(i));
    halos_[i].answered_version = no_version;
  }
  if (op.communicator().is_root())
    server_ = std::make_unique<CoarseServer>(
        levels_, gathered_, op.team(), comm_thread_, channels_,
        gathered_messages(op.partition()).messages_of_all(op.communicator().size()),
        options.coarse_steps);
  else
    client_ = std::make_unique<CoarseClient>(comm_thread_, channels_[0], messages_);
}

void AsyncMultigridSweeper::pack(const TeamThread& thread, SweepState state, std::size_t neighbour,
                                 std::span<double> out) const {
  const GridBox& box = values_.boxes()[neighbour].sent;
  // Shares that there are not yet belong to no version.
  if (thread.is_primary()) CoarseMessages::set_version(out, 0, has_smoothed_ ? version_ : -1);
  if (state == SweepState::recorded)
    return values_.pack(thread, values_.recorded(), box, out.subspan(1));
  copy_smoothed(thread, box, [&](std::size_t, std::size_t place) { return &out[1 + place]; });
  parts_.pack(
      thread, neighbour,
      out.subspan(1 + static_cast<std::size_t>(values_.neighbours()[neighbour].send_count)));
}

/// Copies x' = x + x̂, row by row, to place(first element of the row, place in a message).
template <class Place>
void AsyncMultigridSweeper::copy_smoothed(const TeamThread& thread, const GridBox& box,
                                          const Place& place_of) const {
  for_each_row_of(
      thread, values_.layout(), box, [&](std::size_t first, std::size_t place, std::size_t count) {
        const auto row = static_cast<GlobalIndex>(place / count);
        const float* const smoothed =
            smoothed_.row(box.begin[1] + row % box.size(1), box.begin[2] + row / box.size(1)) +
            box.begin[0];
        const double* const x = values_.x() + first;
        double* const out = place_of(first, place);
        for (std::size_t i = 0; i < count; ++i) out[i] = x[i] + static_cast<double>(smoothed[i]);
      });
}

void AsyncMultigridSweeper::unpack(const TeamThread& thread, SweepState state,
                                   std::size_t neighbour, std::span<const double> in) {
  const GridBox& box = values_.boxes()[neighbour].received;
  Halo& halo = halos_[neighbour];
  const std::span<const double> values = in.subspan(1, halo.count);
  if (state == SweepState::recorded) return values_.unpack(thread, values_.recorded(), box, values);
  const std::int64_t version = CoarseMessages::version_at(in, 0);
  if (version < halo.answered_version) return;  // a newer one is on its way
  values_.unpack(thread, values_.x(), box, values);
  Halo::Message& message = halo.next();
  const auto [begin, end] = comm_thread::share_of(static_cast<std::int64_t>(message.values.size()),
                                                  thread.index, thread.count);
  std::copy(in.data() + 1 + begin, in.data() + 1 + end, message.values.data() + begin);
  if (version == halo.answered_version) add_correction(thread, box, nothing_);
  if (!thread.is_primary()) return;
  message.version = version;
  halo.has_next = true;
}

/// Messages that have come become the newest. Ends with a barrier.
void AsyncMultigridSweeper::take_messages(const TeamThread& thread) {
  if (thread.is_primary()) {
    for (Halo& halo : halos_) {
      if (halo.has_next) halo.newest_index = 1 - halo.newest_index;
      halo.has_next = false;
    }
    is_waiting_ = phase_ == Phase::correcting && waits_for_messages();
  }
  thread.barrier();
}

/// True where a neighbour's message that an answer is for has not come yet: it was sent before the
/// question was. It may have been left out where its channel was full, hence the limit.
bool AsyncMultigridSweeper::waits_for_messages() {
  const bool is_complete = std::ranges::all_of(
      halos_, [](const Halo& halo) { return halo.newest().version >= halo.answered_version; });
  if (is_complete || wait_count_ == most_waits) {
    wait_count_ = 0;
    return false;
  }
  ++wait_count_;
  std::this_thread::sleep_for(GrowingNap::shortest);
  comm_thread_.progress_services_here();
  return true;
}

FinestResidual AsyncMultigridSweeper::residual(const double* x) const {
  return {values_.op().stencil(), values_.layout(), values_.b(), x, levels_[0].scale};
}

void AsyncMultigridSweeper::sweep(const TeamThread& thread, SweepPart part,
                                  ExactAccumulator* residual_square) {
  if (part == SweepPart::interior) return;
  take_messages(thread);
  if (phase_ == Phase::asking || is_waiting_) {
    if (residual_square)
      residual_square->add(known_squares_[static_cast<std::size_t>(thread.index)]);
    if (phase_ == Phase::asking) ask(thread);
  } else {
    if (phase_ == Phase::correcting) correct(thread);
    smooth(thread, residual_square);
  }
}

void AsyncMultigridSweeper::ask(const TeamThread& thread) {
  const bool is_served = server_ && server_->serve(thread);
  thread.barrier();
  if (!thread.is_primary()) return;
  has_changed_ = false;
  if (!is_served && !(client_ && client_->look_for_answer())) return;
  read_answer(server_ ? server_->answer() : client_->answer());
  phase_ = Phase::correcting;
}

void AsyncMultigridSweeper::smooth(const TeamThread& thread, ExactAccumulator* residual_square) {
  const auto index = static_cast<std::size_t>(thread.index);
  const FinestResidual finest = residual(values_.x());
  CloseSum& square = squares_[index];
  square = CloseSum(bound());
  const DownPass<float>::Source source{
      .residual = &finest, .square = residual_square ? &square : nullptr, .has_all_squares = true};
  for (const auto* tiles : {&tiles_.interior[index], &tiles_.boundary[index]})
    for (const PassTile& tile : *tiles)
      down_.run(tile, source, smoothed_, restricted_, memories_[index], {});
  if (residual_square) flush(thread, square, *residual_square);
  thread.barrier();
  restriction_.run(
      thread,
      {.layout = values_.layout(), .b = values_.b(), .x = values_.x(), .correction = smoothed_},
      restricted_, parts_.first_share());
  thread.barrier();
  parts_.restrict_shares(thread);
  if (!thread.is_primary()) return;
  const std::span<double> question = server_ ? server_->question() : client_->question();
  std::ranges::copy(parts_.last_share(), CoarseMessages::share_of(question).begin());
  CoarseMessages::set_version(question, 0, version_);
  has_smoothed_ = true;
  if (client_) client_->ask();
  has_changed_ = true;
  phase_ = Phase::asking;
}

void AsyncMultigridSweeper::read_answer(std::span<const double> answer) {
  for (std::size_t i = 0; i < halos_.size(); ++i)
    halos_[i].answered_version = CoarseMessages::version_at(answer, 1 + i);
  const GridBox& box = messages_.answered;
  const double* from = messages_.solution_of(answer).data();
  for (GlobalIndex z = box.begin[2]; z < box.end[2]; ++z)
    for (GlobalIndex y = box.begin[1]; y < box.end[1]; ++y) {
      float* const row = parts_.last_solution().row(y, z);
      for (GlobalIndex x = box.begin[0]; x < box.end[0]; ++x) row[x] = static_cast<float>(*from++);
    }
}

void AsyncMultigridSweeper::add_correction(const TeamThread& thread, const GridBox& box,
                                           const GridArray<float>& smoothed) {
  const spmv::GridLayout& layout = values_.layout();
  Allotment<float> allotment(memories_[static_cast<std::size_t>(thread.index)]);
  allotment.reserve(Interpolation<float>::element_count(box));
  allotment.reserve(static_cast<std::size_t>(PlaneRing<float>::row_stride(box.size(0))));
  allotment.begin();
  Interpolation<float> interpolation(levels_[0], box, parts_.first_solution(), allotment);
  float* const out =
      allotment.take(static_cast<std::size_t>(PlaneRing<float>::row_stride(box.size(0)))) + 16 -
      box.begin[0];
  const RowRange range(box.begin[0], box.end[0], levels_[0].directions[0].size);
  for_each_row_of(thread, layout, box,
                  [&](std::size_t first, std::size_t place, std::size_t count) {
                    const auto row = static_cast<GlobalIndex>(place / count);
                    const GlobalIndex y = box.begin[1] + row % box.size(1);
                    const GlobalIndex z = box.begin[2] + row / box.size(1);
                    interpolation.add_row_to(y, z, range, smoothed.row(y, z), out);
                    double* const x = values_.x() + first;
                    const float* const added = out + box.begin[0];
#pragma omp simd
                    for (std::size_t i = 0; i < count; ++i) x[i] += static_cast<double>(added[i]);
                  });
}

void AsyncMultigridSweeper::correct(const TeamThread& thread) {
  if (thread.is_primary())
    for (std::size_t i = 0; i < halos_.size(); ++i)
      parts_.set_shares(i, std::span(halos_[i].answered().values).subspan(halos_[i].count));
  thread.barrier();
  parts_.solve(thread, memories_[static_cast<std::size_t>(thread.index)]);
  add_correction(thread, values_.layout().own(), smoothed_);
  for (std::size_t i = 0; i < halos_.size(); ++i) correct_halo(thread, i);
  thread.barrier();
  if (thread.is_primary()) ++version_;
  thread.barrier();
}

/// Brings the halo to the state of the neighbour after it adds the answer's correction, if what was
/// received is not of a later one. Where the state that the answer is for is still to come, what is
/// in use gets the correction.
void AsyncMultigridSweeper::correct_halo(const TeamThread& thread, std::size_t neighbour) {
  const Halo& halo = halos_[neighbour];
  const GridBox& box = values_.boxes()[neighbour].received;
  const Halo::Message& newest = halo.newest();
  if (newest.version < halo.answered_version) return add_correction(thread, box, nothing_);
  values_.unpack(thread, values_.x(), box, std::span(newest.values).first(halo.count));
  if (newest.version == halo.answered_version) add_correction(thread, box, nothing_);
}

void AsyncMultigridSweeper::record(const TeamThread& thread) {
  values_.record(thread);
  copy_smoothed(thread, values_.layout().own(),
                [&](std::size_t first, std::size_t) { return values_.recorded() + first; });
}

void AsyncMultigridSweeper::save(const TeamThread& thread, const PackedRows& rows,
                                 std::size_t /*vector*/, double* packed) {
  const GridBox& own = values_.layout().own();
  std::vector<std::size_t> places;
  rows.for_each_piece(
      thread, [&](std::size_t, std::size_t place, std::size_t) { places.push_back(place); });
  std::size_t next = 0;  // the pieces are the lines of the box, in the same order
  copy_smoothed(thread, own, [&](std::size_t, std::size_t) { return packed + places[next++]; });
}

void AsyncMultigridSweeper::load(const TeamThread& thread, const PackedRows& rows,
                                 std::size_t /*vector*/, const double* packed,
                                 std::int64_t /*sweep*/) {
  rows.unpack(thread, packed, values_.x());
}

/// Smoothed values become the current ones; the correction that is still to come is for them.
void AsyncMultigridSweeper::settle(const TeamThread& thread) {
  const GridBox& own = values_.layout().own();
  copy_smoothed(thread, own, [&](std::size_t first, std::size_t) { return values_.x() + first; });
  thread.barrier();
  if (thread.is_primary())
    for (Halo& halo : halos_) halo.answered_version = no_version;
  for_each_row_of(
      thread, values_.layout(), own, [&](std::size_t, std::size_t place, std::size_t count) {
        const auto row = static_cast<GlobalIndex>(place / count);
        std::fill_n(
            smoothed_.row(own.begin[1] + row % own.size(1), own.begin[2] + row / own.size(1)) +
                own.begin[0],
            count, 0.0F);
      });
  thread.barrier();
}

void AsyncMultigridSweeper::add_residual(const TeamThread& thread, SweepState state,
                                         ExactAccumulator& residual_square) {
  const FinestResidual finest =
      residual(state == SweepState::current ? values_.x() : values_.recorded());
  CloseSum square(bound());
  for (const GridBox& box : spmv::share_of_rows(values_.layout().own(), thread.index, thread.count))
    finest.add_square(box, square);
  flush(thread, square, residual_square);
}

double AsyncMultigridSweeper::bound() const {
  const double sum = std::accumulate(known_squares_.begin(), known_squares_.end(), 0.0);
  return sum > 0 && std::isfinite(sum) ? sum : 1;
}

void AsyncMultigridSweeper::flush(const TeamThread& thread, CloseSum& square,
                                  ExactAccumulator& total) {
  ExactAccumulator own;
  square.flush(own);
  own.normalise();
  total.add_words(own.words());
  thread.barrier();  // nobody reads the bound
  known_squares_[static_cast<std::size_t>(thread.index)] = own.rounded();
}

}  // namespace weft::solver
