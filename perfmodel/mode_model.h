#pragma once

namespace weft::perfmodel {

/// What one product y = A·x and its halo exchange take on a rank, in seconds.
struct ModeCosts {
  double product = 0;  // all rows in one go
  double interior = 0;  // rows that need no halo
  double boundary = 0;  // the others
  double pack = 0;  // copying what neighbours need, and what came from them
  double halo = 0;  // the exchange, nothing else being done
  double carrying = 0;  // by how much the exchange prolongs the interior rows beside it
  double handover = 0;  // to the communication thread and back
};

/// One number for each mode.
struct ModeTimes {
  double vector = 0;
  double overlap = 0;
  double overlap_test = 0;
  double task = 0;
};

/// Time of a halo exchange over a link: every message its latency, all bytes the bandwidth.
double halo_seconds(double message_count, double bytes, double latency_seconds,
                    double bytes_per_second);

/// Predicted time of one product in each mode:
///
///     vector        pack + halo + product
///     overlap       the same: the library moves nothing while the program multiplies
///     overlap-test  pack + max(interior + carrying, halo) + boundary
///     task          the same + handover
///
/// `boundary` and `interior` together may take longer than `product`: boundary rows are met one by
/// one. Source: Hager et al. 2011, section 3 (the modes).
ModeTimes predict_modes(const ModeCosts& costs);

}  // namespace weft::perfmodel
