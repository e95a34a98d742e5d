#include "spmv/texts/harwell_boeing_sections.h"

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/option_name.h"
#include "spmv/files/text_fault.h"
#include "spmv/files/text_lines.h"
#include "spmv/files/text_source.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;
using comm_thread::InputError;
using Values = HarwellBoeingHeader::Values;

constexpr std::size_t section_count = 4;

std::array<NumberSection*, section_count> all_of(HarwellBoeingSections& file) {
  return {&file.pointers, &file.indices, &file.values, &file.right_hand_sides};
}

/// The sections of a file with this header, but for their marks.
HarwellBoeingSections sections_of(const HarwellBoeingHeader& header) {
  HarwellBoeingSections file{.header = header,
                             .pointers = {header.pointer_format, header.column_count + 1},
                             .indices = {header.index_format, header.entry_count},
                             .values = {header.value_format},
                             .right_hand_sides = {header.right_hand_side_format}};
  if (header.values != Values::pattern)
    file.values.count = (header.values == Values::complex ? 2 : 1) * header.entry_count;
  // Those that are sparse, or whose format is missing, are left unread.
  if (header.has_whole_right_hand_sides && !header.right_hand_side_format.fields.empty() &&
      header.values != Values::complex)
    file.right_hand_sides.count = header.right_hand_side_count * header.row_count;
  std::int64_t line = header.line_count + 1;
  for (NumberSection* const section : all_of(file)) {
    section->first_line = line;
    if (section->count > 0) line += section->line_count();
  }
  return file;
}

/// The text ends at `last_line`, within or before a section.
[[noreturn]] void fail_to_find(const std::string& path, HarwellBoeingSections& file,
                               std::int64_t last_line) {
  const char* const names[] = {"pointers", "row indices", "values", "right-hand sides"};
  std::size_t lacking = 0;
  while (all_of(file)[lacking]->count == 0 ||
         last_line >= all_of(file)[lacking]->first_line + all_of(file)[lacking]->line_count() - 1)
    ++lacking;
  const NumberSection& section = *all_of(file)[lacking];
  throw InputError(fault_at(path, last_line,
                            "the file ends here; expected " + std::to_string(section.count) +
                                " numbers as " + names[lacking] + " in the format " +
                                section.format.text + ", which take the lines " +
                                std::to_string(section.first_line) + " to " +
                                std::to_string(section.first_line + section.line_count() - 1)));
}

/// Goes through the text and fills in the marks.
void mark_lines(const std::string& path, TextSource& source, HarwellBoeingSections& file) {
  std::int64_t line = 0;
  std::int64_t place = 0;
  std::int64_t last_line = 0;  // that is not blank
  std::int64_t end = 0;  // the last line with numbers
  for (const NumberSection* const section : all_of(file))
    if (section->count > 0) end = section->first_line + section->line_count() - 1;
  try {
    TextLines lines(source, {});
    for (std::string_view block = lines.next(); !block.empty(); block = lines.next()) {
      while (!block.empty()) {
        const std::string_view text = take_lines(block, 0);
        ++line;
        if (text.find_first_not_of(" \t\r\n") != std::string_view::npos) {
          last_line = line;
          if (line > end) ++file.unread_lines;
        }
        for (NumberSection* const section : all_of(file)) {
          const std::int64_t own = line - section->first_line;
          if (section->count > 0 && own >= 0 && own < section->line_count() &&
              own % NumberSection::lines_per_mark == 0)
            section->marks.push_back(place);
        }
        place += static_cast<std::int64_t>(text.size());
      }
    }
  } catch (const TextFault& fault) {
    throw InputError(fault_at(path, line + 1, fault.what()));
  }
  if (last_line < end) fail_to_find(path, file, last_line);
}

HarwellBoeingHeader read_header(const std::string& path, std::string_view block) {
  std::int64_t line = 1;
  try {
    return read_harwell_boeing_header(block, line);
  } catch (const TextFault& fault) {
    throw InputError(fault_at(path, line, fault.what()));
  }
}

/// The first lines of the file, as many as may be its header.
std::string first_lines(TextSource& source) {
  constexpr int most_lines = 5;
  TextLines lines(source, {});
  std::string_view block = lines.next();
  std::string text;
  for (int line = 0; line < most_lines && !block.empty(); ++line) text += take_lines(block, 0);
  return text;
}

}  // namespace

Remarks HarwellBoeingSections::remarks(const std::string& path) const {
  Remarks remarks;
  if (header.values == Values::complex)
    remarks.push_back(path + ": all imaginary parts are 0; the matrix is taken as real");
  const auto compare = [&](const char* what, std::int64_t announced, const NumberSection& section) {
    const std::int64_t found = section.count > 0 ? section.line_count() : 0;
    if (announced != found)
      remarks.push_back(path + ":2: announces " + std::to_string(announced) + " lines of " + what +
                        "; by their format they are " + std::to_string(found) +
                        ", which were read");
  };
  compare("pointers", header.lines.pointers, pointers);
  compare("row indices", header.lines.indices, indices);
  compare("values", header.lines.values, values);
  if (header.right_hand_side_count == 1 && right_hand_sides.count > 0)
    remarks.push_back(path + ": holds a right-hand side, too, which " +
                      comm_thread::option_name("rhs", path) + " reads");
  else if (header.right_hand_side_count > 0)
    remarks.push_back(path + ": holds " + std::to_string(header.right_hand_side_count) +
                      " right-hand sides, which were not read");
  if (unread_lines > 0 && header.right_hand_side_count == 0)
    remarks.push_back(path + ": " + std::to_string(unread_lines) +
                      " lines behind the last number were not read");
  remark_on_bytes_behind(path, "compressed data", unread_bytes, remarks);
  return remarks;
}

HarwellBoeingSections collective_find_sections(const Communicator& communicator,
                                               const std::string& path) {
  HarwellBoeingSections file;
  std::string head;
  comm_thread::collective_attempt(communicator, [&] {
    TextSource source = open_text(path);  // on every rank: the line names those that lack it
    if (!communicator.is_root()) return;
    try {
      head = first_lines(source);
      file = sections_of(read_header(path, head));
      mark_lines(path, source, file);
      file.unread_bytes = source.bytes_behind();
    } catch (const TextFault& fault) {
      throw InputError(path + ": " + fault.what());
    }
  });
  communicator.broadcast(head, 0);
  if (!communicator.is_root()) file = sections_of(read_header(path, head));
  std::vector<std::int64_t> numbers{file.unread_lines, file.unread_bytes};
  for (NumberSection* const section : all_of(file)) {
    const std::int64_t per_mark = NumberSection::lines_per_mark;
    const std::int64_t lines = section->count > 0 ? section->line_count() : 0;
    section->marks.resize(static_cast<std::size_t>(lines / per_mark + (lines % per_mark != 0)));
    communicator.broadcast(section->marks, 0);
  }
  communicator.broadcast(numbers, 0);
  file.unread_lines = numbers[0];
  file.unread_bytes = numbers[1];
  return file;
}

}  // namespace weft::spmv
