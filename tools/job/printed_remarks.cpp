#include "tools/job/printed_remarks.h"

#include <cstdio>
#include <string>

#include <fmt/format.h>

namespace weft::tools {

void print_remarks(const Job& job, const spmv::Remarks& remarks) {
  if (!job.is_root()) return;
  for (const std::string& remark : remarks) fmt::print(stderr, "note: {}\n", remark);
}

}  // namespace weft::tools
