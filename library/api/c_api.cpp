#include <cstring>
#include <string>
#include <utility>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "library/api/c_handles.h"
#include "library/api/guarded.h"
#include "library/api/job_state.h"
#include "library/api/matrix_state.h"
#include "library/api/program_mpi.h"

namespace {

using weft::library::caught;
using weft::library::collective_options_of;
using weft::library::expect;
using weft::library::made;

thread_local std::string last_error;

weft::JobOptions job_options_of(const weft_job_options* options) {
  weft::JobOptions made;
  if (!options) return made;
  made.threads = options->threads;
  made.pinning = options->pinning == WEFT_KEEP   ? weft::Pinning::keep
                 : options->pinning == WEFT_NONE ? weft::Pinning::none
                                                 : weft::Pinning::pin;
  made.strict_placement = options->strict_placement != 0;
  if (options->on_stall)
    made.on_stall = [call = options->on_stall, user = options->user](const std::string& awaited,
                                                                     double seconds) {
      call(awaited.c_str(), seconds, user);
    };
  if (options->stall_seconds > 0) made.stall_seconds = options->stall_seconds;
  made.allow_singletons = options->allow_singletons != 0;
  made.pin_beyond_mask = options->pin_beyond_mask != 0;
  return made;
}

int matrix_from_rows(const weft_job* job, int64_t first_row, int64_t row_count,
                     const int64_t* offsets, const int64_t* columns, const double* values,
                     const char* options, weft::Values kept, weft_matrix** matrix) {
  return made(matrix, [&] {
    expect(job, "job");
    weft::Rows rows{.first_row = first_row, .offsets = {}, .columns = {}, .values = {}};
    // What is wrong otherwise is found together with the other ranks.
    if (offsets && row_count >= 0) {
      rows.offsets = {offsets, static_cast<std::size_t>(row_count) + 1};
      const int64_t count = offsets[row_count];
      if (columns && count >= 0) rows.columns = {columns, static_cast<std::size_t>(count)};
      if (values && count >= 0) rows.values = {values, static_cast<std::size_t>(count)};
    }
    return new weft_matrix{weft::Matrix::from_rows(
        job->job, rows, collective_options_of(*job->job.state(), options, "making a matrix"),
        kept)};
  });
}

std::span<const double> vector_of(const weft_matrix& matrix, const double* values) {
  const auto count = static_cast<std::size_t>(matrix.matrix.local_row_count());
  return {values, values ? count : 0};
}

std::span<double> vector_of(const weft_matrix& matrix, double* values) {
  const auto count = static_cast<std::size_t>(matrix.matrix.local_row_count());
  return {values, values ? count : 0};
}

weft_report report_of(const weft::Report& solved) {
  return {static_cast<int>(solved.status),
          solved.iterations,
          solved.restarts,
          solved.relative_residual,
          solved.recurrence_residual,
          solved.setup_seconds,
          solved.solve_seconds};
}

weft::UserOperator operator_of(const weft_operator& given) {
  weft::UserOperator user;
  user.first_row = given.first_row;
  user.row_count = given.row_count;
  if (given.halo_rows) user.halo_rows.assign(given.halo_rows, given.halo_rows + given.halo_count);
  const auto part = [&](auto* call) -> weft::UserOperator::Part {
    if (!call) return {};
    return [call, data = given.user](int64_t first, int64_t last, const double* x, double* y) {
      call(first, last, x, y, data);
    };
  };
  user.interior = part(given.interior);
  user.boundary = part(given.boundary);
  if (given.diagonal)
    user.diagonal = [call = given.diagonal, data = given.user](std::span<double> diagonal) {
      call(diagonal.data(), data);
    };
  user.is_threaded = given.is_threaded != 0;
  user.norm = given.norm;
  return user;
}

}  // namespace

namespace weft::library {

int fail(int code, const char* text) {
  last_error = text;
  return code;
}

void expect(const void* pointer, const char* what) {
  if (!pointer)
    throw Error(ErrorCode::misuse, std::string(what) + ": found NULL; expected a pointer");
}

Options collective_options_of(Job::State& job, const char* text, const char* doing) {
  if (!text) text = "";
  return guarded([&] {
    job.roll_call.collective_answer(doing);
    Options options;
    comm_thread::collective_attempt(job.job->world(), [&] {
      try {
        options = text[std::strspn(text, " \t\n")] == '{' ? Options::from_json(text)
                                                          : Options::parse(text);
      } catch (const Error& error) {
        throw comm_thread::InputError(error.what());
      }
    });
    return options;
  });
}

}  // namespace weft::library

const char* weft_error_message(void) { return last_error.c_str(); }

const char* weft_version(void) { return WEFT_VERSION; }

int weft_job_create(MPI_Comm communicator, const weft_job_options* options, weft_job** job) {
  return made(job, [&] {
    const MPI_Comm ours = weft::library::communicator_of_program(communicator);
    return new weft_job{weft::Job(ours, job_options_of(options))};
  });
}

int weft_job_create_world(const weft_job_options* options, weft_job** job) {
  return made(job, [&] {
    weft::library::open_mpi_of_program();
    return new weft_job{weft::Job(job_options_of(options))};
  });
}

void weft_job_destroy(weft_job* job) { delete job; }
int weft_job_rank(const weft_job* job) { return job->job.rank(); }
int weft_job_size(const weft_job* job) { return job->job.size(); }
int weft_job_thread_count(const weft_job* job) { return job->job.thread_count(); }

const char* weft_job_findings(const weft_job* job) {
  job->findings.clear();
  for (const weft::Finding& each : job->job.findings()) job->findings += each.text + "\n";
  return job->findings.c_str();
}

int weft_job_audit(const weft_job* job, weft_thread_place* places, int room, int* count) {
  return caught([&] {
    expect(job, "job");
    expect(count, "count");
    *count = 0;
    for (const weft::ThreadPlace& each : job->job.audit()) {
      if (places && *count < room)
        places[*count] = {each.thread, static_cast<int>(each.planned_cpu),
                          each.last_cpu ? static_cast<int>(*each.last_cpu) : -1};
      ++*count;
    }
  });
}

int64_t weft_row_block(int64_t row_count) { return weft::Matrix::row_block(row_count); }

int weft_matrix_from_rows(const weft_job* job, int64_t first_row, int64_t row_count,
                          const int64_t* offsets, const int64_t* columns, const double* values,
                          const char* options, weft_matrix** matrix) {
  return matrix_from_rows(job, first_row, row_count, offsets, columns, values, options,
                          weft::Values::copied, matrix);
}

int weft_matrix_from_borrowed_rows(const weft_job* job, int64_t first_row, int64_t row_count,
                                   const int64_t* offsets, const int64_t* columns,
                                   const double* values, const char* options,
                                   weft_matrix** matrix) {
  return matrix_from_rows(job, first_row, row_count, offsets, columns, values, options,
                          weft::Values::borrowed, matrix);
}

int weft_matrix_from_file(const weft_job* job, const char* path, const char* options,
                          weft_matrix** matrix) {
  return made(matrix, [&] {
    expect(job, "job");
    expect(path, "path");
    return new weft_matrix{weft::Matrix::from_file(
        job->job, path, collective_options_of(*job->job.state(), options, "making a matrix"))};
  });
}

int weft_matrix_generate(const weft_job* job, const char* problem, const char* options,
                         weft_matrix** matrix) {
  return made(matrix, [&] {
    expect(job, "job");
    expect(problem, "problem");
    return new weft_matrix{weft::Matrix::generate(
        job->job, problem, collective_options_of(*job->job.state(), options, "making a matrix"))};
  });
}

int weft_matrix_stencil(const weft_job* job, const int64_t points[3], const double weights[3],
                        weft_matrix** matrix) {
  return made(matrix, [&] {
    expect(job, "job");
    expect(points, "points");
    expect(weights, "weights");
    return new weft_matrix{weft::Matrix::stencil(job->job, {points[0], points[1], points[2]},
                                                 {weights[0], weights[1], weights[2]})};
  });
}

int weft_matrix_from_operator(const weft_job* job, const weft_operator* user_operator,
                              weft_matrix** matrix) {
  return made(matrix, [&] {
    expect(job, "job");
    expect(user_operator, "user_operator");
    return new weft_matrix{weft::Matrix::from_operator(job->job, operator_of(*user_operator))};
  });
}

void weft_matrix_destroy(weft_matrix* matrix) { delete matrix; }
int64_t weft_matrix_row_count(const weft_matrix* matrix) { return matrix->matrix.row_count(); }
int64_t weft_matrix_nonzero_count(const weft_matrix* matrix) {
  return matrix->matrix.nonzero_count();
}
const char* weft_matrix_remarks(const weft_matrix* matrix) {
  matrix->remarks.clear();
  for (const std::string& each : matrix->matrix.remarks()) matrix->remarks += each + "\n";
  return matrix->remarks.c_str();
}
int64_t weft_matrix_local_row_count(const weft_matrix* matrix) {
  return matrix->matrix.local_row_count();
}
int64_t weft_matrix_global_row(const weft_matrix* matrix, int64_t local) {
  return local >= 0 && local < matrix->matrix.local_row_count() ? matrix->matrix.global_row(local)
                                                                : -1;
}

int weft_matrix_update_values(weft_matrix* matrix, const double* values, int64_t count) {
  return caught([&] {
    expect(matrix, "matrix");
    matrix->matrix.update_values(
        {values, values && count > 0 ? static_cast<std::size_t>(count) : 0});
  });
}

int weft_matrix_multiply(const weft_matrix* matrix, const double* x, double* y) {
  return caught([&] {
    expect(matrix, "matrix");
    matrix->matrix.multiply(vector_of(*matrix, x), vector_of(*matrix, y));
  });
}

int weft_matrix_multiply_block(const weft_matrix* matrix, const double* x, double* y, int count) {
  return caught([&] {
    expect(matrix, "matrix");
    const auto entries = static_cast<std::size_t>(matrix->matrix.local_row_count()) *
                         static_cast<std::size_t>(count > 0 ? count : 0);
    matrix->matrix.multiply_block({x, x ? entries : 0}, {y, y ? entries : 0}, count);
  });
}

int weft_matrix_right_hand_side(const weft_matrix* matrix, const char* word, double* b) {
  return caught([&] {
    expect(matrix, "matrix");
    expect(b, "b");
    const auto made = matrix->matrix.right_hand_side(word ? word : "");
    std::memcpy(b, made.data(), made.size() * sizeof(double));
  });
}

int weft_solver_create(const weft_matrix* matrix, const char* options, weft_solver** solver) {
  return weft_solver_create_with(matrix, options, nullptr, solver);
}

int weft_solver_create_with(const weft_matrix* matrix, const char* options,
                            const weft_preconditioner* preconditioner, weft_solver** solver) {
  return made(solver, [&] {
    expect(matrix, "matrix");
    const weft::Options parsed =
        collective_options_of(*matrix->matrix.state()->job, options, "making a solver");
    if (!preconditioner)
      return new weft_solver{matrix->matrix, weft::Solver(matrix->matrix, parsed), {}};
    weft::UserPreconditioner user{.apply = {},
                                  .is_symmetric = preconditioner->is_not_symmetric == 0,
                                  .norm = preconditioner->norm};
    if (preconditioner->apply)
      user.apply = [call = preconditioner->apply, data = preconditioner->user](
                       std::span<const double> r, std::span<double> z) {
        call(r.data(), z.data(), static_cast<int64_t>(r.size()), data);
      };
    return new weft_solver{matrix->matrix, weft::Solver(matrix->matrix, parsed, user), {}};
  });
}

int weft_solver_create_from(const weft_matrix* matrix, const char* options,
                            const weft_solver_vectors* vectors, weft_solver** solver) {
  return made(solver, [&] {
    expect(matrix, "matrix");
    expect(vectors, "vectors");
    const auto of_caller = [&](const double* values, int count) -> std::span<const double> {
      const auto rows = static_cast<std::size_t>(matrix->matrix.local_row_count());
      return {values, values && count > 0 ? rows * static_cast<std::size_t>(count) : 0};
    };
    return new weft_solver{
        matrix->matrix,
        weft::Solver(
            matrix->matrix,
            collective_options_of(*matrix->matrix.state()->job, options, "making a solver"),
            weft::SolverVectors{
                .near_null = of_caller(vectors->near_null, vectors->near_null_count),
                .near_null_count = vectors->near_null_count,
                .coordinates = of_caller(vectors->coordinates, vectors->dimensions),
                .dimensions = vectors->dimensions,
                .null_space = of_caller(vectors->null_space, 1)}),
        {}};
  });
}

void weft_solver_destroy(weft_solver* solver) { delete solver; }

int weft_solver_set_monitor(weft_solver* solver,
                            int (*monitor)(int64_t iteration, double residual, void* user),
                            void* user) {
  return caught([&] {
    expect(solver, "solver");
    weft::Monitor made;
    if (monitor)
      made = [monitor, user](int64_t iteration, double residual) {
        return monitor(iteration, residual, user) != 0;
      };
    solver->solver.set_monitor(std::move(made));
  });
}

int weft_solve(weft_solver* solver, const double* b, double* x, int from_guess,
               weft_report* report) {
  return caught([&] {
    expect(solver, "solver");
    const weft_matrix matrix{solver->matrix};
    const weft::Report solved =
        solver->solver.solve(vector_of(matrix, b), vector_of(matrix, x),
                             from_guess ? weft::Start::from_guess : weft::Start::from_zero);
    if (report) *report = report_of(solved);
    solver->report = solved.json();
  });
}

int weft_solve_block(weft_solver* solver, const double* b, double* x, int count, int from_guess,
                     weft_report* reports) {
  return caught([&] {
    expect(solver, "solver");
    const auto entries = static_cast<std::size_t>(solver->matrix.local_row_count()) *
                         static_cast<std::size_t>(count > 0 ? count : 0);
    const auto solved =
        solver->solver.solve_block({b, b ? entries : 0}, {x, x ? entries : 0}, count,
                                   from_guess ? weft::Start::from_guess : weft::Start::from_zero);
    for (std::size_t i = 0; reports && i < solved.size(); ++i) reports[i] = report_of(solved[i]);
    solver->report = solved.back().json();
  });
}

int weft_solver_precondition(weft_solver* solver, const double* r, double* z) {
  return caught([&] {
    expect(solver, "solver");
    const weft_matrix matrix{solver->matrix};
    solver->solver.precondition(vector_of(matrix, r), vector_of(matrix, z));
  });
}

void weft_solver_renew_preconditioner(weft_solver* solver) {
  solver->solver.renew_preconditioner();
}

const char* weft_solver_report_json(const weft_solver* solver) { return solver->report.c_str(); }
