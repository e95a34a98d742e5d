#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "library/api/c_handles.h"
#include "library/api/guarded.h"
#include "library/api/job_state.h"
#include "library/api/matrix_state.h"

namespace {

using weft::library::caught;
using weft::library::collective_options_of;
using weft::library::expect;

void copy_to(double* to, const std::vector<double>& values) {
  if (to) std::copy(values.begin(), values.end(), to);
}

/// `mass`: null for the identity.
int find_eigenvalues(const weft_matrix* matrix, const weft_matrix* mass, const char* options,
                     double* eigenvalues, double* residuals, double* error_bounds,
                     double* eigenvectors, weft_eigen_report* report) {
  return caught([&] {
    expect(matrix, "matrix");
    expect(eigenvalues, "eigenvalues");
    const weft::Options parsed =
        collective_options_of(*matrix->matrix.state()->job, options, "a search for eigenvalues");
    weft::EigenInput input;
    if (mass) input.mass = &mass->matrix;
    const weft::Eigenvalues found = weft::eigenvalues(
        matrix->matrix, parsed,
        eigenvectors ? weft::Eigenvectors::own_rows : weft::Eigenvectors::none, input);
    copy_to(eigenvalues, found.values);
    copy_to(residuals, found.residuals);
    copy_to(error_bounds, found.error_bounds);
    copy_to(eigenvectors, found.vectors);
    if (report)
      *report = {static_cast<int>(found.status),
                 static_cast<int>(found.values.size()),
                 found.is_complete ? 1 : 0,
                 found.missing,
                 found.norm,
                 found.products,
                 found.restarts,
                 found.seconds};
  });
}

}  // namespace

int weft_eigenvalues(const weft_matrix* matrix, const char* options, double* eigenvalues,
                     double* residuals, double* error_bounds, double* eigenvectors,
                     weft_eigen_report* report) {
  return find_eigenvalues(matrix, nullptr, options, eigenvalues, residuals, error_bounds,
                          eigenvectors, report);
}

int weft_eigenvalues_with_mass(const weft_matrix* matrix, const weft_matrix* mass,
                               const char* options, double* eigenvalues, double* residuals,
                               double* error_bounds, double* eigenvectors,
                               weft_eigen_report* report) {
  if (const int code = caught([&] { expect(mass, "mass"); }); code != WEFT_OK) return code;
  return find_eigenvalues(matrix, mass, options, eigenvalues, residuals, error_bounds, eigenvectors,
                          report);
}

int weft_spectral_density(const weft_matrix* matrix, const char* options, const double* v,
                          const double* w, int point_count, double* energies, double* density,
                          double* errors, weft_density_report* report) {
  return caught([&] {
    expect(matrix, "matrix");
    expect(energies, "energies");
    expect(density, "density");
    if (point_count < 1)
      throw weft::Error(
          weft::ErrorCode::bad_input,
          "point_count: found " + std::to_string(point_count) + "; expected 1 or more");
    weft::Options parsed =
        collective_options_of(*matrix->matrix.state()->job, options, "a spectral density");
    parsed.set("points", std::to_string(point_count));
    const auto rows = static_cast<std::size_t>(matrix->matrix.local_row_count());
    const weft::SpectralDensity found = weft::spectral_density(
        matrix->matrix, parsed, std::span(v, v ? rows : 0), std::span(w, w ? rows : 0));
    copy_to(energies, found.energies);
    copy_to(density, found.density);
    if (errors && found.errors.empty()) std::fill_n(errors, point_count, 0.0);
    copy_to(errors, found.errors);
    if (report)
      *report = {found.least,
                 found.greatest,
                 found.resolution,
                 found.products,
                 found.count ? 1 : 0,
                 found.count.value_or(0),
                 found.count ? found.count_uncertainty : 0};
  });
}
