#include "solver/checkpoint/system_checksum.h"

#include <algorithm>
#include <cmath>
#include <memory>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "perfmodel/huge_page_buffer.h"
#include "perfmodel/phase_times.h"
#include "solver/checkpoint/packed_rows.h"

namespace weft::solver {

using comm_thread::TeamThread;

void fill_with_probe(const TeamThread& thread, const spmv::LinearOperator& op, double* vector) {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
  constexpr unsigned unused_bits = 11;
  for (const spmv::Segment& segment : op.segments(thread.index)) {
    if (segment.count == 0) continue;
    const auto row = static_cast<std::uint64_t>(op.global_row(segment.begin));
    for (std::size_t i = 0; i < static_cast<std::size_t>(segment.count); ++i)
      vector[segment.begin + i] =
          1 + std::ldexp(static_cast<double>((row + i + 1) * odd >> unused_bits), -53);
  }
}

std::uint64_t collective_matrix_checksum(spmv::LinearOperator& op, spmv::Mode mode) {
  const auto operand = op.collective_make_operand();
  perfmodel::HugePageBuffer<double> product(op.element_count());
  op.team().run([&](const TeamThread& thread) {
    fill_with_probe(thread, op, operand->values());
    perfmodel::PhaseTimer not_reported;
    op.apply(thread, mode, *operand, product.data(), not_reported, {});
    thread.barrier();
  });
  return collective_checksum(op, product.data());
}

std::uint64_t text_checksum(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

SolveIdentity identity_of(std::string_view recurrence, std::int64_t row_count) {
  SolveIdentity identity;
  std::copy_n(recurrence.begin(), std::min(recurrence.size(), identity.recurrence.size() - 1),
              identity.recurrence.begin());
  identity.row_count = row_count;
  return identity;
}

}  // namespace weft::solver
