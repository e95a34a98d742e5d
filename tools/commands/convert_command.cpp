#include "tools/commands/convert_command.h"

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "library/options/matrix_settings.h"
#include "library/options/solve_settings.h"
#include "spmv/files/matrix_market_header.h"
#include "spmv/files/matrix_market_output.h"
#include "spmv/formats/matrix_file.h"
#include "spmv/formats/vtk_file.h"
#include "spmv/problems/problem.h"
#include "spmv/rows/partition.h"
#include "tools/job/effective_options.h"
#include "tools/job/job_report.h"
#include "tools/job/printed_remarks.h"
#include "tools/job/program_job.h"
#include "tools/job/system_options.h"
#include "tools/system/program_system.h"

namespace weft::tools {
namespace {

struct ConvertOptions : SystemOptions, library::MatrixSettings {
  std::string from;
  std::string to;
  std::string grid;  // of a vector, for .vti and .pvti

  std::vector<library::Need> needs() const {
    const bool is_image = spmv::is_vtk_file(to);
    return {{{"grid"}, is_image, "with a file that is no image", "OUT as .vti or .pvti"}};
  }
};

void collective_check_output(const Job& job, const ConvertOptions& options, bool is_matrix) {
  if (is_matrix)
    spmv::collective_check_matrix_output(job.world(), options.to);
  else if (!spmv::is_vtk_file(options.to))
    spmv::collective_check_vector_output(job.world(), options.to);
  else if (options.grid.empty())
    throw comm_thread::InputError(options.to + ": found without a grid; expected --grid NXxNYxNZ");
  else
    spmv::collective_check_writable(job.world(), options.to);
}

int convert(const comm_thread::MpiSession& session, const ConvertOptions& options) {
  Job job = collective_start_job(session, options);
  const ReportFile report_file(job, options.json_path);
  const auto contents =
      spmv::collective_look_into(job.world(), options.from, spmv::parse_index_base(options.base));
  library::check_needs({{{"triangle"}, contents.is_matrix, "with a vector", "a matrix"}},
                       library::matrix_options(), options);
  collective_check_output(job, options, contents.is_matrix);
  Json report = collective_start_report(job, "convert");
  report["problem"] = {{"name", options.from}, {"rows", contents.row_count}};
  if (contents.is_matrix) {
    const auto matrix =
        collective_load_for_file(job, spmv::Problem::of_file(options.from), options);
    spmv::collective_write_matrix_file(job.world(), matrix, options.to, options.from);
    report["problem"]["nonzeros"] = matrix.global_nonzero_count;
  } else {
    const auto rows = spmv::RowPartition::by_rows(contents.row_count, job.world().size());
    spmv::Remarks remarks;
    const auto own = spmv::collective_read_vector_file(job.world(), rows, options.from, remarks);
    print_remarks(job, remarks);
    if (spmv::is_vtk_file(options.to)) {
      const spmv::GridSize grid = library::parse_grid(options.grid).size;
      spmv::collective_write_vtk_image(job.world(), rows, own, {grid.x, grid.y, grid.z},
                                       options.to);
    } else {
      spmv::collective_write_vector_file(job.world(), rows, own, options.to);
    }
  }
  report["file"] = options.to;
  if (report_file.collective_write(report))
    fmt::print("wrote {}: a {} of {} rows\n", options.to, contents.is_matrix ? "matrix" : "vector",
               contents.row_count);
  return 0;
}

}  // namespace

void add_convert_command(CLI::App& program, const comm_thread::MpiSession& session,
                         int& exit_code) {
  const auto options = std::make_shared<ConvertOptions>();
  CLI::App& command =
      *program.add_subcommand("convert", "write a matrix or a vector in another file format");
  const std::string matrices =
      "a matrix as .mtx, .mtx.gz, .petsc, .bin, .npz or .h5,\n"
      "a vector as .mtx, .mtx.gz, .petsc, .bin, .npy or .h5";
  command.add_option("in", options->from, matrices)->required()->type_name("IN");
  command.add_option("out", options->to, "the same endings; a vector as .vti or .pvti with --grid")
      ->required()
      ->type_name("OUT");
  command
      .add_option("--grid", options->grid,
                  "points of the grid whose values the vector has, x fastest; for .vti, .pvti")
      ->check([](const std::string& text) { return fault_of([&] { library::parse_grid(text); }); })
      ->type_name("NXxNYxNZ");
  bind_options(command, *options, library::matrix_options(), {"triangle", "base"});
  add_job_options(command, *options);
  command.footer(
      "Formats: Matrix Market (.mtx, .mtx.gz), PETSc's binary one (.petsc, .bin),\n"
      "SciPy's sparse matrices (.npz), NumPy's arrays (.npy), HDF5 (.h5, .hdf5;\n"
      "FILE.h5:NAME where there are several), VTK's images (.vti, .pvti).\n"
      "Only read: entries as text (.txt, .dat, .ijv, .coo, CalculiX's .sti, .mas), Harwell-\n"
      "Boeing and Rutherford-Boeing (.hb, .rb, .rua, .rsa, ...), hypre's parts (NAME.00000).\n"
      "Examples:\n"
      "  weft convert matrix.mtx.gz matrix.npz\n"
      "  mpiexec.mpich -n 4 weft convert matrix.petsc matrix.mtx\n"
      "  weft convert x.mtx x.npy\n"
      "  weft convert state.h5:A/system matrix.petsc\n"
      "  weft convert half.petsc whole.mtx --triangle mirrored\n"
      "  weft convert entries.txt matrix.mtx --base 0\n"
      "  weft convert x.npy x.vti --grid 64x64x64      (ParaView opens it)\n"
      "Exit code: 0 done, 2 bad input.");
  command.callback([options, &command, &session, &exit_code] {
    check_needs(command, options->needs());
    exit_code = convert(session, *options);
  });
}

}  // namespace weft::tools
