"""The processes, threads and MPI library that weft meets: jobs, forks, exceptions, ends of ranks."""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
import weakref
from typing import Any, Callable, Iterator, NamedTuple, Optional

# With OMP_PROC_BIND or OMP_PLACES, loading the OpenMP runtime binds the calling thread to one core,
# which every thread that Python starts from then on would inherit.
_mask = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
from . import _weft  # noqa: E402

if _mask is not None and os.sched_getaffinity(0) != _mask:
    os.sched_setaffinity(0, _mask)
from ._weft import Error, InputError


_mpi: Optional[tuple[str, str, str]] = None  # its interface, its file, and why it was chosen


def _open_mpi() -> str:
    """Opens the MPI library, once: that of an mpi4py which has been imported, of WEFT_MPI, or of the
    launcher. Returns its interface: mpich, openmpi, mpiabi, none; "linked" for one that is linked."""
    global _mpi
    if _mpi is None:
        MPI = sys.modules.get("mpi4py.MPI")
        _mpi = _weft.open_mpi(_weft.mpi_library_of(getattr(MPI, "__file__", None) or ""),
                              [os.path.join(sys.prefix, "lib")])
    return _mpi[0]


class MpiLibrary(NamedTuple):
    """interface: mpich, openmpi, mpiabi, none, or "linked" where weft is linked with it; reason: why
    this one."""

    interface: str
    file: str
    version: str
    reason: str


def mpi_library() -> MpiLibrary:
    """The MPI library that weft calls. One wheel chooses it now, if it has not: that of an mpi4py
    which has been imported, of WEFT_MPI, or of the launcher; none without any of them."""
    interface = _open_mpi()
    version, file = _weft.mpi_library()
    assert _mpi is not None
    return MpiLibrary(interface, "" if interface == "none" else file, version.splitlines()[0], _mpi[2])


def _expect_same_library(MPI: Any, is_same: Optional[bool] = None) -> None:
    """Raises Error where mpi4py and weft call two MPI libraries: ranks of one mean nothing to the
    other. The same version twice is two, too. `is_same`: what is known otherwise."""
    theirs = MPI.Get_library_version().split("\0")[0]
    ours, our_file = _weft.mpi_library()
    their_file = _weft.mpi_library_of(getattr(MPI, "__file__", None) or "")
    if is_same is None:
        is_same = theirs.strip() == ours.strip() and their_file in ("", our_file)
    if is_same:
        return

    def named(version: str, file: str) -> str:
        return f"{' '.join(version.splitlines()[0].split())!r} ({file or 'file not known'})"

    advice = "build weft with that of mpi4py (-DMPI_C_COMPILER=...), or take an mpi4py built with weft's"
    if _open_mpi() != "linked":
        advice = "import mpi4py before the first use of weft, which then calls the same"
    raise Error(f"found two MPI libraries: mpi4py calls {named(theirs, their_file)}, weft "
                f"{named(ours, our_file)}; expected one: {advice}")


def _keep_mpi4py_from_starting_mpi() -> None:
    """Where weft has started MPI, mpi4py need not, and must not where it calls another library: that
    would wait for answers of the launcher that weft's has had."""
    if "mpi4py.MPI" in sys.modules:
        return
    try:
        import mpi4py
    except ImportError:
        return
    mpi4py.rc.initialize = False


# Objects of the extension module that a forked process must not free: their threads and the
# connections of MPI are those of its parent.
_alive: "weakref.WeakSet[Any]" = weakref.WeakSet()
_is_forked = False
# Threads that call weft on several ranks: where an exception ends one of them, others wait for it.
_callers: set[int] = set()
_default_lock = threading.Lock()


def keep(made: Any) -> Any:
    """`made`, which is of the extension module, and lives on in forked processes."""
    _alive.add(made)
    return made


def _after_fork() -> None:
    global _is_forked
    if not _alive:
        return
    _is_forked = True
    for each in list(_alive):
        _weft.keep_for_ever(each)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
_process, _parent = os.getpid(), os.getppid()
_has_joined_all = False  # in a job of all processes
_has_failed = False  # by an exception that nobody has caught


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()


def _end_job_after(hook: Callable[..., Any]) -> Callable[..., Any]:
    """A hook for exceptions that nobody catches: those of one rank end the job."""

    def end(*arguments: Any) -> None:
        global _has_failed
        hook(*arguments)
        _has_failed = True
        is_caller = threading.current_thread() is threading.main_thread() or (
            threading.get_ident() in _callers)
        if is_caller and os.getpid() == _process:
            _flush()
            _weft.abort_all(1)

    return end


# Launchers that start a process for each rank, as the kernel names them.
_LAUNCHERS = ("hydra_pmi_proxy", "orted", "orterun", "prted", "prterun", "mpirun", "mpiexec",
              "slurmstepd")
# For others to come while this process waits at its end.
_SECONDS_TO_LEAVE = 60.0


def _is_rank_of_launcher() -> bool:
    """True for a process that the launcher of weft's MPI library has started itself beside others."""
    name = "OMPI_COMM_WORLD_SIZE" if "Open MPI" in _weft.mpi_library()[0] else "PMI_SIZE"
    size = os.environ.get(name, "")
    try:
        with open(f"/proc/{_parent}/comm", encoding="utf-8") as file:
            parent = file.read().strip()
    except OSError:
        return False
    return size.isdecimal() and int(size) > 1 and parent.startswith(_LAUNCHERS)


def _leave_without_job() -> None:
    """At the end of a process that has made no job of all: ranks that may be making one learn so.

    Nothing where MPI would have to be started for it in a process that no launcher has started, or
    is at work in another library.
    """
    if _has_joined_all or os.getpid() != _process:
        return
    try:
        _open_mpi()
    except (Error, InputError):
        return  # there is no library by which others could learn of it
    if not _weft.is_mpi_usable(_is_rank_of_launcher()):
        return
    _flush()
    # Where the others never start MPI, its start never ends.
    watch = threading.Timer(_SECONDS_TO_LEAVE, os._exit, (1 if _has_failed else 0,))
    watch.daemon = True
    watch.start()
    try:
        _weft.decline(_SECONDS_TO_LEAVE / 2)
    except Error:
        return  # other ranks are none of this library's
    finally:
        watch.cancel()


sys.excepthook = _end_job_after(sys.excepthook)
threading.excepthook = _end_job_after(threading.excepthook)
atexit.register(_leave_without_job)


def _threads_of_environment() -> int:
    """OMP_NUM_THREADS, where it asks for fewer threads than there are processors; else 0."""
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    wanted = int(first) if first.isdecimal() else 0
    return wanted if wanted < (len(_mask) if _mask else os.cpu_count() or 1) else 0


def _expect_no_fork() -> None:
    if _is_forked:
        raise Error("found a process that was forked after its parent had begun with weft; expected "
                    "a new one: multiprocessing.get_context(\"spawn\"), or a fork before the first "
                    "use")


class Job:
    """The ranks, threads and cores that weft computes with.

    comm: an mpi4py communicator, which is duplicated; None: all processes.
    threads: compute threads per rank; 0: one for each core.
    pinning: "keep" leaves threads where they are; "pin" binds each to a core of its own until the
        job ends, the calling thread too; "none" also frees the communication thread.
    pin_beyond_mask: with "pin": all cores that the cpuset permits, whatever mask Python was started
        with (taskset, a job).
    allow_singletons: several processes that a launcher of another MPI library has started, each
        alone, are an error unless they are meant to know nothing of each other.

    Threads of Python take turns where there is one rank. With several, only the thread that made
    the job may call: the ranks would not know whose turn it is. A process that has been forked from
    one with a job cannot use weft.
    """

    def __init__(self, comm: Any = None, threads: int = 0, pinning: str = "keep",
                 strict_placement: bool = False, allow_singletons: bool = False,
                 pin_beyond_mask: bool = False) -> None:
        if pinning not in ("pin", "keep", "none"):
            raise InputError(f"pinning: found {pinning!r}; expected pin, keep or none")
        _expect_no_fork()
        self._note = ""
        if threads == 0 and _threads_of_environment() > 0:
            threads = _threads_of_environment()
            self._note = (f"OMP_NUM_THREADS={threads}: that many compute threads, not one for each "
                          "core; threads=... overrides it")
        handle = None
        if comm is not None:
            from mpi4py import MPI

            if _open_mpi() != "none":  # else the communicator is refused with the reason
                _expect_same_library(MPI)
            handle = MPI._handleof(comm)
        _open_mpi()
        self._has_met_mpi4py = False
        self._meet_mpi4py()
        global _has_joined_all
        if comm is None or (comm != MPI.COMM_NULL and
                            comm.Get_size() == MPI.COMM_WORLD.Get_size()):
            _has_joined_all = True
        self._job = keep(_weft.Job(handle, threads, pinning, strict_placement, allow_singletons,
                                    pin_beyond_mask))
        if comm is not None:
            is_same = (comm.Get_rank(), comm.Get_size()) == (self.rank, self.size)
            _expect_same_library(MPI, is_same)
        self._lock = threading.RLock()
        self._depth = 0  # of turns within turns
        self._thread = threading.get_ident()
        if self.size > 1:
            _callers.add(self._thread)
            _keep_mpi4py_from_starting_mpi()

    def _meet_mpi4py(self) -> None:
        """Raises Error where mpi4py has been imported, perhaps later, with another MPI library."""
        MPI = sys.modules.get("mpi4py.MPI")
        if self._has_met_mpi4py or not hasattr(MPI, "Get_library_version"):
            return
        if _open_mpi() == "none":  # where weft is alone, mpi4py may have any
            return
        _expect_same_library(MPI)
        self._has_met_mpi4py = True

    @contextlib.contextmanager
    def _turn(self, doing: str, is_collective: bool = True) -> Iterator["Job"]:
        """The turn of this thread to call weft. Raises Error where a rank has left."""
        _expect_no_fork()
        self._meet_mpi4py()
        if self.size > 1 and threading.get_ident() != self._thread:
            raise Error("found a call of another thread than the one that made the job, on "
                        f"{self.size} ranks; expected all calls from that thread")
        with self._lock:
            # A function of the caller may call weft while weft calls it.
            if is_collective and self.size > 1 and self._depth == 0:
                self._job.expect_all(doing)
            self._depth += 1
            try:
                yield self
            finally:
                self._depth -= 1

    @property
    def rank(self) -> int:
        return self._job.rank

    @property
    def size(self) -> int:
        return self._job.size

    @property
    def thread_count(self) -> int:
        return self._job.thread_count

    def findings(self) -> list[str]:
        """What there is to know about the placement of the threads."""
        return self._job.findings() + ([self._note] if self._note else [])

    def __repr__(self) -> str:
        return f"<weft.Job: rank {self.rank} of {self.size}, {self.thread_count} compute threads>"


_default_job: Optional[Job] = None
_small_job: Optional[Job] = None  # with one thread
# A team of threads gains little on fewer entries. It would also wait for cores on which threads of
# OpenBLAS spin, as they do for tens of milliseconds after NumPy and SciPy have been imported, and
# after each of their functions that has used them.
ENTRIES_OF_A_TEAM = 100_000


def job() -> Job:
    """The job that is used where none is given: all processes, made at the first use. Matrices of
    fewer than 100,000 entries are solved with one thread where the process is alone."""
    global _default_job
    _expect_no_fork()  # before the lock, which another thread may have held
    with _default_lock:
        if _default_job is None:
            _default_job = Job()
        return _default_job


def job_for(entry_count: int) -> Job:
    """The job of a matrix where none is given: `job()`, or one with a single thread where the entries
    are few, the process is alone, and OMP_NUM_THREADS says nothing. The bits are the same."""
    global _small_job
    if entry_count >= ENTRIES_OF_A_TEAM or "OMP_NUM_THREADS" in os.environ or not _is_alone():
        return job()
    _expect_no_fork()
    with _default_lock:
        if _small_job is None:
            _small_job = Job(threads=1)
        return _small_job


# Of launchers and batch systems: a process that is alone has none of them.
_VARIABLES_OF_LAUNCHERS = ("PMI", "OMPI_COMM_WORLD_", "MPI_LOCAL", "MV2_COMM_WORLD_", "PALS_", "ALPS_",
                           "FLUX_", "SLURM_PROCID", "JSM_", "LAMRANK")


def _is_alone() -> bool:
    """True where there are no other processes of this job; the same on all ranks."""
    if _default_job is not None:
        return _default_job.size == 1
    MPI = sys.modules.get("mpi4py.MPI")
    if hasattr(MPI, "Is_initialized") and MPI.Is_initialized() and MPI.COMM_WORLD.Get_size() > 1:
        return False
    return _open_mpi() == "none" or not any(
        name.startswith(_VARIABLES_OF_LAUNCHERS) for name in os.environ)
