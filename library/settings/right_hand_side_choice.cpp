#include "library/settings/right_hand_side_choice.h"

namespace weft::library {

spmv::RightHandSide choose_right_hand_side(const std::string& word, const spmv::Problem& problem) {
  // The rows of `irregular` add up to 1: with b = 1 it would be solved in one iteration.
  const char* const by_default = problem.has_grid()  ? "boundary-one"
                                 : problem.is_file() ? "ones"
                                                     : "random:1";
  const auto right_hand_side = spmv::RightHandSide::parse(word.empty() ? by_default : word);
  spmv::check(right_hand_side, problem);
  return right_hand_side;
}

}  // namespace weft::library
