#include "solver/amg/coarsening/foreign_rows.h"

#include <cstdint>
#include <type_traits>
#include <utility>

#include "comm_thread/mpi/sparse_exchange.h"

namespace weft::solver::amg {
namespace {

using comm_thread::Bytes;
using spmv::GlobalIndex;
using spmv::LocalIndex;

/// Entries of a row in a message.
struct RowSize {
  std::int32_t transposed = 0;
  std::int32_t product = 0;
};

/// Rows of P and A·P in a message.
struct SentRows {
  std::vector<GlobalIndex> rows;
  std::vector<RowSize> sizes;  // [rows]
  std::vector<GlobalIndex> names;  // of columns
  std::vector<double> product;
  std::vector<std::int32_t> product_names;  // the place of each entry's column in `names`
  std::vector<float> transposed;
  std::vector<std::int32_t> transposed_names;
};

/// Calls visit(array) for each of them.
template <class Rows, class Visit>
void for_arrays(Rows& rows, const Visit& visit) {
  visit(rows.rows);
  visit(rows.sizes);
  visit(rows.names);
  visit(rows.product);
  visit(rows.product_names);
  visit(rows.transposed);
  visit(rows.transposed_names);
}

/// The lengths of all arrays, then the arrays, those of 8 bytes an element first.
Bytes pack(const SentRows& rows) {
  std::vector<std::int64_t> lengths;
  std::size_t bytes = 0;
  for_arrays(rows, [&](const auto& array) {
    lengths.push_back(std::ssize(array));
    bytes += array.size() * sizeof(array.front());
  });
  Bytes message;
  message.reserve(lengths.size() * sizeof(lengths.front()) + bytes);
  const auto add = [&](const auto& array) {
    const auto part = std::as_bytes(std::span(array));
    message.insert(message.end(), part.begin(), part.end());
  };
  add(lengths);
  for_arrays(rows, add);
  return message;
}

SentRows unpack(const Bytes& message) {
  SentRows rows;
  std::size_t array_count = 0;
  for_arrays(rows, [&](const auto&) { ++array_count; });
  const auto* length = reinterpret_cast<const std::int64_t*>(message.data());
  const std::byte* next = message.data() + array_count * sizeof(*length);
  for_arrays(rows, [&](auto& array) {
    using Element = typename std::remove_reference_t<decltype(array)>::value_type;
    const auto* const begin = reinterpret_cast<const Element*>(next);
    array.assign(begin, begin + *length);
    next += array.size() * sizeof(Element);
    ++length;
  });
  return rows;
}

/// This rank's rows with columns of others, by the owners of these.
std::map<int, std::vector<LocalIndex>> find_rows(const CouplingRows<float>& prolongator,
                                                 std::size_t row_count,
                                                 const spmv::RowPartition& coarse,
                                                 const CoarseColumns& columns) {
  std::map<int, std::vector<LocalIndex>> found;
  if (columns.count() == columns.own_count()) return found;
  for (std::size_t row = 0; row < row_count; ++row)
    for (const auto& [value, column] : prolongator.row(row)) {
      if (columns.is_own(column)) continue;
      auto& rows = found[coarse.owner(columns.global(column))];
      if (rows.empty() || rows.back() != static_cast<LocalIndex>(row))
        rows.push_back(static_cast<LocalIndex>(row));
    }
  return found;
}

/// Names the columns of one message after the other.
class Names {
 public:
  explicit Names(const CoarseColumns& columns)
      : columns_(columns), places_(static_cast<std::size_t>(columns.count()), none) {}

  std::int32_t place(LocalIndex column) {
    std::int32_t& place = places_[static_cast<std::size_t>(column)];
    if (place == none) {
      place = static_cast<std::int32_t>(named_.size());
      named_.push_back(column);
    }
    return place;
  }
  /// Of the message that ends here.
  std::vector<GlobalIndex> take() {
    std::vector<GlobalIndex> names;
    names.reserve(named_.size());
    for (const LocalIndex column : named_) {
      names.push_back(columns_.global(column));
      places_[static_cast<std::size_t>(column)] = none;
    }
    named_.clear();
    return names;
  }

 private:
  static constexpr std::int32_t none = -1;

  const CoarseColumns& columns_;
  std::vector<std::int32_t> places_;
  std::vector<LocalIndex> named_;
};

}  // namespace

Foreign collective_exchange_rows(const comm_thread::Crew& crew, const LevelMatrix& level,
                                 const CouplingRows<float>& prolongator,
                                 const ProductRow& product_row, const spmv::RowPartition& coarse,
                                 CoarseColumns& columns) {
  Foreign foreign;
  foreign.sent =
      find_rows(prolongator, static_cast<std::size_t>(level.row_count()), coarse, columns);
  std::map<int, Bytes> messages;
  Names names(columns);
  for (const auto& [owner, rows] : foreign.sent) {
    SentRows sent;
    for (const LocalIndex row : rows) {
      const auto i = static_cast<std::size_t>(row);
      const FineRow product = product_row(i);
      RowSize size{.product = static_cast<std::int32_t>(product.size())};
      for (const auto& [value, column] : prolongator.row(i)) {
        const GlobalIndex global = columns.global(column);
        if (global < coarse.begin(owner) || global >= coarse.end(owner)) continue;
        sent.transposed.push_back(value);
        sent.transposed_names.push_back(names.place(column));
        ++size.transposed;
      }
      for (const PackedCoupling& coupling : product) {
        sent.product.push_back(coupling.value());
        sent.product_names.push_back(names.place(coupling.column()));
      }
      sent.rows.push_back(level.matrix.first_row() + row);
      sent.sizes.push_back(size);
    }
    sent.names = names.take();
    messages[owner] = pack(sent);
  }
  // Ascending ranks, and each sends its rows in order: all rows are in order.
  for (const auto& [source, bytes] :
       comm_thread::collective_sparse_exchange(crew.communicator(), std::move(messages))) {
    const SentRows sent = unpack(bytes);
    std::vector<LocalIndex> numbers;
    numbers.reserve(sent.names.size());
    for (const GlobalIndex column : sent.names) numbers.push_back(columns.meet(column));
    const auto number = [&](std::int32_t place) {
      return numbers[static_cast<std::size_t>(place)];
    };
    std::size_t next = 0;
    std::size_t next_product = 0;
    for (std::size_t i = 0; i < sent.rows.size(); ++i) {
      foreign.rows.push_back({sent.rows[i], source});
      for (std::int32_t k = 0; k < sent.sizes[i].transposed; ++k, ++next)
        foreign.transposed.couplings.push_back(
            {sent.transposed[next], number(sent.transposed_names[next])});
      foreign.transposed.end_row();
      for (std::int32_t k = 0; k < sent.sizes[i].product; ++k, ++next_product)
        foreign.product.couplings.push_back(
            PackedCoupling({sent.product[next_product], number(sent.product_names[next_product])}));
      foreign.product.end_row();
    }
  }
  return foreign;
}

void collective_renew_values(const comm_thread::Crew& crew,
                             const perfmodel::PageVector<FineRow>& product, Foreign& foreign) {
  comm_thread::Lists<double> values;
  for (const auto& [owner, rows] : foreign.sent)
    for (const LocalIndex row : rows)
      for (const PackedCoupling& coupling : product[static_cast<std::size_t>(row)])
        values[owner].push_back(coupling.value());
  auto next = foreign.product.couplings.begin();  // ascending ranks, as the rows came
  for (const auto& [source, list] :
       comm_thread::collective_sparse_exchange(crew.communicator(), std::move(values)))
    for (const double value : list) (next++)->set_value(value);
}

spmv::HaloPlan plan_of(const Foreign& foreign) {
  std::map<int, comm_thread::HaloNeighbour> neighbours;
  spmv::HaloPlan plan;
  for (const ForeignRow& row : foreign.rows) {
    comm_thread::HaloNeighbour& neighbour = neighbours[row.owner];
    if (neighbour.receive_count++ == 0) neighbour.receive_begin = plan.halo_count;
    ++plan.halo_count;
  }
  for (const auto& [rank, rows] : foreign.sent) {
    neighbours[rank].send_begin = std::ssize(plan.send_list);
    neighbours[rank].send_count = std::ssize(rows);
    plan.send_list.insert(plan.send_list.end(), rows.begin(), rows.end());
  }
  plan.neighbours = comm_thread::in_order(neighbours);
  return plan;
}

}  // namespace weft::solver::amg
