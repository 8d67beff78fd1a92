// The third-party tables under $STAGECRAFT_SHARED, for tests that compare our catalogues with them.
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace stagecraft {

using CsvRow = std::map<std::string, std::string>;  // by column name

// Returns the fields of one line; a quoted field may contain commas, and "" in it stands for one
// quote. Shares no code with CsvRecords, so that tests can check what CsvRecords reads.
inline std::vector<std::string> SplitCsvLine(const std::string& line) {
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') {
      if (is_quoted && i + 1 < line.size() && line[i + 1] == '"')
        fields.back() += line[++i];
      else
        is_quoted = !is_quoted;
    } else if (line[i] == ',' && !is_quoted) {
      fields.emplace_back();
    } else if (line[i] != '\r') {
      fields.back() += line[i];
    }
  }
  return fields;
}

// Calls `visit` with every row of a table whose first line is its header. Columns that a line lacks
// are absent from its row.
template <typename Visit>
void ForEachCsvRow(const std::string& text, const Visit& visit) {
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> header = SplitCsvLine(line);
  while (std::getline(lines, line)) {
    const std::vector<std::string> fields = SplitCsvLine(line);
    CsvRow row;
    for (size_t i = 0; i < header.size() && i < fields.size(); ++i) row[header[i]] = fields[i];
    visit(row);
  }
}

// Whether $STAGECRAFT_SHARED names a folder to read from.
inline bool HasSharedData() {
  const char* folder = std::getenv("STAGECRAFT_SHARED");
  return folder != nullptr && *folder != '\0';
}

// Returns the path of a file in its folder data/. Precondition: HasSharedData().
inline std::string SharedDataPath(const std::string& path) {
  return std::string(std::getenv("STAGECRAFT_SHARED")) + "/data/" + path;
}

// Returns the rows of the table data/`path`; none if it cannot be read.
inline std::vector<CsvRow> ReadSharedTable(const std::string& path) {
  std::ifstream file(SharedDataPath(path));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<CsvRow> rows;
  ForEachCsvRow(text, [&](const CsvRow& row) { rows.push_back(row); });
  return rows;
}

inline std::vector<CsvRow> ReadSharedCatalogue(const std::string& name) {
  return ReadSharedTable("catalogue/" + name);
}

// Returns the number in a field; an empty field counts as zero.
inline double Number(const CsvRow& row, const std::string& column) {
  const std::string& text = row.at(column);
  return text.empty() ? 0 : std::stod(text);
}

inline constexpr char kNoSharedData[] =
    "STAGECRAFT_SHARED is not set: the embedded catalogue is not compared with the shared one";

}  // namespace stagecraft
