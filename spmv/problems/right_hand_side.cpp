#include "spmv/problems/right_hand_side.h"

#include <algorithm>
#include <stdexcept>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/number_in.h"
#include "spmv/names/file_format.h"
#include "spmv/problems/diffusion_generator.h"
#include "spmv/problems/random_numbers.h"
#include "spmv/problems/stencil_generator.h"

namespace weft::spmv {
namespace {

using comm_thread::InputError;

[[noreturn]] void fail(std::string_view word, const std::string& complaint) {
  throw InputError("right-hand side '" + std::string(word) + "': " + complaint);
}

std::uint64_t parse_seed(std::string_view word, std::string_view text) {
  const auto seed = comm_thread::number_in<std::uint64_t>(text);
  if (!seed)
    fail(word, "found the seed '" + std::string(text) +
                   "'; expected a whole number from 0 to 18446744073709551615");
  return *seed;
}

}  // namespace

RightHandSide RightHandSide::parse(std::string_view word) {
  constexpr std::string_view random = "random:";
  constexpr std::string_view x_random = "x-random:";
  if (word == "ones") return {RightHandSideKind::ones, 0, {}};
  if (word == "boundary-one") return {RightHandSideKind::boundary_one, 0, {}};
  if (is_vector_file(word)) return {RightHandSideKind::file, 0, std::string(word)};
  if (word.starts_with(random))
    return {RightHandSideKind::random, parse_seed(word, word.substr(random.size())), {}};
  if (word.starts_with(x_random))
    return {RightHandSideKind::x_random, parse_seed(word, word.substr(x_random.size())), {}};
  fail(word,
       "not a known one; expected ones, boundary-one, random:SEED, x-random:SEED, FILE.mtx, "
       "FILE.mtx.gz, FILE.npy, FILE.petsc, FILE.bin, FILE.h5, FILE.txt, FILE.rua or NAME.00000");
}

std::string RightHandSide::name() const {
  switch (kind) {
    case RightHandSideKind::ones:
      return "ones";
    case RightHandSideKind::boundary_one:
      return "boundary-one";
    case RightHandSideKind::random:
      return "random:" + std::to_string(seed);
    case RightHandSideKind::x_random:
      return "x-random:" + std::to_string(seed);
    case RightHandSideKind::file:
      break;
  }
  return path;
}

void check(const RightHandSide& right_hand_side, const Problem& problem) {
  if (right_hand_side.kind == RightHandSideKind::boundary_one && !problem.has_grid())
    fail(right_hand_side.name(), "problem '" + problem.name() +
                                     "' has no grid and so no boundary; expected a grid problem "
                                     "(poisson3d, ...) or another right-hand side");
}

void fill_rows(const RightHandSide& right_hand_side, const Problem& problem, GlobalIndex first_row,
               std::span<double> own) {
  switch (right_hand_side.kind) {
    case RightHandSideKind::ones:
      std::fill(own.begin(), own.end(), 1.0);
      return;
    case RightHandSideKind::boundary_one:
      if (problem.has_stencil())
        StencilGenerator(problem).sum_missing_weights(first_row, first_row + std::ssize(own), own);
      else
        DiffusionGenerator(problem).sum_missing_weights(first_row, first_row + std::ssize(own),
                                                        own);
      return;
    case RightHandSideKind::random:
    case RightHandSideKind::x_random:
      for (std::size_t i = 0; i < own.size(); ++i)
        own[i] = uniform(right_hand_side.seed, first_row + static_cast<GlobalIndex>(i));
      return;
    case RightHandSideKind::file:
      throw std::invalid_argument("a right-hand side from a file is read, not generated");
  }
}

void fill(const RightHandSide& right_hand_side, const Problem& problem,
          const RowPartition& partition, int rank, const comm_thread::ComputeTeam& team,
          std::span<double> own) {
  check(right_hand_side, problem);
  team.run([&](const comm_thread::TeamThread& thread) {
    const auto share = comm_thread::share_of(std::ssize(own), thread.index, thread.count);
    fill_rows(right_hand_side, problem, partition.begin(rank) + share.begin,
              own.subspan(static_cast<std::size_t>(share.begin),
                          static_cast<std::size_t>(share.end - share.begin)));
  });
}

}  // namespace weft::spmv
