// Sweep: one process's part of the sweep of a grid.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "tools/sweep/grid.h"
#include "tools/sweep/run_store.h"
#include "tools/sweep/sweep_inputs.h"
#include "tools/sweep/sweep_share.h"

namespace stagecraft {

struct SweepRequest {
  std::string grid;                     // the file
  std::string output;                   // the database
  std::string shard;                    // as in ShareOf()
  std::optional<int> shards = {};       // as in ShareOf()
  std::optional<int> threads = {};      // absent: one for each processor
  std::vector<std::string> reuse = {};  // databases whose rows stand for points of the same inputs
  bool is_quiet = false;
};

class Sweep {
 public:
  // Reads the grid. Notes and progress go to `err`, which must outlive it. Throws InputError.
  Sweep(const SweepRequest& request, std::ostream& err);

  // Evaluates the points of this process that are neither done nor known from earlier sweeps, and
  // keeps them all in the database. Rank 0 of several then waits for the others, and takes over
  // their rows. Returns false if it was interrupted. Throws InputError if the database is not one
  // of this grid or another process is writing it, or one to be reused is not of a sweep;
  // std::runtime_error if other ranks have ended before their points were done.
  bool Run();

  const Grid& grid() const { return grid_; }
  // The database of this shard.
  const std::string& path() const { return path_; }
  // If several ranks sweep together, only the first one reports.
  bool is_first_rank() const { return share_.rank == 0; }
  bool takes_all_points() const { return share_.shards == 1; }

 private:
  void PrintNotes() const;
  int Threads() const;
  bool IsTalkative() const { return !request_.is_quiet && is_first_rank(); }
  // The points of the share that are not done; sets `before` to the number of those that are.
  std::vector<int64_t> PointsLeft(const RunStore& store, int64_t* before) const;
  void RunOwnPoints(RunStore& store);
  void Gather(RunStore& store);
  // How many points of the shard the database lacks.
  int64_t CountMissing(const RunStore& store) const;

  const SweepRequest request_;
  std::ostream& err_;
  const SweepShare share_;
  const std::string path_;
  const Grid grid_;
  const SweepInputs inputs_;
};

}  // namespace stagecraft
