#include "solver/precondition/schwarz_preconditioner.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/sparse_exchange.h"
#include "solver/precondition/graph_cut.h"
#include "solver/precondition/interface_shift.h"

namespace weft::solver {
namespace {

using comm_thread::Bytes;
using comm_thread::HaloNeighbour;
using comm_thread::TeamThread;
using spmv::GlobalIndex;

constexpr int power_iterations = 4;
constexpr int most_overlap = 64;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// One result of one subdomain, of a row of the receiver.
struct ResultKey {
  GlobalIndex row;
  std::int64_t subdomain;
};

/// The share of a thread in `count` things.
std::pair<std::size_t, std::size_t> share(std::size_t count, const TeamThread& thread) {
  const auto [begin, end] =
      comm_thread::share_of(static_cast<std::int64_t>(count), thread.index, thread.count);
  return {static_cast<std::size_t>(begin), static_cast<std::size_t>(end)};
}

}  // namespace

const char* name(SchwarzPreconditioner::Kind kind) {
  switch (kind) {
    case SchwarzPreconditioner::Kind::symmetric:
      return "symmetric";
    case SchwarzPreconditioner::Kind::restricted:
      return "restricted";
    case SchwarzPreconditioner::Kind::optimized:
      break;
  }
  return "optimized";
}

std::int64_t SchwarzPreconditioner::checked_subdomain_count(const Options& options,
                                                            GlobalIndex row_count) {
  if (options.overlap < 0 || options.overlap > most_overlap)
    throw comm_thread::InputError(
        fmt::format("schwarz: found overlap={}; expected 0 to {}", options.overlap, most_overlap));
  if (options.kind == Kind::optimized) {
    if (options.overlap == 0)
      throw comm_thread::InputError(
          "schwarz: found kind=optimized with overlap=0; expected an overlap of 1 or more, because "
          "what a row at the edge finds is wrong");
    if (!(options.shift > 0 && options.shift <= 1))
      throw comm_thread::InputError(
          fmt::format("schwarz: found shift={}; expected above 0 to 1", options.shift));
  }
  const std::int64_t most = std::max<std::int64_t>(row_count, 1);
  if (options.subdomain_count < 0 || options.subdomain_count > most)
    throw comm_thread::InputError(
        fmt::format("schwarz: found subdomains={}; expected 1 to {}, the number of rows",
                    options.subdomain_count, most));
  if (options.subdomain_count > 0) return options.subdomain_count;
  return std::max<std::int64_t>(1, row_count / automatic_rows);
}

SchwarzPreconditioner::SchwarzPreconditioner(const spmv::SparseOperator& op, const Options& options)
    : op_(op),
      communicator_(op.communicator().collective_duplicate()),
      kind_(options.kind),
      partition_(options.partition),
      subdomain_count_(checked_subdomain_count(options, op.global_row_count())),
      overlap_(options.overlap),
      shift_(options.shift) {
  std::vector<OverlappingRows> subdomains =
      has_graph_partition()
          ? collective_cut_graph(communicator_, op.matrix().matrix(), subdomain_count_)
          : own_subdomains();
  std::vector<LowerTriangle> matrices =
      collective_import_rows(communicator_, op.matrix().matrix(), overlap_, subdomains);
  if (kind_ == Kind::optimized)
    for (std::size_t i = 0; i < subdomains.size(); ++i)
      shift_interface(subdomains[i], shift_, matrices[i]);
  collective_plan_halo(subdomains);
  collective_plan_results(subdomains);
  collective_weigh();
  collective_factor(matrices);
}

std::vector<OverlappingRows> SchwarzPreconditioner::own_subdomains() const {
  const spmv::DistributedMatrix& matrix = op_.matrix().matrix();
  const GlobalIndex rows = matrix.partition.row_count();
  std::vector<OverlappingRows> subdomains;
  for (std::int64_t i = 0; i < subdomain_count_; ++i) {
    const GlobalIndex begin = rows * i / subdomain_count_;
    const GlobalIndex end = rows * (i + 1) / subdomain_count_;
    if (begin == end || matrix.partition.owner((begin + end) / 2) != matrix.rank) continue;
    OverlappingRows& subdomain = subdomains.emplace_back();
    subdomain.number = static_cast<int>(i);
    subdomain.core.resize(static_cast<std::size_t>(end - begin));
    std::iota(subdomain.core.begin(), subdomain.core.end(), begin);
  }
  return subdomains;
}

std::vector<OverlappingRows> SchwarzPreconditioner::collective_cut_graph(
    const comm_thread::Communicator& communicator, const spmv::DistributedMatrix& matrix,
    std::int64_t& subdomain_count) {
  const GlobalIndex rows = std::max<GlobalIndex>(matrix.partition.row_count(), 1);
  const std::int64_t share = (subdomain_count * matrix.rows.row_count + rows / 2) / rows;
  const std::int64_t count =
      std::min<std::int64_t>(std::max<std::int64_t>(share, 1), matrix.rows.row_count);
  const std::int64_t first = communicator.exclusive_prefix_sum(count);
  std::vector<OverlappingRows> subdomains(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i)
    subdomains[static_cast<std::size_t>(i)].number = static_cast<int>(first + i);
  const std::vector<int> part_of_row = cut_rows(matrix.rows, static_cast<int>(count));
  for (std::size_t row = 0; row < part_of_row.size(); ++row)
    subdomains[static_cast<std::size_t>(part_of_row[row])].core.push_back(
        matrix.first_row() + static_cast<GlobalIndex>(row));
  std::erase_if(subdomains, [](const OverlappingRows& rows_of) { return rows_of.core.empty(); });
  subdomain_count = communicator.sum(std::ssize(subdomains));
  return subdomains;
}

std::string SchwarzPreconditioner::fault_of_matrix(std::size_t row_count) {
  return fmt::format(
      "schwarz: a subdomain of {} rows: found a matrix that is not positive definite to working "
      "precision; expected a positive definite matrix",
      row_count);
}

/// Which entries of r come from whom.
void SchwarzPreconditioner::collective_plan_halo(const std::vector<OverlappingRows>& subdomains) {
  const spmv::DistributedMatrix& matrix = op_.matrix().matrix();
  const GlobalIndex first = matrix.first_row();
  const auto is_own = [&](GlobalIndex row) {
    return row >= first && row < first + matrix.rows.row_count;
  };
  for (const OverlappingRows& subdomain : subdomains)
    std::ranges::remove_copy_if(subdomain.rows, std::back_inserter(halo_rows_), is_own);
  std::ranges::sort(halo_rows_);
  halo_rows_.erase(std::unique(halo_rows_.begin(), halo_rows_.end()), halo_rows_.end());
  const spmv::DistributedMatrix wanted{matrix.partition, matrix.rank, {}, halo_rows_, 0};
  plan_ = spmv::collective_build_halo_plan(communicator_, wanted);
  halo_.resize(halo_rows_.size());
  to_subdomains_.emplace(communicator_, plan_.neighbours, halo_, 0);
  for (const OverlappingRows& rows : subdomains) {
    Subdomain& subdomain = subdomains_.emplace_back();
    subdomain.result_begin = received_begin_;
    received_begin_ += rows.rows.size();
    for (const GlobalIndex row : rows.rows) {
      subdomain.needs_halo = subdomain.needs_halo || !is_own(row);
      subdomain.places.push_back(static_cast<std::int32_t>(
          is_own(row) ? row - first
                      : matrix.rows.row_count +
                            (std::ranges::lower_bound(halo_rows_, row) - halo_rows_.begin())));
    }
    subdomain.right_hand_side.resize(rows.rows.size());
  }
}

/// Which results go to whom, and which of them make up a row.
void SchwarzPreconditioner::collective_plan_results(
    const std::vector<OverlappingRows>& subdomains) {
  const spmv::DistributedMatrix& matrix = op_.matrix().matrix();
  using Term = std::tuple<GlobalIndex, std::int64_t, std::size_t>;  // row, subdomain, place
  std::vector<Term> terms;
  std::map<int, std::vector<ResultKey>> keys;
  std::map<int, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < subdomains.size(); ++i)
    for (std::size_t k = 0; k < subdomains[i].rows.size(); ++k) {
      const GlobalIndex row = subdomains[i].rows[k];
      const std::size_t place = subdomains_[i].result_begin + k;
      const bool is_inside = std::ranges::binary_search(subdomains[i].core, row);
      if (kind_ != Kind::symmetric && !is_inside) continue;
      const int owner = matrix.partition.owner(row);
      if (owner == matrix.rank) {
        terms.emplace_back(row, subdomains[i].number, place);
      } else {
        keys[owner].push_back({row, subdomains[i].number});
        places[owner].push_back(place);
      }
    }
  std::map<int, HaloNeighbour> neighbours;
  std::map<int, Bytes> messages;
  for (const auto& [rank, list] : keys) {
    messages[rank] = comm_thread::to_bytes(list);
    neighbours[rank].send_begin = std::ssize(sent_);
    neighbours[rank].send_count = std::ssize(list);
    sent_.insert(sent_.end(), places[rank].begin(), places[rank].end());
  }
  std::int64_t received = 0;
  for (const auto& [rank, bytes] :
       comm_thread::collective_sparse_exchange(communicator_, std::move(messages))) {
    const auto list = comm_thread::from_bytes<ResultKey>(bytes);
    neighbours[rank].receive_begin = received;
    neighbours[rank].receive_count = std::ssize(list);
    for (const ResultKey& key : list)
      terms.emplace_back(key.row, key.subdomain,
                         received_begin_ + static_cast<std::size_t>(received++));
  }
  results_.resize(received_begin_ + static_cast<std::size_t>(received));
  std::vector<HaloNeighbour> list;
  for (auto& [rank, neighbour] : neighbours) {
    neighbour.rank = rank;
    list.push_back(neighbour);
  }
  to_owners_.emplace(communicator_, list, std::span(results_).subspan(received_begin_), 1);
  std::ranges::sort(terms);
  term_begin_.assign(row_count() + 1, 0);
  for (const auto& [row, subdomain, place] : terms) {
    ++term_begin_[static_cast<std::size_t>(row - matrix.first_row()) + 1];
    terms_.push_back(place);
  }
  for (std::size_t row = 0; row < row_count(); ++row) term_begin_[row + 1] += term_begin_[row];
  communicator_.barrier();  // both ends of every pair exist
}

/// Tells every subdomain how many others have its rows.
void SchwarzPreconditioner::collective_weigh() {
  const auto weight_of = [&](std::size_t row) {
    return 1 / std::sqrt(static_cast<double>(term_begin_[row + 1] - term_begin_[row]));
  };
  for (std::size_t i = 0; i < plan_.send_list.size(); ++i)
    to_subdomains_->send_buffer()[i] = weight_of(static_cast<std::size_t>(plan_.send_list[i]));
  if (to_subdomains_->has_neighbours()) to_subdomains_->start_here(op_.comm_thread()).wait();
  for (Subdomain& subdomain : subdomains_)
    for (const std::int32_t place : subdomain.places) {
      const auto index = static_cast<std::size_t>(place);
      subdomain.weights.push_back(index < row_count() ? weight_of(index)
                                                      : halo_[index - row_count()]);
    }
}

void SchwarzPreconditioner::collective_factor(const std::vector<LowerTriangle>& matrices) {
  std::vector<double> norms(subdomains_.size());
  comm_thread::collective_attempt(communicator_, [&] {
    op_.team().run([&](const TeamThread& thread) {
      for (std::size_t i = static_cast<std::size_t>(thread.index); i < subdomains_.size();
           i += static_cast<std::size_t>(thread.count)) {
        Subdomain& subdomain = subdomains_[i];
        subdomain.factor = std::make_unique<CholmodFactor>(
            matrices[i], 1, fault_of_matrix(subdomain.places.size()));
        norms[i] = inverse_norm(subdomain);
      }
    });
  });
  double largest = 0;
  std::int64_t rows = 0;
  for (const double norm : norms) largest = std::max(largest, norm);
  for (const Subdomain& subdomain : subdomains_)
    rows = std::max(rows, std::ssize(subdomain.places));
  norm_ = communicator_.max(largest);
  largest_subdomain_ = communicator_.max(rows);
}

/// ‖A_i⁻¹‖, a little less; by the way the factor has been used, and will not allocate later.
double SchwarzPreconditioner::inverse_norm(Subdomain& subdomain) const {
  std::vector<double> v(subdomain.places.size(), 1.0);
  double norm = 0;
  double before = std::sqrt(static_cast<double>(v.size()));
  for (int i = 0; i < power_iterations; ++i) {
    const std::span<const double> next = subdomain.factor->solve(0, v);
    double square = 0;
    for (const double value : next) square += value * value;
    norm = std::sqrt(square) / before;
    before = 1;
    for (std::size_t k = 0; k < v.size(); ++k) v[k] = next[k] / std::sqrt(square);
  }
  return norm;
}

void SchwarzPreconditioner::solve(const TeamThread& thread, const double* r, bool with_halo) {
  for (std::size_t i = static_cast<std::size_t>(thread.index); i < subdomains_.size();
       i += static_cast<std::size_t>(thread.count)) {
    Subdomain& subdomain = subdomains_[i];
    if (subdomain.needs_halo != with_halo) continue;
    for (std::size_t k = 0; k < subdomain.places.size(); ++k) {
      const auto place = static_cast<std::size_t>(subdomain.places[k]);
      const double value = place < row_count() ? r[place] : halo_[place - row_count()];
      subdomain.right_hand_side[k] = subdomain.weights[k] * value;
    }
    const std::span<const double> solution = subdomain.factor->solve(0, subdomain.right_hand_side);
    double* const out = results_.data() + subdomain.result_begin;
    for (std::size_t k = 0; k < solution.size(); ++k) out[k] = subdomain.weights[k] * solution[k];
  }
}

void SchwarzPreconditioner::apply(const TeamThread& thread, const double* r, double* z) {
  const double begin = thread.is_primary() ? seconds_now() : 0;
  const auto [sent_begin, sent_end] = share(plan_.send_list.size(), thread);
  for (std::size_t i = sent_begin; i < sent_end; ++i)
    to_subdomains_->send_buffer()[i] = r[static_cast<std::size_t>(plan_.send_list[i])];
  thread.barrier();
  if (thread.is_primary() && to_subdomains_->has_neighbours())
    pending_ = to_subdomains_->post(op_.comm_thread());
  solve(thread, r, false);
  if (thread.is_primary() && to_subdomains_->has_neighbours()) pending_->wait();
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
  for (const spmv::Segment& segment : op_.segments(thread.index))
    for (std::size_t row = segment.begin;
         row < segment.begin + static_cast<std::size_t>(segment.count); ++row) {
      double sum = 0;
      for (std::size_t term = term_begin_[row]; term < term_begin_[row + 1]; ++term)
        sum += results_[terms_[term]];
      z[row] = sum;
    }
  thread.barrier();
  if (thread.is_primary()) seconds_ += seconds_now() - begin;
}

}  // namespace weft::solver
