#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <span>
#include <utility>

/// Arrays and functions of Python, as weft sees them.
namespace weft::python {

namespace py = pybind11;

using Doubles = py::array_t<double, py::array::c_style>;
using Integers = py::array_t<std::int64_t, py::array::c_style>;

template <class Value>
std::span<const Value> read(const py::array_t<Value, py::array::c_style>& array) {
  return {array.data(), static_cast<std::size_t>(array.size())};
}

inline std::span<double> write(Doubles& array) {
  return {array.mutable_data(), static_cast<std::size_t>(array.size())};
}

/// A new array, made by NumPy: pybind11 before 2.12 gives its own arrays wrong strides with NumPy
/// 2, whose descriptions of types have another layout.
inline Doubles new_array(std::int64_t count) {
  return py::module_::import("numpy").attr("empty")(count).cast<Doubles>();
}

/// An array of Python of its own, which a function may keep, with values of weft.
inline Doubles copy_of(const double* values, std::int64_t count, bool is_writeable) {
  Doubles array = new_array(count);
  std::copy_n(values, count, array.mutable_data());
  if (!is_writeable)
    py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}

/// What functions of Python threw while weft was working; weft must not be left by an exception on
/// one of several ranks.
class Thrown {
 public:
  template <class Work>
  bool keep(const Work& work) {
    const py::gil_scoped_acquire lock;
    if (error_) return false;
    try {
      work();
      return true;
    } catch (py::error_already_set& error) {
      error_ = std::make_shared<py::error_already_set>(std::move(error));
    } catch (const std::exception& error) {
      PyErr_SetString(PyExc_RuntimeError, error.what());
      error_ = std::make_shared<py::error_already_set>();
    }
    return false;
  }
  bool has_error() const { return error_ != nullptr; }
  /// Throws it, once, with Python's lock.
  void rethrow() {
    if (const auto error = std::exchange(error_, nullptr)) throw py::error_already_set(*error);
  }

 private:
  std::shared_ptr<py::error_already_set> error_;
};

/// y of a function that failed: the solve ends at once, with a breakdown.
inline void spoil(double* values, std::int64_t count) {
  std::fill_n(values, count, std::numeric_limits<double>::quiet_NaN());
}

/// A function of Python that weft keeps: freed with Python's lock, wherever the last copy goes.
inline std::shared_ptr<py::object> keep_function(const py::object& function) {
  return {new py::object(function), [](py::object* object) {
            const py::gil_scoped_acquire lock;
            delete object;
          }};
}

}  // namespace weft::python
