#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "comm_thread/mpi/communicator.h"
#include "solver/checkpoint/packed_rows.h"

namespace weft::solver {

/// What a solve is of. The checksums depend on the values alone, not on ranks, threads, formats and
/// the names of files.
struct SolveIdentity {
  std::array<char, 64> recurrence{};  // its name, which implies what the state holds
  std::int64_t row_count = 0;
  std::uint64_t matrix = 0;
  std::uint64_t right_hand_side = 0;
  std::uint64_t preconditioner = 0;
};

/// The first bytes of a checkpoint; whole vectors in order of global rows follow it.
///
///     bytes   0 … 4095   header
///             4096 …     vector 0, all rows │ vector 1 │ …      little-endian doubles
struct CheckpointHeader {
  static constexpr std::size_t most_scalars = 48;
  static constexpr std::uint64_t most_vectors = 65'536;
  static constexpr std::int64_t byte_count = 4096;

  SolveIdentity identity;
  std::int64_t iteration = 0;
  std::uint64_t vector_count = 0;
  std::uint64_t scalar_count = 0;
  std::uint64_t checksum = 0;  // of all vectors
  std::array<double, most_scalars> scalars{};

  std::int64_t offset(std::size_t vector) const {
    return byte_count + static_cast<std::int64_t>(vector) * identity.row_count * 8;
  }
};

/// "FILE.previous": the generation before FILE.
std::string previous_checkpoint(const std::string& path);

/// Throws where a checkpoint could not be written to `path`, or where something else is there.
/// Collective. Throws comm_thread::InputError on every rank.
void collective_check_checkpoint_path(const comm_thread::Communicator& communicator,
                                      const std::string& path);

/// Writes a checkpoint to FILE.new, flushes it to the disk and renames it FILE; the one before
/// becomes FILE.previous. Whatever fails, and whenever the job is killed, FILE is the newest whole
/// one. Fills in the checksum. `values`: the packed vectors, one after the other.
/// Collective. Thread: any one. Throws comm_thread::InputError on every rank.
void collective_write_checkpoint(const comm_thread::Communicator& communicator,
                                 const std::string& path, CheckpointHeader& header,
                                 const PackedRows& rows, std::span<const double> values);

/// Reads and checks a header. Collective. Throws comm_thread::InputError on every rank.
CheckpointHeader collective_read_checkpoint_header(const comm_thread::Communicator& communicator,
                                                   const std::string& path);

/// Reads the rows of this rank and compares checksums. `values`: as of
/// `collective_write_checkpoint`. Collective. Throws comm_thread::InputError on every rank.
void collective_read_checkpoint(const comm_thread::Communicator& communicator,
                                const std::string& path, const CheckpointHeader& header,
                                const PackedRows& rows, std::span<double> values);

}  // namespace weft::solver
