#include "library/options/matrix_settings.h"

#include <fmt/format.h>

#include "library/options/option_values.h"

namespace weft::library {

const OptionTable<MatrixSettings>& matrix_options() {
  using V = Values<MatrixSettings>;
  static const OptionTable<MatrixSettings> all{
      {"partition", OptionGroup::run,
       "what ranks get equal shares of\n"
       "rows or nonzeros; metis: of nonzeros, with a small halo, of a graph that rank 0 cuts\n"
       "(40 bytes of its memory per nonzero)",
       V::one_of(&MatrixSettings::partition, {"rows", "nonzeros", "metis"})},
      {"order", OptionGroup::problem,
       "order of the rows\n"
       "as given, or rcm: reverse Cuthill-McKee, for a narrow band, found by rank 0 (20 bytes\n"
       "of its memory per nonzero); auto: rcm where it pays for itself; b and x keep the given\n"
       "order; default: auto for files in spmv, roofline and in solve, unless an option needs\n"
       "the given order; else given",
       V::one_of(&MatrixSettings::order, {"given", "rcm", "auto"})},
      {"triangle", OptionGroup::problem,
       "a file with one triangle is half of a symmetric matrix, or is triangular\n"
       "of a matrix from a file with entries on one side of the diagonal only, or of the\n"
       "blocks on it: mirrored: it is half of a symmetric matrix; as-is: it is triangular;\n"
       "without a word nothing is solved with it",
       V::one_of(&MatrixSettings::triangle, {"mirrored", "as-is"})},
      {"base", OptionGroup::rest,
       "where rows and columns of entries as text (.txt, .dat, .ijv, .coo, .sti, .mas)\n"
       "without a header count from; default: from 0 if an index is 0, else from 1",
       V::one_of(&MatrixSettings::base, {"0", "1"})},
      {"format", OptionGroup::run,
       fmt::format("storage of the matrix\n{}", spmv::matrix_format_help()),
       V::one_of(&MatrixSettings::format, spmv::matrix_format_names())}};
  return all;
}

}  // namespace weft::library
