// The third-party tables under $STAGECRAFT_SHARED, for tests that compare our
// catalogues with them.
#pragma once

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace stagecraft {

using CsvRow = std::map<std::string, std::string>;  // by column name

// Fields of one line; a quoted field may hold commas, "" in it is one quote.
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

// Whether $STAGECRAFT_SHARED names a folder to read from.
inline bool HasSharedData() {
  const char* folder = std::getenv("STAGECRAFT_SHARED");
  return folder != nullptr && *folder != '\0';
}

// A file of its data; HasSharedData().
inline std::string SharedDataPath(const std::string& path) {
  return std::string(std::getenv("STAGECRAFT_SHARED")) + "/data/" + path;
}

// The rows of data/`path`; none where it cannot be read.
inline std::vector<CsvRow> ReadSharedTable(const std::string& path) {
  std::ifstream file(SharedDataPath(path));
  std::string line;
  std::vector<std::string> header;
  if (std::getline(file, line)) header = SplitCsvLine(line);
  std::vector<CsvRow> rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> fields = SplitCsvLine(line);
    CsvRow& row = rows.emplace_back();
    for (size_t i = 0; i < header.size() && i < fields.size(); ++i) row[header[i]] = fields[i];
  }
  return rows;
}

inline std::vector<CsvRow> ReadSharedCatalogue(const std::string& name) {
  return ReadSharedTable("catalogue/" + name);
}

// An empty field is zero.
inline double Number(const CsvRow& row, const std::string& column) {
  const std::string& text = row.at(column);
  return text.empty() ? 0 : std::stod(text);
}

inline constexpr char kNoSharedData[] =
    "STAGECRAFT_SHARED is not set: the embedded catalogue is not compared with the shared one";

}  // namespace stagecraft
