#include "tools/sweep/run_store.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "costmodel/check.h"
#include "tools/verb/report_header.h"

namespace stagecraft {
namespace {

// "stgc": marks files of this program for SQLite and `file`.
constexpr int64_t kApplicationId = 0x73746763;
// The version of the tables below, which every change of them raises.
constexpr int64_t kSchema = 1;

constexpr const char* kGridsTable =
    "CREATE TABLE grids (grid INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, "
    "tool_version TEXT NOT NULL, data_hash TEXT NOT NULL, definition TEXT NOT NULL, "
    "files TEXT NOT NULL, points INTEGER NOT NULL)";

std::string Columns() {
  return fmt::format("point, inputs_hash, result_hash, flags, outcome, reason, plan, {}",
                     fmt::join(kRunNumberNames, ", "));
}
constexpr int kTextColumns = 7;  // before the numbers

std::string RunsTable() {
  return fmt::format(
      "CREATE TABLE runs (grid INTEGER NOT NULL REFERENCES grids, point INTEGER NOT NULL, "
      "inputs_hash TEXT NOT NULL, result_hash TEXT NOT NULL, flags TEXT NOT NULL, "
      "outcome TEXT NOT NULL, reason TEXT NOT NULL, plan TEXT NOT NULL, {} REAL, "
      "PRIMARY KEY (grid, point)) WITHOUT ROWID",
      fmt::join(kRunNumberNames, " REAL, "));
}

RunRow RowOf(const Statement& statement, const Database& database) {
  RunRow row;
  row.point = statement.Integer(0);
  row.inputs_hash = statement.Text(1);
  row.result_hash = statement.Text(2);
  row.flags = statement.Text(3);
  const std::optional<Outcome> outcome = FindOutcome(statement.Text(4));
  if (!outcome) {
    throw InputError(
        fmt::format("{}: runs: point {}: outcome: got \"{}\", which sweep does not write",
                    database.path(), row.point, statement.Text(4)));
  }
  row.outcome = *outcome;
  row.reason = statement.Text(5);
  row.plan = statement.Text(6);
  for (size_t i = 0; i < kRunNumberCount; ++i) {
    const int column = kTextColumns + static_cast<int>(i);
    if (!statement.IsNull(column)) row.numbers[i] = statement.Number(column);
  }
  return row;
}

// What two grids differ in, for people.
std::string Difference(const GridRecord& there, const GridRecord& here) {
  if (there.tool_version != here.tool_version) {
    return fmt::format("was written by stagecraft {}, and this is {}", there.tool_version,
                       here.tool_version);
  }
  if (there.data_hash != here.data_hash) {
    return "was written by a stagecraft with other cost models or catalogues";
  }
  if (there.definition != here.definition) return "holds the points of another grid";
  return "holds points whose files have changed since";
}

}  // namespace

// The head of a database has its application's number at byte 68, the most significant byte first
// (sqlite.org/fileformat.html).
bool IsSweepDatabase(std::string_view bytes) {
  constexpr std::string_view kHead{"SQLite format 3\0", 16};
  constexpr size_t kPlace = 68;
  if (!bytes.starts_with(kHead) || bytes.size() < kPlace + 4) return false;
  int64_t number = 0;
  for (const char byte : bytes.substr(kPlace, 4)) {
    number = number * 256 + static_cast<unsigned char>(byte);
  }
  return number == kApplicationId;
}

void Seal(GridRecord& record) {
  record.hash = Sha256(fmt::format("{}\n{}\n{}\n{}\n{}", record.tool_version, record.data_hash,
                                   record.definition, record.files, record.points));
}

void RunStore::CheckSchema() const {
  const std::string& path = database_->path();
  if (database_->Integer("PRAGMA application_id") != kApplicationId) {
    throw InputError(path + ": got a database of another program, want one that sweep wrote");
  }
  const int64_t schema = database_->Integer("PRAGMA user_version");
  if (schema != kSchema) {
    throw InputError(
        fmt::format("{}: got schema {}, want {}, which this version of stagecraft writes", path,
                    schema, kSchema));
  }
  Statement check(*database_, "PRAGMA quick_check(1)");
  if (check.Step() && check.Text(0) != "ok") {
    throw InputError(fmt::format("{}: got a database that is damaged ({}), want a whole one", path,
                                 check.Text(0)));
  }
}

void RunStore::MakeTables() {
  Transaction transaction(*database_);
  database_->Execute(fmt::format("PRAGMA application_id = {}", kApplicationId));
  database_->Execute(fmt::format("PRAGMA user_version = {}", kSchema));
  database_->Execute(kGridsTable);
  database_->Execute(RunsTable());
  transaction.Commit();
}

void RunStore::ReadGrids() {
  grids_.clear();
  Statement statement(*database_,
                      "SELECT grid, hash, tool_version, data_hash, definition, files, points FROM "
                      "grids ORDER BY grid");
  while (statement.Step()) {
    grids_.push_back({statement.Text(1), statement.Text(2), statement.Text(3), statement.Text(4),
                      statement.Text(5), statement.Integer(6)});
    if (statement.Integer(0) != static_cast<int64_t>(grids_.size()) - 1) {
      throw InputError(database_->path() + ": grids: got one whose number is not the next one");
    }
  }
}

RunStore RunStore::Create(const std::string& path) {
  RunStore store(std::make_unique<Database>(path, Database::Use::kCreate));
  // A file without pages is new, or was left by a process that ended before its first batch.
  if (store.database_->Integer("PRAGMA page_count") > 0) {
    throw InputError(path + ": exists already, want a new file");
  }
  store.MakeTables();
  return store;
}

RunStore RunStore::OpenFor(const GridRecord& grid, const std::string& path) {
  RunStore store(std::make_unique<Database>(path, Database::Use::kCreate));
  if (store.database_->Integer("PRAGMA page_count") == 0) store.MakeTables();
  store.CheckSchema();
  store.ReadGrids();
  if (store.grids_.empty()) store.AddGrid(grid);
  if (store.grids_.size() > 1) {
    throw InputError(fmt::format("{}: got {} merged grids, want a database of one, or a new file",
                                 path, store.grids_.size()));
  }
  const GridRecord& there = store.grids_[0];
  if (there.hash == grid.hash) return store;
  throw InputError(fmt::format("{}: {}; want a new file, or what it was begun with", path,
                               Difference(there, grid)));
}

RunStore RunStore::Read(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw InputError(path + ": no such file, want a database that sweep wrote");
  }
  // Where the last process ended in the middle of a batch, SQLite first undoes that batch.
  RunStore store(std::make_unique<Database>(path, Database::Use::kExisting));
  store.CheckSchema();
  store.ReadGrids();
  if (store.grids_.empty())
    throw InputError(path + ": got a database without a grid, want a sweep");
  return store;
}

int RunStore::AddGrid(const GridRecord& grid) {
  for (size_t i = 0; i < grids_.size(); ++i) {
    if (grids_[i].hash == grid.hash) return static_cast<int>(i);
  }
  Transaction transaction(*database_);
  Statement insert(*database_, "INSERT INTO grids VALUES (?, ?, ?, ?, ?, ?, ?)");
  insert.Bind(0, static_cast<int64_t>(grids_.size()));
  insert.Bind(1, grid.hash);
  insert.Bind(2, grid.tool_version);
  insert.Bind(3, grid.data_hash);
  insert.Bind(4, grid.definition);
  insert.Bind(5, grid.files);
  insert.Bind(6, grid.points);
  insert.Run();
  transaction.Commit();
  grids_.push_back(grid);
  return static_cast<int>(grids_.size()) - 1;
}

int64_t RunStore::CountRows(int grid) const {
  return database_->Integer(fmt::format("SELECT count(*) FROM runs WHERE grid = {}", grid));
}

std::vector<int64_t> RunStore::DonePoints(int grid) const {
  std::vector<int64_t> points;
  Statement statement(*database_,
                      fmt::format("SELECT point FROM runs WHERE grid = {} ORDER BY point", grid));
  while (statement.Step()) points.push_back(statement.Integer(0));
  return points;
}

void RunStore::ForEachRow(int grid, const std::function<void(const RunRow&)>& take) const {
  Statement statement(*database_, fmt::format("SELECT {} FROM runs WHERE grid = {} ORDER BY point",
                                              Columns(), grid));
  while (statement.Step()) take(RowOf(statement, *database_));
}

void RunStore::Add(int grid, std::span<const RunRow> rows, const std::string& source) {
  Transaction transaction(*database_);
  std::string marks = "?, ?, ?, ?, ?, ?, ?, ?";
  for (size_t i = 0; i < kRunNumberCount; ++i) marks += ", ?";
  Statement insert(*database_, fmt::format("INSERT OR IGNORE INTO runs (grid, {}) VALUES ({})",
                                           Columns(), marks));
  Statement find(*database_,
                 "SELECT inputs_hash, result_hash FROM runs WHERE grid = ? AND point = ?");
  for (const RunRow& row : rows) {
    int parameter = 0;
    insert.Bind(parameter++, static_cast<int64_t>(grid));
    insert.Bind(parameter++, row.point);
    insert.Bind(parameter++, row.inputs_hash);
    insert.Bind(parameter++, row.result_hash);
    insert.Bind(parameter++, row.flags);
    insert.Bind(parameter++, std::string(Name(row.outcome)));
    insert.Bind(parameter++, row.reason);
    insert.Bind(parameter++, row.plan);
    for (const std::optional<double>& number : row.numbers) insert.Bind(parameter++, number);
    insert.Run();
    if (database_->Changes() == 1) continue;
    find.Bind(0, static_cast<int64_t>(grid));
    find.Bind(1, row.point);
    const bool is_equal =
        find.Step() && find.Text(0) == row.inputs_hash && find.Text(1) == row.result_hash;
    if (!is_equal) {
      throw InputError(fmt::format(
          "{}: point {} has other results than in {}, want sweeps of one build of stagecraft",
          source, row.point, database_->path()));
    }
    find.Reset();
  }
  transaction.Commit();
}

void RunStore::AddAll(int grid, const RunStore& from, int from_grid, const std::string& source) {
  constexpr size_t kRowsAtOnce = 10'000;
  std::vector<RunRow> rows;
  from.ForEachRow(from_grid, [&](const RunRow& row) {
    rows.push_back(row);
    if (rows.size() < kRowsAtOnce) return;
    Add(grid, rows, source);
    rows.clear();
  });
  Add(grid, rows, source);
}

}  // namespace stagecraft
