// The extension module weft._weft: weft.hpp for Python, which weft/__init__.py makes comfortable.
// Arrays come in as contiguous ones of the right type; __init__.py sees to that.
#include <dlfcn.h>
#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>
#include <weft/weft.hpp>

#include "functions.h"
#include "matrix_binding.h"
#include "mpi_library.h"
#include "solver_binding.h"
#include "spectrum_binding.h"

namespace py = pybind11;

namespace {

using weft::python::communicator_from;
using weft::python::copy_of;
using weft::python::Doubles;
using weft::python::Integers;
using weft::python::matrix_of_operator;
using weft::python::new_array;
using weft::python::PyMatrix;
using weft::python::PySolver;
using weft::python::read;

weft::Options options_of(const std::map<std::string, std::string>& values) {
  weft::Options options;
  for (const auto& [name, value] : values) options.set(name, value);
  return options;
}

using Values = std::map<std::string, std::string>;

/// Throws weft::Error where a function of MPI has failed.
void check(int code) {
  if (code == MPI_SUCCESS) return;
  std::string text(MPI_MAX_ERROR_STRING, ' ');
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw weft::Error(weft::ErrorCode::mpi, text.substr(0, static_cast<std::size_t>(length)));
}

/// The parts of all ranks, one after the other; `total`: their length together.
Doubles gather_all(const weft::Job& job, const Doubles& part, std::int64_t total) {
  // What MPI counts at once.
  constexpr std::int64_t most = std::int64_t{1} << 30;
  const std::int64_t count = part.size();
  std::vector<std::int64_t> counts(static_cast<std::size_t>(job.size()));
  check(MPI_Allgather(&count, 1, MPI_INT64_T, counts.data(), 1, MPI_INT64_T, job.communicator()));
  if (std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) != total)
    throw weft::Error(weft::ErrorCode::misuse, "gather_all: found parts of another length");
  Doubles all = new_array(total);
  double* begin = all.mutable_data();
  std::copy_n(
      part.data(), count,
      begin + std::accumulate(counts.begin(), counts.begin() + job.rank(), std::int64_t{0}));
  for (int rank = 0; rank < job.size(); ++rank) {
    for (std::int64_t left = counts[static_cast<std::size_t>(rank)]; left > 0; left -= most) {
      const std::int64_t length = std::min(left, most);
      check(MPI_Bcast(begin, static_cast<int>(length), MPI_DOUBLE, rank, job.communicator()));
      begin += length;
    }
  }
  return all;
}

/// The file of the function `address`, or empty.
std::string file_of(const void* address) {
  Dl_info found{};
  if (!address || dladdr(address, &found) == 0 || !found.dli_fname) return {};
  std::error_code ignored;
  const auto path = std::filesystem::canonical(found.dli_fname, ignored);
  return ignored ? found.dli_fname : path.string();
}

/// The whole description of the MPI library that weft calls, and its file.
std::pair<std::string, std::string> mpi_library() {
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  text.resize(std::strlen(text.c_str()));
  // Where a library is opened at run time, functions of MPI are pointers.
  return {text, file_of(reinterpret_cast<const void*>(+MPI_Get_library_version))};
}

/// The file of the MPI library that the loaded module `path` is linked with, or empty.
std::string mpi_library_of(const std::string& path) {
  void* const module = path.empty() ? nullptr : dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (!module) return {};
  std::string file = file_of(dlsym(module, "MPI_Get_library_version"));
  dlclose(module);
  return file;
}

bool does_mpi_run() {
  int is_initialised = 0;
  int is_finalized = 0;
  MPI_Initialized(&is_initialised);
  MPI_Finalized(&is_finalized);
  return is_initialised && !is_finalized;
}

/// True if MPI runs, or may be started.
bool is_mpi_usable(bool may_start) {
  int is_initialised = 0;
  MPI_Initialized(&is_initialised);
  return is_initialised ? does_mpi_run() : may_start;
}

/// Ends all processes, after the time that mpiexec needs to pass on what was printed; does nothing
/// where this one is alone.
void abort_all(int code) {
  if (!does_mpi_run()) return;
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == 1) return;
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  MPI_Abort(MPI_COMM_WORLD, code);
}

/// What needs no object.
void bind_functions(py::module_& module) {
  module.attr("__version__") = WEFT_VERSION;
  module.def("dependencies", [] {
    std::vector<std::tuple<std::string, std::string, std::string, std::string>> all;
    for (const auto& each : weft::dependencies())
      all.emplace_back(each.name, each.version, each.licence, each.purpose);
    return all;
  });
  module.def("solver_options", [] {
    std::vector<std::tuple<std::string, std::string, std::string, std::string, std::string>> all;
    for (const auto& each : weft::solver_options())
      all.emplace_back(each.name, each.values, each.limits, each.standard, each.help);
    return all;
  });
  module.def("open_mpi", &weft::python::open_mpi);
  module.def("mpi_library", &mpi_library);
  module.def("mpi_library_of", &mpi_library_of);
  module.def("abort_all", &abort_all);
  module.def("is_mpi_usable", &is_mpi_usable);
  module.def("decline", &weft::Job::decline, py::call_guard<py::gil_scoped_release>());
  module.def("keep_for_ever", [](const py::object& object) { object.inc_ref(); });
  module.def("row_block", &weft::Matrix::row_block);
  module.def("parse_options",
             [](const std::string& text) { return weft::Options::parse(text).all(); });
  module.def("parse_json_options",
             [](const std::string& text) { return weft::Options::from_json(text).all(); });
}

/// weft.Error and weft.InputError, and how C++ throws them.
void bind_errors(py::module_& module) {
  static const py::exception<weft::Error> error(module, "Error", PyExc_RuntimeError);
  static const py::exception<weft::Error> input_error(module, "InputError", PyExc_ValueError);
  // pybind11 fixes the type of the argument.
  // NOLINTNEXTLINE(performance-unnecessary-value-param)
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const weft::Error& fault) {
      PyErr_SetString(fault.code() == weft::ErrorCode::bad_input ? input_error.ptr() : error.ptr(),
                      fault.what());
    }
  });
}

weft::Job make_job(std::optional<std::uintptr_t> communicator, int threads,
                   const std::string& pinning, bool strict_placement, bool allow_singletons,
                   bool pin_beyond_mask) {
  weft::JobOptions options;
  options.allow_singletons = allow_singletons;
  options.pin_beyond_mask = pin_beyond_mask;
  options.threads = threads;
  options.strict_placement = strict_placement;
  options.pinning = pinning == "pin"    ? weft::Pinning::pin
                    : pinning == "none" ? weft::Pinning::none
                                        : weft::Pinning::keep;
  const py::gil_scoped_release unlock;
  return communicator ? weft::Job(communicator_from(*communicator), options) : weft::Job(options);
}

/// The lowest rank with a fault sends it to all.
std::string first_fault(const weft::Job& job, const std::string& fault) {
  int first = fault.empty() ? job.size() : job.rank();
  check(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, job.communicator()));
  std::string text = fault;
  if (first == job.size()) return text;
  int length = static_cast<int>(text.size());
  check(MPI_Bcast(&length, 1, MPI_INT, first, job.communicator()));
  text.resize(static_cast<std::size_t>(length));
  check(MPI_Bcast(text.data(), length, MPI_CHAR, first, job.communicator()));
  return text;
}

void bind_job(py::module_& module) {
  py::class_<weft::Job>(module, "Job")
      .def(py::init(&make_job))
      .def_property_readonly("rank", &weft::Job::rank)
      .def_property_readonly("size", &weft::Job::size)
      .def_property_readonly("thread_count", &weft::Job::thread_count)
      .def_property_readonly("has_communication_thread", &weft::Job::has_communication_thread)
      .def("findings",
           [](const weft::Job& job) {
             std::vector<std::string> texts;
             for (const auto& finding : job.findings()) texts.push_back(finding.text);
             return texts;
           })
      .def("expect_all", &weft::Job::expect_all, py::call_guard<py::gil_scoped_release>())
      .def("exclusive_sum",
           [](const weft::Job& job, std::int64_t value) {
             std::int64_t before = 0;
             check(MPI_Exscan(&value, &before, 1, MPI_INT64_T, MPI_SUM, job.communicator()));
             return job.rank() == 0 ? 0 : before;
           })
      .def("extremes",
           [](const weft::Job& job, std::int64_t value) {
             // The least and the most of all ranks.
             std::int64_t pair[2] = {-value, value};
             check(MPI_Allreduce(MPI_IN_PLACE, pair, 2, MPI_INT64_T, MPI_MAX, job.communicator()));
             return std::make_tuple(-pair[0], pair[1]);
           })
      .def("first_fault", &first_fault)
      .def("gather_all", &gather_all);
}

void bind_matrix(py::module_& module) {
  py::class_<PyMatrix>(module, "Matrix")
      .def_static("from_rows",
                  [](const weft::Job& job, std::int64_t first_row, const Integers& offsets,
                     const Integers& columns, const Doubles& values, const Values& options) {
                    const auto parsed = options_of(options);
                    const weft::Rows rows{first_row, read(offsets), read(columns), read(values)};
                    const py::gil_scoped_release unlock;
                    return PyMatrix{weft::Matrix::from_rows(job, rows, parsed)};
                  })
      .def_static("from_file",
                  [](const weft::Job& job, const std::string& path, const Values& options) {
                    const auto parsed = options_of(options);
                    const py::gil_scoped_release unlock;
                    return PyMatrix{weft::Matrix::from_file(job, path, parsed)};
                  })
      .def_static("generate",
                  [](const weft::Job& job, const std::string& problem, const Values& options) {
                    const auto parsed = options_of(options);
                    const py::gil_scoped_release unlock;
                    return PyMatrix{weft::Matrix::generate(job, problem, parsed)};
                  })
      .def_static("from_operator", &matrix_of_operator)
      .def_property_readonly("row_count", [](const PyMatrix& a) { return a.matrix.row_count(); })
      .def_property_readonly("local_row_count",
                             [](const PyMatrix& a) { return a.matrix.local_row_count(); })
      .def_property_readonly("nonzero_count",
                             [](const PyMatrix& a) { return a.matrix.nonzero_count(); })
      .def_property_readonly("format", [](const PyMatrix& a) { return a.matrix.format(); })
      .def_property_readonly("remarks", [](const PyMatrix& a) { return a.matrix.remarks(); })
      .def("global_row",
           [](const PyMatrix& a, std::int64_t row) { return a.matrix.global_row(row); })
      .def("update_values",
           [](PyMatrix& a, const Doubles& values) {
             const py::gil_scoped_release unlock;
             a.matrix.update_values(read(values));
           })
      .def("multiply", &PyMatrix::multiply)
      .def("multiply_block", &PyMatrix::multiply_block)
      .def("eigenvalues",
           [](const PyMatrix& a, const Values& options, bool has_vectors, const PyMatrix* mass,
              const PyMatrix* m, const Doubles& start, int start_count) {
             return eigenvalues_of(a, options_of(options), has_vectors, mass, m, start,
                                   start_count);
           })
      .def("spectral_density",
           [](const PyMatrix& a, const Values& options, const Doubles& v, const Doubles& w) {
             return spectral_density_of(a, options_of(options), v, w);
           })
      .def("right_hand_side", [](const PyMatrix& a, const std::string& word) {
        const auto b = a.matrix.right_hand_side(word);
        return copy_of(b.data(), static_cast<std::int64_t>(b.size()), true);
      });
}

void bind_report(py::module_& module) {
  py::class_<weft::Report>(module, "Report")
      .def_property_readonly("status", [](const weft::Report& r) { return weft::name(r.status); })
      .def_readonly("explanation", &weft::Report::explanation)
      .def_readonly("method", &weft::Report::method)
      .def_readonly("preconditioner", &weft::Report::preconditioner)
      .def_readonly("mode", &weft::Report::mode)
      .def_readonly("method_choice", &weft::Report::method_choice)
      .def_readonly("mode_choice", &weft::Report::mode_choice)
      .def_readonly("decisions", &weft::Report::decisions)
      .def_readonly("null_space", &weft::Report::null_space)
      .def_readonly("iterations", &weft::Report::iterations)
      .def_readonly("restarts", &weft::Report::restarts)
      .def_readonly("relative_residual", &weft::Report::relative_residual)
      .def_readonly("scaled_residual", &weft::Report::scaled_residual)
      .def_readonly("recurrence_residual", &weft::Report::recurrence_residual)
      .def_readonly("set_up", &weft::Report::set_up)
      .def_readonly("earlier_solutions", &weft::Report::earlier_solutions)
      .def_readonly("setup_seconds", &weft::Report::setup_seconds)
      .def_readonly("solve_seconds", &weft::Report::solve_seconds)
      .def_readonly("history", &weft::Report::history)
      .def_readonly("phase_seconds", &weft::Report::phase_seconds)
      .def_readonly("matrix_format", &weft::Report::matrix_format)
      .def_readonly("product_seconds", &weft::Report::product_seconds)
      .def("json", &weft::Report::json);
}

void bind_solver(py::module_& module) {
  py::class_<PySolver>(module, "Solver")
      .def(py::init([](const PyMatrix& a, const Values& options, const py::object& preconditioner,
                       const Doubles& near_null, int near_null_count, const Doubles& coordinates,
                       int dimensions, const Doubles& null_space, bool is_alone) {
        const weft::SolverVectors vectors{.near_null = read(near_null),
                                          .near_null_count = near_null_count,
                                          .coordinates = read(coordinates),
                                          .dimensions = dimensions,
                                          .null_space = read(null_space)};
        return std::make_unique<PySolver>(a, options_of(options), preconditioner, vectors,
                                          is_alone);
      }))
      .def("set_monitor", &PySolver::set_monitor)
      .def("renew_preconditioner", &PySolver::renew_preconditioner)
      .def("solve", &PySolver::solve)
      .def("solve_block", &PySolver::solve_block)
      .def("precondition", &PySolver::precondition);
}

}  // namespace

PYBIND11_MODULE(_weft, module) {
  bind_functions(module);
  bind_errors(module);
  bind_job(module);
  bind_matrix(module);
  bind_report(module);
  bind_solver(module);
}
