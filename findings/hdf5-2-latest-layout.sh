#!/bin/bash
# HDF5 2.0 with libver="latest" writes filtered chunked datasets that HDF5 1.10 to 1.14 cannot open,
# while the unfiltered ones of the same file they read.
#
# h5py 3.16.0 (its wheel holds HDF5 2.0) writes two chunked datasets of the same numbers in one file,
# one with gzip and one without; h5py 3.11.0 (HDF5 1.14.2) lists both names, reads the one without, and
# fails to open the other: the version of its layout message is newer than it knows. A reader that
# takes any failure to open for "there is no such dataset" says something wrong.
#
# Needs python3 with venv and a package index. Fails where this changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for version in 3.16.0 3.11.0; do
    python3 -m venv "v$version"
    "v$version/bin/pip" -q --disable-pip-version-check install "h5py==$version" "numpy<2.3"
done
v3.16.0/bin/python - <<'PY'
import h5py, numpy as np
print("written by h5py", h5py.__version__, "with HDF5", h5py.version.hdf5_version)
with h5py.File("a.h5", "w", libver="latest") as f:
    x = np.arange(1000.0)
    f.create_dataset("plain", data=x, chunks=(100,))
    f.create_dataset("gzip", data=x, chunks=(100,), compression="gzip")
PY
v3.11.0/bin/python - <<'PY'
import h5py, sys
print("read by h5py", h5py.__version__, "with HDF5", h5py.version.hdf5_version)
with h5py.File("a.h5") as f:
    print("names:", sorted(f))
    print("plain: sum", f["plain"][:].sum())
    try:
        print("gzip: sum", f["gzip"][:].sum())
    except Exception as error:
        print("gzip:", type(error).__name__, error)
        if "layout" not in str(error):
            sys.exit("another message than the one seen")
    else:
        sys.exit("the filtered dataset is read now")
PY
echo "as seen: a name that is listed cannot be opened by the older library"
