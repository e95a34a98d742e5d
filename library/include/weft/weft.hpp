/// weft solves large sparse linear systems A·x = b with MPI and threads: the C++ interface.
///
///     weft::Job job(MPI_COMM_WORLD);                            // threads, pinned
///     weft::Matrix a = weft::Matrix::from_rows(job, {first_row, offsets, columns, values});
///     weft::Solver solver(a, {{"preconditioner", "jacobi"}, {"tolerance", "1e-10"}});
///     weft::Report report = solver.solve(b, x);
///
/// Nothing here prints, exits, or changes the caller's communicator, error handlers, signal
/// handlers or environment. Errors are thrown as weft::Error, with the same text on all ranks of a
/// job where bad input is the reason. Functions are *collective* where they say so: all ranks of
/// the job call them, in the same order. One thread of a process at a time calls weft: the one that
/// made the job.
#ifndef WEFT_WEFT_HPP
#define WEFT_WEFT_HPP

#include <mpi.h>

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "version.h"  // NOLINT

#if defined(__GNUC__)
  #define WEFT_EXPORT __attribute__((visibility("default")))
#else
  #define WEFT_EXPORT
#endif

namespace weft {

/// The version of the interface: symbols of different ones do not meet in a program.
inline namespace v0 {

/// Kind of an error.
enum class ErrorCode {
  bad_input = 2,  ///< an argument, an option or a file; the same on all ranks of the job
  mpi = 4,  ///< the MPI library reports an error; other ranks may not know
  out_of_memory = 5,
  misuse = 6,  ///< called in a way that this header forbids
};

/// Any error of weft. `what()` is one line: what was found, and what was expected.
class WEFT_EXPORT Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& text);
  Error(const Error&);
  ~Error() override;
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

/// The version of the library that the program runs with: "0.2.0".
WEFT_EXPORT std::string version();

/// A library that weft uses.
struct Dependency {
  std::string name;
  std::string version;  ///< begins with "missing" where this build does without it
  std::string licence;
  std::string purpose;
};
WEFT_EXPORT std::vector<Dependency> dependencies();

/// What a job does about the cores that its threads run on.
enum class Pinning {
  pin,  ///< binds each thread to a core of its own, and gives the caller's back when the job ends
  keep,  ///< binds nothing: threads stay where the caller, the launcher and OpenMP put them
  none,  ///< as `keep`, but OpenMP's binding of the caller does not hold for the communication
         ///< thread
};

struct JobOptions {
  /// Compute threads per rank; 0: one for each core that the rank was given, as far as a
  /// container's quota of processor time goes.
  int threads = 0;
  Pinning pinning = Pinning::pin;
  /// With `threads`: throws rather than let two compute threads share a hardware thread.
  bool strict_placement = false;
  /// Called by a thread that has waited `stall_seconds` for another rank, and again after each
  /// doubling, with what it waits for: "halo exchange: receive from rank 2".
  std::function<void(const std::string& awaited, double seconds)> on_stall{};
  double stall_seconds = 10;
  /// Several processes that a launcher of another MPI library has started, each alone, are an error
  /// unless they are meant to know nothing of each other.
  bool allow_singletons = false;
  /// With Pinning::pin: places threads on all cores that the cpuset permits, whatever mask the
  /// process was started with (taskset, a job, a launcher). Without it such a mask is never left,
  /// unless a launcher has set it that may use more cores itself, where its ranks need them.
  bool pin_beyond_mask = false;
};

/// Where a thread of this rank is.
struct ThreadPlace {
  int thread = 0;  ///< compute thread, or -1 for the communication thread
  unsigned planned_cpu = 0;  ///< as the operating system numbers hardware threads
  std::vector<unsigned> allowed_cpus;  ///< those it may run on; empty: not known
  std::optional<unsigned> last_cpu;  ///< the one it ran on last
};

/// Something to know about the placement of threads. One that concerns several ranks has the same
/// text on each of them.
struct Finding {
  enum class Severity { note, repaired, warning, refused };
  Severity severity = Severity::note;
  std::string text;
};

class Matrix;
class Solver;

/// The ranks, threads and cores that weft computes with.
///
/// A job owns a copy of the caller's communicator, a team of compute threads (OpenMP) and one
/// communication thread. Copies are handles of the same job; it ends with the last of them and the
/// last matrix and solver made with it, which must be before MPI_Finalize. Where that is while
/// other ranks go on, their next step is an Error (see `expect_all`), and MPI_Finalize, or a
/// regular exit, waits until they know.
class WEFT_EXPORT Job {
 public:
  /// A job of all processes. Starts MPI where the program has not done so, with
  /// MPI_THREAD_MULTIPLE, and then ends it when the process exits. Collective over all processes.
  explicit Job(const JobOptions& options = {});
  /// A job of the ranks of `communicator`, which is duplicated. With less than MPI_THREAD_MULTIPLE
  /// there is no communication thread: the calling thread progresses all messages, results are the
  /// same. Where `communicator` has not all processes, `Pinning::pin` acts as `keep`, because jobs
  /// beside this one might choose the same cores; a finding says so. Collective.
  explicit Job(MPI_Comm communicator, const JobOptions& options = {});

  int rank() const;
  int size() const;
  int thread_count() const;
  bool has_communication_thread() const;
  std::vector<Finding> findings() const;
  /// Asks every thread of this rank where it is. Not collective.
  std::vector<ThreadPlace> audit() const;
  /// weft's copy of the communicator, with MPI_ERRORS_RETURN. Ends with the job.
  MPI_Comm communicator() const;

  /// Throws Error on all ranks that are still there, where the part of one in the job has ended:
  /// its handles are gone, it has called MPI_Finalize, or it has left by exit(0). Every collective
  /// function of a job, its matrices, solvers and iterations begins so. `doing`: what would wait
  /// for that rank, for the message. Collective.
  void expect_all(const std::string& doing) const;
  /// For a rank that leaves before it has made any job: where other ranks make one of all
  /// processes, they get an Error. Waits until they do, or leave so, too, for `limit_seconds` at
  /// most. Starts MPI where the program has not done so. Collective over all processes.
  static void decline(double limit_seconds);

  struct State;
  const std::shared_ptr<State>& state() const { return state_; }

 private:
  std::shared_ptr<State> state_;
};

/// Named options, with the names and values of the command line: `weft solve --help` lists them.
/// `max_iterations`, `max-iterations` and `--max-iterations` are the same name.
class WEFT_EXPORT Options {
 public:
  Options();
  Options(std::initializer_list<std::pair<const std::string, std::string>> options);
  Options(const Options&);
  Options& operator=(const Options&);
  ~Options();

  /// From "--method cg --tolerance 1e-10", or "method=cg tolerance=1e-10". Throws Error.
  static Options parse(std::string_view text);
  /// From a JSON object, {"method": "cg", "tolerance": 1e-10}. Throws Error.
  static Options from_json(std::string_view text);

  Options& set(std::string_view name, std::string_view value);
  Options& set(std::string_view name, double value);
  /// The value of an option that has been set, else nothing.
  std::optional<std::string> find(std::string_view name) const;
  /// Names, with dashes, and values, in the order of the names.
  const std::map<std::string, std::string>& all() const { return values_; }

 private:
  std::map<std::string, std::string> values_;
};

/// What there is to know about an option, for the help of a program.
struct OptionHelp {
  std::string name;  ///< with dashes: "max-iterations"
  std::string values;  ///< what it takes: "FLOAT", "auto|rows|none"; empty: true or false
  std::string limits;  ///< what else is known of that: "{auto,cg}", "INT in [1 - 32]"
  std::string standard;  ///< the value where none is given; empty: `help` says it, or there is none
  std::string help;  ///< in lines, of which the first may stand alone
};
/// The options of Solver.
WEFT_EXPORT std::vector<OptionHelp> solver_options();

/// Consecutive rows of a square matrix in compressed row storage, in the caller's arrays.
///
///     rank 1 of 2 of a 4×4 matrix      row 2:  . -1  2 -1      first_row = 2, offsets = {0, 3, 5}
///                                      row 3:  .  . -1  2      columns = {1, 2, 3, 2, 3}
struct Rows {
  /// Number of this rank's first row; its rows end where those of the next rank begin.
  std::int64_t first_row = 0;
  /// Shape: [row_count + 1]; the entries of row i are offsets[i] … offsets[i + 1] - 1.
  std::span<const std::int64_t> offsets;
  /// Global numbers, from 0, in any order within a row; entries of equal places are added up.
  std::span<const std::int64_t> columns;
  /// Finite numbers, of as many entries.
  std::span<const double> values;
};

/// The same rows in two blocks, as PETSc (MPIAIJ) and hypre (ParCSR) keep them. `Index`:
/// std::int32_t or std::int64_t.
///
///     rank 1 of 2 of a 4×4 matrix    row 2: . -1 | 2 -1    own: offsets 0 2 4, columns 0 1 0 1
///                                    row 3: .  . |-1  2    others: offsets 0 1 1, columns 0
///                                                          columns_of_others: 1
template <class Index>
struct DividedRows {
  struct Block {
    std::span<const Index> offsets;  ///< [row_count + 1]; of `others` also empty: no entries
    std::span<const Index> columns;  ///< ascending in each row
    std::span<const double> values;  ///< finite numbers, of as many entries
  };

  std::int64_t first_row = 0;  ///< as in Rows
  Block own;  ///< entries in columns of this rank, counted from its first row
  Block others;  ///< the other entries, whose columns are places in columns_of_others
  std::span<const Index> columns_of_others;  ///< global numbers, ascending
};

/// How the values of Matrix::from_rows are kept.
enum class Values {
  copied,
  /// Used where they are, if this rank's columns ascend in every row and none of its rows moves
  /// (see Matrix::from_rows); copied otherwise. They must outlive the matrix and stay as they are,
  /// but for Matrix::update_values.
  borrowed,
};

/// A linear operator of the caller, instead of a matrix. Its rows are dealt to the ranks as the
/// caller likes; it may run its interior part while the halo travels.
///
///     y = A·x;   x: this rank's values, then the halo: the values of `halo_rows`, in their order
struct UserOperator {
  /// A part of y = A·x, on rows first … last - 1 of this rank, counted from its first.
  using Part =
      std::function<void(std::int64_t first, std::int64_t last, const double* x, double* y)>;

  std::int64_t first_row = 0;
  std::int64_t row_count = 0;
  /// Rows of other ranks that the boundary part reads; global, ascending.
  std::vector<std::int64_t> halo_rows;
  /// Writes y in those rows of the range that need no halo.
  Part interior;
  /// Writes y in the others; the halo has arrived.
  Part boundary;
  /// True: every compute thread calls the parts, at the same time, each with a range of its own.
  /// False: only the thread that called weft does, with all rows.
  bool is_threaded = false;
  /// Writes the main diagonal of this rank's rows; only preconditioner=jacobi needs it.
  std::function<void(std::span<double> diagonal)> diagonal{};
  /// About ‖A‖∞, or more; 0: found by a product. Only its magnitude matters.
  double norm = 0;
};

/// A square matrix, or another linear operator, whose rows are dealt to the ranks of a job.
///
/// Vectors have this rank's rows, in the order in which the caller gave them; for files and
/// generated problems consecutive rows, for grids without a matrix the points of a box.
/// Copies are handles of the same matrix.
class WEFT_EXPORT Matrix {
 public:
  /// From this rank's rows, whose order stays. `options`: format, triangle.
  ///
  /// Entries off the diagonal that are exactly zero are left out of the operator; `update_values`
  /// may give them other values. A matrix with entries on one side of the diagonal only, or of
  /// whole, symmetric blocks of equal size on it, may be half of a symmetric one: no Solver takes
  /// it unless triangle is "mirrored", which makes the matrix whole, or "as-is".
  ///
  /// Results are the same bits on any number of ranks, if the matrix is: to that end the rows are
  /// dealt in blocks whose size depends on the number of rows alone, and rows of a block that is
  /// cut between ranks move to one of them, inside weft. Nothing moves, and vectors need no
  /// message, where first_row is a multiple of `row_block(number of rows)`.
  /// Memory: 12 bytes an entry, 4 with borrowed values; where zeros are left out or a half is
  /// mirrored 12 more for each entry of the operator. Collective. Throws Error.
  static Matrix from_rows(const Job& job, const Rows& rows, const Options& options = {},
                          Values values = Values::copied);
  /// From rows in two blocks, whose entries are read once and written once. They are not looked at
  /// for being half of a matrix. `options`: format. Memory: 12 bytes an entry of the operator.
  /// Collective. Throws Error.
  template <class Index>
  static Matrix from_rows(const Job& job, const DividedRows<Index>& rows,
                          const Options& options = {});
  /// From a file, Matrix Market, PETSc or SciPy, by its ending. `options`: format, order,
  /// partition, triangle, as of `from_rows`, and base, "0" or "1", where rows of entries as text
  /// count from. Collective. Throws Error.
  static Matrix from_file(const Job& job, const std::string& path, const Options& options = {});
  /// A generated problem, "poisson3d:128"; with {"operator", "stencil"} the stencil of a grid
  /// without a matrix. `weft solve --help` lists the problems. Collective. Throws Error.
  static Matrix generate(const Job& job, const std::string& problem, const Options& options = {});
  /// The stencil of a grid of nx·ny·nz points without a matrix: 2·(wx + wy + wz) times a point,
  /// minus the weight of its direction times each neighbour. Collective. Throws Error.
  static Matrix stencil(const Job& job, std::array<std::int64_t, 3> points,
                        std::array<double, 3> weights = {1, 1, 1});
  /// An operator of the caller. Collective. Throws Error.
  static Matrix from_operator(const Job& job, const UserOperator& user);

  /// Rows per block: those of a rank begin at a multiple where nothing is to move.
  static std::int64_t row_block(std::int64_t row_count);

  std::int64_t row_count() const;  ///< of all ranks
  std::int64_t local_row_count() const;  ///< of this rank: the length of its vectors
  std::int64_t nonzero_count() const;  ///< of all ranks; 0 where it is not known
  /// What was left out or decided when the matrix was made, or when vectors were read from files
  /// for it, and why no Solver takes it, in sentences.
  std::vector<std::string> remarks() const;
  /// The number of row `local`, from 0, of this rank. Shape: local: below local_row_count.
  std::int64_t global_row(std::int64_t local) const;
  /// How the rows are stored: "CRS", "CRS, shifted rows", "CRS, 850 values", "SELL-8", or
  /// "stencil, 27 patterns". With format=auto rows of varying length are CRS until some products
  /// have tried SELL-8.
  std::string format() const;

  /// New values in the places of Matrix::from_rows, in the same order, explicit zeros and what is
  /// left out of the operator included; with triangle=mirrored those of the half. Solvers of the
  /// matrix make their preconditioners again at the next solve, unless they have
  /// `reuse-preconditioner`, or, with `recycle`, where it pays. Shape: values: as in from_rows.
  /// Collective. Throws Error.
  void update_values(std::span<const double> values);
  /// The same rows in two blocks, with new values. Collective. Throws Error.
  template <class Index>
  void update_values(const DividedRows<Index>& rows);

  /// y = A·x. Shape: x, y: [local_row_count]. Collective. Throws Error.
  void multiply(std::span<const double> x, std::span<double> y) const;

  /// Y = A·X for `count` vectors, read from memory once for 8, 4 or 2 of them; each has the bits of
  /// `multiply`. Shape: x, y: [local_row_count · count], the entries of a row together. Collective.
  /// Throws Error.
  void multiply_block(std::span<const double> x, std::span<double> y, int count) const;

  /// A right-hand side by the words of the command line: ones, boundary-one, random:SEED,
  /// x-random:SEED, or a file; "" for the one that `weft solve` takes. Collective. Throws Error.
  std::vector<double> right_hand_side(const std::string& word = "") const;

  struct State;
  const std::shared_ptr<State>& state() const { return state_; }

 private:
  explicit Matrix(std::shared_ptr<State> state);

  std::shared_ptr<State> state_;
};

/// A preconditioner of the caller: z = M·r, M ≈ A⁻¹, on this rank's rows.
struct UserPreconditioner {
  /// Called on the thread that called weft, on all ranks at the same time, so that it may
  /// communicate on a communicator of its own.
  std::function<void(std::span<const double> r, std::span<double> z)> apply;
  /// Conjugate gradients need a symmetric, positive definite M; fcg and gmres take any.
  bool is_symmetric = true;
  /// About ‖M‖; 0: found by an application. Only its magnitude matters.
  double norm = 0;
};

/// End of a solve.
enum class Status {
  converged,  ///< the true residual b − A·x is small enough
  not_converged,  ///< after max-iterations, or where it stopped falling
  breakdown,  ///< the method cannot go on: `explanation` says what was found
  stopped,  ///< by the monitor
  diverged,  ///< the residual exceeded `divergence`
  out_of_time,  ///< `max-seconds` are over
};
WEFT_EXPORT const char* name(Status status);

/// Outcome of a solve; the same on every rank except the times.
struct WEFT_EXPORT Report {
  Status status = Status::not_converged;
  std::string explanation;
  std::string method;
  std::string preconditioner;
  std::string mode;
  std::string method_choice;  ///< why this method, where trials chose it for `auto`
  std::string mode_choice;  ///< why this mode, with `mode=auto`: what a model and trials say
  /// What was chosen and why, what stalled and what was turned to, where `auto` chose from the
  /// properties of the matrix. Of all solves of the solver so far.
  std::vector<std::string> decisions;
  std::string null_space;  ///< what is projected out of a singular system; empty: nothing
  std::int64_t iterations = 0;
  std::int64_t restarts = 0;
  double relative_residual = 0;  ///< ‖b − A·x‖/‖b‖, computed from x
  /// The same with each row of both divided by its scale, where rows differ much in scale.
  std::optional<double> scaled_residual;
  double recurrence_residual = 0;  ///< the same as the method's recurrence has it
  /// Of the preconditioner, with `recycle`: "made", "new values" or "kept".
  std::string set_up;
  std::int64_t earlier_solutions = 0;  ///< that the first guess was made of, with `recycle`
  double setup_seconds = 0;  ///< of the solver, and of preconditioners made again for this solve
  double solve_seconds = 0;
  std::vector<double> history;  ///< ‖r‖/‖b‖ after each iteration, with `history`
  std::vector<std::pair<std::string, double>> phase_seconds;  ///< of this rank
  std::string matrix_format;  ///< Matrix::format after the solve
  /// What a product of this rank took in each form that was tried, "CRS" and "SELL-8"; with several
  /// vectors at once "CRS, 8 vectors". Empty where there was no choice, or too few products for
  /// one.
  std::vector<std::pair<std::string, double>> product_seconds;

  bool converged() const { return status == Status::converged; }
  /// One JSON object, with the names of `weft solve --json`.
  std::string json() const;
};

/// Where a solve begins.
enum class Start { from_zero, from_guess };

/// Called on every rank after each iteration with its number, from 1, and ‖r‖/‖b‖. True ends the
/// solve one iteration later; all ranks must answer the same.
using Monitor = std::function<bool(std::int64_t iteration, double residual)>;

/// Vectors that the options near-null, coordinates and null-space name as files, from the caller's
/// arrays instead, with this rank's rows as in all vectors of the matrix. They are copied.
struct SolverVectors {
  /// What coarse levels of preconditioner=amg keep exactly.
  /// Shape: [local_row_count · near_null_count], the entries of a row together.
  std::span<const double> near_null{};
  int near_null_count = 0;  ///< up to 32; the same on all ranks
  /// Of elasticity with preconditioner=amg: the coordinates of each row's node, of which 2 or 3
  /// consecutive rows are the displacements. Shape: [local_row_count · dimensions], likewise.
  std::span<const double> coordinates{};
  int dimensions = 0;  ///< 2 or 3, or 0 without coordinates; the same on all ranks
  /// Of a singular matrix: what it maps to zero. Shape: [local_row_count], or empty on all ranks.
  std::span<const double> null_space{};
};

/// A method with its preconditioner, set up once for any number of solves with one matrix.
///
/// `options`: those of `weft solve` that are about the method and its end; recycle=auto for
/// sequences of systems, whose solves then use what those before have found; divergence, history
/// and reuse-preconditioner; an unknown name is an Error that lists all. `method=auto` looks at the
/// matrix, chooses method and preconditioner, and turns to others where they stall; the report says
/// why. A method that needs a symmetric matrix refuses one that is not, unless `force`. New values
/// of the matrix are looked at again with the next solve.
class WEFT_EXPORT Solver {
 public:
  /// Collective. Throws Error.
  explicit Solver(const Matrix& a, const Options& options = {});
  /// With a preconditioner of the caller. Collective. Throws Error.
  Solver(const Matrix& a, const Options& options, const UserPreconditioner& preconditioner);
  /// With vectors of the caller. Collective. Throws Error.
  Solver(const Matrix& a, const Options& options, const SolverVectors& vectors);
  Solver(Solver&&) noexcept;
  Solver& operator=(Solver&&) noexcept;
  ~Solver();

  /// Solves A·x = b. Iterates until ‖b − A·x‖ < max(tolerance·‖b‖, absolute-tolerance), whatever
  /// the start, and verifies that with the true residual. Any outcome is a report, not an error.
  /// Shape: b, x: [local_row_count]. `x`: the result, and the guess with Start::from_guess.
  /// Collective. Throws Error.
  Report solve(std::span<const double> b, std::span<double> x, Start start = Start::from_zero);

  /// Solves A·x = b for `count` right-hand sides at once, with the bits and the iterations of
  /// `solve` for each. Conjugate gradients (method=cg) with a matrix in CRS take 8, 4 or 2 at a
  /// time: they read it once for all, and send one message where `solve` sends one for each. Other
  /// methods, stored stencils, operators without a matrix, null spaces, monitors and max-seconds
  /// take one after another; so do matrices with fewer than 8 entries a row and more than 50 000
  /// rows a rank, which are quicker so.
  ///
  ///     3 vectors a b c:    a0 b0 c0  a1 b1 c1  a2 b2 c2 …      as a NumPy array of shape (n, 3)
  ///
  /// Shape: b, x: [local_row_count · count], the entries of a row together. Collective. Throws
  /// Error.
  std::vector<Report> solve_block(std::span<const double> b, std::span<double> x, int count,
                                  Start start = Start::from_zero);

  /// z = M·r with the solver's preconditioner alone; z = r without one.
  /// Shape: r, z: [local_row_count]. Collective. Throws Error.
  void precondition(std::span<const double> r, std::span<double> z);

  void set_monitor(Monitor monitor);
  /// Makes the preconditioner again at the next solve, whatever `reuse-preconditioner` says.
  void renew_preconditioner();

  struct State;

 private:
  std::unique_ptr<State> state_;
};

/// One rank's part of an iteration x ← F(x) of the caller, and what it needs of other ranks.
///
/// All functions are called by the thread that called weft. They must not communicate: weft does.
struct UserIteration {
  struct Neighbour {
    int rank = 0;
    std::int64_t send_count = 0;  ///< values that it needs of this rank
    std::int64_t receive_count = 0;  ///< values that this rank needs of it
  };
  /// Other ranks, ascending. What one sends another receives.
  std::vector<Neighbour> neighbours;
  /// Writes the values that neighbour number `neighbour` needs. Shape: out: [send_count].
  std::function<void(std::span<const double> x, std::size_t neighbour, std::span<double> out)> pack;
  /// Writes this rank's new values. Shape: x, next: as in Iteration::run; halo: what the neighbours
  /// have sent, in their order.
  std::function<void(std::span<const double> x, std::span<const double> halo,
                     std::span<double> next)>
      update;
  /// Σ r² of this rank's residuals at x. Shape: as of `update`.
  std::function<double(std::span<const double> x, std::span<const double> halo)> residual_square;
};

/// Outcome of an iteration. `status` and `residual` are the same on every rank.
struct IterationReport {
  Status status = Status::not_converged;
  std::string explanation;
  std::int64_t iterations = 0;  ///< of this rank
  double residual = 0;  ///< √(Σ r² of all ranks)/scale, with the last values of all ranks
  double seconds = 0;
  // Without waiting:
  std::int64_t verdicts = 0;  ///< of the detector, each of which is verified
  std::int64_t failed_verifications = 0;  ///< after which the ranks go on
  double detection_delay_seconds = 0;  ///< from convergence to the end
  std::int64_t messages_sent = 0;
  std::int64_t messages_received = 0;
};

/// An iteration of the caller on weft's channels, detectors and threads: the same code waits for
/// the other ranks in every sweep, or not at all.
///
/// `options`: those of `weft jacobi` that are about sweeps, with its defaults, and of `weft
/// schwarz` wait and seconds; faults of inject have commas between them. With `async` a rank sweeps
/// with the newest whole message of each neighbour, with `racy` with whatever mixture has come;
/// when the detector says that all are done, fresh halos are exchanged and the true residual
/// decides.
class WEFT_EXPORT Iteration {
 public:
  /// Collective. Throws Error, on every rank where neighbours do not agree.
  Iteration(const Job& job, const UserIteration& user, const Options& options = {});
  Iteration(Iteration&&) noexcept;
  Iteration& operator=(Iteration&&) noexcept;
  ~Iteration();

  /// Iterates from x until √(Σ r²) < tolerance·scale; `scale`: the same on all ranks, such as ‖b‖;
  /// 1 where it is 0. Where the last sweep has changed x by more than √tolerance of its largest
  /// value, it has not converged: divide each row of the residual by its scale. Shape: x: this
  /// rank's values, any number. Collective. Throws Error.
  IterationReport run(std::span<double> x, double scale = 0);

  /// Called after each look at the residual; its answer is not used.
  void set_monitor(Monitor monitor);

  struct State;

 private:
  std::unique_ptr<State> state_;
};

/// How the eigenvalues of a symmetric matrix are spread; the same on every rank.
struct SpectralDensity {
  std::vector<double> energies;  ///< the middles of equal parts of [least, greatest]
  std::vector<double> density;  ///< a unit of energy: its integral is the number of rows
  std::vector<double> errors;  ///< standard deviations; empty without several random vectors
  std::vector<double> moments;  ///< of Chebyshev polynomials, without a kernel
  double least = 0;  ///< all eigenvalues lie between this and `greatest`
  double greatest = 0;
  double resolution = 0;  ///< width of a peak in the middle
  std::int64_t products = 0;  ///< A·x for one vector
  std::optional<double> count{};  ///< of the eigenvalues in `interval`, if that is given
  double count_uncertainty = 0;
};

/// The density of states of a symmetric matrix by the kernel polynomial method. `options`: moments,
/// vectors, kernel, interval, points, seed, block, mode, as of `weft spectrum`.
/// Where v is given, the spectral function ⟨v|δ(E − A)|v⟩ instead, or ⟨v|δ(E − A)|w⟩, whose
/// integral is ⟨v, w⟩; nothing is random then. The bits depend on neither ranks nor threads. Shape:
/// v, w: [local_row_count], or empty on all ranks. Collective. Throws Error.
WEFT_EXPORT SpectralDensity spectral_density(const Matrix& matrix, const Options& options = {},
                                             std::span<const double> v = {},
                                             std::span<const double> w = {});

/// Whether `eigenvalues` gives eigenvectors.
enum class Eigenvectors { none, own_rows };

/// Some eigenvalues of a symmetric matrix: from the end of the spectrum inwards where they are from
/// one end, else ascending. All but the vectors is the same on every rank.
struct Eigenvalues {
  Status status = Status::not_converged;  ///< converged, not_converged or out_of_time
  std::vector<double> values;
  /// ‖A·x − θ·x‖ of each value θ and its vector x of norm 1, computed from x: an eigenvalue of the
  /// matrix lies within this distance of θ.
  std::vector<double> residuals;
  /// How far each value is from the eigenvalue of its number where `is_complete`, else from some
  /// eigenvalue.
  std::vector<double> error_bounds;
  /// True where a factorization shows that none is missing up to the last value.
  bool is_complete = false;
  std::string statement;  ///< `complete` or `not shown to be complete`, and why
  std::int64_t missing = 0;  ///< values shown to be there that were not found
  /// This rank's rows; empty unless asked for. The entry of largest modulus of each vector is
  /// positive. Shape: [local_row_count · values.size()], the entries of a row together.
  std::vector<double> vectors;
  double norm = 0;  ///< ‖A‖, which the tolerance refers to
  std::int64_t products = 0;  ///< A·x for one vector
  int restarts = 0;  ///< of the search space
  double seconds = 0;  ///< of this rank

  bool converged() const { return status == Status::converged; }
};

/// What a search for eigenvalues takes from memory instead of files; LOBPCG then does it. The
/// matrices are symmetric and have the rows of A, in their order.
struct EigenInput {
  const Matrix* mass = nullptr;  ///< B of A·x = λ·B·x, positive definite
  const Matrix* preconditioner = nullptr;  ///< M ≈ A⁻¹
  /// Vectors to begin with, `start_count` of them, which depend on each other in no way: of lobpcg,
  /// at most `count`, and of method "lanczos", at most `block`. Shape:
  /// [local_row_count · start_count], the entries of a row together.
  std::span<const double> start{};
  int start_count = 0;
};

/// Eigenvalues of a symmetric matrix, from an end of the spectrum or both, nearest to a number or
/// in an interval, with all copies of equal ones unless block is 1: block Lanczos on a polynomial
/// of the matrix. `options`: count, which, interval, method, tolerance, block, subspace, degree,
/// max-restarts, certificate, mode, and of LOBPCG mass, preconditioner, near-null, coordinates,
/// block-size, max-iterations, absolute-tolerance, and max-seconds, after which only the pairs
/// within the tolerance are there, as of `weft eigen`. Ends where ‖A·x − θ·x‖ is at most
/// tolerance·‖A‖ for all of them. The bits of values and vectors depend on neither ranks nor
/// threads. Memory: subspace + 3·block vectors. Collective. Throws Error, also where the matrix is
/// not symmetric or an operator without entries, where the interval has no eigenvalue, and where
/// count is more than an eighth of the rows and these are more than 256. With a mass matrix vectors
/// have xᵀ·B·x = 1.
WEFT_EXPORT Eigenvalues eigenvalues(const Matrix& matrix, const Options& options = {},
                                    Eigenvectors vectors = Eigenvectors::none,
                                    const EigenInput& input = {});

/// The options of `eigenvalues`.
WEFT_EXPORT std::vector<OptionHelp> eigenvalue_options();

}  // namespace v0
}  // namespace weft

#endif  // WEFT_WEFT_HPP
