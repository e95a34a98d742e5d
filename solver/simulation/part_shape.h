#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "comm_thread/engine/halo_exchange.h"
#include "spmv/grid/grid_layout.h"
#include "spmv/rows/index.h"

namespace weft::solver {

/// The cubes that simulated ranks hold: n³ points each, all of the same layout, in a block of ranks
/// x, then y, then z.
///
///     face 0: -x, 1: +x, 2: -y, 3: +y, 4: -z, 5: +z; a message carries the n² points of one face
class PartShape {
 public:
  /// `ranks`: per direction. `points`: per direction of a part.
  PartShape(const std::array<int, 3>& ranks, int points);

  const std::array<int, 3>& ranks() const { return ranks_; }
  int rank_count() const { return ranks_[0] * ranks_[1] * ranks_[2]; }
  int points() const { return points_; }
  std::size_t own_count() const { return face_size() * static_cast<std::size_t>(points_); }
  std::size_t face_size() const {
    return static_cast<std::size_t>(points_) * static_cast<std::size_t>(points_);
  }
  const spmv::GridLayout& layout() const { return layout_; }

  std::array<int, 3> place(int rank) const;
  /// The rank beyond `face`, or -1 at the boundary.
  int neighbour(int rank, std::size_t face) const;

  /// Faces of a rank that have a neighbour, in the order of the neighbours' ranks.
  std::vector<std::uint8_t> faces_with_neighbour(int rank) const;

  /// What a rank exchanges: a face with each neighbour, in the order of `faces_with_neighbour`.
  std::vector<comm_thread::HaloNeighbour> halo_neighbours(int rank) const;

  /// Fraction of a rank's points that need no neighbour, in a part of `points` per direction.
  double interior_fraction(int rank, int points) const;

  /// Copies the part's own points at a face. Shape: values: [element_count], out: [face_size].
  void pack(std::span<const double> values, std::size_t face, std::span<double> out) const;
  /// Copies to the ghosts beyond a face. Shape: values: [element_count], in: [face_size].
  void unpack(std::span<double> values, std::size_t face, std::span<const double> in) const;

  /// Copies own points, x first, to an array with ghosts. Shape: own: [own_count].
  void put_own(std::span<const double> own, std::span<double> values) const;
  /// The 7-point Laplacian, 6·u less the sum of the neighbours. Shape: values: [element_count],
  /// product: [own_count].
  void multiply_laplacian(std::span<const double> values, std::span<double> product) const;

  /// Elements of the layout: the part's own points at a face, and the ghosts beyond it, in the same
  /// order. Shape: [face_size].
  const std::vector<std::uint32_t>& own(std::size_t face) const { return own_[face]; }
  const std::vector<std::uint32_t>& ghosts(std::size_t face) const { return ghosts_[face]; }

 private:
  std::array<int, 3> ranks_;
  int points_;
  spmv::GridLayout layout_;
  std::array<std::vector<std::uint32_t>, 6> own_;
  std::array<std::vector<std::uint32_t>, 6> ghosts_;
};

/// Ranks per direction, as equal as possible, x doubled before y before z: the order in which
/// Bethune et al. 2012 let their problem grow. Their product is `rank_count`.
std::array<int, 3> ranks_per_direction(int rank_count);

}  // namespace weft::solver
