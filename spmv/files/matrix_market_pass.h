#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

#include "spmv/files/matrix_market_entries.h"
#include "spmv/files/matrix_market_file.h"
#include "spmv/files/matrix_market_rounds.h"
#include "spmv/files/matrix_market_router.h"
#include "spmv/files/text_fault.h"

namespace weft::spmv {

/// Result of a pass over a file, the same on every rank.
struct MatrixMarketPass {
  std::int64_t entry_count = 0;  // of all ranks
  bool has_fault = false;
};

/// Passes over data lines once, in rounds, and delivers their entries.
///
/// `collective_round(keep, router, count)`: calls `keep(entry)` for each entry of a round, until
/// the router is full, adds the number of lines of data to `count` and returns whether this rank
/// has more; throws TextFault for a fault. `take(entry)`: called on the rank that owns the entry's
/// row.
/// Every round ends with one reduction in which the ranks agree whether anybody has more or has
/// met a fault; entries travel only in rounds in which somebody has some for others. A fault ends
/// the pass on all ranks in the same round.
/// Collective. Memory: a few MB.
template <class Round, class Take>
MatrixMarketPass collective_pass_in_rounds(const comm_thread::Communicator& communicator,
                                           const RowPartition& partition, Round&& collective_round,
                                           Take&& take) {
  MatrixMarketRouter router(communicator, partition);
  const auto keep = [&](const MatrixEntry& entry) {
    if (router.owns(entry.row))
      take(entry);
    else
      router.push(entry);
  };

  MatrixMarketPass pass;
  for (bool has_more = true; has_more && !pass.has_fault;) {
    enum { more, faults, senders, entries };
    std::array<std::int64_t, 4> state{};
    try {
      state[more] = collective_round(keep, std::as_const(router), state[entries]);
    } catch (const TextFault&) {
      state[faults] = 1;
    }
    state[senders] = !router.is_empty();
    communicator.sum(state);
    if (state[senders] > 0)
      for (const auto& [rank, list] : router.collective_exchange())
        for (const MatrixEntry& entry : list) take(entry);
    pass.entry_count += state[entries];
    pass.has_fault = state[faults] > 0;
    has_more = state[more] > 0;
  }
  return pass;
}

/// The same for the entries that `read` finds in the lines of `file`. `read(lines, keep)`: calls
/// `keep(entry)` for each entry in `lines` and returns the number of lines of data, or -1 for a
/// fault.
template <class Read, class Take>
MatrixMarketPass collective_pass(MatrixMarketFile& file, MatrixMarketRounds::Dealing dealing,
                                 const RowPartition& partition, Read&& read, Take&& take) {
  MatrixMarketRounds rounds(file, dealing);
  const auto collective_round = [&](const auto& keep, const MatrixMarketRouter& router,
                                    std::int64_t& count) {
    return rounds.collective_round([&](std::string_view lines) {
      const std::int64_t more = read(lines, keep);
      if (more < 0) throw TextFault("");
      count += more;
      return !router.is_full();
    });
  };
  return collective_pass_in_rounds(file.communicator(), partition, collective_round, take);
}

}  // namespace weft::spmv
