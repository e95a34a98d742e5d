#include "spmv/problems/problem.h"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <string>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/input_error.h"
#include "spmv/problems/generator.h"

namespace weft::spmv {
namespace {

std::string complaint_about(const std::string& word) {
  try {
    Problem::parse(word);
  } catch (const comm_thread::InputError& error) {
    return error.what();
  }
  return "none";
}

TEST_CASE("grid problems take one size or one per direction") {
  const Problem cube = Problem::parse("poisson3d:50");
  CHECK(cube.kind == ProblemKind::poisson3d);
  CHECK(cube.row_count() == 125000);
  CHECK(cube.has_grid());
  const Problem box = Problem::parse("poisson3d:4x3x2");
  CHECK(box.grid.x == 4);
  CHECK(box.grid.y == 3);
  CHECK(box.grid.z == 2);
  CHECK(Problem::parse("poisson2d:4x3").row_count() == 12);
  CHECK(Problem::parse("poisson2d:4").row_count() == 16);
  CHECK(Problem::parse("poisson3d27:3").row_count() == 27);
}

TEST_CASE("anisotropic3d takes three weights") {
  const Problem problem = Problem::parse("anisotropic3d:5,1,0.5,1e-3");
  CHECK(problem.kind == ProblemKind::anisotropic3d);
  CHECK(problem.row_count() == 125);
  CHECK(problem.weights[0] == 1);
  CHECK(problem.weights[1] == 0.5);
  CHECK(problem.weights[2] == 1e-3);
}

TEST_CASE("irregular has defaults that follow its size") {
  const Problem small = Problem::parse("irregular:100");
  CHECK_FALSE(small.has_grid());
  CHECK(small.irregular.nonzeros_per_row == 15);
  CHECK(small.irregular.bandwidth == 16);
  CHECK(small.irregular.seed == 1);
  CHECK(Problem::parse("irregular:10000").irregular.bandwidth == 200);
  const Problem chosen =
      Problem::parse("irregular:100,seed=18446744073709551615,nnzr=7,bandwidth=5");
  CHECK(chosen.irregular.nonzeros_per_row == 7);
  CHECK(chosen.irregular.bandwidth == 5);
  CHECK(chosen.irregular.seed == ~std::uint64_t{0});
}

TEST_CASE("diffusion3d takes a grid and a coefficient") {
  for (const std::string word :
       {"diffusion3d:4x3x2,constant", "diffusion3d:4,jumps:1000", "diffusion3d:4,jumps:0.001",
        "diffusion3d:64,checkerboard:8,1000", "diffusion3d:4,lognormal:3,seed=7"}) {
    CHECK(Problem::parse(word).name() == word);
    CHECK(Problem::parse(word).has_grid());
    CHECK_FALSE(Problem::parse(word).has_stencil());
  }
  CHECK(Problem::parse("diffusion3d:4,lognormal:3").name() == "diffusion3d:4,lognormal:3,seed=1");
  const auto refused = [](const std::string& coefficient, const std::string& complaint) {
    CHECK_THAT(complaint_about("diffusion3d:4" + coefficient), Catch::Contains(complaint));
  };
  refused("", "found no coefficient; expected constant, jumps:RATIO");
  refused(",smooth", "found the coefficient 'smooth'; expected constant");
  refused(",constant:1", "found the coefficient 'constant:1'");
  refused(",constant,1", "found 2 words for the coefficient");
  refused(",jumps:0", "found 0");
  refused(",jumps:-1", "found -1");
  refused(",checkerboard:8", "found 1 words for the coefficient");
  refused(",checkerboard:0,8", "found 0; expected points of a block's edge");
  refused(",lognormal:nan", "expected a standard deviation");
  refused(",lognormal:78", "found lognormal:78; expected at most 77");
  refused(",file=nothere.bin", "found no file nothere.bin to read");
  refused(",lognormal:1,speed=1", "found the key 'speed'; expected seed");
}

TEST_CASE("anderson3d takes a grid, the width of the disorder and a seed") {
  const Problem problem = Problem::parse("anderson3d:4x3x2,seed=7,W=2.5");
  CHECK(problem.row_count() == 24);
  CHECK_FALSE(problem.has_grid());
  CHECK(problem.anderson.width == 2.5);
  CHECK(problem.anderson.seed == 7);
  CHECK(Problem::parse("anderson3d:4").name() == "anderson3d:4,W=16,seed=1");
  CHECK_THAT(complaint_about("anderson3d:4,V=1"), Catch::Contains("expected W or seed"));
  CHECK_THAT(complaint_about("anderson3d:4,W=nan"), Catch::Contains("expected a width"));
}

TEST_CASE("elasticity3d has three rows for each node that is not clamped") {
  const Problem problem = Problem::parse("elasticity3d:4x3x2,nu=0.25");
  CHECK(problem.row_count() == 144);
  CHECK_FALSE(problem.has_grid());
  CHECK_FALSE(problem.has_row_per_point());
  CHECK(problem.elasticity.poisson_ratio == 0.25);
  CHECK(problem.name() == "elasticity3d:4x3x2,nu=0.25");
  CHECK(Problem::parse("elasticity3d:4").name() == "elasticity3d:4,nu=0.3");
  CHECK_THAT(complaint_about("elasticity3d:4,nu=0.5"), Catch::Contains("below 0.5"));
  CHECK_THAT(complaint_about("elasticity3d:4,E=1"), Catch::Contains("expected nu"));
  CHECK_THAT(complaint_about("elasticity3d:4000000000x4000000x4"), Catch::Contains("64 bits"));
}

TEST_CASE("convection3d takes a grid and a velocity") {
  const Problem problem = Problem::parse("convection3d:4x3x2,10,-2.5,0");
  CHECK(problem.row_count() == 24);
  CHECK_FALSE(problem.has_grid());
  CHECK(problem.has_row_per_point());
  CHECK(problem.weights == std::array<double, 3>{10, -2.5, 0});
  CHECK(problem.name() == "convection3d:4x3x2,10,-2.5,0");
  CHECK_THAT(complaint_about("convection3d:4"), Catch::Contains("expected a velocity"));
  CHECK_THAT(complaint_about("convection3d:4,1,nan,0"), Catch::Contains("expected a velocity"));
}

TEST_CASE("holstein-hubbard is the matrix of the paper unless keys say otherwise") {
  const Problem problem = Problem::parse("holstein-hubbard");
  CHECK(problem.row_count() == 6201600);
  CHECK(problem.name() ==
        "holstein-hubbard:sites=6,up=3,down=3,phonons=15,t=1,U=1,omega=1,g=1,basis=HMeP,"
        "vanishing=kept");
  CHECK(Problem::parse(problem.name()).name() == problem.name());
  const Problem small = Problem::parse("holstein-hubbard:sites=4,up=1,down=2,phonons=2,basis=HMEp");
  CHECK(small.row_count() == 240);
  CHECK(small.holstein_hubbard.basis == HolsteinBasis::electrons_outer);
}

TEST_CASE("a word that ends like a Matrix Market file is a file") {
  for (const std::string path : {"a.mtx", "some/folder/a.mtx.gz", "poisson3d:4.mtx"}) {
    const Problem problem = Problem::parse(path);
    CHECK(problem.is_file());
    CHECK(problem.path == path);
    CHECK(problem.name() == path);
    CHECK(problem.row_count() == 0);
  }
}

TEST_CASE("names are the same however the problem was written, and can be parsed again") {
  CHECK(Problem::parse("poisson3d:8x8x8").name() == "poisson3d:8");
  CHECK(Problem::parse("poisson3d:8x8x4").name() == "poisson3d:8x8x4");
  CHECK(Problem::parse("poisson2d:8x8").name() == "poisson2d:8");
  CHECK(Problem::parse("poisson2d:8x9").name() == "poisson2d:8x9");
  CHECK(Problem::parse("poisson3d27:8x8x8").name() == "poisson3d27:8");
  CHECK(Problem::parse("anisotropic3d:8,1.0,1,0.010").name() == "anisotropic3d:8,1,1,0.01");
  CHECK(Problem::parse("irregular:100").name() == "irregular:100,nnzr=15,bandwidth=16,seed=1");
  CHECK(Problem::parse("irregular:100,nnzr=15,bandwidth=16,seed=1").name() ==
        Problem::parse("irregular:100").name());
}

TEST_CASE("an unknown problem gets the list of the known ones") {
  for (const std::string word : {"", "laplace", "poisson4d:5", "matrix.xyz", ".mt", ":"}) {
    const std::string complaint = complaint_about(word);
    CHECK_THAT(complaint, Catch::StartsWith("problem '" + word + "': not a known problem"));
    for (const std::string known :
         {"poisson3d:N", "poisson2d:", "poisson3d27:", "anisotropic3d:", "diffusion3d:",
          "irregular:", "anderson3d:", "holstein-hubbard:", "heisenberg:", "elasticity3d:",
          "convection3d:", "FILE.mtx", ".mtx.gz"})
      CHECK_THAT(complaint, Catch::Contains(known));
    CHECK_THAT(complaint, !Catch::Contains("\n"));
  }
}

TEST_CASE("bad sizes are refused with what was found") {
  for (const std::string word : {"poisson3d", "poisson3d:", "poisson3d:a", "poisson3d:5x",
                                 "poisson3d:5 ", "poisson3d:+5", "poisson3d:5.0", "poisson2d:xx"})
    CHECK_THAT(complaint_about(word), Catch::Contains("found '") || Catch::Contains("sizes"));
  CHECK_THAT(complaint_about("poisson3d:0"), Catch::Contains("found 0; expected a grid size"));
  CHECK_THAT(complaint_about("poisson3d:5x-1x5"),
             Catch::Contains("found -1; expected a grid size"));
  CHECK_THAT(complaint_about("poisson3d:5x5"),
             Catch::Contains("found 2 sizes; expected N or NXxNYxNZ"));
  CHECK_THAT(complaint_about("poisson2d:5x5x5"),
             Catch::Contains("found 3 sizes; expected N or NXxNY"));
  CHECK_THAT(complaint_about("irregular:0"), Catch::Contains("expected a number of rows"));
}

TEST_CASE("what does not fit into 64 bits is refused") {
  const std::string fits_not = "does not fit into 64 bits";
  CHECK_THAT(complaint_about("poisson3d:9223372036854775808"), Catch::Contains(fits_not));
  CHECK_THAT(complaint_about("poisson3d:2097152"), Catch::Contains(fits_not));
  CHECK_THAT(complaint_about("poisson2d:9223372036854775807"), Catch::Contains(fits_not));
  CHECK_THAT(complaint_about("irregular:9223372036854775807"), Catch::Contains(fits_not));
  CHECK_THAT(complaint_about("irregular:9,seed=18446744073709551616"), Catch::Contains(fits_not));
  CHECK(complaint_about("poisson3d:100000") == "none");
}

TEST_CASE("bad weights are refused") {
  CHECK_THAT(complaint_about("anisotropic3d:5"),
             Catch::Contains("found 0 weights; expected three"));
  CHECK_THAT(complaint_about("anisotropic3d:5,1,1"), Catch::Contains("found 2 weights"));
  for (const std::string weight : {"0", "-1", "nan", "inf"})
    CHECK_THAT(complaint_about("anisotropic3d:5,1,1," + weight),
               Catch::Contains("found " + weight + "; expected a weight"));
  CHECK_THAT(complaint_about("anisotropic3d:5,1,1,x"), Catch::Contains("found 'x'"));
  CHECK_THAT(complaint_about("anisotropic3d:5,1,1,1e999"), Catch::Contains("64 bits"));
  CHECK_THAT(complaint_about("anisotropic3d:5,1e308,1e308,1"), Catch::Contains("infinity"));
}

TEST_CASE("bad keys are refused") {
  CHECK_THAT(complaint_about("irregular:9,colour=1"),
             Catch::Contains("found the key 'colour'; expected nnzr, bandwidth or seed"));
  CHECK_THAT(complaint_about("irregular:9,seed"), Catch::Contains("expected KEY=VALUE"));
  CHECK_THAT(complaint_about("irregular:9,"), Catch::Contains("expected KEY=VALUE"));
  CHECK_THAT(complaint_about("irregular:9,seed=1,seed=2"), Catch::Contains("twice"));
  CHECK_THAT(complaint_about("irregular:9,seed=-1"), Catch::Contains("expected a seed"));
  CHECK_THAT(complaint_about("irregular:9,nnzr=0"), Catch::Contains("expected nonzeros per row"));
  CHECK_THAT(complaint_about("irregular:99,bandwidth=3,nnzr=8"),
             Catch::Contains("expected nnzr <= 2 * bandwidth + 1"));
  CHECK(complaint_about("irregular:99,bandwidth=3,nnzr=7") == "none");
  const std::string model = "holstein-hubbard:";
  CHECK_THAT(complaint_about(model + "colour=1"), Catch::Contains("expected sites, up, down"));
  CHECK_THAT(complaint_about(model + "sites=1"), Catch::Contains("2 to 20"));
  CHECK_THAT(complaint_about(model + "up=7"), Catch::Contains("at most one of each per site"));
  CHECK_THAT(complaint_about(model + "basis=x"), Catch::Contains("expected the basis HMEp"));
  CHECK_THAT(complaint_about(model + "vanishing=x"), Catch::Contains("kept or dropped"));
  CHECK_THAT(complaint_about(model + "U=inf"), Catch::Contains("expected a repulsion"));
  CHECK_THAT(complaint_about(model + "t=1e308,U=1e308"), Catch::Contains("infinite"));
  CHECK_THAT(complaint_about(model + "sites=20,phonons=1000"), Catch::Contains("64 bits"));
  CHECK_THAT(complaint_about("heisenberg:"), Catch::Contains("expected a number of sites"));
  CHECK_THAT(complaint_about("heisenberg:1"), Catch::Contains("2 to 62"));
  CHECK_THAT(complaint_about("heisenberg:8,0.5"),
             Catch::Contains("expected -4 to 4 in steps of 1"));
  CHECK_THAT(complaint_about("heisenberg:8,5"), Catch::Contains("found Sz=5 of 8 spins"));
  CHECK_THAT(complaint_about("heisenberg:8,nan"), Catch::Contains("expected the total Sz"));
  CHECK_THAT(complaint_about("heisenberg:8,0,1"), Catch::Contains("found 3 numbers"));
  CHECK(Problem::parse("heisenberg:8").name() == "heisenberg:8,0");
  CHECK(Problem::parse("heisenberg:9,-2.50").name() == "heisenberg:9,-2.5");
  CHECK(Problem::parse("heisenberg:9").row_count() == 126);
}

TEST_CASE("no generated row couples with one beyond the reach of its problem") {
  for (const char* const word :
       {"poisson2d:7x5", "poisson3d:4x5x3", "poisson3d27:4x3x5", "anisotropic3d:4,1,2,3",
        "diffusion3d:4x3x5,jumps:10", "irregular:300,nnzr=8,bandwidth=20", "anderson3d:4",
        "convection3d:4x3x5,1,2,3", "elasticity3d:3x4x2",
        "holstein-hubbard:sites=3,up=1,down=1,phonons=3", "heisenberg:8,0", "heisenberg:9,-2.5"}) {
    const Problem problem = Problem::parse(word);
    GlobalIndex farthest = 0;
    visit_rows(problem, 0, problem.row_count(),
               [&](GlobalIndex row, std::span<const GlobalIndex> columns, std::span<const double>) {
                 for (const GlobalIndex column : columns) {
                   const GlobalIndex distance = std::abs(column - row);
                   farthest =
                       std::max(farthest, std::min(distance, problem.row_count() - distance));
                 }
               });
    INFO(word);
    CHECK(farthest > 0);
    CHECK(farthest <= problem.reach());
    CHECK(problem.reach() < problem.row_count());
  }
  CHECK(Problem::of_file("matrix.mtx").reach() == 0);
}

}  // namespace
}  // namespace weft::spmv
