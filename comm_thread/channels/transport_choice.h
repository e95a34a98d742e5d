#pragma once

#include <string>
#include <string_view>

namespace weft::comm_thread {

/// Mechanism that moves the messages of a channel.
enum class TransportKind { two_sided, one_sided, shared, shmem };

/// Completion of an MPI_Put (Yamazaki et al. 2019, Table 2). The local variants complete it at the
/// origin only; a checksum in the message shows the receiver that it is complete.
enum class OneSidedVariant { flush, flush_local, overlap, overlap_local };

/// Blocking or non-blocking OpenSHMEM puts.
enum class OpenShmemVariant { put, put_overlap };

/// A transport and its variant, as on the command line: `two-sided`, `one-sided`,
/// `one-sided:flush|flush-local|overlap|overlap-local`, `shared`, `shmem`, `shmem:put|put-overlap`.
/// Without a variant: `overlap-local` and `put-overlap`.
struct TransportChoice {
  TransportKind kind = TransportKind::two_sided;
  OneSidedVariant one_sided = OneSidedVariant::overlap_local;
  OpenShmemVariant shmem = OpenShmemVariant::put_overlap;
};

/// Throws InputError with the list of valid names.
TransportChoice transport_choice(std::string_view text);
/// What it understands, in two lines.
const char* transport_words();

/// Inverse of `transport_choice`.
std::string name(const TransportChoice& choice);

}  // namespace weft::comm_thread
