#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "spmv/problems/diffusion_settings.h"
#include "spmv/problems/heisenberg_settings.h"
#include "spmv/problems/holstein_hubbard_settings.h"
#include "spmv/rows/index.h"

namespace weft::spmv {

enum class ProblemKind {
  poisson2d,
  poisson3d,
  poisson3d27,
  anisotropic3d,
  diffusion3d,
  irregular,
  anderson3d,
  holstein_hubbard,
  heisenberg,
  elasticity3d,
  convection3d,
  file
};

/// Interior points per direction; x runs fastest.
struct GridSize {
  GlobalIndex x = 1;
  GlobalIndex y = 1;
  GlobalIndex z = 1;

  /// The same where x and direction `d` have changed places.
  GridSize with_x_exchanged(std::size_t d) const {
    return d == 1 ? GridSize{y, x, z} : d == 2 ? GridSize{z, y, x} : *this;
  }
};

/// Parameters of `irregular:N,nnzr=…,bandwidth=…,seed=…`.
struct IrregularSettings {
  GlobalIndex row_count = 0;
  GlobalIndex nonzeros_per_row = 15;
  GlobalIndex bandwidth = 16;
  std::uint64_t seed = 1;
};

/// Parameters of `anderson3d:N,W=…,seed=…` besides the grid.
struct AndersonSettings {
  double width = 16;
  std::uint64_t seed = 1;
};

/// Parameters of `elasticity3d:NXxNYxNZ,nu=…,mass` besides the elements.
struct ElasticitySettings {
  double poisson_ratio = 0.3;
  bool is_mass = false;  // the consistent mass matrix in the place of the stiffness
};

/// System to solve: a generated one, described completely, or the path of a file.
struct Problem {
  /// Understands the PROBLEM word of the command line:
  ///
  ///     poisson2d:N  poisson2d:NXxNY                 anisotropic3d:N,ex,ey,ez
  ///     poisson3d:N  poisson3d:NXxNYxNZ              irregular:N,nnzr=15,bandwidth=B,seed=1
  ///     poisson3d27:N  poisson3d27:NXxNYxNZ          FILE.mtx[.gz]  FILE.npz  FILE.petsc  FILE.bin
  ///     FILE.h5[:GROUP]
  ///     anderson3d:N,W=16,seed=1                     holstein-hubbard:sites=6,up=3,…
  ///     diffusion3d:N,constant                       diffusion3d:N,jumps:RATIO
  ///     diffusion3d:N,checkerboard:BLOCK,RATIO       diffusion3d:N,lognormal:SIGMA,seed=1
  ///     diffusion3d:N,file=PATH                      elasticity3d:NXxNYxNZ,nu=0.3
  ///     convection3d:N,vx,vy,vz                      heisenberg:L,Sz
  ///     elasticity3d:NXxNYxNZ,mass
  ///
  /// The bandwidth defaults to max(16, N/50). Throws comm_thread::InputError.
  static Problem parse(std::string_view word);

  /// The matrix in a file, whatever its name.
  static Problem of_file(std::string path);

  /// The words that `parse` understands, in lines of at most 80 columns.
  static const char* words();

  bool is_file() const { return kind == ProblemKind::file; }
  /// Of the points of a grid with Dirichlet boundaries?
  bool has_grid() const;
  /// Has each point of `grid` one row, x fastest?
  bool has_row_per_point() const;
  /// A grid on which all points have the same numbers?
  bool has_stencil() const { return has_grid() && kind != ProblemKind::diffusion3d; }

  /// Number of rows; 0 for a file, whose reader determines it.
  GlobalIndex row_count() const;

  /// Columns between a row and the farthest one that it couples with, at most; periodic problems
  /// count round from the last row to the first. 0 for a file.
  GlobalIndex reach() const;

  /// Canonical name of the problem: `poisson3d:8x8x8` is `poisson3d:8`, and defaults are spelt out.
  /// `parse(name())` is the same problem.
  std::string name() const;

  ProblemKind kind = ProblemKind::file;
  GridSize grid;  // with a grid; anderson3d, convection3d; elasticity3d: elements
  std::array<double, 3> weights{1, 1, 1};  // x, y, z; anisotropic3d; convection3d: the velocity
  DiffusionSettings diffusion;  // diffusion3d
  IrregularSettings irregular;  // irregular
  AndersonSettings anderson;  // anderson3d
  ElasticitySettings elasticity;  // elasticity3d
  HolsteinHubbardSettings holstein_hubbard;  // holstein_hubbard
  HeisenbergSettings heisenberg;  // heisenberg
  std::string path;  // file
};

}  // namespace weft::spmv
