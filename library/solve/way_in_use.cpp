#include "library/solve/way_in_use.h"

#include <utility>

#include "comm_thread/mpi/input_error.h"
#include "library/settings/preconditioner_choice.h"
#include "perfmodel/stopwatch.h"
#include "spmv/modes/mode.h"

namespace weft::library {

using comm_thread::InputError;

void WayInUse::forget_method() {
  method_.reset();
  deflated_.reset();
}

void WayInUse::forget() {
  forget_method();
  preconditioner_.reset();
  schwarz_ = nullptr;
  found_.clear();
}

void WayInUse::collective_set_up(const System& system, const SolveSettings& settings,
                                 const IterationWatch::Limits& limits) {
  forget();
  settings_ = settings;
  if (hooks_.on_set_up) hooks_.on_set_up(settings_);
  collective_make_preconditioner(system);
  collective_make_method(system, limits);
}

void WayInUse::collective_make_preconditioner(const System& system) {
  const perfmodel::Stopwatch watch;
  try {
    if (context_.collective_make_preconditioner) {
      preconditioner_ = context_.collective_make_preconditioner();
    } else {
      auto made = library::collective_make_preconditioner(system.op, settings_, context_.problem,
                                                          hooks_.on_forecast, system.constant);
      preconditioner_ = std::move(made.object);
      schwarz_ = made.schwarz;
      found_ = std::move(made.found);
    }
  } catch (const InputError& error) {
    if (context_.name.empty()) throw;
    throw InputError(context_.name + ": " + error.what());
  }
  preconditioner_seconds_ = watch.seconds();
}

void WayInUse::collective_make_method(const System& system, const IterationWatch::Limits& limits) {
  forget_method();
  if (system.null_space)
    deflated_ =
        std::make_unique<solver::DeflatedPreconditioner>(*system.null_space, preconditioner_.get());
  choose_options(system, limits);
  if (!choice_.method && settings_.method == "auto") {
    // How many iterations varying coefficients cost without multigrid, nobody knows beforehand.
    const bool may_drop = settings_.may_choose_multigrid() && context_.problem.has_stencil();
    choice_ = collective_choose_method(system.op, options_, may_drop);
    if (choice_.drops_preconditioner) {
      preconditioner_.reset();
      options_.preconditioner = nullptr;
    }
  } else if (!choice_.method) {
    choice_.method = solver::find_krylov_method(settings_.method);
  }
  method_ = choice_.method->collective_make(system.op, options_);
}

void WayInUse::choose_options(const System& system, const IterationWatch::Limits& limits) {
  options_ = {.mode = *spmv::parse_mode(settings_.mode),
              .preconditioner = system.null_space ? deflated_.get() : preconditioner_.get(),
              .stop = settings_.stop,
              .multigrid = settings_.parsed_multigrid(),
              .on_iteration = {},
              .checkpoints = hooks_.checkpoints};
  if (settings_.restart > 0) options_.restart = settings_.restart;
  watch_.watch(options_, limits);
}

}  // namespace weft::library
