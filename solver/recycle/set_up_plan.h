#pragma once

#include <cstdint>
#include <initializer_list>

namespace weft::solver {

/// What is done with a preconditioner before a solve.
enum class SetUp { kept, new_values, made };
const char* name(SetUp what);

/// Whether a preconditioner with levels is kept for new values of its matrix, gets the new values,
/// or is made anew: what is predicted to cost least, in iterations.
///
/// A preconditioner of older values takes more iterations, the more the matrix has changed. The
/// change is told by sizes of rows, the diagonal and the sum of the others: `spread`, the largest
/// of their ratios to those of the set-up over the least, bounds by how much the condition of the
/// preconditioned matrix grows where all couplings change by ratios within the same bounds.
/// Iterations grow like a power of it, which solves tell. New values are due where the next solve
/// is predicted to take more additional iterations than new values have cost for each solve so far,
/// additional iterations included: the average is least there. Aggregates of older values cost
/// iterations likewise, and are made anew by the same rule; where they have cost as many from the
/// first solve on, a new set-up would save nothing. What small spreads have told says little about
/// larger ones: beyond the largest that has been tried, iterations are taken to grow at least like
/// the root, as the condition may.
///
/// To find the spread costs a pass over the matrix. Where new values have been due five times in
/// turn, the next 2, 4, 8 and 16 times it is taken to be infinite; a preconditioner that is kept
/// ends that.
///
/// It computes with numbers that all ranks have alike and reads no clock.
class SetUpPlan {
 public:
  /// In iterations.
  struct Costs {
    double new_values = 0;
    double made = 0;
  };

  /// True if the spread of the next values is to be found, for which the sizes of rows must be
  /// known from now on.
  bool looks() const { return pause_ == 0; }
  /// Before a solve with values that differ from those of the set-up. `spread`: at least 1, or
  /// infinite, as it is taken to be unless the plan looks.
  SetUp choose(double spread) const;

  /// After what was done for a solve, which is `choose`'s choice or more, and before the solve.
  void begin(SetUp done, double spread, const Costs& costs);
  /// After that solve: its iterations, and by how many digits they made the residual smaller; 0
  /// iterations where there were too few to tell.
  void end(std::int64_t iterations, double digits);

  /// Calls carry(number) for each number of the state.
  template <class Carry>
  void for_each_number(const Carry& carry) {
    carry(costs_.new_values);
    carry(costs_.made);
    carry(last_);
    for (double* const number : {&spread_, &exponent_, &tried_spread_, &surprise_, &rate_of_made_,
                                 &rate_of_values_, &last_digits_, &excess_, &excess_of_aggregates_,
                                 &recent_excess_of_aggregates_, &solves_of_aggregates_})
      carry(*number);
    carry(solve_count_);
    carry(renewals_in_turn_);
    carry(pause_);
    carry(next_pause_);
  }

 private:
  static constexpr int patience = 5;
  static constexpr int first_pause = 2;
  static constexpr int longest_pause = 16;

  double predicted_excess(double spread) const;
  bool new_aggregates_pay() const;
  void note_look(SetUp done);
  void note_aggregates(double digits);

  Costs costs_;
  SetUp last_ = SetUp::made;
  double spread_ = 1;  // of the solve that goes on, or was last
  double exponent_ = 0.5;  // of `spread` in the number of iterations
  double tried_spread_ = 1;  // the largest that has told of the exponent
  double surprise_ = 0;  // iterations of the last solves beyond those that were predicted
  double rate_of_made_ = 0;  // digits of an iteration after the last set-up; 0: not known
  double rate_of_values_ = 0;  // after the last new values
  double last_digits_ = 0;
  double excess_ = 0;  // iterations that older values have cost since they were new
  double excess_of_aggregates_ = 0;  // the same of older aggregates since they were made
  double recent_excess_of_aggregates_ = 0;  // of a solve
  std::int64_t solve_count_ = 0;  // since new values
  double solves_of_aggregates_ = 0;
  int renewals_in_turn_ = 0;  // that the plan has chosen after a look
  int pause_ = 0;  // renewals without a look that are left
  int next_pause_ = first_pause;
};

}  // namespace weft::solver
