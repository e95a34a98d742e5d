#include "spmv/files/text_lines.h"

#include <string>

#include <catch2/catch.hpp>

#include "spmv/files/text_fault.h"
#include "tests/spmv/files/matrix_market_support.h"

namespace weft::spmv {
namespace {

std::string lines_of_numbers(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += std::to_string(i * 7919 % 10007) + '\n';
  return text;
}

std::string all_lines(TextLines lines) {
  std::string all;
  for (auto block = lines.next(); !block.empty(); block = lines.next()) {
    CHECK(block.back() == '\n');
    all += block;
  }
  return all;
}

TEST_CASE("blocks hold whole lines, plain and compressed, and the last line gets its end") {
  const tests::ScratchFolder folder;
  const std::string text = "ab\n\ncdefg\nhi\nj";
  tests::write_file(folder / "plain", text);
  tests::write_compressed_file(folder / "packed", text);
  for (const char* name : {"plain", "packed"}) {
    TextSource source(folder / name);
    CHECK(source.is_compressed() == (std::string(name) == "packed"));
    for (const std::size_t block : {6u, 7u, 100u})
      CHECK(all_lines(TextLines(source, {}, block)) == text + '\n');
    CHECK(all_lines(TextLines(source, {4, TextRange::to_the_end})) == "cdefg\nhi\nj\n");
    CHECK(all_lines(TextLines(source, {3, 10})) == "\ncdefg\n");
    CHECK(all_lines(TextLines(source, {3, 3})).empty());
  }
}

TEST_CASE("a line that exceeds a block is a fault") {
  const tests::ScratchFolder folder;
  tests::write_file(folder / "plain", "ab\ncdefg\n");
  TextSource source(folder / "plain");
  TextLines lines(source, {}, 4);
  CHECK(lines.next() == "ab\n");
  CHECK_THROWS_WITH(lines.next(), "a line of more than 4 characters; expected shorter lines");
}

TEST_CASE("cuts for any number of ranks put every line into exactly one part") {
  const tests::ScratchFolder folder;
  const std::string text = "ab\n\ncdefg\nhi\nj";
  tests::write_file(folder / "plain", text);
  TextSource source(folder / "plain");
  CHECK(line_start_from(source, 0) == 0);
  CHECK(line_start_from(source, 1) == 3);
  CHECK(line_start_from(source, 3) == 3);
  CHECK(line_start_from(source, 4) == 4);
  CHECK(line_start_from(source, 5) == 10);
  CHECK(line_start_from(source, 14) == 14);
}

TEST_CASE("lines are counted, those with data too") {
  const LineCount count = count_lines("1 1\n\n  % x\n \t\r\n 2\n");
  CHECK(count.lines == 5);
  CHECK(count.data_lines == 2);
}

TEST_CASE("taking lines takes at least one and what the wanted characters reach into") {
  std::string_view text = "ab\ncd\nef\n";
  CHECK(take_lines(text, 0) == "ab\n");
  CHECK(take_lines(text, 3) == "cd\nef\n");
  CHECK(take_lines(text, 3).empty());
}

TEST_CASE("whole lines before the damage of a compressed file are handed out") {
  const tests::ScratchFolder folder;
  const std::string text = lines_of_numbers(20000);
  tests::write_compressed_file(folder / "packed", text);
  const std::string packed = tests::read_file(folder / "packed");

  tests::write_file(folder / "short", packed.substr(0, packed.size() / 2));
  TextSource short_source(folder / "short");
  TextLines lines(short_source, {});
  CHECK(text.starts_with(lines.next()));
  CHECK_THROWS_WITH(lines.next(),
                    "the compressed data ends too early; expected a complete gzip file");

  std::string damaged = packed;
  damaged[packed.size() - 6] ^= 1;  // the check sum
  tests::write_file(folder / "damaged", damaged);
  TextSource damaged_source(folder / "damaged");
  TextLines damaged_lines(damaged_source, {});
  CHECK(damaged_lines.next() == text);
  CHECK_THROWS_WITH(
      damaged_lines.next(),
      "the compressed data is damaged (incorrect data check); expected a sound gzip file");
}

TEST_CASE("a compressed file may have several members, and something else behind them") {
  const tests::ScratchFolder folder;
  tests::write_compressed_file(folder / "first", "1\n2\n3");
  tests::write_compressed_file(folder / "second", "4\n5\n");
  tests::write_file(folder / "both", tests::read_file(folder / "first") +
                                         tests::read_file(folder / "second") + "padding");
  TextSource source(folder / "both");
  CHECK(all_lines(TextLines(source, {})) == "1\n2\n34\n5\n");
  CHECK(all_lines(TextLines(source, {4, TextRange::to_the_end})) == "34\n5\n");
}

TEST_CASE("a compressed file of two members that is cut anywhere is told, but for between them") {
  const tests::ScratchFolder folder;
  const std::string text = lines_of_numbers(200);
  tests::write_compressed_file(folder / "member", text);
  const std::string member = tests::read_file(folder / "member");
  const std::string both = member + member;
  for (std::size_t size = 2; size < both.size(); ++size) {
    INFO("cut to " << size << " of " << both.size());
    tests::write_file(folder / "cut", both.substr(0, size));
    TextSource source(folder / "cut");
    // One byte of the second member might be anything.
    if (size == member.size() || size == member.size() + 1)
      CHECK(all_lines(TextLines(source, {})) == text);
    else
      CHECK_THROWS_WITH(all_lines(TextLines(source, {})),
                        "the compressed data ends too early; expected a complete gzip file");
  }
}

TEST_CASE("a file of many compressed members is read across all its pieces") {
  const tests::ScratchFolder folder;
  std::string packed;
  std::string text;
  for (int i = 0; i < 3000; ++i) {
    const std::string lines = std::to_string(i) + (i % 3 == 0 ? "" : "\n");
    text += lines;
    tests::write_compressed_file(folder / "member", lines);
    packed += tests::read_file(folder / "member");
  }
  tests::write_file(folder / "all", packed + '\x1f');
  TextSource source(folder / "all");
  CHECK(all_lines(TextLines(source, {})) == text);
}

TEST_CASE("a file that cannot be read is a fault") {
  const tests::ScratchFolder folder;
  CHECK_THROWS_WITH(TextSource(folder / "none"),
                    "cannot be opened (No such file or directory); expected a readable file");
  CHECK_THROWS_WITH(TextSource(folder / "."), "is a directory; expected a file");
}

}  // namespace
}  // namespace weft::spmv
