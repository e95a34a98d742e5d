/* The system of solve.cpp in C. */
#include <stdio.h>
#include <stdlib.h>

#include <weft/weft.h>

static void check(int code) {
  if (code == WEFT_OK) return;
  fprintf(stderr, "solve_c: %s\n", weft_error_message());
  MPI_Abort(MPI_COMM_WORLD, 2);
}

int main(int argc, char **argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  weft_job *job = NULL;
  check(weft_job_create(MPI_COMM_WORLD, NULL, &job));

  const int64_t side = 100, row_count = side * side;
  const int64_t first = row_count * weft_job_rank(job) / weft_job_size(job);
  const int64_t end = row_count * (weft_job_rank(job) + 1) / weft_job_size(job);
  const size_t own = (size_t)(end - first);
  int64_t *offsets = malloc((own + 1) * sizeof *offsets);
  int64_t *columns = malloc(5 * own * sizeof *columns);
  double *values = malloc(5 * own * sizeof *values);
  int64_t count = 0;
  offsets[0] = 0;
  for (int64_t row = first; row < end; ++row) {
    const int64_t places[5] = {row - side, row - 1, row, row + 1, row + side};
    const int is_there[5] = {row >= side, row % side > 0, 1, row % side < side - 1,
                             row < row_count - side};
    for (int i = 0; i < 5; ++i) {
      if (!is_there[i]) continue;
      columns[count] = places[i];
      values[count++] = i == 2 ? 4 : -1;
    }
    offsets[row - first + 1] = count;
  }

  weft_matrix *a = NULL;
  weft_solver *solver = NULL;
  check(weft_matrix_from_rows(job, first, end - first, offsets, columns, values, NULL, &a));
  check(weft_solver_create(a, "--method cg --tolerance 1e-10", &solver));
  double *b = malloc(own * sizeof *b);
  double *x = malloc(own * sizeof *x);
  for (size_t i = 0; i < own; ++i) b[i] = 1;
  weft_report report;
  check(weft_solve(solver, b, x, 0, &report));
  if (weft_job_rank(job) == 0)
    printf("%s after %lld iterations, residual %.2e, x[0] = %.17g\n",
           report.status == WEFT_CONVERGED ? "converged" : "not converged",
           (long long)report.iterations, report.relative_residual, x[0]);

  weft_solver_destroy(solver);
  weft_matrix_destroy(a);
  weft_job_destroy(job);
  free(offsets);
  free(columns);
  free(values);
  free(b);
  free(x);
  MPI_Finalize();
  return 0;
}
