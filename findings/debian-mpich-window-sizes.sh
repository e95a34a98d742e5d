#!/bin/bash
# MPICH 4.0.2, the one of Debian 12: within a node, what one rank accumulates into the window of another
# lands one number too early where the parts of the window, made by MPI_Win_allocate, have an odd number of
# doubles. Nothing is said: the first value is lost in the part of the rank before, the last place stays as
# it was. Parts of a multiple of 16 bytes are right, and so is MPICH 4.0.3 (PyPI), the next release.
#
# A window of one counter for each rank, as distributed termination or load balancing has, is such a
# window. Who cannot choose the library rounds the size up.
#
# Needs Debian 12 with apt, gcc, python3 (3.11 or newer) with venv and a package index. Fails where this
# changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get -q download mpich=4.0.2-3+b1 libmpich12=4.0.2-3+b1 libmpich-dev=4.0.2-3+b1 libhwloc15 libucx0 libnuma1 \
    libudev1 >apt.log 2>&1
for package in *.deb; do dpkg -x "$package" debian; done
libraries=$folder/debian/usr/lib/x86_64-linux-gnu
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install mpich==4.0.3
cat >windows.c <<'C'
#include <mpi.h>
#include <stdio.h>
int main(int count, char **words) {
  MPI_Init(&count, &words);
  int rank, wrong_sizes = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int n = 1; n <= 8; ++n) {
    double *own;
    MPI_Win window;
    MPI_Win_allocate(n * sizeof *own, sizeof *own, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &window);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
    for (int i = 0; i < n; ++i) own[i] = 0;
    MPI_Win_unlock(rank, window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
      for (int i = 0; i < n; ++i) {
        double value = 100 + i;
        MPI_Accumulate(&value, 1, MPI_DOUBLE, 1, i, 1, MPI_DOUBLE, MPI_SUM, window);
        MPI_Win_flush_local(1, window);
      }
      MPI_Win_unlock(1, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
    int wrong = 0;
    for (int i = 0; i < n; ++i) wrong += own[i] != 100 + i;
    if (rank == 1) {
      printf("%d doubles:", n);
      for (int i = 0; i < n; ++i) printf(" %g", own[i]);
      printf("%s\n", wrong ? "  wrong" : "");
      wrong_sizes += wrong > 0;
    }
    MPI_Win_unlock(rank, window);
    MPI_Win_free(&window);
  }
  if (rank == 1) printf("sizes that are wrong: %d\n", wrong_sizes);
  MPI_Finalize();
  return 0;
}
C
# run NAME LAUNCHER HEADERS LIBRARIES LIBRARY
run() {
    gcc -O1 -I"$3" windows.c -o "windows_$1" -L"$4" -Wl,-rpath-link,"$4" "-l$5"
    echo "== $1"
    LD_LIBRARY_PATH=$4 timeout 120 "$2" -n 2 "./windows_$1" | tee out
}
run debian-4.0.2 "$folder/debian/usr/bin/mpiexec.hydra" "$libraries/mpich/include" "$libraries" mpich
[[ $(tail -n 1 out) == 'sizes that are wrong: 4' ]]
grep -q '^3 doubles: 101 102 0  wrong$' out
run pypi-4.0.3 "$folder/venv/bin/mpiexec" "$folder/venv/include" "$folder/venv/lib" mpi
[[ $(tail -n 1 out) == 'sizes that are wrong: 0' ]]
echo "as seen: with an odd number of doubles for each rank, Debian's MPICH writes one place too early"
