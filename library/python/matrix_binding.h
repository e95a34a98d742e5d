#pragma once

#include <pybind11/stl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>
#include <weft/weft.hpp>

#include "functions.h"

namespace weft::python {

/// A matrix, and what functions of Python threw that are part of it.
struct PyMatrix {
  weft::Matrix matrix;
  std::shared_ptr<Thrown> thrown = std::make_shared<Thrown>();

  void multiply(const Doubles& x, Doubles& y) {
    {
      const py::gil_scoped_release unlock;
      matrix.multiply(read(x), write(y));
    }
    thrown->rethrow();
  }
  void multiply_block(const Doubles& x, Doubles& y, int count) {
    {
      const py::gil_scoped_release unlock;
      matrix.multiply_block(read(x), write(y), count);
    }
    thrown->rethrow();
  }
};

inline PyMatrix matrix_of_operator(const weft::Job& job, std::int64_t first_row,
                                   std::int64_t row_count, std::vector<std::int64_t> halo_rows,
                                   const py::object& interior, const py::object& boundary,
                                   const py::object& diagonal, double norm) {
  weft::UserOperator user;
  user.first_row = first_row;
  user.row_count = row_count;
  user.halo_rows = std::move(halo_rows);
  user.norm = norm;
  const auto thrown = std::make_shared<Thrown>();
  const std::int64_t x_count = row_count + static_cast<std::int64_t>(user.halo_rows.size());
  const auto part = [&](const py::object& call, bool sees_halo) -> weft::UserOperator::Part {
    if (call.is_none()) return [](std::int64_t, std::int64_t, const double*, double*) {};
    return
        [=, shared = keep_function(call)](std::int64_t, std::int64_t, const double* x, double* y) {
          const bool is_done = thrown->keep([&] {
            Doubles written = copy_of(y, row_count, true);
            (*shared)(copy_of(x, sees_halo ? x_count : row_count, false), written);
            std::copy_n(written.data(), row_count, y);
          });
          if (!is_done) spoil(y, row_count);
        };
  };
  user.interior = part(interior, false);
  user.boundary = part(boundary, true);
  if (!diagonal.is_none()) {
    const auto values = diagonal.cast<std::vector<double>>();
    user.diagonal = [values](std::span<double> entries) {
      for (std::size_t i = 0; i < entries.size() && i < values.size(); ++i) entries[i] = values[i];
    };
  }
  std::optional<weft::Matrix> made;
  {
    const py::gil_scoped_release unlock;
    made.emplace(weft::Matrix::from_operator(job, user));
  }
  thrown->rethrow();
  return {std::move(*made), thrown};
}

}  // namespace weft::python
