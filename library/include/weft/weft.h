/* weft solves large sparse linear systems A x = b with MPI and threads: the C interface (C99).

       weft_job *job;
       weft_matrix *a;
       weft_solver *solver;
       weft_report report;
       weft_job_create(MPI_COMM_WORLD, NULL, &job);
       weft_matrix_from_rows(job, first_row, row_count, offsets, columns, values, NULL, &a);
       weft_solver_create(a, "--preconditioner jacobi --tolerance 1e-10", &solver);
       weft_solve(solver, b, x, 0, &report);
       weft_solver_destroy(solver);
       weft_matrix_destroy(a);
       weft_job_destroy(job);

   Every function returns WEFT_OK or the kind of an error; weft_error_message() says more. Bad input
   is the same error on all ranks of a job. What weft.hpp says about shapes, threads, collective
   calls and lifetimes holds here: a function is collective where its C++ form is. Handles are
   destroyed in any order, before MPI_Finalize. Where a handle is returned through a pointer, the
   pointer is set to NULL when the function fails. */
#ifndef WEFT_WEFT_H
#define WEFT_WEFT_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "version.h" /* NOLINT */

#if defined(__GNUC__)
  #define WEFT_C_EXPORT __attribute__((visibility("default")))
#else
  #define WEFT_C_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of errors, as weft::ErrorCode. */
enum weft_error {
  WEFT_OK = 0,
  WEFT_ERROR_BAD_INPUT = 2,
  WEFT_ERROR_MPI = 4,
  WEFT_ERROR_OUT_OF_MEMORY = 5,
  WEFT_ERROR_MISUSE = 6,
  WEFT_ERROR_CALLBACK = 7 /* a function of the caller threw an exception */
};

/* One line about the last error of the calling thread; "" before the first. Lives until the next
   call of weft by that thread. */
WEFT_C_EXPORT const char* weft_error_message(void);

/* The version of the library that the program runs with: "0.2.0". */
WEFT_C_EXPORT const char* weft_version(void);

typedef struct weft_job weft_job;
typedef struct weft_matrix weft_matrix;
typedef struct weft_solver weft_solver;

enum weft_pinning { WEFT_PIN = 0, WEFT_KEEP = 1, WEFT_NONE = 2 };

/* Zero in every field is the default. */
typedef struct weft_job_options {
  int threads; /* compute threads per rank; 0: one for each core, as in weft::JobOptions */
  int pinning; /* enum weft_pinning */
  int strict_placement;
  void (*on_stall)(const char* awaited, double seconds, void* user); /* may be NULL */
  void* user; /* passed to on_stall */
  double stall_seconds; /* 0: 10 */
  int allow_singletons; /* as in weft::JobOptions */
  int pin_beyond_mask; /* as in weft::JobOptions */
} weft_job_options;

/* A job of the ranks of `communicator`, which is duplicated; `options` may be NULL. Collective. */
WEFT_C_EXPORT int weft_job_create(MPI_Comm communicator, const weft_job_options* options,
                                  weft_job** job);
/* The same of all processes; starts MPI where it is not running, until the process exits. */
WEFT_C_EXPORT int weft_job_create_world(const weft_job_options* options, weft_job** job);
WEFT_C_EXPORT void weft_job_destroy(weft_job* job);
WEFT_C_EXPORT int weft_job_rank(const weft_job* job);
WEFT_C_EXPORT int weft_job_size(const weft_job* job);
WEFT_C_EXPORT int weft_job_thread_count(const weft_job* job);

/* Where a thread of this rank is (weft::ThreadPlace). */
typedef struct weft_thread_place {
  int thread; /* compute thread, or -1 for the communication thread */
  int planned_cpu; /* as the operating system numbers hardware threads */
  int last_cpu; /* the one it ran on last; -1: not known */
} weft_thread_place;
/* Asks every thread of this rank where it is. `count`: their number, of which at most `room` are
   written to `places`. Not collective. */
WEFT_C_EXPORT int weft_job_audit(const weft_job* job, weft_thread_place* places, int room,
                                 int* count);
/* What there is to know about the placement of threads, a line each. Lives until the next call. */
WEFT_C_EXPORT const char* weft_job_findings(const weft_job* job);

/* Rows per block: no row moves where each rank begins at a multiple (Matrix::row_block). */
WEFT_C_EXPORT int64_t weft_row_block(int64_t row_count);

/* A matrix of this rank's rows (Matrix::from_rows). `offsets`: [row_count + 1]; `columns`,
   `values`: [offsets[row_count]]. `options`, "--NAME VALUE ..." or a JSON object, may be NULL here
   and below; "--triangle mirrored" or "--triangle as-is" where entries are on one side of the
   diagonal only. The arrays are copied. Collective. */
WEFT_C_EXPORT int weft_matrix_from_rows(const weft_job* job, int64_t first_row, int64_t row_count,
                                        const int64_t* offsets, const int64_t* columns,
                                        const double* values, const char* options,
                                        weft_matrix** matrix);
/* The same, with the caller's values where they are (Values::borrowed). Collective. */
WEFT_C_EXPORT int weft_matrix_from_borrowed_rows(const weft_job* job, int64_t first_row,
                                                 int64_t row_count, const int64_t* offsets,
                                                 const int64_t* columns, const double* values,
                                                 const char* options, weft_matrix** matrix);
/* From a file: Matrix Market, PETSc or SciPy, by its ending; "--base 0" or "--base 1" where rows of
   entries as text count from. Collective. */
WEFT_C_EXPORT int weft_matrix_from_file(const weft_job* job, const char* path, const char* options,
                                        weft_matrix** matrix);
/* A generated problem such as "poisson3d:128". Collective. */
WEFT_C_EXPORT int weft_matrix_generate(const weft_job* job, const char* problem,
                                       const char* options, weft_matrix** matrix);
/* The stencil of a grid without a matrix. Collective. */
WEFT_C_EXPORT int weft_matrix_stencil(const weft_job* job, const int64_t points[3],
                                      const double weights[3], weft_matrix** matrix);

/* An operator of the caller (weft::UserOperator); what is zero is the default. The interior part
   runs while the halo travels. x: this rank's values, then those of `halo_rows`. */
typedef struct weft_operator {
  int64_t first_row;
  int64_t row_count;
  const int64_t* halo_rows; /* [halo_count], ascending rows of other ranks */
  int64_t halo_count;
  void (*interior)(int64_t first, int64_t last, const double* x, double* y, void* user);
  void (*boundary)(int64_t first, int64_t last, const double* x, double* y, void* user);
  void (*diagonal)(double* diagonal, void* user); /* may be NULL */
  void* user; /* passed to the functions */
  int is_threaded; /* nonzero: every compute thread calls, each with a range of its own */
  double norm;
} weft_operator;
WEFT_C_EXPORT int weft_matrix_from_operator(const weft_job* job, const weft_operator* user_operator,
                                            weft_matrix** matrix);
WEFT_C_EXPORT void weft_matrix_destroy(weft_matrix* matrix);

WEFT_C_EXPORT int64_t weft_matrix_row_count(const weft_matrix* matrix);
WEFT_C_EXPORT int64_t weft_matrix_local_row_count(const weft_matrix* matrix);
WEFT_C_EXPORT int64_t weft_matrix_nonzero_count(const weft_matrix* matrix);
/* What was left out or decided when the matrix was made, or when vectors were read from files for
   it, and why no solver takes it, a line each (Matrix::remarks). Lives until the next call. */
WEFT_C_EXPORT const char* weft_matrix_remarks(const weft_matrix* matrix);
/* The number of row `local` of this rank; -1 outside of 0 ... local_row_count - 1. */
WEFT_C_EXPORT int64_t weft_matrix_global_row(const weft_matrix* matrix, int64_t local);
/* New values in the places of weft_matrix_from_rows. Collective. */
WEFT_C_EXPORT int weft_matrix_update_values(weft_matrix* matrix, const double* values,
                                            int64_t count);
/* y = A x. Shape: x, y: [local_row_count]. Collective. */
WEFT_C_EXPORT int weft_matrix_multiply(const weft_matrix* matrix, const double* x, double* y);
/* Y = A X for `count` vectors at once. Shape: x, y: [local_row_count * count], the entries of a row
   together. Collective. */
WEFT_C_EXPORT int weft_matrix_multiply_block(const weft_matrix* matrix, const double* x, double* y,
                                             int count);
/* A right-hand side by the words of the command line; NULL: the one that `weft solve` takes.
   Shape: b: [local_row_count]. Collective. */
WEFT_C_EXPORT int weft_matrix_right_hand_side(const weft_matrix* matrix, const char* word,
                                              double* b);

/* Ends of a solve, as weft::Status; none is an error. */
enum weft_status {
  WEFT_CONVERGED = 0,
  WEFT_NOT_CONVERGED = 1,
  WEFT_BREAKDOWN = 2,
  WEFT_STOPPED = 3,
  WEFT_DIVERGED = 4,
  WEFT_OUT_OF_TIME = 5
};

/* Outcome of a solve (weft::Report); the same on every rank except the times. */
typedef struct weft_report {
  int status; /* enum weft_status */
  int64_t iterations;
  int64_t restarts;
  double relative_residual;
  double recurrence_residual;
  double setup_seconds;
  double solve_seconds;
} weft_report;

/* A preconditioner of the caller (weft::UserPreconditioner): z = M r. */
typedef struct weft_preconditioner {
  void (*apply)(const double* r, double* z, int64_t count, void* user);
  void* user;
  int is_not_symmetric;
  double norm;
} weft_preconditioner;

/* Sets up a method; `preconditioner` may be NULL. Collective. */
WEFT_C_EXPORT int weft_solver_create(const weft_matrix* matrix, const char* options,
                                     weft_solver** solver);
WEFT_C_EXPORT int weft_solver_create_with(const weft_matrix* matrix, const char* options,
                                          const weft_preconditioner* preconditioner,
                                          weft_solver** solver);
/* Vectors that options name as files otherwise (weft::SolverVectors); NULL: none. Copied. */
typedef struct weft_solver_vectors {
  const double* near_null; /* [local_row_count * near_null_count], the entries of a row together */
  int near_null_count;
  const double* coordinates; /* of each row's node, [local_row_count * dimensions] */
  int dimensions;
  const double* null_space; /* [local_row_count] */
} weft_solver_vectors;
/* With vectors of the caller. Collective. */
WEFT_C_EXPORT int weft_solver_create_from(const weft_matrix* matrix, const char* options,
                                          const weft_solver_vectors* vectors, weft_solver** solver);
WEFT_C_EXPORT void weft_solver_destroy(weft_solver* solver);

/* Called on every rank after each iteration; nonzero, on all ranks, stops the solve. */
WEFT_C_EXPORT int weft_solver_set_monitor(weft_solver* solver,
                                          int (*monitor)(int64_t iteration, double residual,
                                                         void* user),
                                          void* user);
/* Solves A x = b; x is the guess where `from_guess` is not zero. Shape: b, x: [local_row_count].
   `report` may be NULL. Collective. */
WEFT_C_EXPORT int weft_solve(weft_solver* solver, const double* b, double* x, int from_guess,
                             weft_report* report);
/* The same for `count` right-hand sides at once, as weft::Solver::solve_block. Shape: b, x:
   [local_row_count * count], the entries of a row together; reports: [count], or NULL.
   Collective. */
WEFT_C_EXPORT int weft_solve_block(weft_solver* solver, const double* b, double* x, int count,
                                   int from_guess, weft_report* reports);
/* z = M r with the preconditioner alone. Shape: r, z: [local_row_count]. Collective. */
WEFT_C_EXPORT int weft_solver_precondition(weft_solver* solver, const double* r, double* z);
/* Makes the preconditioner again at the next solve. */
WEFT_C_EXPORT void weft_solver_renew_preconditioner(weft_solver* solver);
/* The last report as a JSON object; "" before the first. Lives until the next solve. */
WEFT_C_EXPORT const char* weft_solver_report_json(const weft_solver* solver);

/* Outcome of a search for eigenvalues (weft::Eigenvalues); the same on every rank except the
   time. */
typedef struct weft_eigen_report {
  int status; /* enum weft_status */
  int count; /* pairs that are there */
  int is_complete; /* nonzero: a factorization shows that none is missing up to the last */
  int64_t missing; /* shown to be there, but not found */
  double norm; /* of A, which the tolerance refers to */
  int64_t products;
  int restarts;
  double seconds;
} weft_eigen_report;

/* Eigenvalues of a symmetric matrix (weft::eigenvalues): "--count 10 --which largest ...".
   `eigenvalues`: from the end of the spectrum inwards; `residuals`, `error_bounds`: of each; all of
   --count numbers. `eigenvectors`: [local_row_count * report count], the entries of a row together,
   or NULL; it has room for --count columns. Collective. */
WEFT_C_EXPORT int weft_eigenvalues(const weft_matrix* matrix, const char* options,
                                   double* eigenvalues, double* residuals, double* error_bounds,
                                   double* eigenvectors, weft_eigen_report* report);
/* The same of A x = lambda B x, with B symmetric and positive definite. Collective. */
WEFT_C_EXPORT int weft_eigenvalues_with_mass(const weft_matrix* matrix, const weft_matrix* mass,
                                             const char* options, double* eigenvalues,
                                             double* residuals, double* error_bounds,
                                             double* eigenvectors, weft_eigen_report* report);

/* What a spectral density is of (weft::SpectralDensity); the same on every rank. */
typedef struct weft_density_report {
  double least; /* all eigenvalues lie from here ... */
  double greatest; /* ... to here */
  double resolution;
  int64_t products;
  int has_count; /* nonzero with --interval */
  double count;
  double count_uncertainty;
} weft_density_report;

/* The density of states of a symmetric matrix by the kernel polynomial method, or the spectral
   function of v, or of v and w (weft::spectral_density): "--moments 512 ...". `v`, `w`:
   [local_row_count], or NULL. `energies`, `density`, `errors`: of `point_count` points, which takes
   the place of --points; `errors` may be NULL. Collective. */
WEFT_C_EXPORT int weft_spectral_density(const weft_matrix* matrix, const char* options,
                                        const double* v, const double* w, int point_count,
                                        double* energies, double* density, double* errors,
                                        weft_density_report* report);

/* One rank's part of an iteration x <- F(x) of the caller (weft::UserIteration). `halo`: what the
   neighbours have sent, in their order. Functions must not communicate. */
typedef struct weft_neighbour {
  int rank;
  int64_t send_count; /* values that it needs of this rank */
  int64_t receive_count; /* values that this rank needs of it */
} weft_neighbour;
typedef struct weft_user_iteration {
  const weft_neighbour* neighbours; /* [neighbour_count], ascending ranks; copied */
  int64_t neighbour_count;
  void (*pack)(const double* x, int64_t neighbour, double* out, void* user);
  void (*update)(const double* x, const double* halo, double* next, void* user);
  double (*residual_square)(const double* x, const double* halo, void* user);
  void* user; /* passed to the functions */
} weft_user_iteration;

/* Outcome of an iteration (weft::IterationReport). */
typedef struct weft_iteration_report {
  int status; /* enum weft_status */
  int64_t iterations; /* of this rank */
  double residual;
  double seconds;
  int64_t verdicts; /* without waiting, and below */
  int64_t failed_verifications;
  double detection_delay_seconds;
  int64_t messages_sent;
  int64_t messages_received;
} weft_iteration_report;

typedef struct weft_iteration weft_iteration;
/* `options` as of `weft jacobi`: "--variant async --tolerance 1e-8 ..." (weft::Iteration).
   Collective. */
WEFT_C_EXPORT int weft_iteration_create(const weft_job* job,
                                        const weft_user_iteration* user_iteration,
                                        const char* options, weft_iteration** iteration);
WEFT_C_EXPORT void weft_iteration_destroy(weft_iteration* iteration);
/* Iterates from x until the residual is below tolerance times scale. Where the last sweep has
   changed x by more than the root of the tolerance, of its largest value, it has not converged.
   Shape: x: [count]. `report` may be NULL. Collective. */
WEFT_C_EXPORT int weft_iteration_run(weft_iteration* iteration, double* x, int64_t count,
                                     double scale, weft_iteration_report* report);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_WEFT_H */
