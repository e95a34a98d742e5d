"""The rooms: which folder may include which. tools/check_layers reads this table, too."""

# From the bottom to the top. A room may include every room of the folders above it in this table,
# and of its own folder those that are listed.
ROOMS = {
    "perfmodel": {
        "perfmodel": [],
    },
    "comm_thread": {
        "comm_thread/waiting": [],
        "comm_thread/mpi": ["waiting"],
        "comm_thread/placement": ["waiting", "mpi"],
        "comm_thread/engine": ["waiting", "mpi", "placement"],
        "comm_thread/job": ["mpi", "placement", "engine"],
        "comm_thread/channels": ["waiting", "mpi", "engine"],
        "comm_thread/termination": ["mpi", "engine", "channels"],
        "comm_thread/simulation": ["mpi", "engine", "channels"],
        "comm_thread/probe": ["mpi", "engine"],
    },
    "spmv": {
        "spmv/sums": [],
        "spmv/names": [],
        "spmv/rows": [],
        "spmv/modes": ["rows"],
        "spmv/matrix": ["sums", "rows", "modes"],
        "spmv/files": ["rows", "matrix", "names"],
        "spmv/texts": ["rows", "matrix", "names", "files"],
        "spmv/arrays": ["files"],
        "spmv/formats": ["rows", "matrix", "names", "files", "texts", "arrays"],
        "spmv/entries": ["rows", "matrix", "names", "files", "arrays", "formats"],
        "spmv/problems": ["rows", "matrix", "names"],
        "spmv/grid": ["sums", "rows", "modes", "problems"],
        "spmv/order": ["rows"],
    },
    "solver": {
        "solver/report": [],
        "solver/direct": [],
        "solver/panels": ["direct"],
        "solver/eigen": ["report", "checkpoint", "direct", "panels", "precondition"],
        "solver/spectrum": ["direct", "panels", "eigen"],
        "solver/interior": ["report", "checkpoint", "direct", "panels", "eigen", "spectrum"],
        "solver/choice": [],
        "solver/checkpoint": [],
        "solver/precondition": ["direct"],
        "solver/levels": ["precondition"],
        "solver/amg/coarsening": ["precondition", "levels"],
        "solver/amg": ["direct", "precondition", "levels", "amg/coarsening"],
        "solver/recycle": [],
        "solver/krylov": ["report", "checkpoint", "precondition"],
        "solver/krylov/grid": ["report", "checkpoint", "krylov"],
        "solver/multigrid/grids": [],
        "solver/multigrid/passes": ["multigrid/grids"],
        "solver/multigrid/couplings": ["multigrid/grids"],
        "solver/multigrid": [
            "report",
            "checkpoint",
            "direct",
            "precondition",
            "levels",
            "krylov",
            "krylov/grid",
            "multigrid/grids",
            "multigrid/passes",
            "multigrid/couplings",
        ],
        "solver/methods": ["report", "checkpoint", "krylov", "krylov/grid", "multigrid", "precondition"],
        "solver/sweep": ["report", "checkpoint"],
        "solver/sweepers": ["report", "checkpoint", "direct", "precondition", "krylov", "sweep"],
        "solver/tiles": ["report", "checkpoint", "direct", "sweep"],
        "solver/simulation": ["panels", "eigen", "sweep", "tiles"],
    },
    "library": {
        "library/include/weft": [],
        "library/options": [],
        "library/measure": [],
        "library/roofline": [],
        "library/settings": ["options"],
        "library/solve": ["include/weft", "options", "settings"],
        "library/system": ["options", "settings", "solve"],
        "library/state": ["include/weft", "system"],
        "library/api": ["include/weft", "measure", "options", "settings", "solve", "system", "state"],
        "library/loader/abi": [],
        "library/loader": ["loader/abi"],
        "library/python": ["loader"],
        "library/fortran": ["include/weft"],
        "library/any_mpi": ["api", "include/weft", "loader"],
        "library/petsc": ["include/weft"],
    },
    "tools": {
        "tools/cluster": [],
        "tools/job": [],
        "tools/system": ["job"],
        "tools/reporting": ["job", "system"],
        "tools/roofline": ["job"],
        "tools/bench": ["job"],
        "tools/commands": ["job", "system", "reporting", "roofline"],
        "tools/studies": ["job", "system", "reporting", "commands"],
        "tools": ["job", "studies", "commands"],
    },
}

def rooms_above(room):
    """The folders that may include what `room` shows: as labels for a target's visibility."""
    folders = ROOMS.keys()
    folder = room.split("/")[0]
    above = [name for other in folders if folders.index(other) > folders.index(folder) for name in ROOMS[other]]
    if room in ROOMS.get(folder, {}):
        inside = room[len(folder) + 1:]
        above += [name for name, allowed in ROOMS[folder].items() if inside in allowed]
    return ["//{}:__pkg__".format(name) for name in above]
