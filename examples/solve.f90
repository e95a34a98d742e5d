! The system of solve.cpp in Fortran 2008.
program solve_fortran
  use, intrinsic :: iso_c_binding
  use mpi_f08
  use weft
  implicit none
  integer(c_int64_t), parameter :: side = 100, row_count = side * side
  type(weft_job) :: job
  type(weft_matrix) :: a
  type(weft_solver) :: solver
  type(weft_report) :: report
  integer(c_int64_t), allocatable :: offsets(:), columns(:)
  real(c_double), allocatable :: values(:), b(:), x(:)
  integer(c_int64_t) :: first, last, row, places(5), entries
  integer :: provided, i
  logical :: is_there(5)

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided)
  call weft_job_create(MPI_COMM_WORLD, job)
  first = row_count * weft_job_rank(job) / weft_job_size(job)
  last = row_count * (weft_job_rank(job) + 1) / weft_job_size(job) - 1
  allocate (offsets(last - first + 2), columns(5 * (last - first + 1)), values(5 * (last - first + 1)))
  entries = 0
  offsets(1) = 0
  do row = first, last
    places = [row - side, row - 1, row, row + 1, row + side]
    is_there = [row >= side, mod(row, side) > 0, .true., mod(row, side) < side - 1, &
                row < row_count - side]
    do i = 1, 5
      if (.not. is_there(i)) cycle
      entries = entries + 1
      columns(entries) = places(i)
      values(entries) = merge(4, -1, i == 3)
    end do
    offsets(row - first + 2) = entries
  end do

  call weft_matrix_from_rows(job, first, last - first + 1, offsets, columns, values, a)
  call weft_solver_create(a, solver, options="--method cg --tolerance 1e-10")
  allocate (b(last - first + 1), x(last - first + 1))
  b = 1
  call weft_solve(solver, b, x, 0, report)
  if (weft_job_rank(job) == 0) then
    if (report%status == WEFT_CONVERGED) write (*, "(a)", advance="no") "converged"
    if (report%status /= WEFT_CONVERGED) write (*, "(a)", advance="no") "not converged"
    write (*, "(a, i0, a, es8.2, a, es24.16)") " after ", report%iterations, &
      " iterations, residual ", report%relative_residual, ", x(1) = ", x(1)
  end if

  call weft_solver_destroy(solver)
  call weft_matrix_destroy(a)
  call weft_job_destroy(job)
  call MPI_Finalize()
end program solve_fortran
