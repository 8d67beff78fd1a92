#include "tools/sweep/sweep_run.h"

#include <tbb/global_control.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "tools/study/study_cache.h"
#include "tools/sweep/row_maker.h"

namespace stagecraft {
namespace {

using Clock = std::chrono::steady_clock;

// Points that a thread takes at once: many enough that taking them costs nothing, few enough that
// threads end together. Searches are long, and each is kept at once.
constexpr size_t kPointsAtOnce = 32;
// How long rows wait until they are written: each batch costs a few milliseconds of the disk.
constexpr auto kBatchTime = std::chrono::milliseconds(500);

// What the threads that make rows share with the one that keeps them.
class Workshop {
 public:
  explicit Workshop(const SweepRun& run) : run_(run) {}

  // Makes rows until none is left.
  void Work() {
    try {
      const std::unique_ptr<RowMaker> maker =
          MakeRowMaker(run_.grid, run_.inputs, cache_, run_.stop);
      while (!IsStopped()) {
        const size_t first = next_.fetch_add(at_once());
        if (first >= run_.points.size()) break;
        const size_t end = std::min(first + at_once(), run_.points.size());
        for (size_t i = first; i < end && !IsStopped(); ++i) {
          RunRow row = maker->Make(run_.points[i]);
          if (WasCutShort()) break;
          Hand(std::move(row));
        }
      }
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      has_failed_ = true;
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    ++idle_;
    changed_.notify_one();
  }

  // Waits until a batch is due or all threads are idle. Appends what was made to `rows`; returns
  // whether more will come.
  bool Take(int threads, std::vector<RunRow>& rows) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, kBatchTime, [&] { return idle_ == threads; });
    std::move(made_.begin(), made_.end(), std::back_inserter(rows));
    made_.clear();
    return idle_ < threads;
  }

  void RethrowFailure() {
    if (failure_) std::rethrow_exception(failure_);
  }
  // Lets the threads end.
  void GiveUp() { has_failed_ = true; }

 private:
  size_t at_once() const { return run_.grid.verb() == GridVerb::kSearch ? 1 : kPointsAtOnce; }
  bool IsStopped() const { return has_failed_ || (run_.stop != nullptr && *run_.stop); }
  // A search that was stopped may have missed the best plan.
  bool WasCutShort() const { return run_.grid.verb() == GridVerb::kSearch && IsStopped(); }
  void Hand(RunRow row) {
    const std::lock_guard<std::mutex> lock(mutex_);
    made_.push_back(std::move(row));
  }

  const SweepRun& run_;
  StudyCache cache_;
  std::atomic<size_t> next_ = 0;  // index into the points
  std::atomic<bool> has_failed_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<RunRow> made_;
  int idle_ = 0;  // threads that have ended
  std::exception_ptr failure_;
};

// Keeps rows until all threads have ended. Returns how many.
int64_t KeepRows(const SweepRun& run, int threads, Workshop& workshop) {
  int64_t kept = 0;
  for (bool goes_on = true; goes_on;) {
    std::vector<RunRow> rows;
    goes_on = workshop.Take(threads, rows);
    std::sort(rows.begin(), rows.end(),
              [](const RunRow& a, const RunRow& b) { return a.point < b.point; });
    run.store.Add(0, rows, "this sweep");
    kept += static_cast<int64_t>(rows.size());
    if (run.report) run.report(kept);
  }
  return kept;
}

}  // namespace

int64_t SweepPoints(const SweepRun& run) {
  if (run.points.empty()) return 0;
  const bool searches = run.grid.verb() == GridVerb::kSearch;
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  static_cast<size_t>(run.threads));
  const int threads = searches ? 1 : run.threads;
  Workshop workshop(run);
  std::vector<std::jthread> workers;
  for (int i = 0; i < threads; ++i) workers.emplace_back([&workshop] { workshop.Work(); });
  int64_t kept = 0;
  try {
    kept = KeepRows(run, threads, workshop);
  } catch (...) {
    workshop.GiveUp();  // the threads are joined while the error goes on
    throw;
  }
  workshop.RethrowFailure();
  return kept;
}

}  // namespace stagecraft
