#include "search/partition/piper.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/divide.h"
#include "search/partition/downsets.h"
#include "search/partition/piper_stage.h"

namespace stagecraft {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// More devices than any option allows; twice this number must still fit.
constexpr int16_t kTooMany = kMostPiperDevices + 1;

// Candidate is a stage from one downset to a larger one, with a tensor degree and a number of
// replicas.
struct Candidate {
  int done = 0;   // the downset before it
  int after = 0;  // the downset behind it
  int tensor = 1;
  int replicas = 1;
  int cost = 0;  // index in costs_
  double least_s = 0;
  std::vector<double> time_s;  // by micro-batches in flight - 1; negative: not known yet
};

// Sets fewest[i] = min(fewest[i], behind[i] + taken). Works in blocks, so that compilers use vector
// instructions.
void TakeFewer(const int16_t* __restrict behind, int16_t taken, int count,
               int16_t* __restrict fewest) {
  constexpr int kBlock = 8;
  int i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    for (int j = 0; j < kBlock; ++j) {
      const auto with = static_cast<int16_t>(behind[i + j] + taken);
      fewest[i + j] = fewest[i + j] < with ? fewest[i + j] : with;
    }
  }
  for (; i < count; ++i) {
    fewest[i] = std::min(fewest[i], static_cast<int16_t>(behind[i] + taken));
  }
}

class PiperSolver {
 public:
  PiperSolver(const PiperProblem& problem, const PiperOptions& options, const StopSign& stop)
      : problem_(problem),
        options_(options),
        stop_(stop),
        downsets_(FindDownsets(problem.dag, problem.name, kMostDownsets, stop)),
        most_replicas_(options.data_parallel ? std::min(options.micro_batches, options.devices)
                                             : std::min(problem.dag.size(), options.devices)) {
    CHECK(options.devices >= 1 && options.devices <= kMostPiperDevices &&
          options.micro_batches >= 1);
    AddCandidates();
  }

  std::optional<PiperPartition> Solve() {
    if (!Reach(kNever)) return std::nullopt;
    best_ = Stages(kNever);
    best_.bound_s = LeastLoad();
    try {
      NarrowDown();
    } catch (const Stopped&) {
      return best_;
    }
    best_.bound_s = best_.bottleneck_s;
    return best_;
  }

 private:
  // Goes on until best and bound are equal. If a limit fails, the least time above it is a bound.
  // Limits grow from below: the lower the limit, the fewer stages must be examined.
  void NarrowDown() {
    constexpr double kGrowth = 1.3;
    while (!Reach(best_.bound_s * kGrowth)) best_.bound_s = next_time_s_;
    Take(Stages(best_.bound_s * kGrowth));
    while (best_.bound_s < best_.bottleneck_s) {
      const double limit = std::min(best_.bound_s + (best_.bottleneck_s - best_.bound_s) / 2,
                                    std::nextafter(best_.bottleneck_s, 0.0));
      if (Reach(limit)) {
        Take(Stages(limit));
      } else {
        best_.bound_s = next_time_s_;
      }
    }
  }

  void Take(PiperPartition better) {
    better.bound_s = best_.bound_s;
    best_ = std::move(better);
  }

  // Returns the time of all work if it is shared evenly by all devices.
  double LeastLoad() const {
    double work_s = 0;
    for (const PiperNode& node : problem_.nodes) {
      double least_s = kNever;
      for (const auto& [degree, modes] : node.modes) {
        for (const PiperMode& mode : modes) least_s = std::min(least_s, mode.time_s * degree);
      }
      work_s += least_s;
    }
    return work_s / options_.devices;
  }

  void AddCandidates() {
    std::set<int> degrees;
    for (const PiperNode& node : problem_.nodes) {
      for (const auto& [degree, modes] : node.modes) degrees.insert(degree);
    }
    if (!options_.tensor_parallel) degrees = {1};
    by_done_.resize(downsets_.size());
    for (size_t done = 0; done < downsets_.size(); ++done) {
      stop_.Check();
      for (size_t after = done + 1; after < downsets_.size(); ++after) {
        if (!downsets_[done].is_subset_of(downsets_[after])) continue;
        for (const int tensor : degrees) {
          AddCandidates(static_cast<int>(done), static_cast<int>(after), tensor);
        }
      }
    }
  }

  void AddCandidates(int done, int after, int tensor) {
    stop_.Check();
    PiperStageCost cost(problem_, options_, downsets_[after] - downsets_[done], tensor);
    if (tensor > options_.devices || !cost.is_possible() || !cost.Fits(1)) return;
    most_in_flight_.push_back(MostInFlight(cost));
    costs_.push_back(std::move(cost));
    const int most = options_.data_parallel ? most_replicas_ : 1;
    for (int replicas = 1; replicas <= most && replicas * tensor <= options_.devices; ++replicas) {
      if (options_.micro_batches % replicas != 0) continue;
      by_done_[done].push_back({done,
                                after,
                                tensor,
                                replicas,
                                static_cast<int>(costs_.size()) - 1,
                                costs_.back().LeastTime(replicas),
                                {}});
    }
  }

  // Returns the most micro-batches in flight that fit: more of them need more memory.
  int MostInFlight(const PiperStageCost& cost) const {
    int fits = 1;
    int too_many = most_replicas_ + 1;
    while (fits + 1 < too_many) {
      const int middle = (fits + too_many) / 2;
      (cost.Fits(middle) ? fits : too_many) = middle;
    }
    return fits;
  }

  // Returns the time with this number of micro-batches in flight.
  double TimeOf(Candidate& candidate, int in_flight) {
    while (static_cast<int>(candidate.time_s.size()) < in_flight) candidate.time_s.push_back(-1);
    double& time = candidate.time_s[in_flight - 1];
    if (time < 0) {
      stop_.Check();
      time = costs_[candidate.cost].Time(candidate.replicas, in_flight);
    }
    return time;
  }

  // Returns whether the candidate takes at most `limit` with this number of micro-batches in
  // flight, which must fit; notes the least time above the limit.
  bool Allows(Candidate& candidate, int in_flight, double limit) {
    if (limit == kNever) return true;
    const double time = TimeOf(candidate, in_flight);
    if (time > limit) next_time_s_ = std::min(next_time_s_, time);
    return time <= limit;
  }

  int16_t& Devices(int done, int replicas) {
    return devices_[static_cast<size_t>(done) * (most_replicas_ + 1) + replicas];
  }

  // Fills Devices(done, s): the fewest devices on which everything that is not done takes at most
  // `limit` with s replicas in all. Returns whether there are enough devices for the whole network.
  bool Reach(double limit) {
    next_time_s_ = kNever;
    devices_.assign(downsets_.size() * (most_replicas_ + 1), kTooMany);
    Devices(static_cast<int>(downsets_.size()) - 1, 0) = 0;
    for (int done = static_cast<int>(downsets_.size()) - 2; done >= 0; --done) {
      for (Candidate& candidate : by_done_[done]) {
        stop_.Check();
        Improve(candidate, limit);
      }
    }
    for (int s = 0; s <= most_replicas_; ++s) {
      if (Devices(0, s) <= options_.devices) return true;
    }
    return false;
  }

  void Improve(Candidate& candidate, double limit) {
    if (candidate.least_s > limit) {
      next_time_s_ = std::min(next_time_s_, candidate.least_s);
      return;
    }
    const int d = candidate.replicas;
    const auto taken = static_cast<int16_t>(d * candidate.tensor);
    const int16_t* const behind = &Devices(candidate.after, 0);
    int16_t* const here = &Devices(candidate.done, 0);
    const int most_in_flight = most_in_flight_[candidate.cost];
    for (int in_flight = 1; in_flight <= most_in_flight; ++in_flight) {
      const int first = std::max((in_flight - 1) * d + 1, d);
      if (first > most_replicas_) return;
      if (!Allows(candidate, in_flight, limit)) continue;
      const int last = std::min(in_flight * d, most_replicas_);
      TakeFewer(behind + first - d, taken, last - first + 1, here + first);
    }
  }

  // Returns the stages that Reach(limit) found, from the first on.
  PiperPartition Stages(double limit) {
    int s = 0;
    for (int other = 1; other <= most_replicas_; ++other) {
      if (Devices(0, other) < Devices(0, s)) s = other;
    }
    PiperPartition partition;
    for (int done = 0; done + 1 < static_cast<int>(downsets_.size());) {
      const Candidate& next = NextStage(done, s, limit);
      PiperStage stage;
      stage.nodes = downsets_[next.after] - downsets_[done];
      stage.replicas = next.replicas;
      stage.tensor = next.tensor;
      const int in_flight = static_cast<int>(DivideUp(s, next.replicas));
      const PiperStageCost& cost = costs_[next.cost];
      stage.time_s = cost.Time(next.replicas, in_flight, &stage.modes);
      stage.memory_bytes = cost.Memory(stage.modes, in_flight);
      partition.bottleneck_s = std::max(partition.bottleneck_s, stage.time_s);
      partition.stages.push_back(std::move(stage));
      s -= next.replicas;
      done = next.after;
    }
    return partition;
  }

  const Candidate& NextStage(int done, int s, double limit) {
    for (Candidate& candidate : by_done_[done]) {
      if (candidate.replicas > s || candidate.least_s > limit) continue;
      const int behind = Devices(candidate.after, s - candidate.replicas);
      if (behind + candidate.replicas * candidate.tensor != Devices(done, s)) continue;
      const int in_flight = static_cast<int>(DivideUp(s, candidate.replicas));
      if (in_flight > most_in_flight_[candidate.cost]) continue;
      if (Allows(candidate, in_flight, limit)) return candidate;
    }
    CHECK(false);
    return by_done_[done].front();
  }

  const PiperProblem& problem_;
  const PiperOptions& options_;
  const StopSign& stop_;
  const std::vector<NodeSet> downsets_;
  const int most_replicas_;  // of all stages together
  std::vector<PiperStageCost> costs_;
  std::vector<int> most_in_flight_;  // by cost
  std::vector<std::vector<Candidate>> by_done_;
  std::vector<int16_t> devices_;  // by downset, by replicas
  double next_time_s_ = kNever;
  PiperPartition best_;
};

}  // namespace

std::optional<PiperPartition> SolvePiper(const PiperProblem& problem, const PiperOptions& options,
                                         const StopSign& stop) {
  return PiperSolver(problem, options, stop).Solve();
}

}  // namespace stagecraft
