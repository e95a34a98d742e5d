#include "solver/multigrid/couplings/row_box_exchange.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>

namespace weft::solver {
namespace {

using comm_thread::TeamThread;
using spmv::GlobalIndex;
using spmv::GridBox;

/// Consecutive rows that are points of one line.
struct RowRun {
  GlobalIndex begin = 0;
  GlobalIndex count = 0;
  std::array<GlobalIndex, 3> point{};  // of the first
};

/// Calls visit(run) for the rows [begin, end) that are points of `box`, line by line.
template <class Visit>
void for_each_run(const spmv::GridSize& grid, const GridBox& box, GlobalIndex begin,
                  GlobalIndex end, const Visit& visit) {
  const GlobalIndex plane = grid.x * grid.y;
  const GlobalIndex first_z = std::max(box.begin[2], begin / plane);
  const GlobalIndex end_z = std::min(box.end[2], (end + plane - 1) / plane);
  for (GlobalIndex z = first_z; z < end_z; ++z)
    for (GlobalIndex y = box.begin[1]; y < box.end[1]; ++y) {
      const GlobalIndex line = grid.x * (y + grid.y * z);
      const GlobalIndex first = std::max(begin, line + box.begin[0]);
      const GlobalIndex last = std::min(end, line + box.end[0]);
      if (first < last) visit(RowRun{first, last - first, {first - line, y, z}});
    }
}

/// The least box with the points of the rows [begin, end).
GridBox box_of_rows(const spmv::GridSize& grid, GlobalIndex begin, GlobalIndex end) {
  if (begin >= end) return {};
  const GlobalIndex first = begin / grid.x;  // lines
  const GlobalIndex last = (end - 1) / grid.x;
  GridBox box{{0, 0, first / grid.y}, {grid.x, grid.y, last / grid.y + 1}};
  if (first / grid.y == last / grid.y) {
    box.begin[1] = first % grid.y;
    box.end[1] = last % grid.y + 1;
  }
  return box;
}

/// Lines that go to other ranks or come from them.
template <class Line>
struct Messages {
  std::map<int, std::vector<Line>> lines;  // by rank

  /// Puts all lines in a row, each rank's together, and gives them places in a buffer.
  template <class Place, class Use>
  std::size_t place(std::vector<Line>& out, const Place& place, const Use& use) {
    std::size_t size = 0;
    for (auto& [rank, list] : lines) {
      const std::size_t begin = size;
      for (Line& line : list) {
        place(line) = size;
        size += line.count;
        out.push_back(line);
      }
      use(rank, begin, size - begin);
    }
    return size;
  }
};

/// The share of a thread in `lines`.
template <class Line>
std::span<const Line> share(const std::vector<Line>& lines, const TeamThread& thread) {
  const auto [begin, end] = comm_thread::share_of(std::ssize(lines), thread.index, thread.count);
  return std::span(lines).subspan(static_cast<std::size_t>(begin),
                                  static_cast<std::size_t>(end - begin));
}

/// Sends what all threads have packed; the threads work meanwhile.
template <class Meanwhile>
void collective_exchange(const TeamThread& thread, comm_thread::CommThread& carrier,
                         comm_thread::NeighbourExchange& exchange, const Meanwhile& meanwhile) {
  thread.barrier();
  std::optional<comm_thread::Pending> pending;
  if (thread.is_primary() && !exchange.is_empty()) pending.emplace(exchange.post(carrier));
  meanwhile();
  if (pending) pending->wait();
  thread.barrier();
}

}  // namespace

template <class Value>
RowBoxExchange<Value>::RowBoxExchange(const comm_thread::Communicator& communicator,
                                      const spmv::RowPartition& rows,
                                      const spmv::GridPartition& boxes,
                                      const spmv::GridLayout& layout) {
  const int me = communicator.rank();
  const spmv::GridSize& grid = boxes.grid();
  const GlobalIndex begin = rows.begin(me);
  const GlobalIndex end = rows.end(me);
  const GridBox own = boxes.box(me);
  Messages<Line> out;
  Messages<Line> in;
  for (const int rank : boxes.owners(box_of_rows(grid, begin, end)))
    for_each_run(grid, boxes.box(rank), begin, end, [&](const RowRun& run) {
      const auto row = static_cast<std::size_t>(run.begin - begin);
      const auto count = static_cast<std::size_t>(run.count);
      if (rank == me)
        own_.push_back({layout.index(run.point[0], run.point[1], run.point[2]), row, count});
      else
        out.lines[rank].push_back({0, row, count});
    });
  const GlobalIndex first_row = own.begin[0] + grid.x * (own.begin[1] + grid.y * own.begin[2]);
  const GlobalIndex last_row =
      own.end[0] - 1 + grid.x * (own.end[1] - 1 + grid.y * (own.end[2] - 1));
  for (int rank = rows.owner(first_row); rank <= rows.owner(last_row); ++rank) {
    if (rank == me) continue;
    for_each_run(grid, own, rows.begin(rank), rows.end(rank), [&](const RowRun& run) {
      in.lines[rank].push_back({layout.index(run.point[0], run.point[1], run.point[2]), 0,
                                static_cast<std::size_t>(run.count)});
    });
  }

  struct Range {
    std::size_t begin = 0;
    std::size_t count = 0;
  };
  std::map<int, std::pair<Range, Range>> ranges;  // in both buffers
  row_buffer_.resize(out.place(
      from_rows_, [](Line& line) -> std::size_t& { return line.box; },
      [&](int rank, std::size_t first, std::size_t count) {
        ranges[rank].first = {first, count};
      }));
  box_buffer_.resize(in.place(
      from_box_, [](Line& line) -> std::size_t& { return line.row; },
      [&](int rank, std::size_t first, std::size_t count) {
        ranges[rank].second = {first, count};
      }));
  std::vector<comm_thread::ExchangeNeighbour> there;
  std::vector<comm_thread::ExchangeNeighbour> back;
  for (const auto& [rank, range] : ranges) {
    const auto of_rows = std::span(row_buffer_).subspan(range.first.begin, range.first.count);
    const auto of_box = std::span(box_buffer_).subspan(range.second.begin, range.second.count);
    there.push_back({rank, std::as_bytes(of_rows), std::as_writable_bytes(of_box)});
    back.push_back({rank, std::as_bytes(of_box), std::as_writable_bytes(of_rows)});
  }
  to_boxes_.emplace(communicator, "rows to boxes", there, communicator.new_tag());
  to_rows_.emplace(communicator, "boxes to rows", back, communicator.new_tag());
}

template <class Value>
void RowBoxExchange<Value>::collective_to_boxes(const TeamThread& thread,
                                                comm_thread::CommThread& carrier,
                                                const double* rows, double factor, Value* box) {
  const auto copy = [&](const Line& line, Value* to) {
    const double* const from = rows + line.row;
    for (std::size_t i = 0; i < line.count; ++i) to[i] = static_cast<Value>(factor * from[i]);
  };
  for (const Line& line : share(from_rows_, thread)) copy(line, row_buffer_.data() + line.box);
  collective_exchange(thread, carrier, *to_boxes_, [&] {
    for (const Line& line : share(own_, thread)) copy(line, box + line.box);
  });
  if (from_box_.empty()) return;
  for (const Line& line : share(from_box_, thread))
    std::copy_n(box_buffer_.data() + line.row, line.count, box + line.box);
  thread.barrier();
}

template <class Value>
void RowBoxExchange<Value>::collective_to_rows(const TeamThread& thread,
                                               comm_thread::CommThread& carrier, const Value* box,
                                               double factor, double* rows) {
  for (const Line& line : share(from_box_, thread))
    std::copy_n(box + line.box, line.count, box_buffer_.data() + line.row);
  const auto copy = [&](const Line& line, const Value* from) {
    double* const to = rows + line.row;
    for (std::size_t i = 0; i < line.count; ++i) to[i] = factor * static_cast<double>(from[i]);
  };
  collective_exchange(thread, carrier, *to_rows_, [&] {
    for (const Line& line : share(own_, thread)) copy(line, box + line.box);
  });
  if (from_rows_.empty()) return;
  for (const Line& line : share(from_rows_, thread)) copy(line, row_buffer_.data() + line.box);
  thread.barrier();
}

template class RowBoxExchange<float>;
template class RowBoxExchange<double>;

}  // namespace weft::solver
