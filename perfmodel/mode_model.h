#pragma once

namespace weft::perfmodel {

/// Times of the parts of one product y = A·x and its halo exchange on a rank, in seconds.
struct ModeCosts {
  double product = 0;  // all rows in one pass
  double interior = 0;  // rows that need no halo
  double boundary = 0;  // rows that need the halo
  double pack = 0;  // copying values to send and received values
  double halo = 0;  // the exchange alone
  double carrying = 0;  // time that the concurrent exchange adds to the interior rows
  double handover = 0;  // to the communication thread and back
};

/// One time for each mode.
struct ModeTimes {
  double vector = 0;
  double overlap = 0;
  double overlap_test = 0;
  double task = 0;
};

/// Time of a halo exchange over a link: the latency of every message plus all bytes at the
/// bandwidth.
double halo_seconds(double message_count, double bytes, double latency_seconds,
                    double bytes_per_second);

/// Predicted time of one product in each mode:
///
///     vector        pack + halo + product
///     overlap       the same: MPI makes no progress while the program multiplies
///     overlap-test  pack + max(interior + carrying, halo) + boundary
///     task          the same + handover
///
/// `boundary` and `interior` together may take longer than `product`: boundary rows are processed
/// one by one. Source: Hager et al. 2011, section 3 (the modes).
ModeTimes predict_modes(const ModeCosts& costs);

}  // namespace weft::perfmodel
