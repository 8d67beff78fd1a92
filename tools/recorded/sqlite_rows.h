// SqliteFile, SqliteRows: read tables of an SQLite database that another program wrote.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace stagecraft {

// A database that is only read. Throws InputError, which begins with the path, if it cannot be.
class SqliteFile {
 public:
  explicit SqliteFile(const std::string& path);

  const std::string& path() const { return path_; }
  sqlite3* handle() const { return handle_.get(); }
  // The columns of a table, in order; empty if there is no such table.
  std::vector<std::string> Columns(const std::string& table) const;
  [[noreturn]] void Fail(const std::string& what) const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close(handle); }
  };
  const std::string path_;
  std::unique_ptr<sqlite3, Close> handle_;
};

// The rows of a table, with chosen columns.
class SqliteRows {
 public:
  // Columns that the table lacks read as null in every row. The table must exist.
  SqliteRows(const SqliteFile& file, const std::string& table,
             const std::vector<std::string>& columns);

  // Goes to the next row. Returns false after the last one. Throws InputError if it cannot be read.
  bool Next();
  bool IsNull(int column) const;
  int64_t Integer(int column) const;        // 0 for null
  std::string_view Text(int column) const;  // valid until Next(); empty for null

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  const SqliteFile& file_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

}  // namespace stagecraft
