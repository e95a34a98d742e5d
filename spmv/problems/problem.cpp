#include "spmv/problems/problem.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "spmv/names/file_format.h"
#include "spmv/problems/problem_reader.h"

namespace weft::spmv {
namespace {

/// `N` or as many sizes as there are dimensions, joined by x.
GridSize parse_grid(const ProblemReader& reader, std::string_view text, int dimensions) {
  const auto parts = split(text, 'x');
  const auto wanted = static_cast<std::size_t>(dimensions);
  if (parts.size() != 1 && parts.size() != wanted)
    reader.fail("found " + std::to_string(parts.size()) + " sizes; expected " +
                (dimensions == 2 ? "N or NXxNY" : "N or NXxNYxNZ"));
  std::array<GlobalIndex, 3> sizes{1, 1, 1};
  for (std::size_t i = 0; i < wanted; ++i)
    sizes[i] = reader.positive(parts.size() == 1 ? parts[0] : parts[i], "a grid size");
  reader.check_total({sizes[0], sizes[1], sizes[2]}, 27);
  return {sizes[0], sizes[1], sizes[2]};
}

void parse_anisotropic(const ProblemReader& reader, std::string_view text, Problem& problem) {
  const auto parts = split(text, ',');
  if (parts.size() != 4)
    reader.fail("found " + std::to_string(parts.size() - 1) +
                " weights; expected three, as in anisotropic3d:100,1,1,0.01");
  problem.grid = parse_grid(reader, parts[0], 3);
  for (std::size_t i = 0; i < 3; ++i) problem.weights[i] = reader.weight(parts[i + 1]);
  if (!std::isfinite(2 * (problem.weights[0] + problem.weights[1] + problem.weights[2])))
    reader.fail("the weights add up to infinity; expected smaller ones");
}

void set_irregular(const ProblemReader& reader, std::string_view key, std::string_view value,
                   IrregularSettings& settings) {
  if (key == "nnzr")
    settings.nonzeros_per_row = reader.positive(value, "nonzeros per row");
  else if (key == "bandwidth")
    settings.bandwidth = reader.positive(value, "a bandwidth");
  else if (key == "seed")
    settings.seed = reader.number<std::uint64_t>(value, "a seed, a whole number of at least 0");
  else
    reader.fail("found the key '" + std::string(key) + "'; expected nnzr, bandwidth or seed");
}

IrregularSettings parse_irregular(const ProblemReader& reader, std::string_view text) {
  const auto parts = split(text, ',');
  IrregularSettings settings;
  settings.row_count = reader.positive(parts[0], "a number of rows");
  settings.bandwidth = std::max<GlobalIndex>(16, settings.row_count / 50);
  const auto words = std::span(parts).subspan(1);
  for (const auto& [key, value] : reader.keys_and_values(words, "nnzr, bandwidth or seed"))
    set_irregular(reader, key, value, settings);
  // Written so that it cannot overflow: nnzr <= 2 * bandwidth + 1.
  if ((settings.nonzeros_per_row - 1) / 2 + (settings.nonzeros_per_row - 1) % 2 >
      settings.bandwidth)
    reader.fail("found nnzr=" + std::to_string(settings.nonzeros_per_row) + " with bandwidth=" +
                std::to_string(settings.bandwidth) + "; expected nnzr <= 2 * bandwidth + 1");
  reader.check_total({settings.row_count, 2},
                     std::min(settings.nonzeros_per_row, settings.row_count));
  return settings;
}

void parse_anderson(const ProblemReader& reader, std::string_view text, Problem& problem) {
  const auto parts = split(text, ',');
  problem.grid = parse_grid(reader, parts[0], 3);
  const auto words = std::span(parts).subspan(1);
  for (const auto& [key, value] : reader.keys_and_values(words, "W or seed")) {
    if (key == "W")
      problem.anderson.width = reader.finite(value, "a width of the disorder");
    else if (key == "seed")
      problem.anderson.seed =
          reader.number<std::uint64_t>(value, "a seed, a whole number of at least 0");
    else
      reader.fail("found the key '" + std::string(key) + "'; expected W or seed");
  }
}

/// Three rows for each node that is not clamped, of at most 27 neighbours with three columns each.
void parse_elasticity(const ProblemReader& reader, std::string_view text, Problem& problem) {
  const auto parts = split(text, ',');
  problem.grid = parse_grid(reader, parts[0], 3);
  const GridSize& elements = problem.grid;
  reader.check_total({elements.x, elements.y, 2, elements.z, 2, 3}, 81);
  auto words = std::span(parts).subspan(1);
  problem.elasticity.is_mass = !words.empty() && words.back() == "mass";
  if (problem.elasticity.is_mass) words = words.first(words.size() - 1);
  for (const auto& [key, value] : reader.keys_and_values(words, "nu")) {
    if (key != "nu") reader.fail("found the key '" + std::string(key) + "'; expected nu");
    problem.elasticity.poisson_ratio = reader.finite(value, "Poisson's ratio");
  }
  if (!(problem.elasticity.poisson_ratio > -1 && problem.elasticity.poisson_ratio < 0.5))
    reader.fail("found nu=" + text_of(problem.elasticity.poisson_ratio) +
                "; expected a ratio above -1 and below 0.5");
}

void parse_convection(const ProblemReader& reader, std::string_view text, Problem& problem) {
  const auto parts = split(text, ',');
  if (parts.size() != 4)
    reader.fail("found " + std::to_string(parts.size() - 1) +
                " numbers; expected a velocity of three, as in convection3d:50,100,20,0");
  problem.grid = parse_grid(reader, parts[0], 3);
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    problem.weights[i] = reader.finite(parts[i + 1], "a velocity");
    sum += std::abs(problem.weights[i]);
  }
  if (!std::isfinite(sum)) reader.fail("the velocity is infinite; expected a smaller one");
}

std::string text_of(const GridSize& grid, int dimensions) {
  const std::string x = std::to_string(grid.x);
  const std::string xy = x + "x" + std::to_string(grid.y);
  if (dimensions == 2) return grid.x == grid.y ? x : xy;
  return grid.x == grid.y && grid.y == grid.z ? x : xy + "x" + std::to_string(grid.z);
}

void parse_diffusion(const ProblemReader& reader, std::string_view text, Problem& problem) {
  const auto parts = split(text, ',');
  problem.grid = parse_grid(reader, parts[0], 3);
  problem.diffusion = DiffusionSettings::parse(
      reader, {problem.grid.x, problem.grid.y, problem.grid.z}, std::span(parts).subspan(1));
}

constexpr const char* not_a_problem =
    "not a known problem; expected poisson3d:N, poisson2d:NXxNY, poisson3d27:N, "
    "anisotropic3d:N,ex,ey,ez, diffusion3d:N,COEFFICIENT, convection3d:N,vx,vy,vz, "
    "elasticity3d:NXxNYxNZ, irregular:N, anderson3d:N, holstein-hubbard:SETTINGS, "
    "heisenberg:L,Sz, FILE.mtx, .mtx.gz, .npz, .petsc, .bin, .h5, .txt, .sti, .mas, .rua, .rb, "
    ".00000; others: scipy.io.mmwrite; --help lists settings";

/// True if it is one of the matrices from physics.
bool parse_physics(const ProblemReader& reader, std::string_view family, std::string_view rest,
                   Problem& problem) {
  if (family == "anderson3d") {
    problem.kind = ProblemKind::anderson3d;
    parse_anderson(reader, rest, problem);
  } else if (family == "heisenberg") {
    problem.kind = ProblemKind::heisenberg;
    problem.heisenberg = HeisenbergSettings::parse(reader, rest);
  } else if (family == "holstein-hubbard") {
    problem.kind = ProblemKind::holstein_hubbard;
    const auto parts = split(rest, ',');
    problem.holstein_hubbard =
        HolsteinHubbardSettings::parse(reader, std::span(parts).subspan(rest.empty() ? 1 : 0));
  } else {
    return false;
  }
  return true;
}

Problem parse_generated(const ProblemReader& reader, std::string_view family,
                        std::string_view rest) {
  Problem problem;
  if (family == "poisson2d") {
    problem.kind = ProblemKind::poisson2d;
    problem.grid = parse_grid(reader, rest, 2);
  } else if (family == "poisson3d") {
    problem.kind = ProblemKind::poisson3d;
    problem.grid = parse_grid(reader, rest, 3);
  } else if (family == "poisson3d27") {
    problem.kind = ProblemKind::poisson3d27;
    problem.grid = parse_grid(reader, rest, 3);
  } else if (family == "anisotropic3d") {
    problem.kind = ProblemKind::anisotropic3d;
    parse_anisotropic(reader, rest, problem);
  } else if (family == "diffusion3d") {
    problem.kind = ProblemKind::diffusion3d;
    parse_diffusion(reader, rest, problem);
  } else if (family == "irregular") {
    problem.kind = ProblemKind::irregular;
    problem.irregular = parse_irregular(reader, rest);
  } else if (family == "elasticity3d") {
    problem.kind = ProblemKind::elasticity3d;
    parse_elasticity(reader, rest, problem);
  } else if (family == "convection3d") {
    problem.kind = ProblemKind::convection3d;
    parse_convection(reader, rest, problem);
  } else if (!parse_physics(reader, family, rest, problem)) {
    reader.fail(not_a_problem);
  }
  return problem;
}

}  // namespace

const char* Problem::words() {
  return "poisson3d:N or :NXxNYxNZ, poisson2d:NXxNY, poisson3d27:N,\n"
         "anisotropic3d:N,ex,ey,ez, diffusion3d:N,constant|jumps:RATIO|\n"
         "checkerboard:BLOCK,RATIO|lognormal:SIGMA,seed=1|file=PATH,\n"
         "convection3d:N,vx,vy,vz, elasticity3d:NXxNYxNZ,nu=0.3[,mass],\n"
         "irregular:N,nnzr=15,bandwidth=B,seed=1,\n"
         "anderson3d:N,W=16,seed=1, holstein-hubbard:sites=6,up=3,down=3,phonons=15,\n"
         "t=1,U=1,omega=1,g=1,basis=HMEp|HMeP,vanishing=kept|dropped, heisenberg:L,Sz,\n"
         "or a file: Matrix Market FILE.mtx, FILE.mtx.gz, SciPy FILE.npz, PETSc FILE.petsc,\n"
         "FILE.petsc:NUMBER or FILE.bin, HDF5 FILE.h5 or FILE.h5:GROUP, entries as text\n"
         "FILE.txt|.dat|.ijv|.coo, CalculiX FILE.sti, FILE.mas, Harwell-Boeing and\n"
         "Rutherford-Boeing FILE.rua, FILE.rsa, FILE.hb, FILE.rb, ..., hypre NAME.00000";
}

Problem Problem::parse(std::string_view word) {
  const bool has_coefficients_of_file =
      word.starts_with("diffusion3d:") && word.find(",file=") != std::string_view::npos;
  if (is_matrix_file(word) && !has_coefficients_of_file) return of_file(std::string(word));
  const std::size_t colon = word.find(':');
  const std::string_view rest =
      colon == std::string_view::npos ? std::string_view{} : word.substr(colon + 1);
  return parse_generated(ProblemReader(word), word.substr(0, colon), rest);
}

Problem Problem::of_file(std::string path) {
  Problem problem;
  problem.path = std::move(path);
  return problem;
}

bool Problem::has_grid() const {
  return kind == ProblemKind::poisson2d || kind == ProblemKind::poisson3d ||
         kind == ProblemKind::poisson3d27 || kind == ProblemKind::anisotropic3d ||
         kind == ProblemKind::diffusion3d;
}

bool Problem::has_row_per_point() const {
  return has_grid() || kind == ProblemKind::anderson3d || kind == ProblemKind::convection3d;
}

GlobalIndex Problem::row_count() const {
  switch (kind) {
    case ProblemKind::file:
      return 0;
    case ProblemKind::irregular:
      return irregular.row_count;
    case ProblemKind::holstein_hubbard:
      return holstein_hubbard.row_count();
    case ProblemKind::heisenberg:
      return heisenberg.row_count();
    case ProblemKind::elasticity3d:
      return 3 * grid.x * (grid.y + 1) * (grid.z + 1);
    default:
      return grid.x * grid.y * grid.z;
  }
}

GlobalIndex Problem::reach() const {
  switch (kind) {
    case ProblemKind::file:
      return 0;
    case ProblemKind::irregular:
      return irregular.bandwidth;
    case ProblemKind::holstein_hubbard:
    case ProblemKind::heisenberg:
      return row_count() / 2;
    case ProblemKind::elasticity3d:
      return 3 * (grid.x * (grid.y + 2) + 1) + 2;
    case ProblemKind::poisson2d:
      return grid.x;
    case ProblemKind::poisson3d27:
      return grid.x * (grid.y + 1) + 1;
    default:
      return grid.x * grid.y;
  }
}

std::string Problem::name() const {
  switch (kind) {
    case ProblemKind::poisson2d:
      return "poisson2d:" + text_of(grid, 2);
    case ProblemKind::poisson3d:
      return "poisson3d:" + text_of(grid, 3);
    case ProblemKind::poisson3d27:
      return "poisson3d27:" + text_of(grid, 3);
    case ProblemKind::anisotropic3d:
      return "anisotropic3d:" + text_of(grid, 3) + "," + text_of(weights[0]) + "," +
             text_of(weights[1]) + "," + text_of(weights[2]);
    case ProblemKind::diffusion3d:
      return "diffusion3d:" + text_of(grid, 3) + "," + diffusion.text();
    case ProblemKind::irregular:
      return "irregular:" + std::to_string(irregular.row_count) +
             ",nnzr=" + std::to_string(irregular.nonzeros_per_row) +
             ",bandwidth=" + std::to_string(irregular.bandwidth) +
             ",seed=" + std::to_string(irregular.seed);
    case ProblemKind::anderson3d:
      return "anderson3d:" + text_of(grid, 3) + ",W=" + text_of(anderson.width) +
             ",seed=" + std::to_string(anderson.seed);
    case ProblemKind::elasticity3d:
      return "elasticity3d:" + text_of(grid, 3) + ",nu=" + text_of(elasticity.poisson_ratio) +
             (elasticity.is_mass ? ",mass" : "");
    case ProblemKind::convection3d:
      return "convection3d:" + text_of(grid, 3) + "," + text_of(weights[0]) + "," +
             text_of(weights[1]) + "," + text_of(weights[2]);
    case ProblemKind::holstein_hubbard:
      return "holstein-hubbard:" + holstein_hubbard.text();
    case ProblemKind::heisenberg:
      return "heisenberg:" + heisenberg.text();
    case ProblemKind::file:
      break;
  }
  return path;
}

}  // namespace weft::spmv
