#!/bin/bash
# hb_write of SciPy announces numbers of 25 columns, (3E25.16), and writes 24 for each: a reader that
# takes the columns of the format, as the Harwell-Boeing format wants it, finds the sign of a number
# behind the number before. hb_read of the same SciPy splits lines at blanks, which works until a
# negative number with an exponent of three digits follows another one: then it cannot read the file
# that hb_write has just written.
#
# Two matrices of 3 x 3. weft reads the first by its blanks, because as many numbers stand between
# them as the format says, and refuses the second with the line, because no reading of it is sure.
# Needs python3 (3.11 or newer) with venv and a package index. Fails where this changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install "scipy==1.17.1" "numpy==2.3.5"
venv/bin/python -W ignore - <<'PY'
import re, sys
import numpy as np, scipy, scipy.io, scipy.sparse as sp
print("SciPy", scipy.__version__, "NumPy", np.__version__)

def write(rows, name):
    scipy.io.hb_write(name, sp.csc_matrix(np.array(rows)))
    lines = open(name).read().splitlines()
    number_format = lines[3].split()[-1]
    width = int(re.fullmatch(r"\(\d+E(\d+)\.\d+\)", number_format)[1])
    first = lines[6]
    print(f"{name}: format {number_format}, first line of numbers {first!r}")
    return [first[at:at + width] for at in range(0, 3 * width, width)]

fields = write([[4.0, 0, 0], [2.0, 1, 0], [-1.0, 0, 1]], "a.hb")
print("by the columns of the format:", fields)
if not fields[1].endswith("-") or fields[2].startswith("-"):
    sys.exit("the numbers stand in their columns now")
write([[1e120, 0, 0], [-1e110, 1, 0], [-1e110, 0, 1]], "b.hb")
try:
    scipy.io.hb_read("b.hb")
except ValueError as error:
    print("hb_read of b.hb: ValueError", error)
else:
    sys.exit("hb_read reads it now")
PY
echo "as seen: numbers are one column narrower than announced, and hb_read cannot read them all"
