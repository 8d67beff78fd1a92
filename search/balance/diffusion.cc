#include "search/balance/diffusion.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/random.h"
#include "search/balance/diffusion_actor.h"
#include "search/balance/path_flow.h"

namespace stagecraft {
namespace {

std::vector<DiffusionActor> MakeActors(const BalanceProblem& problem, const Division& present) {
  std::vector<DiffusionActor> actors;
  actors.reserve(problem.stages());
  int layer = 0;
  for (int stage = 0; stage < problem.stages(); ++stage) {
    std::deque<ActorLayer> layers;
    for (int n = 0; n < present[stage]; ++n, ++layer) {
      const int64_t bytes = problem.layer_memory.empty() ? 0 : problem.layer_memory[layer].count();
      layers.push_back({problem.loads[layer], bytes});
    }
    const int64_t limit = problem.stage_limits.empty() ? std::numeric_limits<int64_t>::max()
                                                       : problem.stage_limits[stage].count();
    actors.emplace_back(stage > 0, stage + 1 < problem.stages(), problem.speeds[stage], limit,
                        std::move(layers));
  }
  return actors;
}

// Runs a phase in which layers cross boundaries. Leaves out the messages that change nothing: those
// over a boundary that let no layer cross the last time, if no layer has come or gone beside it
// since. Returns the number of rounds of the phase: an actor becomes calm two rounds after the last
// crossing, and the phase ends when it has been calm for as many rounds as there are stages.
int64_t RunCrossings(std::vector<DiffusionActor>& actors) {
  const int boundaries = static_cast<int>(actors.size()) - 1;
  std::vector<char> is_due(boundaries, 1);
  std::array<std::vector<int>, 2> due;  // the even and the odd boundaries, which take turns
  for (int boundary = 0; boundary < boundaries; ++boundary) due[boundary % 2].push_back(boundary);
  const auto add = [&](int boundary) {
    if (boundary < 0 || boundary >= boundaries || is_due[boundary]) return;
    is_due[boundary] = 1;
    due[boundary % 2].push_back(boundary);
  };
  ActorMessage to_left, to_right;
  std::vector<int> now;
  int64_t last = -1;  // the round of the last crossing
  for (int64_t round = 0; !due[0].empty() || !due[1].empty(); ++round) {
    now.clear();
    now.swap(due[round % 2]);
    for (const int boundary : now) is_due[boundary] = 0;
    for (const int boundary : now) {
      DiffusionActor &left = actors[boundary], &right = actors[boundary + 1];
      left.TellRight(to_right);
      right.TellLeft(to_left);
      const bool crosses = left.DealWith(true, to_left);
      CHECK(right.DealWith(false, to_right) == crosses);
      if (!crosses) continue;
      last = round;
      for (int beside = boundary - 1; beside <= boundary + 1; ++beside) add(beside);
    }
  }
  for (DiffusionActor& actor : actors) actor.EndPhase();
  return last + 2 + static_cast<int64_t>(actors.size());
}

// Delivers all messages of a round before the next round. Returns the number of rounds.
int64_t RunInOrder(std::vector<DiffusionActor>& actors) {
  const size_t count = actors.size();
  std::vector<ActorMessage> to_left(count), to_right(count);
  int64_t rounds = 0;
  while (actors[0].phase() != ActorPhase::kDone) {
    if (actors[0].phase() == ActorPhase::kPlace || actors[0].phase() == ActorPhase::kExchange) {
      rounds += RunCrossings(actors);
      continue;
    }
    ++rounds;
    for (size_t stage = 0; stage < count; ++stage) {
      if (stage > 0) actors[stage].TellLeft(to_left[stage]);
      if (stage + 1 < count) actors[stage].TellRight(to_right[stage]);
    }
    for (size_t stage = 0; stage < count; ++stage) {
      actors[stage].EndRound(stage > 0 ? &to_right[stage - 1] : nullptr,
                             stage + 1 < count ? &to_left[stage + 1] : nullptr);
    }
  }
  return rounds;
}

// Delivers messages in an order that is drawn from all that are under way.
class DrawnDelivery {
 public:
  DrawnDelivery(std::vector<DiffusionActor>& actors, uint64_t seed)
      : actors_(actors), boxes_(actors.size()), random_(seed) {}

  // Returns the number of rounds.
  int64_t Run() {
    for (size_t stage = 0; stage < actors_.size(); ++stage) Send(stage);
    while (!under_way_.empty()) {
      const auto last = static_cast<int64_t>(under_way_.size()) - 1;
      std::swap(under_way_[random_.Integer(0, last)], under_way_.back());
      const Envelope envelope = under_way_.back();
      under_way_.pop_back();
      Mailbox& box = boxes_[envelope.to];
      box.slots[envelope.round % 2][envelope.is_from_right ? 1 : 0] = envelope.message;
      while (HasAll(envelope.to)) EndRound(envelope.to);
    }
    for (const Mailbox& box : boxes_) CHECK(box.round == boxes_[0].round);
    return boxes_[0].round;
  }

 private:
  using Slots =
      std::array<std::optional<ActorMessage>, 2>;  // They come from the left and from the right.
  // The messages of this round and, from a neighbour that is ahead, of the next.
  struct Mailbox {
    int64_t round = 0;
    std::array<Slots, 2> slots;  // Those of even and of odd rounds.
  };
  struct Envelope {
    size_t to;
    bool is_from_right;
    int64_t round;
    ActorMessage message;
  };

  void Send(size_t stage) {
    const int64_t round = boxes_[stage].round;
    if (stage > 0) {
      under_way_.push_back({stage - 1, true, round, {}});
      actors_[stage].TellLeft(under_way_.back().message);
    }
    if (stage + 1 < actors_.size()) {
      under_way_.push_back({stage + 1, false, round, {}});
      actors_[stage].TellRight(under_way_.back().message);
    }
  }

  bool HasAll(size_t stage) const {
    const Slots& slots = boxes_[stage].slots[boxes_[stage].round % 2];
    return actors_[stage].phase() != ActorPhase::kDone && (stage == 0 || slots[0].has_value()) &&
           (stage + 1 == actors_.size() || slots[1].has_value());
  }

  void EndRound(size_t stage) {
    Mailbox& box = boxes_[stage];
    Slots& slots = box.slots[box.round % 2];
    actors_[stage].EndRound(slots[0] ? &*slots[0] : nullptr, slots[1] ? &*slots[1] : nullptr);
    slots = {};
    ++box.round;
    if (actors_[stage].phase() != ActorPhase::kDone) Send(stage);
  }

  std::vector<DiffusionActor>& actors_;
  std::vector<Mailbox> boxes_;
  std::vector<Envelope> under_way_;
  Random random_;
};

// Lets the actors begin where the flows are known. Adds what they would have spent until then.
void SkipFlow(const BalanceProblem& problem, const Division& present,
              std::vector<DiffusionActor>& actors, DiffusionResult& result) {
  const int stages = problem.stages();
  std::vector<double> loads = StageLoads(problem, present);
  for (int stage = 0; stage < stages; ++stage) loads[stage] *= problem.speeds[stage];
  const PathFlow path = FlowOnPath(loads, problem.speeds);
  for (int stage = 0; stage < stages; ++stage) {
    actors[stage].StartPlacing(stage, stages, stage == 0 ? 0 : path.flows[stage - 1],
                               stage + 1 == stages ? 0 : path.flows[stage]);
  }
  result.flow_rounds = path.rounds;
  result.has_settled = path.has_settled;
  result.rounds = 2 * (stages - 1) + path.rounds + (path.has_settled ? stages : 0);
}

}  // namespace

DiffusionResult Diffuse(const BalanceProblem& problem, const Division& present,
                        const DiffusionOptions& options) {
  CheckBalanceProblem(problem);
  CheckDivision(problem, present);
  DiffusionResult result;
  if (problem.stages() == 1) {
    result.division = present;
    return result;
  }
  std::vector<DiffusionActor> actors = MakeActors(problem, present);
  const bool skips_flow = problem.stages() > options.most_flow_actors;
  if (skips_flow) SkipFlow(problem, present, actors, result);
  result.rounds += options.delivery_seed ? DrawnDelivery(actors, *options.delivery_seed).Run()
                                         : RunInOrder(actors);
  if (!skips_flow) {
    result.flow_rounds = actors[0].flow_rounds();
    result.has_settled = actors[0].has_settled();
  }
  result.messages = 2 * (problem.stages() - 1) * result.rounds;
  for (const DiffusionActor& actor : actors) result.division.push_back(actor.layers());
  return result;
}

int64_t LevelRounds(int stages) {
  const double eigenvalue = 1 - 2.0 / 3 * (1 - std::cos(std::numbers::pi / stages));
  return std::llround(std::ceil(std::log(1000.0 * stages) / -std::log(eigenvalue)));
}

}  // namespace stagecraft
