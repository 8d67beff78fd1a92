#include "search/balance/layer_partition.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/units.h"

namespace stagecraft {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// The layers first, first + 1, …, last.
struct Span {
  int first = 0;
  int last = 0;
};

class Divider {
 public:
  Divider(const BalanceProblem& problem, const Division& preferred)
      : problem_(problem),
        sums_(problem),
        layers_(problem.layers()),
        stages_(problem.stages()),
        begins_(problem.stages() + 1) {
    for (int layer = 0; layer < layers_; ++layer) {
      largest_ = std::max(largest_, sums_.Time(0, layer, layer + 1) * problem.speeds[0]);
      if (!problem.layer_memory.empty()) fullest_ = std::max(fullest_, problem.layer_memory[layer]);
    }
    begins_[stages_] = {{layers_, layers_}};
    preferred.empty() ? PreferFluidEnds() : PreferEndsOf(preferred);
  }

  // Returns whether a division meets the limit. Fills begins_ if so, and next_ if not.
  bool CanMeet(double limit) {
    limit_ = limit;
    next_ = kNoLimit;
    for (int stage = stages_ - 1; stage >= 0; --stage) {
      FindBegins(stage);
      if (begins_[stage].empty()) return false;
    }
    return begins_[0].front().first == 0;
  }

  // Returns the least limit above the last one for which CanMeet() can differ.
  double next() const { return next_; }

  // Returns a division that meets the limit. Precondition: CanMeet() has returned true.
  Division Choose() const {
    Division division;
    int begin = 0;
    for (int stage = 0; stage < stages_; ++stage) {
      const int end = NearestEnd(stage, begin);
      division.push_back(end - begin);
      begin = end;
    }
    return division;
  }

 private:
  void PreferEndsOf(const Division& division) {
    int end = 0;
    for (const int layers : division) ends_.push_back(end += layers);
  }

  void PreferFluidEnds() {
    const double fluid = FluidLoad(problem_);
    double load = 0;
    for (const double speed : problem_.speeds) {
      ends_.push_back(sums_.NearestEdge(load += fluid * speed));
    }
  }

  bool Takes(int stage, int begin, int end) const {
    return sums_.Time(stage, begin, end) <= limit_ && sums_.Fits(stage, begin, end);
  }

  // Returns whether each layer alone fits the stage, whichever it is.
  bool TakesAnyOne(int stage) const {
    // The margin covers the rounding of largest_.
    return largest_ / problem_.speeds[stage] * (1 + 1e-12) <= limit_ &&
           (problem_.layer_memory.empty() || fullest_ <= problem_.stage_limits[stage]);
  }

  // Notes that the stage would take these layers if the limit were higher.
  void NoteRefusal(int stage, int begin, int end) {
    const double time = sums_.Time(stage, begin, end);
    if (time > limit_ && sums_.Fits(stage, begin, end)) next_ = std::min(next_, time);
  }

  // Returns the first layer with which a stage can begin that ends before layer `end` and takes
  // the last of these layers. Earlier stages keep a layer each.
  int FirstBegin(int stage, int end) {
    int taken = end - 1;
    int refused = -1;
    for (int step = 1; taken > stage && refused < 0; step *= 2) {
      const int tried = std::max(stage, taken - step);
      (Takes(stage, tried, end) ? taken : refused) = tried;
    }
    if (refused < 0) return taken;
    while (taken - refused > 1) {
      const int middle = refused + (taken - refused) / 2;
      (Takes(stage, middle, end) ? taken : refused) = middle;
    }
    NoteRefusal(stage, refused, end);
    return taken;
  }

  // A run of ends, of which each has a layer before it that fits alone, has a run of begins.
  void AddRun(int stage, Span ends) {
    if (ends.last - 1 < stage) return;
    const Span run{FirstBegin(stage, std::max(ends.first, stage + 1)), ends.last - 1};
    std::vector<Span>& begins = begins_[stage];
    if (!begins.empty() && run.first <= begins.back().last + 1) {
      begins.back().last = run.last;
    } else {
      begins.push_back(run);
    }
  }

  void FindBegins(int stage) {
    begins_[stage].clear();
    const bool takes_any = TakesAnyOne(stage);
    for (const Span ends : begins_[stage + 1]) {
      if (takes_any) {
        AddRun(stage, ends);
        continue;
      }
      int first = ends.first;
      for (int end = ends.first; end <= ends.last; ++end) {
        if (Takes(stage, end - 1, end)) continue;
        NoteRefusal(stage, end - 1, end);
        if (first < end) AddRun(stage, {first, end - 1});
        first = end + 1;
      }
      if (first <= ends.last) AddRun(stage, {first, ends.last});
    }
  }

  // Returns the layer before which a stage that begins with layer `begin` ends best.
  int NearestEnd(int stage, int begin) const {
    int nearest = -1;
    const auto distance = [&](int end) { return std::abs(end - ends_[stage]); };
    for (const Span next : begins_[stage + 1]) {
      int low = std::max(next.first, begin + 1);
      if (low > next.last || !Takes(stage, begin, low)) continue;
      int end = std::clamp(ends_[stage], low, next.last);
      if (!Takes(stage, begin, end)) {
        while (end - low > 1) {
          const int middle = low + (end - low) / 2;
          (Takes(stage, begin, middle) ? low : end) = middle;
        }
        end = low;
      }
      if (nearest < 0 || distance(end) < distance(nearest)) nearest = end;
    }
    CHECK(nearest > begin);
    return nearest;
  }

  const BalanceProblem& problem_;
  const BalanceSums sums_;
  const int layers_;
  const int stages_;
  double largest_ = 0;  // The largest load of a layer.
  Bytes fullest_;
  std::vector<int> ends_;  // The preferred end of each stage.
  double limit_ = 0;
  double next_ = 0;
  std::vector<std::vector<Span>> begins_;  // The layers with which each stage can begin.
};

void Check(const BalanceProblem& problem, const Division& preferred) {
  CheckBalanceProblem(problem);
  if (!preferred.empty()) CheckDivision(problem, preferred);
}

}  // namespace

std::optional<Division> PartitionLayers(const BalanceProblem& problem, const Division& preferred) {
  Check(problem, preferred);
  Divider divider(problem, preferred);
  if (!divider.CanMeet(kNoLimit)) return std::nullopt;
  double high = SlowestLoad(problem, divider.Choose());
  // The margin covers the rounding of the sums.
  double low = std::min(high, FluidLoad(problem) * (1 - 1e-9));
  while (low < high) {
    // Below `high`, even if that is the next number after `low`, so that the interval always
    // shrinks.
    const double middle = std::min(low + (high - low) / 2, std::nextafter(high, low));
    if (divider.CanMeet(middle)) {
      high = SlowestLoad(problem, divider.Choose());
    } else {
      low = divider.next();
    }
  }
  CHECK(divider.CanMeet(high));
  return divider.Choose();
}

std::optional<Division> DivideWithin(const BalanceProblem& problem, double limit,
                                     const Division& preferred) {
  Check(problem, preferred);
  Divider divider(problem, preferred);
  if (!divider.CanMeet(limit)) return std::nullopt;
  return divider.Choose();
}

}  // namespace stagecraft
