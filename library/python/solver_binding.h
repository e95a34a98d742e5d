#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>
#include <weft/weft.hpp>

#include "functions.h"
#include "matrix_binding.h"

namespace weft::python {

/// A solver that Ctrl-C stops, where one rank alone computes; with several, the launcher ends them.
class PySolver {
 public:
  PySolver(const PyMatrix& a, const weft::Options& options, const py::object& preconditioner,
           const weft::SolverVectors& vectors, bool is_alone)
      : operator_thrown_(a.thrown), is_alone_(is_alone) {
    if (preconditioner.is_none()) {
      const py::gil_scoped_release unlock;
      solver_.emplace(a.matrix, options, vectors);
    } else {
      weft::UserPreconditioner user;
      user.apply = [shared = keep_function(preconditioner), thrown = thrown_](
                       std::span<const double> r, std::span<double> z) {
        const auto count = static_cast<std::int64_t>(r.size());
        const bool is_done = thrown->keep([&] {
          Doubles written = copy_of(z.data(), count, true);
          (*shared)(copy_of(r.data(), count, false), written);
          std::copy_n(written.data(), count, z.data());
        });
        if (!is_done) spoil(z.data(), count);
      };
      const py::gil_scoped_release unlock;
      solver_.emplace(a.matrix, options, user);
    }
    rethrow();
  }

  void set_monitor(const py::object& monitor) { monitor_ = monitor; }
  void renew_preconditioner() { solver_->renew_preconditioner(); }

  weft::Report solve(const Doubles& b, Doubles& x, bool from_guess) {
    std::optional<weft::Report> report;
    solver_->set_monitor(
        [this](std::int64_t iteration, double residual) { return stops(iteration, residual); });
    {
      const py::gil_scoped_release unlock;
      report = solver_->solve(read(b), write(x),
                              from_guess ? weft::Start::from_guess : weft::Start::from_zero);
    }
    rethrow();
    return std::move(*report);
  }

  /// Without a monitor of the caller Ctrl-C waits for the end of a block.
  std::vector<weft::Report> solve_block(const Doubles& b, Doubles& x, int count, bool from_guess) {
    std::vector<weft::Report> reports;
    weft::Monitor monitor;
    if (!monitor_.is_none())
      monitor = [this](std::int64_t iteration, double residual) {
        return stops(iteration, residual);
      };
    solver_->set_monitor(std::move(monitor));
    {
      const py::gil_scoped_release unlock;
      reports = solver_->solve_block(read(b), write(x), count,
                                     from_guess ? weft::Start::from_guess : weft::Start::from_zero);
    }
    rethrow();
    return reports;
  }

  void precondition(const Doubles& r, Doubles& z) {
    {
      const py::gil_scoped_release unlock;
      solver_->precondition(read(r), write(z));
    }
    rethrow();
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds time_between_signals{50};

  void rethrow() {
    thrown_->rethrow();
    operator_thrown_->rethrow();
  }

  bool stops(std::int64_t iteration, double residual) {
    bool wants_end = false;
    if (is_alone_) {
      const auto now = Clock::now();
      if (now - last_look_ >= time_between_signals) {
        last_look_ = now;
        thrown_->keep([] {
          if (PyErr_CheckSignals() != 0) throw py::error_already_set();
        });
      }
      wants_end = thrown_->has_error() || operator_thrown_->has_error();
    }
    if (monitor_.is_none()) return wants_end;
    const bool is_done =
        thrown_->keep([&] { wants_end = py::bool_(monitor_(iteration, residual)) || wants_end; });
    return wants_end || (is_alone_ && !is_done);
  }

  std::shared_ptr<Thrown> thrown_ = std::make_shared<Thrown>();
  std::shared_ptr<Thrown> operator_thrown_;
  py::object monitor_ = py::none();
  bool is_alone_;
  Clock::time_point last_look_ = Clock::now();
  std::optional<weft::Solver> solver_;
};

}  // namespace weft::python
