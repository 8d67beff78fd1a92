// Database: a SQLite file, with errors as sentences.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

struct sqlite3;
struct sqlite3_stmt;

namespace stagecraft {

class Database;

// Statement: SQL that runs again and again with other values. Must not outlive its Database.
// Parameters and columns are numbered from 0.
class Statement {
 public:
  Statement(const Database& database, const std::string& sql);

  void Bind(int parameter, int64_t value);
  void Bind(int parameter, const std::string& text);
  void Bind(int parameter, std::optional<double> value);  // without a value: NULL

  // Returns whether there is a (further) row. Throws as Database does.
  bool Step();
  // Makes the statement ready for other values.
  void Reset();
  // Runs it to its end, and makes it ready.
  void Run();

  bool IsNull(int column) const;
  int64_t Integer(int column) const;
  double Number(int column) const;
  std::string Text(int column) const;  // "" for NULL

 private:
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const;
  };
  const Database& database_;
  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
};

// Failures are sentences that begin with the path. InputError: the file is no database, is damaged
// or cut short, lacks what is asked of it, or another program has locked it.
// std::runtime_error: the system does not let it be read or written, or the disk is full.
class Database {
 public:
  // kExisting: a file that exists, which is read only if the system does not let it be written.
  // kCreate makes one if there is none.
  enum class Use { kExisting, kCreate };
  Database(const std::string& path, Use use);

  // Runs statements that have no results.
  void Execute(const std::string& sql) const;
  int64_t Integer(const std::string& sql) const;

  // How many rows the latest INSERT added.
  int Changes() const;

  const std::string& path() const { return path_; }
  sqlite3* handle() const { return handle_.get(); }
  // Throws what the latest call of SQLite failed with.
  [[noreturn]] void Fail() const;

 private:
  struct Closer {
    void operator()(sqlite3* handle) const;
  };
  std::string path_;
  std::unique_ptr<sqlite3, Closer> handle_;
};

// Transaction: what is written while it exists is kept as a whole by Commit(), or else not at all.
class Transaction {
 public:
  explicit Transaction(const Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void Commit();

 private:
  const Database& database_;
  bool is_open_ = true;
};

}  // namespace stagecraft
