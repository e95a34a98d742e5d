#include "spmv/rows/redistribution.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

namespace weft::spmv {
namespace {

using comm_thread::for_each_of_share;
using comm_thread::TeamThread;

/// Sends what all threads have packed; they copy what stays meanwhile.
template <class Meanwhile>
void collective_exchange(const TeamThread& thread, comm_thread::CommThread& comm_thread,
                         comm_thread::NeighbourExchange& exchange, const Meanwhile& meanwhile) {
  thread.barrier();
  std::optional<comm_thread::Pending> pending;
  if (thread.is_primary() && !exchange.is_empty()) pending.emplace(exchange.post(comm_thread));
  meanwhile();
  if (pending) pending->wait();
  thread.barrier();
}

template <class Piece>
std::size_t size_of(const comm_thread::Lists<Piece>& lists) {
  std::size_t size = 0;
  for (const auto& [rank, pieces] : lists)
    for (const Piece& piece : pieces) size += piece.count;
  return size;
}

}  // namespace

template <class Value>
Redistribution<Value>::Redistribution(const comm_thread::Crew& crew, std::vector<Line> kept,
                                      const comm_thread::Lists<Piece>& leaving,
                                      const comm_thread::Lists<Piece>& arriving,
                                      const std::string& name)
    : crew_(crew), kept_(std::move(kept)) {
  leaving_buffer_.resize(size_of(leaving));
  arriving_buffer_.resize(size_of(arriving));
  std::map<int, std::pair<std::span<Value>, std::span<Value>>> parts;  // of both buffers, by rank
  std::size_t place = 0;
  for (const auto& [rank, pieces] : leaving) {
    const std::size_t begin = place;
    for (const Piece& piece : pieces) {
      leaving_.push_back({piece.begin, place, piece.count});
      place += piece.count;
    }
    parts[rank].first = std::span(leaving_buffer_).subspan(begin, place - begin);
  }
  place = 0;
  for (const auto& [rank, pieces] : arriving) {
    const std::size_t begin = place;
    for (const Piece& piece : pieces) {
      arriving_.push_back({place, piece.begin, piece.count});
      place += piece.count;
    }
    parts[rank].second = std::span(arriving_buffer_).subspan(begin, place - begin);
  }
  std::vector<comm_thread::ExchangeNeighbour> there;
  std::vector<comm_thread::ExchangeNeighbour> back;
  for (const auto& [rank, part] : parts) {
    there.push_back({rank, std::as_bytes(part.first), std::as_writable_bytes(part.second)});
    back.push_back({rank, std::as_bytes(part.second), std::as_writable_bytes(part.first)});
  }
  const comm_thread::Communicator& communicator = crew.communicator();
  there_.emplace(communicator, name, there, communicator.new_tag());
  back_.emplace(communicator, name + ", back", back, communicator.new_tag());
}

template <class Value>
void Redistribution<Value>::collective_there(const TeamThread& thread, const double* one,
                                             double factor, Value* other) {
  const auto copy = [&](const Line& line, Value* to) {
    const double* const from = one + line.one;
    for (std::size_t i = 0; i < line.count; ++i) to[i] = static_cast<Value>(factor * from[i]);
  };
  for_each_of_share(leaving_, thread.index, thread.count,
                    [&](const Line& line) { copy(line, leaving_buffer_.data() + line.other); });
  collective_exchange(thread, crew_.comm_thread(), *there_, [&] {
    for_each_of_share(kept_, thread.index, thread.count,
                      [&](const Line& line) { copy(line, other + line.other); });
  });
  if (arriving_.empty()) return;
  for_each_of_share(arriving_, thread.index, thread.count, [&](const Line& line) {
    std::copy_n(arriving_buffer_.data() + line.one, line.count, other + line.other);
  });
  thread.barrier();
}

template <class Value>
void Redistribution<Value>::collective_back(const TeamThread& thread, const Value* other,
                                            double factor, double* one) {
  const auto copy = [&](const Line& line, const Value* from) {
    double* const to = one + line.one;
    for (std::size_t i = 0; i < line.count; ++i) to[i] = factor * static_cast<double>(from[i]);
  };
  for_each_of_share(arriving_, thread.index, thread.count, [&](const Line& line) {
    std::copy_n(other + line.other, line.count, arriving_buffer_.data() + line.one);
  });
  collective_exchange(thread, crew_.comm_thread(), *back_, [&] {
    for_each_of_share(kept_, thread.index, thread.count,
                      [&](const Line& line) { copy(line, other + line.other); });
  });
  if (leaving_.empty()) return;
  for_each_of_share(leaving_, thread.index, thread.count,
                    [&](const Line& line) { copy(line, leaving_buffer_.data() + line.other); });
  thread.barrier();
}

template class Redistribution<float>;
template class Redistribution<double>;

}  // namespace weft::spmv
