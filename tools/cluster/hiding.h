#pragma once

#include "tools/cluster/connection.h"

namespace weft::tools {

/// How much of a transfer the threads of a host hide behind its computation where sockets are all
/// there is: two threads send and receive by calls that block, a third one reads an array
/// meanwhile. What no other way of communicating on the same cores can exceed by much.
struct LabHiding {
  double transfer_seconds = 0;
  double hidden_fraction = 0;  // 1 − (both − computation) / transfer, medians
};

/// Both sides exchange as much as takes about 10 ms at `bits_per_second`, alone, compute as long,
/// and do both at the same time; on the other side `serve_hiding` runs.
LabHiding measure_hiding(const LabConnection& server, double bits_per_second);
void serve_hiding(const LabConnection& client);

}  // namespace weft::tools
