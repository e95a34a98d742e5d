#!/bin/bash
# Bcast of mpi4py hands an array in Fortran's order over as its transpose, without an error, where the
# receiver made room by np.empty(shape). Eigenvectors from scipy.linalg.eigh are such an array.
#
# Rank 0 solves a small symmetric eigenproblem, as a Lanczos method does with its projected matrix, and
# sends the vectors to all. Rank 0 has A*v = v*w to rounding, the others do not; their vectors are as
# orthonormal as before, so that a check of that finds nothing. Bcast, Allreduce, Send and Recv take any
# contiguous array as bytes in a row: a strided one is refused, one of the other order is not.
# The lower-case bcast sends the order, too, and is right. So is np.ascontiguousarray(v) before.
#
# Needs python3 (3.11 or newer) with venv and a package index. Fails where this changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install mpi4py==4.1.2 mpich==5.0.2 scipy==1.17.1 numpy==2.3.5
cat >vectors.py <<'PY'
import mpi4py
import numpy as np
import scipy
from mpi4py import MPI

world = MPI.COMM_WORLD
n = 6
A = np.diag(np.arange(1.0, n + 1)) + np.diag(np.full(n - 1, 0.5), 1) + np.diag(np.full(n - 1, 0.5), -1)


def say(what, w, v):
    lines = world.gather((np.linalg.norm(A @ v - v * w), np.linalg.norm(v.T @ v - np.eye(n))))
    for rank, (residual, loss) in enumerate(lines or []):
        print(f"{what}, rank {rank}: |A*v - v*w| = {residual:.0e}, |v'*v - 1| = {loss:.0e}", flush=True)


w, v = np.empty(n), np.empty((n, n))
if world.rank == 0:
    print("mpi4py", mpi4py.__version__, "SciPy", scipy.__version__, flush=True)
    w, v = scipy.linalg.eigh(A)
    print("eigh: Fortran's order", v.flags.f_contiguous and not v.flags.c_contiguous, flush=True)
right = world.bcast(v)
world.Bcast(w)
world.Bcast(v)
say("Bcast", w, v)
say("bcast", w, right)
strided = np.empty((n, 2 * n))[:, ::2]
try:
    world.Bcast(strided)
    print("a strided array is taken", flush=True)
except (BufferError, ValueError) as error:
    if world.rank == 0:
        print("strided:", type(error).__name__, error, flush=True)
PY
timeout 120 venv/bin/mpiexec -n 2 venv/bin/python vectors.py | tee out
grep -q "^eigh: Fortran's order True" out
grep -Eq "^Bcast, rank 0: .A\*v - v\*w. = [0-9]e-1[0-9]" out
grep -Eq "^Bcast, rank 1: .A\*v - v\*w. = [0-9]e[+]00, .v'\*v - 1. = [0-9]e-1[0-9]" out
grep -Eq "^bcast, rank 1: .A\*v - v\*w. = [0-9]e-1[0-9]" out
grep -q '^strided: BufferError' out
echo "as seen: rank 1 has the transpose of the eigenvectors, and nothing is said"
