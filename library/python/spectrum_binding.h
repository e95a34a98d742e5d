#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <optional>
#include <vector>
#include <weft/weft.hpp>

#include "functions.h"
#include "matrix_binding.h"

namespace weft::python {

inline Doubles array_of(const std::vector<double>& values) {
  return copy_of(values.data(), static_cast<std::int64_t>(values.size()), true);
}

/// weft::eigenvalues of a matrix: arrays and numbers by their names. `mass`, `m`: may be null;
/// `start`: rows of `start_count` vectors.
inline py::dict eigenvalues_of(const PyMatrix& a, const weft::Options& options, bool has_vectors,
                               const PyMatrix* mass, const PyMatrix* m, const Doubles& start,
                               int start_count) {
  weft::Eigenvalues found;
  {
    const weft::EigenInput input{.mass = mass ? &mass->matrix : nullptr,
                                 .preconditioner = m ? &m->matrix : nullptr,
                                 .start = read(start),
                                 .start_count = start_count};
    const py::gil_scoped_release unlock;
    found = weft::eigenvalues(a.matrix, options,
                              has_vectors ? weft::Eigenvectors::own_rows : weft::Eigenvectors::none,
                              input);
  }
  py::dict result;
  result["values"] = array_of(found.values);
  result["residuals"] = array_of(found.residuals);
  result["vectors"] = has_vectors ? py::object(array_of(found.vectors)) : py::object(py::none());
  result["converged"] = found.converged();
  result["error_bounds"] = array_of(found.error_bounds);
  result["complete"] = found.is_complete;
  result["statement"] = found.statement;
  result["missing"] = found.missing;
  result["norm"] = found.norm;
  result["products"] = found.products;
  result["restarts"] = found.restarts;
  return result;
}

/// weft::spectral_density of a matrix, likewise.
inline py::dict spectral_density_of(const PyMatrix& a, const weft::Options& options,
                                    const Doubles& v, const Doubles& w) {
  weft::SpectralDensity found;
  {
    const auto first = read(v);
    const auto second = read(w);
    const py::gil_scoped_release unlock;
    found = weft::spectral_density(a.matrix, options, first, second);
  }
  py::dict result;
  result["energies"] = array_of(found.energies);
  result["density"] = array_of(found.density);
  result["errors"] =
      found.errors.empty() ? py::object(py::none()) : py::object(array_of(found.errors));
  result["moments"] = array_of(found.moments);
  result["interval"] = py::make_tuple(found.least, found.greatest);
  result["resolution"] = found.resolution;
  result["products"] = found.products;
  result["count"] = found.count;
  result["count_uncertainty"] =
      found.count ? std::optional<double>(found.count_uncertainty) : std::nullopt;
  return result;
}

}  // namespace weft::python
