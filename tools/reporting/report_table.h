#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/job/job_report.h"

namespace weft::tools {

/// A column of a table with a row for each of several runs. Its cell is empty in rows that do not
/// have its value.
struct TableColumn {
  std::string title;
  int width = 0;  // below 0 for cells that begin on the left
  std::function<std::string(const Json& row)> cell;
};

/// Shows what is at `path` of a row, numbers times `factor`, as `format` says.
TableColumn column(std::string title, int width, const char* path, const char* format = "{}",
                   double factor = 1);
/// Shows what is at `path` divided by the count at `divisor`, at least 1, times `factor`.
TableColumn ratio_column(std::string title, int width, const char* path, const char* divisor,
                         const char* format, double factor);
/// Shows what is at both paths: "LEAST-MOST".
TableColumn range_column(std::string title, int width, const char* least, const char* most,
                         const char* format = "{}");
/// A line between columns.
TableColumn line_column();

/// Prints a line for each row, and behind it the status of one that has not converged.
void print_table(const std::vector<TableColumn>& columns, const Json& rows);

/// Columns for what a rank takes: its name, and the least, mean and most of all ranks.
std::vector<TableColumn> spread_columns(const std::string& title);
/// Their rows, of an object with a name for each spread.
Json rows_of_spreads(const Json& spreads);

/// The fields of an object as rows: what each has, and as `key` its name.
Json rows_of(const Json& object, const char* key);

}  // namespace weft::tools
