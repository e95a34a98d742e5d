#include "tools/studies/study_command.h"

#include "tools/studies/study.h"

namespace weft::tools {

void add_study_command(CLI::App& program, const comm_thread::MpiSession& session, int& exit_code) {
  CLI::App& command =
      *program.add_subcommand("study", "repeat a solve with different values of one parameter");
  command.require_subcommand(1);
  command.footer(
      "Examples:\n"
      "  mpiexec.mpich -n 2 weft study in-flight --grid 50x50x100 --variant racy\n"
      "  mpiexec.mpich -n 4 weft study halo-period --grid 100 --variant async --values 1,8,64\n"
      "  weft study alpha --subdomains 12 --points 64\n"
      "  mpiexec.mpich -n 2 weft study cg poisson3d:100\n"
      "  weft study multigrid poisson3d:100\n"
      "  weft study amg poisson3d:64\n"
      "  weft study scale --simulated-ranks 32,512\n"
      "  weft study scale-cg --nodes 8,96\n"
      "tools/run study ... --plot FILE.svg draws the report.");
  const StudyProgram studies{command, session, exit_code};
  add_parameter_studies(studies);
  add_amg_study(studies);
  add_cg_study(studies);
  add_multigrid_study(studies);
  add_scale_study(studies);
  add_cg_scale_study(studies);
  add_schwarz_scale_study(studies);
}

}  // namespace weft::tools
