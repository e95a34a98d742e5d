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

/// Time of a halo exchange over a link: the latency of every message plus all bytes at the
/// bandwidth.
double halo_seconds(double message_count, double bytes, double latency_seconds,
                    double bytes_per_second);

/// Predicted time of one product after its exchange. Source: Hager et al. 2011, section 3.
double sequential_seconds(const ModeCosts& costs);

/// Predicted time of one product beside its exchange: pack + max(interior + carrying, halo) +
/// boundary. `boundary` and `interior` together may take longer than `product`: boundary rows are
/// processed one by one.
double overlapped_seconds(const ModeCosts& costs);

}  // namespace weft::perfmodel
