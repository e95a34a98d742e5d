#include "solver/amg/coarsening/tentative_prolongator.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "comm_thread/mpi/sparse_exchange.h"

namespace weft::solver::amg {
namespace {

using comm_thread::TeamThread;
using spmv::GlobalIndex;
using spmv::LocalIndex;

/// A vector depends on those before it where they leave less than this share of it.
constexpr double least_share = 1e-10;

/// Rows of aggregates of this rank, in ascending order from ascending ranks, and where each was in
/// the message that brought it.
struct GatheredRows {
  struct Origin {
    int rank;
    std::size_t place;
  };
  std::vector<GlobalIndex> aggregates;  // from 0, of this rank
  std::vector<Origin> origins;
  std::vector<double> space;  // [rows][vector count]
};

/// B = Q·R on the rows of one aggregate. `rows`: their places in `space`, which becomes Q;
/// `r`: [vector_count][vector_count], zero before.
class Orthonormalization {
 public:
  explicit Orthonormalization(std::size_t vector_count) : width_(vector_count) {}

  void run(std::span<const std::size_t> rows, double* space, double* r) {
    columns_.resize(width_ * rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t j = 0; j < width_; ++j)
        columns_[j * rows.size() + i] = space[rows[i] * width_ + j];
    for (std::size_t j = 0; j < width_; ++j) add(j, rows.size(), r);
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t j = 0; j < width_; ++j)
        space[rows[i] * width_ + j] = columns_[j * rows.size() + i];
  }

 private:
  void add(std::size_t j, std::size_t size, double* r) {
    double* const v = columns_.data() + j * size;
    const double before = std::sqrt(dot(v, v, size));
    for (int pass = 0; pass < 2; ++pass)
      for (std::size_t k = 0; k < j; ++k) {
        const double* const q = columns_.data() + k * size;
        const double share = dot(q, v, size);
        for (std::size_t i = 0; i < size; ++i) v[i] -= share * q[i];
        r[k * width_ + j] += share;
      }
    const double length = std::sqrt(dot(v, v, size));
    const bool is_new = length > least_share * before;
    for (std::size_t i = 0; i < size; ++i) v[i] = is_new ? v[i] / length : 0;
    r[j * width_ + j] = is_new ? length : 0;
  }
  static double dot(const double* a, const double* b, std::size_t size) {
    double sum = 0;
    for (std::size_t i = 0; i < size; ++i) sum += a[i] * b[i];
    return sum;
  }

  std::size_t width_;
  std::vector<double> columns_;  // [vector count][rows]
};

/// A row in a message: its aggregate, then its values.
comm_thread::Lists<double> pack(const std::vector<GlobalIndex>& of_rows,
                                const spmv::RowPartition& owners, std::span<const double> space,
                                std::size_t width) {
  comm_thread::Lists<double> outgoing;
  for (std::size_t row = 0; row < of_rows.size(); ++row) {
    if (of_rows[row] == Aggregates::none) continue;
    std::vector<double>& message = outgoing[owners.owner(of_rows[row])];
    message.push_back(std::bit_cast<double>(of_rows[row]));
    const auto values = space.subspan(row * width, width);
    message.insert(message.end(), values.begin(), values.end());
  }
  return outgoing;
}

GatheredRows unpack(const comm_thread::Lists<double>& messages, GlobalIndex first_aggregate,
                    std::size_t width) {
  GatheredRows rows;
  for (const auto& [rank, message] : messages)
    for (std::size_t place = 0; place < message.size() / (width + 1); ++place) {
      const auto entry = std::span(message).subspan(place * (width + 1), width + 1);
      rows.aggregates.push_back(std::bit_cast<GlobalIndex>(entry[0]) - first_aggregate);
      rows.origins.push_back({rank, place});
      rows.space.insert(rows.space.end(), entry.begin() + 1, entry.end());
    }
  return rows;
}

/// Makes Q of `rows`; returns R of each aggregate: [aggregates][vector count][vector count].
std::vector<double> orthonormalize(const comm_thread::Crew& crew, GatheredRows& rows,
                                   std::size_t aggregate_count, std::size_t width) {
  std::vector<std::size_t> begins(aggregate_count + 1);
  for (const GlobalIndex aggregate : rows.aggregates)
    ++begins[static_cast<std::size_t>(aggregate) + 1];
  for (std::size_t i = 0; i < aggregate_count; ++i) begins[i + 1] += begins[i];
  std::vector<std::size_t> order(rows.aggregates.size());
  std::vector<std::size_t> next(begins.begin(), begins.end() - 1);
  for (std::size_t row = 0; row < rows.aggregates.size(); ++row)
    order[next[static_cast<std::size_t>(rows.aggregates[row])]++] = row;

  std::vector<double> triangles(aggregate_count * width * width);
  crew.team().run([&](const TeamThread& thread) {
    Orthonormalization step(width);
    const auto share = comm_thread::share_of(std::ssize(begins) - 1, thread.index, thread.count);
    for (auto i = static_cast<std::size_t>(share.begin); i < static_cast<std::size_t>(share.end);
         ++i)
      step.run(std::span(order).subspan(begins[i], begins[i + 1] - begins[i]), rows.space.data(),
               triangles.data() + i * width * width);
  });
  return triangles;
}

/// Q goes back to those that sent B, in the order of their messages.
comm_thread::Lists<double> collective_return(const comm_thread::Crew& crew,
                                             const GatheredRows& rows, std::size_t width) {
  comm_thread::Lists<double> outgoing;
  for (std::size_t row = 0; row < rows.origins.size(); ++row) {
    const auto values = std::span(rows.space).subspan(row * width, width);
    auto& message = outgoing[rows.origins[row].rank];
    message.insert(message.end(), values.begin(), values.end());
  }
  return comm_thread::collective_sparse_exchange(crew.communicator(), std::move(outgoing));
}

}  // namespace

TentativeProlongator collective_build_tentative(const comm_thread::Crew& crew,
                                                const LevelMatrix& level, const NodeRows& nodes,
                                                const Aggregates& aggregates,
                                                std::span<const double> space, int vector_count,
                                                CoarseColumns& columns) {
  const auto width = static_cast<std::size_t>(vector_count);
  const int rank = crew.communicator().rank();
  std::vector<GlobalIndex> of_nodes;
  for (std::size_t node = 0; node < static_cast<std::size_t>(nodes.node_count()); ++node)
    of_nodes.push_back(aggregates.of(node));
  const std::vector<GlobalIndex> of_rows =
      nodes.collective_spread<GlobalIndex>(crew.communicator(), of_nodes, 1);

  const spmv::RowPartition& owners = aggregates.partition();
  GatheredRows gathered = unpack(comm_thread::collective_sparse_exchange(
                                     crew.communicator(), pack(of_rows, owners, space, width)),
                                 owners.begin(rank), width);
  TentativeProlongator tentative{.rows = {}, .coarse_space = {}};
  tentative.coarse_space =
      orthonormalize(crew, gathered, static_cast<std::size_t>(owners.size(rank)), width);

  comm_thread::Lists<double> answers = collective_return(crew, gathered, width);
  std::map<int, std::size_t> next;
  tentative.rows.begin.reserve(of_rows.size() + 1);
  for (LocalIndex row = 0; row < level.row_count(); ++row) {
    const GlobalIndex aggregate = of_rows[static_cast<std::size_t>(row)];
    if (aggregate != Aggregates::none) {
      const int owner = owners.owner(aggregate);
      const double* const q = answers[owner].data() + next[owner];
      next[owner] += width;
      for (std::size_t j = 0; j < width; ++j)
        tentative.rows.couplings.push_back(
            {static_cast<float>(q[j]),
             columns.meet(aggregate * vector_count + static_cast<GlobalIndex>(j))});
    }
    tentative.rows.end_row();
  }
  return tentative;
}

spmv::RowPartition coarse_rows_of(const spmv::RowPartition& aggregates, int vector_count) {
  std::vector<GlobalIndex> sizes;
  for (int rank = 0; rank < aggregates.rank_count(); ++rank)
    sizes.push_back(aggregates.size(rank) * vector_count);
  return spmv::RowPartition::by_sizes(sizes);
}

}  // namespace weft::solver::amg
