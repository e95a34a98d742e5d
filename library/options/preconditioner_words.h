#pragma once

#include <string>

#include "library/options/option.h"
#include "solver/amg/settings.h"
#include "solver/krylov/multigrid_settings.h"
#include "solver/precondition/isai_preconditioner.h"
#include "solver/precondition/schwarz_preconditioner.h"

namespace weft::library {

/// The options behind `amg:`, of `multigrid`, and behind `schwarz:`, `ilu0:` and `block-lu:`.
const OptionTable<solver::amg::Settings>& amg_options();
const OptionTable<solver::MultigridSettings>& multigrid_options();
const OptionTable<solver::SchwarzPreconditioner::Options>& schwarz_options();

/// Cycles of amg by their words. Throws comm_thread::InputError.
ValueOf<solver::amg::Settings> amg_cycle();
std::string name_of(solver::amg::Settings::Form form);

/// The settings in `amg:…`, `schwarz:…`, `ilu0:…`, `block-lu:…`. Throw comm_thread::InputError.
solver::amg::Settings parse_amg(const std::string& word);
solver::SchwarzPreconditioner::Options parse_schwarz(
    const std::string& word, solver::SchwarzPreconditioner::Kind by_default);
solver::SchwarzPreconditioner::Options parse_block_factor(const std::string& word);
/// The settings of multigrid, joined by commas. Throws comm_thread::InputError.
solver::MultigridSettings parse_multigrid(const std::string& text);

bool is_block_factor(const std::string& word);

/// Throws comm_thread::InputError where `word` names no preconditioner or has options that it does
/// not have.
void check_preconditioner(const std::string& word);
/// What the words mean, for help.
std::string help_of_preconditioners();

}  // namespace weft::library
