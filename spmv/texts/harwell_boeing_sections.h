#pragma once

#include <cstdint>
#include <string>

#include "comm_thread/mpi/communicator.h"
#include "spmv/files/remarks.h"
#include "spmv/texts/fixed_numbers.h"
#include "spmv/texts/harwell_boeing_header.h"

namespace weft::spmv {

/// Where the numbers of a Harwell-Boeing file stand, the same on every rank.
struct HarwellBoeingSections {
  HarwellBoeingHeader header;
  NumberSection pointers;
  NumberSection indices;
  NumberSection values;  // none of a pattern; two of a complex number
  NumberSection right_hand_sides;
  std::int64_t unread_lines = 0;  // behind them that are not blank
  std::int64_t unread_bytes = 0;  // behind the compressed text

  /// What whoever reads the matrix has to know. `path`: of the file.
  Remarks remarks(const std::string& path) const;
};

/// Rank 0 reads the header and goes once through the file, plain or compressed, to note where some
/// of its lines begin: 8 bytes for 1024 lines. So sizes in the header have been compared with the
/// file before anybody believes them.
/// Collective. Throws comm_thread::InputError, the same on every rank.
HarwellBoeingSections collective_find_sections(const comm_thread::Communicator& communicator,
                                               const std::string& path);

}  // namespace weft::spmv
