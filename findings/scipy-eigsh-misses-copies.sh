#!/bin/bash
# eigsh of SciPy, asked for the twenty lowest eigenvalues to machine precision (tol=0, the default),
# leaves out one of six equal ones and returns the twenty-first as the twentieth, without a warning.
#
# Its documentation says "k: The number of eigenvalues and eigenvectors desired" and tells of
# ArpackNoConvergence; nothing says that copies may be missing. A Krylov space of one start vector
# holds one direction of each eigenspace; the other copies enter by rounding, late. With tol=1e-6 four
# copies are missing. Every pair has a small residual, so a check of residuals finds nothing; in
# shift-invert mode the same function finds all.
#
# Laplacian on 10 x 10 x 10 points, whose eigenvalues are known: sums of 2 - 2*cos(pi*i/11). Needs
# python3 (3.11 or newer) with venv and a package index. Fails where this changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install "scipy==1.17.1" "numpy==2.3.5"
OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 venv/bin/python -W error - <<'PY'
import itertools
import sys
import numpy as np, scipy, scipy.sparse as sp
from scipy.sparse.linalg import eigsh
print("SciPy", scipy.__version__, "NumPy", np.__version__)
n, k = 10, 20
line = sp.diags_array([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1])
one = sp.eye_array(n)
A = (sp.kron(sp.kron(line, one), one) + sp.kron(sp.kron(one, line), one)
     + sp.kron(sp.kron(one, one), line)).tocsc()
one_way = 2 - 2 * np.cos(np.pi * np.arange(1, n + 1) / (n + 1))
exact = np.sort([sum(three) for three in itertools.product(one_way, repeat=3)])
start = np.random.default_rng(0).standard_normal(n**3)
missing = {}
for name, options in {"which='SA', tol=0": dict(which="SA"),
                      "which='SA', tol=1e-6": dict(which="SA", tol=1e-6),
                      "sigma=0, tol=0": dict(sigma=0)}.items():
    values, vectors = eigsh(A, k, v0=start, **options)
    residual = np.linalg.norm(A @ vectors - vectors * values, axis=0).max()
    values = np.sort(values)
    lost = k - sum(values <= exact[k - 1] + 1e-5)
    missing[name] = lost
    print(f"{name}: 20th value {values[-1]:.6f} (exact {exact[k - 1]:.6f}), copies missing {lost}, "
          f"largest residual {residual:.0e}")
if not (missing["which='SA', tol=0"] >= 1 and missing["which='SA', tol=1e-6"] >= 3
        and missing["sigma=0, tol=0"] == 0):
    sys.exit("other values than those seen")
PY
echo "as seen: eigsh returns twenty pairs, and not the twenty lowest"
