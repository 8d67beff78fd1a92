#include "search/partition/dapple.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "costmodel/check.h"
#include "search/partition/dapple_placement.h"
#include "search/partition/stage_chain.h"

namespace stagecraft {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Allocation is the GPUs that a next stage may take, whatever it holds.
struct Allocation {
  std::vector<int> devices;
  int occupancy;  // the occupancy after they are taken
  double all_reduce_s_per_byte;
};

// Prefix is the best stages up to a state that take given numbers of GPUs of each machine.
struct Prefix {
  double score_s = kNever;
  double slowest_s = 0;     // of the slowest element
  double once_s = 0;        // of all elements
  double all_reduce_s = 0;  // of the last stage
  int stages = 0;
  int begin = 0;                     // of the last stage, as a state
  int occupancy = 0;                 // before the last stage
  const Allocation* last = nullptr;  // its GPUs
};

class DapplePlanner {
 public:
  DapplePlanner(const AntichainStates& states, const DappleOptions& options, const StopSign& stop)
      : states_(states), options_(options), stop_(stop) {
    NumberOccupancies();
    prefixes_.assign(states.size(), std::vector<Prefix>(allocations_.size()));
  }

  std::optional<DapplePlan> Plan() {
    const bool is_done = ExtendAll();
    std::optional<DapplePlan> best;
    for (size_t occupancy = 0; occupancy < allocations_.size(); ++occupancy) {
      if (prefixes_.back()[occupancy].score_s == kNever) continue;
      DapplePlan plan = Collect(static_cast<int>(occupancy));
      if (Fits(plan) && (!best || plan.step_s < best->step_s)) best = std::move(plan);
    }
    if (!best && !is_done) throw Stopped();
    if (best) best->data_parallel_s = DataParallel();
    return best;
  }

 private:
  // Extends all prefixes. Returns false if it was stopped; the prefixes are valid even then.
  bool ExtendAll() {
    ExtendFrom(-1, 0, {});
    for (int end = 0; end + 1 < states_.size(); ++end) {
      for (size_t occupancy = 0; occupancy < allocations_.size(); ++occupancy) {
        if (stop_.IsUp()) return false;
        const Prefix front = prefixes_[end][occupancy];
        if (front.score_s < kNever) ExtendFrom(end, static_cast<int>(occupancy), front);
      }
    }
    return true;
  }

  // Numbers the occupancies, how many GPUs of each machine are taken, and lists what may be taken
  // next.
  void NumberOccupancies() {
    std::vector<TakenDevices> all = {TakenDevices(options_.machines, 0)};
    std::map<TakenDevices, int> numbers = {{all[0], 0}};
    for (size_t next = 0; next < all.size(); ++next) {
      stop_.Check();
      std::map<std::vector<int>, int> choices;  // from GPUs to the occupancy with them
      const TakenDevices taken = all[next];
      int open = 0;
      for (const int count : taken) open += options_.devices_per_machine - count;
      for (int count = 1; count <= open; ++count) {
        for (const DapplePolicy policy :
             {DapplePolicy::kFreshFirst, DapplePolicy::kAppendFirst, DapplePolicy::kScatterFirst}) {
          TakenDevices then = taken;
          std::vector<int> devices = TakeDevices(options_, policy, count, then);
          const auto [found, is_new] = numbers.emplace(then, static_cast<int>(all.size()));
          if (is_new) all.push_back(then);
          choices.emplace(std::move(devices), found->second);
        }
      }
      std::vector<Allocation>& allocations = allocations_.emplace_back();
      for (const auto& choice : choices) {
        allocations.push_back(
            {choice.first, choice.second, AllReduceSecondsPerByte(options_, choice.first)});
      }
    }
  }

  double OutputBytes(int state) const {
    return static_cast<double>(states_.states[state].output.count());
  }

  // Returns the time that all-reduces add to a pipeline with such a slowest element: the further
  // behind a stage is, the longer its all-reduce is hidden.
  double ExposedAllReduce(Prefix stage, double slowest_s) const {
    double exposed_s = 0;
    while (true) {
      exposed_s = std::max(exposed_s, stage.all_reduce_s - (stage.stages - 1) * slowest_s);
      if (stage.begin == 0) return exposed_s;
      stage = prefixes_[stage.begin - 1][stage.occupancy];
    }
  }

  void ExtendFrom(int before, int occupancy, const Prefix& front) {
    for (const Allocation& next : allocations_[occupancy]) {
      const double transfer_s =
          before < 0 ? 0
                     : 2 * OutputBytes(before) *
                           TransferSecondsPerByte(options_, front.last->devices, next.devices);
      for (int end = before + 1; end < states_.size(); ++end) {
        if (ComesBefore(states_, before, end))
          Improve(before, end, occupancy, front, transfer_s, next);
      }
    }
  }

  void Improve(int before, int end, int occupancy, const Prefix& front, double transfer_s,
               const Allocation& next) {
    Prefix& best = prefixes_[end][next.occupancy];
    Duration compute = states_.states[end].compute;
    Bytes parameters = states_.states[end].parameters;
    if (before >= 0) {
      compute -= states_.states[before].compute;
      parameters = parameters - states_.states[before].parameters;
    }
    const double stage_s = compute.seconds() / static_cast<double>(next.devices.size());
    Prefix made;
    made.slowest_s = std::max({front.slowest_s, transfer_s, stage_s});
    made.once_s = front.once_s + transfer_s + stage_s;
    made.score_s = (options_.micro_batches - 1) * made.slowest_s + made.once_s;
    if (made.score_s >= best.score_s) return;
    made.all_reduce_s = static_cast<double>(parameters.count()) * next.all_reduce_s_per_byte;
    made.stages = front.stages + 1;
    made.begin = before + 1;
    made.occupancy = occupancy;
    made.last = &next;
    made.score_s += ExposedAllReduce(made, made.slowest_s);
    if (made.score_s < best.score_s) best = made;
  }

  DapplePlan Collect(int occupancy) const {
    DapplePlan plan;
    int end = states_.size() - 1;
    while (end >= 0) {
      const Prefix& prefix = prefixes_[end][occupancy];
      const StageSums sums = SumsOf(states_, prefix.begin, end);
      DappleStage stage;
      stage.nodes = NodesBetween(states_, prefix.begin - 1, end);
      stage.devices = prefix.last->devices;
      const auto copies = static_cast<double>(stage.devices.size());
      // The forward and backward passes of a profile count as equally long.
      stage.block.forward_s = stage.block.backward_s = sums.compute_s / copies / 2;
      stage.block.all_reduce_s = sums.parameter_bytes * prefix.last->all_reduce_s_per_byte;
      if (prefix.begin > 0) {
        const Prefix& front = prefixes_[prefix.begin - 1][prefix.occupancy];
        stage.transfer_s =
            sums.input_bytes * TransferSecondsPerByte(options_, front.last->devices, stage.devices);
      }
      const double behind = static_cast<double>(plan.stages.size());
      stage.memory_bytes =
          sums.parameter_bytes +
          std::min<double>(behind + 1, options_.micro_batches) * sums.activation_bytes / copies;
      plan.stages.push_back(std::move(stage));
      occupancy = prefix.occupancy;
      end = prefix.begin - 1;
    }
    std::reverse(plan.stages.begin(), plan.stages.end());
    std::vector<DappleBlock> blocks;
    for (const DappleStage& stage : plan.stages) {
      if (!blocks.empty()) blocks.push_back({stage.transfer_s, stage.transfer_s, 0});
      blocks.push_back(stage.block);
    }
    plan.step_s = DappleStepSeconds(blocks, options_.micro_batches);
    return plan;
  }

  bool Fits(const DapplePlan& plan) const {
    return !options_.memory ||
           std::all_of(plan.stages.begin(), plan.stages.end(), [&](const DappleStage& stage) {
             return stage.memory_bytes <= static_cast<double>(options_.memory->count());
           });
  }

  double DataParallel() const {
    TakenDevices none(options_.machines, 0);
    const int all = options_.machines * options_.devices_per_machine;
    const std::vector<int> devices = TakeDevices(options_, DapplePolicy::kFreshFirst, all, none);
    const StageSums sums = SumsOf(states_, 0, states_.size() - 1);
    return options_.micro_batches * sums.compute_s / all +
           sums.parameter_bytes * AllReduceSecondsPerByte(options_, devices);
  }

  const AntichainStates& states_;
  const DappleOptions& options_;
  const StopSign& stop_;
  std::vector<std::vector<Allocation>> allocations_;  // by occupancy; at index 0 no GPU is taken
  std::vector<std::vector<Prefix>> prefixes_;         // by last state, by occupancy
};

}  // namespace

double DappleStepSeconds(std::span<const DappleBlock> blocks, int micro_batches) {
  CHECK(!blocks.empty());
  const auto steady = [&](size_t block) {
    return (micro_batches - 1) * (blocks[block].forward_s + blocks[block].backward_s);
  };
  size_t pivot = blocks.size() - 1;
  double between_s = 0;  // of elements between the current one and the pivot
  for (size_t block = blocks.size() - 1; block-- > 0;) {
    if (steady(block) > steady(pivot) + between_s) {
      pivot = block;
      between_s = 0;
    } else {
      between_s += blocks[block].forward_s + blocks[block].backward_s;
    }
  }
  double warm_up_s = 0;
  for (size_t block = 0; block <= pivot; ++block) warm_up_s += blocks[block].forward_s;
  // The last backward passes run from the end of the pipeline to its front: those of elements
  // behind the pivot end before the steady state does, those of the pivot and the elements before
  // it end after.
  double ending_s = -kNever;
  double after_s = 0;
  for (size_t block = pivot + 1; block-- > 0;) {
    after_s += blocks[block].backward_s;
    ending_s = std::max(ending_s, after_s + blocks[block].all_reduce_s);
  }
  after_s = 0;
  for (size_t block = pivot + 1; block < blocks.size(); ++block) {
    ending_s = std::max(ending_s, after_s + blocks[block].all_reduce_s);
    after_s -= blocks[block].backward_s;
  }
  return warm_up_s + steady(pivot) + ending_s;
}

std::optional<DapplePlan> SolveDapple(const AntichainStates& states, const DappleOptions& options,
                                      const StopSign& stop) {
  return DapplePlanner(states, options, stop).Plan();
}

double LeastDappleStepSeconds(const AntichainStates& states, const DappleOptions& options) {
  // A step takes at least as long as its slowest element takes for all micro-batches, and the
  // slowest element takes at least the average over all GPUs.
  return options.micro_batches * states.states.back().compute.seconds() /
         (options.machines * options.devices_per_machine);
}

}  // namespace stagecraft
