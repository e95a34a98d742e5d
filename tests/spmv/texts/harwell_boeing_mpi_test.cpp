// Harwell-Boeing and Rutherford-Boeing files as gmm++, SciPy, RBio and old collections have them.
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "spmv/files/remarks.h"
#include "spmv/formats/matrix_file.h"
#include "tests/spmv/texts/text_files.h"

namespace weft::spmv {
namespace {

using tests::all_entries;
using tests::joined;
using tests::TextFiles;

/// One file: [4 -1 0; -2 5 -1; 0 -2 6] unless changed. Lines of numbers end in '\n'.
struct Boeing {
  std::string counts = "4 1 1 2";
  std::string type = "RUA";
  std::string sizes = "3 3 7 0";
  std::string formats = "(8I10)          (8I10)          (4E21.13)           ";
  std::string right_hand_sides{};
  std::string pointers = "         1         3         6         8\n";
  std::string indices = "         1         2         1         2         3         2         3\n";
  std::string values =
      "  4.0000000000000E+00 -2.0000000000000E+00 -1.0000000000000E+00  5.0000000000000E+00\n"
      " -2.0000000000000E+00 -1.0000000000000E+00  6.0000000000000E+00\n";
  std::string tail{};

  std::string text() const {
    return "title of the matrix, (1) of many                                        KEY     \n" +
           counts + "\n" + type + "           " + sizes + "\n" + formats + "\n" + right_hand_sides +
           pointers + indices + values + tail;
  }
};

std::string without_line_ends(const std::string& text) {
  std::string changed;
  for (const char c : text)
    if (c == '\n')
      changed += "\r\n";
    else
      changed += c;
  return changed;
}

}  // namespace

TEST_CASE("matrices are read from all kinds of formats, plain and compressed") {
  const TextFiles files;
  CHECK(files.matrix(files.put("gmm.rua", Boeing{}.text())) == all_entries);
  CHECK(files.matrix(files.put("gmm.rua.gz", Boeing{}.text())) == all_entries);
  CHECK(files.matrix(files.put("DOS.RUA", without_line_ends(Boeing{}.text()))) == all_entries);
  // No blank between numbers, no letter before an exponent, exponents with D.
  const Boeing dense{.counts = "8 2 1 4 0",
                     .type = "rua",
                     .formats = "(3I1)           (7I1)           (1P,2D7.1)          (5E16.8)",
                     .pointers = "136\n8\n",
                     .indices = "1212323\n",
                     .values = "4.0D+00-2.D+00\n-1.0+005.0E+00\n-0.2+01 -1.+00\n 6.0+00\n"};
  CHECK(files.matrix(files.put("dense.hb", dense.text())) == all_entries);
  // What RBio writes.
  const Boeing whole{.counts = "             3             1             1             1",
                     .type = "iua",
                     .sizes = "             3             3             7             0",
                     .formats = "(40I2)          (40I2)          (26I3)              ",
                     .pointers = " 1 3 6 8\n",
                     .indices = " 1 2 1 2 3 2 3\n",
                     .values = "  4 -2 -1  5 -2 -1  6\n"};
  CHECK(files.matrix(files.put("whole.rb", whole.text())) == all_entries);
  // SciPy makes numbers narrower than its format says.
  const Boeing narrow{.counts = "5 1 1 3",
                      .formats = "(40I2)          (40I2)          (3E25.16)           ",
                      .pointers = " 1 3 6 8\n",
                      .indices = " 1 2 1 2 3 2 3\n",
                      .values =
                          "  4.0000000000000000E+00 -2.0000000000000000E+00 "
                          "-1.0000000000000000E+00\n  5.0000000000000000E+00 "
                          "-2.0000000000000000E+00 -1.0000000000000000E+00\n"
                          "  6.0000000000000000E+00\n"};
  CHECK(files.matrix(files.put("narrow.hb", narrow.text())) == all_entries);
  CHECK(files.matrix(files.put("narrow.hb.gz", narrow.text())) == all_entries);
  const Boeing nested{
      .counts = "9 1 1 7",
      .formats = "(8I10) (8I10) (1(1X,F8.3))",
      .values = "    4.000\n   -2.\n   -1.000\n    5.000\n   -2.000\n   -1.0\n    6.\n"};
  CHECK(files.matrix(files.put("nested.rua", nested.text())) == all_entries);
}

TEST_CASE("symmetric, skew-symmetric, hermitian and complex types and patterns become the whole") {
  const TextFiles files;
  Boeing half{.counts = "3 1 1 1",
              .type = "RSA",
              .sizes = "3 3 5 0",
              .formats = "(4I2) (5I2) (5F4.1)",
              .pointers = " 1 3 5 6\n",
              .indices = " 1 2 2 3 3\n",
              .values = " 4.0-1.0 5.0-2.0 6.0\n"};
  const std::string whole = "0,0=4 0,1=-1 1,0=-1 1,1=5 1,2=-2 2,1=-2 2,2=6 ";
  CHECK(files.matrix(files.put("half.rsa", half.text())) == whole);
  Remarks by_nonzeros;
  CHECK(files.matrix(files.put("half.rsa", half.text()), by_nonzeros, IndexBase::found,
                     PartitionBy::nonzeros) == whole);
  CHECK(by_nonzeros.empty());
  const auto size = collective_matrix_file_size(files.world, files.path("half.rsa"));
  CHECK(size.row_count == 3);
  CHECK(size.nonzero_count == 7);
  CHECK(collective_look_into(files.world, files.path("half.rsa")).is_matrix);

  half.type = "PSA";
  half.values = "";
  half.counts = "2 1 1 0";
  CHECK(files.matrix(files.put("half.psa", half.text())) ==
        "0,0=1 0,1=1 1,0=1 1,1=1 1,2=1 2,1=1 2,2=1 ");
  half.formats = "(4I2) (5I2)";
  CHECK(files.matrix(files.put("half.psa", half.text())) ==
        "0,0=1 0,1=1 1,0=1 1,1=1 1,2=1 2,1=1 2,2=1 ");
  half.type = "RZA";
  half.counts = "3 1 1 1";
  half.formats = "(4I2) (5I2) (5F4.1)";
  half.values = " 0.0-1.0 0.0-2.0 0.0\n";
  CHECK(files.matrix(files.put("half.rza", half.text())) ==
        "0,0=0 0,1=1 1,0=-1 1,1=0 1,2=2 2,1=-2 2,2=0 ");
  half.values = " 0.0-1.0 0.5-2.0 0.0\n";
  CHECK(files.fault_of(files.put("half.rza", half.text())) ==
        "half.rza:6: found row 2 in column 2; expected nothing but 0 on the diagonal of a "
        "skew-symmetric matrix");
  half.type = "CHA";
  half.values = " 4.0 0.0-1.0 0.0 5.0\n 0.0-2.0 0.0 6.0 0.0\n";
  half.counts = "4 1 1 2";
  Remarks remarks;
  CHECK(files.matrix(files.put("half.cha", half.text()), remarks) == whole);
  CHECK_THAT(joined(remarks), Catch::Contains("all imaginary parts are 0"));
  half.values = " 4.0 0.0-1.0 0.5 5.0\n 0.0-2.0 0.0 6.0 0.0\n";
  CHECK_THAT(
      files.fault_of(files.put("half.cha", half.text())),
      Catch::StartsWith("half.cha:7: found a complex number") && Catch::Contains("expected"));
}

TEST_CASE("both triangles of a symmetric type count once if they are equal") {
  const TextFiles files;
  Boeing both{.counts = "3 1 1 1",
              .type = "RSA",
              .sizes = "2 2 4 0",
              .formats = "(4I2) (5I2) (5F4.1)",
              .pointers = " 1 3 5\n",
              .indices = " 1 2 1 2\n",
              .values = " 4.0-1.0-1.0 5.0\n"};
  Remarks remarks;
  CHECK(files.matrix(files.put("both.rsa", both.text()), remarks) == "0,0=4 0,1=-1 1,0=-1 1,1=5 ");
  CHECK_THAT(joined(remarks), Catch::Contains("both triangles") && Catch::Contains("1 pair"));
  both.values = " 4.0-1.0-2.0 5.0\n";
  CHECK_THAT(files.fault_of(files.put("both.rsa", both.text())),
             Catch::Contains("row 2, column 1") && Catch::Contains("row 1, column 2"));
}

TEST_CASE("a right-hand side of the file is read, and what is left unread is said") {
  const TextFiles files;
  Boeing file{.counts = "8 1 1 2 1", .tail = "1.52.5 -3\n"};
  file.formats += "(3F3.0)";
  file.right_hand_sides = "F              1             0\n";
  const std::string path = files.put("rhs.rua", file.text());
  Remarks remarks;
  CHECK(files.matrix(path, remarks) == all_entries);
  CHECK_THAT(joined(remarks), Catch::Contains("rhs=" + path));
  CHECK(files.vector(path, 3) == "1.5 2.5 -3 ");
  CHECK_THAT(files.fault_of([&] { files.vector(path, 4); }),
             Catch::Contains("length 3; expected length 4"));
  file.right_hand_sides = "F              2             0\n";
  file.tail += "1.02.0 -3\n";
  CHECK_THAT(files.fault_of([&] { files.vector(files.put("two.rua", file.text()), 3); }),
             Catch::Contains("2 right-hand sides"));
  file.right_hand_sides = "M              1             2\n";
  CHECK_THAT(files.fault_of([&] { files.vector(files.put("sparse.rua", file.text()), 3); }),
             Catch::Contains("sparse right-hand side"));
  CHECK_THAT(files.fault_of([&] { files.vector(files.put("none.rua", Boeing{}.text()), 3); }),
             Catch::Contains("no right-hand side"));
  Remarks of_tail;
  CHECK(files.matrix(files.put("tail.rua", Boeing{.counts = "9 2 1 2", .tail = "more\n\n"}.text()),
                     of_tail) == all_entries);
  CHECK_THAT(joined(of_tail), Catch::Contains("1 lines behind the last number") &&
                                  Catch::Contains("announces 2 lines of pointers"));
}

TEST_CASE("many lines are found again from their marks on every rank") {
  const TextFiles files;
  // Of row i: i + 1 on the diagonal, 1 before it; one number a line of values.
  constexpr int rows = 5000;
  std::string pointers;
  std::string indices;
  std::string values;
  std::string expected;
  const auto number = [](int value) {
    const std::string digits = std::to_string(value);
    return std::string(6 - digits.size(), ' ') + digits;
  };
  for (int column = 0; column <= rows; ++column) {
    pointers += number(column == 0 ? 1 : 2 * column + (column < rows ? 1 : 0)) + "\n";
    if (column == rows) break;
    indices += number(column + 1) + "\n";
    values += number(column + 1) + ".\n";
    if (column + 1 == rows) break;
    indices += number(column + 2) + "\n";
    values += "     1.\n";
  }
  pointers += number(2 * rows) + "\n";
  const std::string sizes =
      std::to_string(rows) + " " + std::to_string(rows) + " " + std::to_string(2 * rows - 1) + " 0";
  for (int row = 0; row < rows; ++row) {
    if (row > 0) expected += std::to_string(row) + "," + std::to_string(row - 1) + "=1 ";
    expected +=
        std::to_string(row) + "," + std::to_string(row) + "=" + std::to_string(row + 1) + " ";
  }
  const Boeing file{.sizes = sizes,
                    .formats = "(I6) (I6) (F7.0)",
                    .pointers = pointers,
                    .indices = indices,
                    .values = values};
  CHECK(files.matrix(files.put("long.rua", file.text())) == expected);
  CHECK(files.matrix(files.put("long.rua.gz", file.text())) == expected);
}

TEST_CASE("what is wrong in a Harwell-Boeing file is one line with its place") {
  const TextFiles files;
  const auto fault_of = [&](const Boeing& file) {
    return files.fault_of(files.put("wrong.rua", file.text()));
  };
  CHECK_THAT(fault_of({.type = "RUE"}), Catch::StartsWith("wrong.rua:3: ") &&
                                            Catch::Contains("elements") &&
                                            Catch::Contains("scipy.io.mmwrite"));
  CHECK_THAT(fault_of({.type = "XUA"}), Catch::StartsWith("wrong.rua:3: found the type \"XUA\""));
  CHECK_THAT(fault_of({.type = "RRA", .sizes = "3 4 7 0"}),
             Catch::Contains("3 rows and 4 columns; expected a square matrix"));
  CHECK_THAT(fault_of({.sizes = "3 3 x 0"}), Catch::StartsWith("wrong.rua:3: "));
  CHECK_THAT(fault_of({.counts = "nothing"}), Catch::StartsWith("wrong.rua:2: "));
  CHECK_THAT(fault_of({.formats = "(8I10) (8I10)"}), Catch::StartsWith("wrong.rua:4: "));
  CHECK_THAT(fault_of({.formats = "(8I10) (8A10) (4E21.13)"}),
             Catch::StartsWith("wrong.rua:4: found the format \"(8A10)\""));
  CHECK_THAT(fault_of({.formats = "(8I10) (8F10.0) (4E21.13)"}),
             Catch::Contains("expected one of whole numbers"));
  CHECK_THAT(fault_of({.pointers = "         0         2         5         7\n"}),
             Catch::StartsWith("wrong.rua:5: found 0 as the first pointer"));
  CHECK_THAT(fault_of({.pointers = "         1         3         6         9\n"}),
             Catch::StartsWith("wrong.rua:5: found 9 as the last pointer"));
  CHECK_THAT(fault_of({.pointers = "         1         6         3         8\n"}),
             Catch::StartsWith("wrong.rua:5: found the pointer 3 behind 6"));
  CHECK_THAT(fault_of({.indices = "         1         2         1         2         4         2"
                                  "         3\n"}),
             Catch::StartsWith("wrong.rua:6: found 4 as row; expected a whole number from 1 to 3"));
  CHECK_THAT(
      fault_of({.indices = "         1         2         1         2         0         2\n"}),
      Catch::Contains("wrong.rua:6: found"));
  CHECK_THAT(
      fault_of({.indices = "         1         2         1         2         3         2\n"}),
      Catch::StartsWith("wrong.rua:6: found nothing in columns 61 to 70"));
  CHECK_THAT(fault_of({.values = "  4.0000000000000E+00 -2.0000000000000E+00\n"}),
             Catch::StartsWith("wrong.rua:7: the file ends here; expected 7 numbers as values"));
  CHECK_THAT(fault_of({.formats = "(8I10) (8I10) (7E5.1)",
                       .values = "  4.0 -2.0  x.0  5.0 -2.0 -1.0  6.0\n"}),
             Catch::StartsWith("wrong.rua:7: found \"x.0\""));
  CHECK_THAT(fault_of({.formats = "(8I10) (8I10) (7E5.1)",
                       .values = "  NaN  1.0  1.0  1.0  1.0  1.0  1.0\n"}),
             Catch::Contains("expected a finite number"));
  // Fortran reads 0.4, others 4.
  CHECK_THAT(fault_of({.formats = "(8I10) (8I10) (7E5.1)",
                       .values = "    4  1.0  1.0  1.0  1.0  1.0  1.0\n"}),
             Catch::StartsWith("wrong.rua:7: found \"4\" without a decimal point"));
  CHECK_THAT(fault_of({.formats = "(8I10) (8I10) (1P,7E5.1)",
                       .values = "  4.0  1.0  1.0  1.0  1.0  1.0  1.0\n"}),
             Catch::Contains("without an exponent"));
  for (const std::string text : {"", "title\n", "title\n1 1 1 1\nRUA 3 3 7 0\n"})
    CHECK_THAT(files.fault_of(files.put("short.rua", text)), Catch::Contains("expected"));
  CHECK_THAT(files.fault_of(files.path("missing.rua")), Catch::Contains("cannot be opened"));
}

}  // namespace weft::spmv
