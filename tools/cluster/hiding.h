#pragma once

#include "tools/cluster/connection.h"

namespace weft::tools {

/// Share of a transfer that the threads of a host hide behind its computation with sockets alone:
/// two threads send and receive by blocking calls while a third one reads an array. No other way of
/// communicating on the same cores can exceed it by much.
struct LabHiding {
  double transfer_seconds = 0;  // below 0: in vain, the cores were busy
  double hidden_fraction = 0;  // 1 − (both − computation) / transfer, medians
};

/// Both sides exchange as much as takes about 10 ms at `bits_per_second`, alone, compute as long,
/// and do both at the same time; on the other side `serve_hiding` runs.
LabHiding measure_hiding(const LabConnection& server, double bits_per_second);
void serve_hiding(const LabConnection& client);

}  // namespace weft::tools
