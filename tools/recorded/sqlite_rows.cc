#include "tools/recorded/sqlite_rows.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "costmodel/check.h"

namespace stagecraft {

SqliteFile::SqliteFile(const std::string& path) : path_(path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw InputError(path + ": cannot be read, want a file");
  }
  sqlite3* handle = nullptr;
  const int result = sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READONLY, nullptr);
  handle_.reset(handle);
  if (result != SQLITE_OK) Fail("cannot be opened");
}

void SqliteFile::Fail(const std::string& what) const {
  throw InputError(path_ + ": " + what + ": " + sqlite3_errmsg(handle_.get()));
}

std::vector<std::string> SqliteFile::Columns(const std::string& table) const {
  sqlite3_stmt* statement = nullptr;
  const std::string query = "SELECT name FROM pragma_table_info('" + table + "')";
  if (sqlite3_prepare_v2(handle_.get(), query.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
    Fail("not an SQLite database that can be read");
  }
  std::vector<std::string> columns;
  int result = sqlite3_step(statement);
  for (; result == SQLITE_ROW; result = sqlite3_step(statement)) {
    columns.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(statement, 0)));
  }
  sqlite3_finalize(statement);
  if (result != SQLITE_DONE) Fail("not an SQLite database that can be read");
  return columns;
}

SqliteRows::SqliteRows(const SqliteFile& file, const std::string& table,
                       const std::vector<std::string>& columns)
    : file_(file) {
  const std::vector<std::string> present = file.Columns(table);
  std::string query = "SELECT ";
  for (size_t i = 0; i < columns.size(); ++i) {
    const bool is_present = std::find(present.begin(), present.end(), columns[i]) != present.end();
    query += (i > 0 ? ", " : "") + (is_present ? "\"" + columns[i] + "\"" : std::string("NULL"));
  }
  query += " FROM \"" + table + "\"";
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(file.handle(), query.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
    file.Fail(table);
  }
  statement_.reset(statement);
}

bool SqliteRows::Next() {
  const int result = sqlite3_step(statement_.get());
  if (result == SQLITE_ROW) return true;
  if (result != SQLITE_DONE) file_.Fail("damaged or cut off");
  return false;
}

bool SqliteRows::IsNull(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}
int64_t SqliteRows::Integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}
std::string_view SqliteRows::Text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (text == nullptr) return {};
  return {text, static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

}  // namespace stagecraft
