// RunStore: the database of a sweep.
//
// Table `grids` says what was swept, and table `runs` has a row for each point that is done:
// docs/sweep.md lists their columns. A process that ends at any instant leaves a database that
// holds all batches that were added before, and nothing of the one that it was adding.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/sweep/database.h"
#include "tools/sweep/run_row.h"

namespace stagecraft {

// What the rows of a sweep are points of. Equal hashes mean equal points with equal results.
struct GridRecord {
  std::string hash;          // SHA-256 of what follows
  std::string tool_version;  // of the program that swept it
  std::string data_hash;     // of its cost models and catalogues
  std::string definition;    // Grid::Definition()
  std::string files;         // a JSON object: the SHA-256 of every file that flags name, by path
  int64_t points = 0;
};

// Sets the hash from the other members.
void Seal(GridRecord& record);

// Whether a file of these bytes is an SQLite database that sweep began.
bool IsSweepDatabase(std::string_view bytes);

class RunStore {
 public:
  // Opens the database of a sweep of this grid, or makes one if the file is missing or empty.
  // Throws InputError, and changes nothing, if the file is something else: another program's
  // database, one of another schema, of another version of this program, of another grid.
  static RunStore OpenFor(const GridRecord& grid, const std::string& path);
  // Makes a database of several grids in a new or empty file.
  static RunStore Create(const std::string& path);
  // Opens a database to read it. Throws InputError unless it is one of sweep.
  static RunStore Read(const std::string& path);

  const std::vector<GridRecord>& grids() const { return grids_; }
  // Returns the index of the grid in grids(), to which it is added if it is new.
  int AddGrid(const GridRecord& grid);

  // How many points of a grid are done, and which, ascending.
  int64_t CountRows(int grid) const;
  std::vector<int64_t> DonePoints(int grid) const;
  // Calls `take` with every row of a grid, by ascending point. Throws InputError for a row that
  // sweep cannot have written.
  void ForEachRow(int grid, const std::function<void(const RunRow&)>& take) const;

  // Adds rows of a grid, all or none. Rows of points that are done must be equal to those there:
  // throws InputError that begins with `source` if one is not.
  void Add(int grid, std::span<const RunRow> rows, const std::string& source);
  // Adds all rows of grid `from_grid` of another database, which `source` names, in batches.
  void AddAll(int grid, const RunStore& from, int from_grid, const std::string& source);

 private:
  explicit RunStore(std::unique_ptr<Database> database) : database_(std::move(database)) {}
  // Throws InputError unless the database has the tables of a sweep.
  void CheckSchema() const;
  void MakeTables();
  void ReadGrids();

  std::unique_ptr<Database> database_;
  std::vector<GridRecord> grids_;
};

}  // namespace stagecraft
