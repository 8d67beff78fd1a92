#include "tools/sweep/database.h"

#include <fmt/core.h>
#include <sqlite3.h>

#include <stdexcept>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

// How long SQLite waits for another program's lock, in milliseconds.
constexpr int kPatienceMs = 5000;

}  // namespace

void Statement::Finalizer::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}
void Database::Closer::operator()(sqlite3* handle) const { sqlite3_close(handle); }

Statement::Statement(const Database& database, const std::string& sql) : database_(database) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(database.handle(), sql.data(), static_cast<int>(sql.size()),
                                      &statement, nullptr);
  if (code != SQLITE_OK) database.Fail();
  statement_.reset(statement);
}

void Statement::Bind(int parameter, int64_t value) {
  if (sqlite3_bind_int64(statement_.get(), parameter + 1, value) != SQLITE_OK) database_.Fail();
}

void Statement::Bind(int parameter, const std::string& text) {
  const int code = sqlite3_bind_text(statement_.get(), parameter + 1, text.data(),
                                     static_cast<int>(text.size()), SQLITE_TRANSIENT);
  if (code != SQLITE_OK) database_.Fail();
}

void Statement::Bind(int parameter, std::optional<double> value) {
  const int code = value ? sqlite3_bind_double(statement_.get(), parameter + 1, *value)
                         : sqlite3_bind_null(statement_.get(), parameter + 1);
  if (code != SQLITE_OK) database_.Fail();
}

bool Statement::Step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) database_.Fail();
  return false;
}

void Statement::Reset() { sqlite3_reset(statement_.get()); }

void Statement::Run() {
  while (Step()) {
  }
  Reset();
}

bool Statement::IsNull(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}
int64_t Statement::Integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}
double Statement::Number(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}
std::string Statement::Text(int column) const {
  const auto* text = sqlite3_column_text(statement_.get(), column);
  if (text == nullptr) return "";
  return {reinterpret_cast<const char*>(text),
          static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

Database::Database(const std::string& path, Use use) : path_(path) {
  const int flags = SQLITE_OPEN_READWRITE | (use == Use::kCreate ? SQLITE_OPEN_CREATE : 0);
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  handle_.reset(handle);
  if (handle == nullptr) throw std::bad_alloc();
  if (code != SQLITE_OK) Fail();
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, kPatienceMs);
}

void Database::Execute(const std::string& sql) const {
  if (sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) Fail();
}

int64_t Database::Integer(const std::string& sql) const {
  Statement statement(*this, sql);
  if (!statement.Step()) throw InputError(path_ + ": got a database without the rows it must have");
  return statement.Integer(0);
}

int Database::Changes() const { return sqlite3_changes(handle()); }

void Database::Fail() const {
  const std::string said = sqlite3_errmsg(handle());
  switch (sqlite3_extended_errcode(handle()) & 0xff) {
    case SQLITE_NOTADB:
      throw InputError(path_ +
                       ": got a file that is no SQLite database, want one that sweep wrote");
    case SQLITE_CORRUPT:
      throw InputError(fmt::format(
          "{}: got a database that is damaged or cut short ({}), want a whole one", path_, said));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw InputError(fmt::format(
          "{}: another program has locked the database ({}), want it to end first", path_, said));
    case SQLITE_ERROR:
      throw InputError(
          fmt::format("{}: got a database without the tables of a sweep ({})", path_, said));
    default:
      throw std::runtime_error(fmt::format("{}: the database cannot be used: {}", path_, said));
  }
}

Transaction::Transaction(const Database& database) : database_(database) {
  database_.Execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (is_open_) sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::Commit() {
  database_.Execute("COMMIT");
  is_open_ = false;
}

}  // namespace stagecraft
