#pragma once

#include <string>

#include "spmv/problems/problem.h"
#include "spmv/problems/right_hand_side.h"

namespace weft::library {

/// The right-hand side that `word` names; if it is empty, `boundary-one` for grids, `ones` for
/// files, `random:1` otherwise. Throws comm_thread::InputError if the problem cannot have it.
spmv::RightHandSide choose_right_hand_side(const std::string& word, const spmv::Problem& problem);

}  // namespace weft::library
