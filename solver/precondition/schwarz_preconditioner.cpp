#include "solver/precondition/schwarz_preconditioner.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>

#include "comm_thread/mpi/sparse_exchange.h"
#include "perfmodel/stopwatch.h"

namespace weft::solver {
namespace {

using comm_thread::HaloNeighbour;
using comm_thread::TeamThread;
using spmv::GlobalIndex;

constexpr int power_iterations = 4;

/// One result of one piece, of a row of the receiver.
struct ResultKey {
  GlobalIndex row;
  std::int64_t piece;
};

/// The share of a thread in `count` things.
std::pair<std::size_t, std::size_t> share(std::size_t count, const TeamThread& thread) {
  const auto [begin, end] =
      comm_thread::share_of(static_cast<std::int64_t>(count), thread.index, thread.count);
  return {static_cast<std::size_t>(begin), static_cast<std::size_t>(end)};
}

/// ‖v‖, whose square may leave the range of double: scaled by a power of two, which rounds nothing.
double norm_of(std::span<const double> v) {
  constexpr int most = 1000;
  double largest = 0;
  for (const double value : v) largest = std::max(largest, std::abs(value));
  const int exponent = std::clamp(std::ilogb(largest), -most, most);
  const double scale = std::ldexp(1, -exponent);
  double square = 0;
  for (const double value : v) square += scale * value * (scale * value);
  return std::ldexp(std::sqrt(square), exponent);
}

}  // namespace

SchwarzPreconditioner::SchwarzPreconditioner(const spmv::SparseOperator& op, const Options& options)
    : op_(op),
      pieces_(op, options, OverlappingPieces::Use::inverse),
      halo_(static_cast<std::size_t>(pieces_.plan().halo_count)),
      to_pieces_(pieces_.communicator(), pieces_.plan().neighbours, std::span(halo_), 0) {
  collective_plan_results();
  collective_weigh();
  std::vector<double> norms(pieces_.pieces().size());
  op.team().run([&](const TeamThread& thread) {
    pieces_.for_each_of(thread,
                        [&](std::size_t i) { norms[i] = inverse_norm(pieces_.pieces()[i]); });
  });
  double largest = 0;
  for (const double norm : norms) largest = std::max(largest, norm);
  norm_ = pieces_.communicator().max(largest);
}

/// Learns who receives results, and which results make up a row.
void SchwarzPreconditioner::collective_plan_results() {
  const comm_thread::Communicator& communicator = pieces_.communicator();
  std::vector<Term> terms;
  comm_thread::Lists<ResultKey> keys;
  std::map<int, std::vector<std::size_t>> places;
  for (const Piece& piece : pieces_.pieces())
    for (std::size_t k = 0; k < piece.rows.size(); ++k) {
      if (!has_weights() && !std::ranges::binary_search(piece.core, k)) continue;
      const GlobalIndex row = piece.rows[k];
      const int owner = pieces_.partition().owner(row);
      if (owner == communicator.rank()) {
        terms.emplace_back(row, piece.number, piece.begin + k);
      } else {
        keys[owner].push_back({row, piece.number});
        places[owner].push_back(piece.begin + k);
      }
    }
  std::map<int, HaloNeighbour> neighbours;
  for (const auto& [rank, list] : keys) {
    neighbours[rank].send_begin = std::ssize(sent_);
    neighbours[rank].send_count = std::ssize(list);
    sent_.insert(sent_.end(), places[rank].begin(), places[rank].end());
  }
  const std::size_t own_count = pieces_.piece_row_count();
  std::int64_t received = 0;
  for (const auto& [rank, list] :
       comm_thread::collective_sparse_exchange(communicator, std::move(keys))) {
    neighbours[rank].receive_begin = received;
    neighbours[rank].receive_count = std::ssize(list);
    for (const ResultKey& key : list)
      terms.emplace_back(key.row, key.piece, own_count + static_cast<std::size_t>(received++));
  }
  results_.resize(own_count + static_cast<std::size_t>(received));
  to_owners_.emplace(communicator, comm_thread::in_order(neighbours),
                     std::span(results_).subspan(own_count), 1);
  plan_sums(std::move(terms));
  communicator.barrier();  // both ends of every pair exist
}

void SchwarzPreconditioner::plan_sums(std::vector<Term> terms) {
  std::ranges::sort(terms);
  term_begin_.assign(row_count() + 1, 0);
  for (const auto& [row, piece, place] : terms) {
    ++term_begin_[static_cast<std::size_t>(row - pieces_.first_row()) + 1];
    terms_.push_back(place);
  }
  for (std::size_t row = 0; row < row_count(); ++row) term_begin_[row + 1] += term_begin_[row];
}

/// Tells every piece how many others have its rows.
void SchwarzPreconditioner::collective_weigh() {
  const auto weight_of = [&](std::size_t row) {
    return 1 / std::sqrt(static_cast<double>(term_begin_[row + 1] - term_begin_[row]));
  };
  const std::vector<spmv::LocalIndex>& send_list = pieces_.plan().send_list;
  for (std::size_t i = 0; i < send_list.size(); ++i)
    to_pieces_.send_buffer()[i] = weight_of(static_cast<std::size_t>(send_list[i]));
  if (to_pieces_.has_neighbours()) to_pieces_.start_here(op_.comm_thread()).wait();
  for (const Piece& piece : pieces_.pieces())
    for (const std::int32_t place : piece.places) {
      const auto index = static_cast<std::size_t>(place);
      weights_.push_back(index < row_count() ? weight_of(index) : halo_[index - row_count()]);
    }
}

/// ‖A_i⁻¹‖, slightly less.
double SchwarzPreconditioner::inverse_norm(const Piece& piece) const {
  std::vector<double> v(piece.rows.size(), 1.0);
  double norm = 0;
  double before = std::sqrt(static_cast<double>(v.size()));
  for (int i = 0; i < power_iterations; ++i) {
    const std::span<const double> next = piece.factor->solve(0, v);
    const double next_norm = norm_of(next);
    norm = next_norm / before;
    before = 1;
    for (std::size_t k = 0; k < v.size(); ++k) v[k] = next[k] / next_norm;
  }
  return norm;
}

void SchwarzPreconditioner::solve(const TeamThread& thread, const double* r, bool with_halo) {
  pieces_.for_each_of(thread, [&](std::size_t i) {
    Piece& piece = pieces_.pieces()[i];
    if (piece.needs_halo != with_halo) return;
    const double* const weights = weights_.data() + piece.begin;
    for (std::size_t k = 0; k < piece.places.size(); ++k) {
      const auto place = static_cast<std::size_t>(piece.places[k]);
      const double value = place < row_count() ? r[place] : halo_[place - row_count()];
      piece.right_hand_side[k] = weights[k] * value;
    }
    const std::span<const double> solution = piece.factor->solve(0, piece.right_hand_side);
    double* const out = results_.data() + piece.begin;
    for (std::size_t k = 0; k < solution.size(); ++k) out[k] = weights[k] * solution[k];
  });
}

void SchwarzPreconditioner::apply(const TeamThread& thread, const double* r, double* z) {
  const double begin = thread.is_primary() ? perfmodel::seconds_now() : 0;
  const std::vector<spmv::LocalIndex>& send_list = pieces_.plan().send_list;
  const auto [sent_begin, sent_end] = share(send_list.size(), thread);
  for (std::size_t i = sent_begin; i < sent_end; ++i)
    to_pieces_.send_buffer()[i] = r[static_cast<std::size_t>(send_list[i])];
  thread.barrier();
  if (thread.is_primary() && to_pieces_.has_neighbours())
    pending_ = to_pieces_.post(op_.comm_thread());
  solve(thread, r, false);
  if (thread.is_primary() && to_pieces_.has_neighbours()) pending_->wait();
  thread.barrier();
  solve(thread, r, true);
  thread.barrier();
  const auto [back_begin, back_end] = share(sent_.size(), thread);
  for (std::size_t i = back_begin; i < back_end; ++i)
    to_owners_->send_buffer()[i] = results_[sent_[i]];
  thread.barrier();
  if (thread.is_primary() && to_owners_->has_neighbours())
    to_owners_->post(op_.comm_thread()).wait();
  thread.barrier();
  op_.for_each_element(thread.index, [&](std::size_t row) {
    double sum = 0;
    for (std::size_t term = term_begin_[row]; term < term_begin_[row + 1]; ++term)
      sum += results_[terms_[term]];
    z[row] = sum;
  });
  thread.barrier();
  if (thread.is_primary()) seconds_ += perfmodel::seconds_now() - begin;
}

}  // namespace weft::solver
