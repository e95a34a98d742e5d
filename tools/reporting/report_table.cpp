#include "tools/reporting/report_table.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace weft::tools {
namespace {

std::string padded(const std::string& text, int width) {
  return width < 0 ? fmt::format("{:<{}}", text, -width) : fmt::format("{:>{}}", text, width);
}

void print_line(const std::string& line, const std::string& end) {
  fmt::print("{}{}\n", line.substr(0, line.find_last_not_of(' ') + 1), end);
}

}  // namespace

TableColumn column(std::string title, int width, const char* path, const char* format,
                   double factor) {
  return {std::move(title), width, [=, place = Json::json_pointer(path)](const Json& row) {
            if (!row.contains(place)) return std::string();
            const Json& value = row[place];
            return factor == 1 ? fmt::format(fmt::runtime(format), value)
                               : fmt::format(fmt::runtime(format), factor * number(value));
          }};
}

TableColumn ratio_column(std::string title, int width, const char* path, const char* divisor,
                         const char* format, double factor) {
  return {std::move(title), width,
          [=, place = Json::json_pointer(path),
           below = Json::json_pointer(divisor)](const Json& row) -> std::string {
            if (!row.contains(place)) return "";
            return fmt::format(fmt::runtime(format),
                               factor * number(row[place]) / std::max(1.0, number(row[below])));
          }};
}

TableColumn range_column(std::string title, int width, const char* least, const char* most,
                         const char* format) {
  return {std::move(title), width,
          [from = column("", 0, least, format), to = column("", 0, most, format)](const Json& row) {
            const std::string begin = from.cell(row);
            return begin.empty() ? begin : begin + "-" + to.cell(row);
          }};
}

TableColumn line_column() {
  return {" |", 2, [](const Json&) { return " |"; }};
}

void print_table(const std::vector<TableColumn>& columns, const Json& rows) {
  std::string titles;
  for (const TableColumn& each : columns) titles += padded(each.title, each.width);
  print_line(titles, "");
  for (const Json& row : rows) {
    std::string line;
    for (const TableColumn& each : columns) line += padded(each.cell(row), each.width);
    const std::string status = row.value("status", "converged");
    print_line(line, status == "converged" ? "" : "  " + status);
  }
}

std::vector<TableColumn> spread_columns(const std::string& title) {
  return {column(title, -26, "/name"), column("min", 10, "/min", "{:.3f}"),
          column("mean", 10, "/mean", "{:.3f}"), column("max", 10, "/max", "{:.3f}")};
}

Json rows_of_spreads(const Json& spreads) {
  Json rows = rows_of(spreads, "name");
  for (Json& row : rows) {
    auto& name = row["name"].get_ref<std::string&>();
    std::ranges::replace(name, '_', ' ');
    name.insert(0, 2, ' ');
  }
  return rows;
}

Json rows_of(const Json& object, const char* key) {
  Json rows = Json::array();
  for (const auto& [name, fields] : object.items()) {
    rows.push_back(fields);
    rows.back()[key] = name;
  }
  return rows;
}

}  // namespace weft::tools
