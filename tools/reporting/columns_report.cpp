#include "tools/reporting/columns_report.h"

#include <cstddef>
#include <string>

#include <fmt/format.h>

namespace weft::tools {
void print_columns(const Json& columns) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Json& column = columns[i];
    const auto number = [&](const char* field) {
      return column[field].is_number() ? fmt::format("{:.3e}", column[field]) : std::string("nan");
    };
    fmt::print("column {:<6}{} after {} iterations, residual {} true, {} by recurrence\n", i + 1,
               column["status"], column["iterations"], number("relative_residual"),
               number("recurrence_residual"));
    if (column.contains("explanation")) fmt::print("             {}\n", column["explanation"]);
  }
}

}  // namespace weft::tools
