#include "tools/sweep/sweep.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include "costmodel/check.h"
#include "runtime/processor_count.h"
#include "search/stopwatch.h"
#include "tools/flags/sample_flags.h"
#include "tools/sweep/file_claim.h"
#include "tools/sweep/known_rows.h"
#include "tools/sweep/rank_parts.h"
#include "tools/sweep/read_grid.h"
#include "tools/sweep/sweep_run.h"
#include "tools/verb/interrupt_catcher.h"
#include "tools/verb/progress_text.h"

namespace stagecraft {
namespace {

constexpr auto kPause = std::chrono::milliseconds(50);  // between looks at other ranks

// A device or a pipe is no place for a database.
void CheckDatabasePath(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error) || std::filesystem::is_regular_file(path, error))
    return;
  throw InputError("-o: got \"" + path + "\", want a regular file, which a database is");
}

// Claims the file; waits a while for a rank's, from which rank 0 may be taking rows.
FileClaim Claim(const std::string& path, bool is_part) {
  constexpr auto kPatience = std::chrono::seconds(10);
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    std::optional<FileClaim> claim = FileClaim::Take(path);
    if (claim) return std::move(*claim);
    if (!is_part || std::chrono::steady_clock::now() - begin > kPatience) {
      throw InputError(path +
                       ": another sweep is writing it, want it to end first, or another file");
    }
    std::this_thread::sleep_for(kPause);
  }
}

// The points of the database that ranks share; none if it cannot be read yet.
std::vector<int64_t> PointsOfAllRanks(const GridRecord& grid, const std::string& path) {
  try {
    const RunStore store = RunStore::Read(path);
    const bool is_same = store.grids().size() == 1 && store.grids()[0].hash == grid.hash;
    return is_same ? store.DonePoints(0) : std::vector<int64_t>{};
  } catch (const InputError&) {
    return {};  // rank 0 says what is wrong with it
  }
}

}  // namespace

Sweep::Sweep(const SweepRequest& request, std::ostream& err)
    : request_(request),
      err_(err),
      share_(ShareOf(request.shard, request.shards, ProcessEnvironment)),
      path_(PathOfShard(request.output, share_)),
      grid_(ReadGrid(request.grid)),
      inputs_(grid_) {}

bool Sweep::Run() {
  CheckDatabasePath(path_);
  for (const std::string& known : request_.reuse) RunStore::Read(known);  // before a file is made
  PrintNotes();
  const std::string own = PartOfRank(path_, share_.rank);
  const FileClaim claim = Claim(own, share_.rank > 0);
  RunStore store = RunStore::OpenFor(inputs_.record(), own);
  if (share_.ranks == 1) TakeParts(inputs_.record(), path_, store);
  const InterruptCatcher catcher;
  RunOwnPoints(store);
  // A rank that found nothing to do leaves nothing that the first one would have to take over.
  std::error_code ignored;
  if (!is_first_rank() && store.CountRows(0) == 0) std::filesystem::remove(own, ignored);
  if (is_first_rank() && share_.ranks > 1) Gather(store);
  return !InterruptCatcher::was_interrupted();
}

void Sweep::PrintNotes() const {
  if (!IsTalkative()) return;
  for (const std::string& note : share_.notes) err_ << "note: " << note << '\n';
  if (path_ != request_.output) err_ << "note: this shard is written to " << path_ << '\n';
}

int Sweep::Threads() const {
  if (request_.threads) return *request_.threads;
  return std::max(1, ProcessorCount() / share_.local_ranks);
}

std::vector<int64_t> Sweep::PointsLeft(const RunStore& store, int64_t* before) const {
  std::vector<int64_t> done = store.DonePoints(0);
  if (!is_first_rank()) {
    const std::vector<int64_t> shared = PointsOfAllRanks(inputs_.record(), path_);
    done.insert(done.end(), shared.begin(), shared.end());
    std::sort(done.begin(), done.end());
  }
  std::vector<int64_t> points;
  *before = 0;
  for (int64_t point = 0; point < grid_.size(); ++point) {
    if (!share_.Has(point)) continue;
    if (std::binary_search(done.begin(), done.end(), point)) {
      ++*before;
    } else {
      points.push_back(point);
    }
  }
  return points;
}

void Sweep::RunOwnPoints(RunStore& store) {
  int64_t before = 0;
  std::vector<int64_t> points = PointsLeft(store, &before);
  const int64_t all = before + static_cast<int64_t>(points.size());
  if (before > 0 && IsTalkative()) {
    err_ << fmt::format("note: {} of {} points are done already\n", before, all);
  }
  if (!request_.reuse.empty()) {
    const int64_t known = TakeKnownRows(request_.reuse, grid_, inputs_, points, store);
    if (IsTalkative()) {
      err_ << fmt::format("note: {} of {} points are known from other databases\n", known, all);
    }
    before += known;
  }
  if (points.empty()) return;
  ProgressLine progress(err_, !IsTalkative());
  const Stopwatch watch;
  const auto report = [&](int64_t kept) {
    progress.Show(ProgressText(before + kept, all, "points", watch.Seconds(), before));
  };
  const int64_t kept = SweepPoints(
      {grid_, inputs_, store, std::move(points), Threads(), InterruptCatcher::flag(), report});
  progress.Clear();
  if (!IsTalkative()) return;
  const double seconds = watch.Seconds();
  err_ << fmt::format("{} points in {:.1f} s, {:.0f} points/s\n", kept, seconds, kept / seconds);
}

int64_t Sweep::CountMissing(const RunStore& store) const {
  int64_t missing = 0;
  const std::vector<int64_t> done = store.DonePoints(0);
  for (int64_t point = 0; point < grid_.size(); ++point) {
    missing += share_.ShardHas(point) && !std::binary_search(done.begin(), done.end(), point);
  }
  return missing;
}

void Sweep::Gather(RunStore& store) {
  // A rank may begin a good while after the first one.
  constexpr double kPatienceSeconds = 60;
  ProgressLine progress(err_, request_.is_quiet);
  std::optional<Stopwatch> idle = Stopwatch();  // since the last sign of another rank
  int64_t missing = CountMissing(store);
  while (!InterruptCatcher::was_interrupted()) {
    const PartsTaken parts = TakeParts(inputs_.record(), path_, store);
    if (parts.taken > 0) missing = CountMissing(store);
    if (missing == 0 && parts.busy == 0) return;
    if (parts.busy > 0 || parts.taken > 0) idle.emplace();
    if (idle->Seconds() > kPatienceSeconds) {
      throw std::runtime_error(fmt::format(
          "{}: {} points of other ranks are missing, and no rank is working on them: run the same "
          "command again",
          path_, missing));
    }
    progress.Show(fmt::format("waiting for {} points of other ranks", missing));
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace stagecraft
