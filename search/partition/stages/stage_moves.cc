#include "search/partition/stages/stage_moves.h"

#include <utility>

namespace stagecraft {
namespace {

// Returns `node` and everything that it reaches along `neighbours` (producers or consumers) within
// its stage.
std::vector<int> Reached(int node, const StageState& state,
                         const std::vector<std::vector<int>>& neighbours) {
  const std::vector<int>& stage_of = state.plan().stage_of;
  std::vector<bool> is_reached(stage_of.size());
  std::vector<int> reached = {node};
  is_reached[node] = true;
  for (size_t next = 0; next < reached.size(); ++next) {
    for (const int neighbour : neighbours[reached[next]]) {
      if (is_reached[neighbour] || stage_of[neighbour] != stage_of[node]) continue;
      is_reached[neighbour] = true;
      reached.push_back(neighbour);
    }
  }
  return reached;
}

// Follows the first neighbour in the stage, beginning at `node`, until there is none. Returns the
// last node.
int FarthestFrom(int node, const StageState& state,
                 const std::vector<std::vector<int>>& neighbours) {
  const std::vector<int>& stage_of = state.plan().stage_of;
  for (bool is_last = false; !is_last;) {
    is_last = true;
    for (const int neighbour : neighbours[node]) {
      if (stage_of[neighbour] != stage_of[node]) continue;
      node = neighbour;
      is_last = false;
      break;
    }
  }
  return node;
}

std::vector<int> NodesIn(int stage, const StageState& state) {
  std::vector<int> nodes;
  const std::vector<int>& stage_of = state.plan().stage_of;
  for (int node = 0; node < static_cast<int>(stage_of.size()); ++node) {
    if (stage_of[node] == stage) nodes.push_back(node);
  }
  return nodes;
}

void EraseIfEmpty(int stage, StageState& state) {
  if (state.nodes_in(stage) == 0) state.EraseStage(stage);
}

bool ShiftNodes(int node, bool is_forward, StageState& state) {
  const int stage = state.plan().stage_of[node];
  const int to = is_forward ? stage + 1 : stage - 1;
  if (to < 0 || to >= state.plan().stages()) return false;
  const Dag& dag = state.costs().dag();
  state.MoveNodes(Reached(node, state, is_forward ? dag.consumers : dag.producers), to);
  EraseIfEmpty(stage, state);
  return true;
}

bool AssignReplicas(int stage, const StageReplicas& on, StageState& state) {
  const StageReplicas& now = state.plan().replicas[stage];
  const int own = now.kind == on.kind ? now.replicas : 0;
  if (now == on || state.unused(on.kind) + own < on.replicas) return false;
  state.SetReplicas(stage, on);
  return true;
}

bool GiveReplica(int from, int to, StageState& state) {
  const StageReplicas giver = state.plan().replicas[from];
  const StageReplicas taker = state.plan().replicas[to];
  if (from == to || giver.kind != taker.kind || giver.replicas < 2) return false;
  state.SetReplicas(from, {giver.kind, giver.replicas - 1});
  state.SetReplicas(to, {taker.kind, taker.replicas + 1});
  return true;
}

bool SwapReplicas(int stage, int other, StageState& state) {
  const StageReplicas on = state.plan().replicas[stage];
  const StageReplicas others = state.plan().replicas[other];
  if (on == others) return false;
  state.SetReplicas(stage, others);
  state.SetReplicas(other, on);
  return true;
}

// Splits a stage. The new stage takes unused devices, or some of those of the old stage.
bool SplitStage(int node, const StageReplicas& on, StageState& state) {
  const int stage = state.plan().stage_of[node];
  std::vector<int> front = Reached(node, state, state.costs().dag().producers);
  if (static_cast<int>(front.size()) == state.nodes_in(stage)) return false;
  const StageReplicas now = state.plan().replicas[stage];
  const int missing = on.replicas - state.unused(on.kind);
  if (missing > 0) {
    if (now.kind != on.kind || now.replicas <= missing) return false;
    state.SetReplicas(stage, {now.kind, now.replicas - missing});
  }
  state.InsertStage(stage, on);
  state.MoveNodes(front, stage);
  return true;
}

bool MergeStages(int stage, StageState& state) {
  if (stage + 1 >= state.plan().stages()) return false;
  state.MoveNodes(NodesIn(stage + 1, state), stage);
  state.EraseStage(stage + 1);
  return true;
}

int Below(int end, Random& random) { return static_cast<int>(random.Integer(0, end - 1)); }

}  // namespace

bool Apply(const StageMove& move, StageState& state) {
  switch (move.kind) {
    case StageMove::Kind::kPull:
      return ShiftNodes(move.node, false, state);
    case StageMove::Kind::kPush:
      return ShiftNodes(move.node, true, state);
    case StageMove::Kind::kPullOne:
      return ShiftNodes(FarthestFrom(move.node, state, state.costs().dag().producers), false,
                        state);
    case StageMove::Kind::kPushOne:
      return ShiftNodes(FarthestFrom(move.node, state, state.costs().dag().consumers), true, state);
    case StageMove::Kind::kReplicas:
      return AssignReplicas(move.stage, move.on, state);
    case StageMove::Kind::kGive:
      return GiveReplica(move.stage, move.other, state);
    case StageMove::Kind::kSwap:
      return SwapReplicas(move.stage, move.other, state);
    case StageMove::Kind::kSplit:
      return SplitStage(move.node, move.on, state);
    case StageMove::Kind::kMerge:
      return MergeStages(move.stage, state);
  }
  return false;
}

StageMove DrawMove(const StageState& state, const std::vector<StageReplicas>& choices,
                   Random& random) {
  // Half of the draws shift nodes; the rest is divided among the other moves.
  using Kind = StageMove::Kind;
  static constexpr Kind kKinds[] = {
      Kind::kPull,    Kind::kPush,    Kind::kPull,    Kind::kPush,     Kind::kPullOne,
      Kind::kPushOne, Kind::kPullOne, Kind::kPushOne, Kind::kReplicas, Kind::kReplicas,
      Kind::kGive,    Kind::kGive,    Kind::kSwap,    Kind::kSplit,    Kind::kMerge};
  StageMove move{kKinds[Below(std::size(kKinds), random)]};
  move.node = Below(static_cast<int>(state.plan().stage_of.size()), random);
  move.stage = Below(state.plan().stages(), random);
  move.other = Below(state.plan().stages(), random);
  move.on = choices[Below(static_cast<int>(choices.size()), random)];
  return move;
}

std::vector<StageMove> MovesThatRelieve(int stage, const StageState& state,
                                        const std::vector<StageReplicas>& choices) {
  using Kind = StageMove::Kind;
  std::vector<StageMove> moves;
  for (const StageReplicas& on : choices) moves.push_back({Kind::kReplicas, 0, stage, 0, on});
  for (int other = 0; other < state.plan().stages(); ++other) {
    if (other == stage) continue;
    moves.push_back({Kind::kGive, 0, other, stage, {}});
    moves.push_back({Kind::kSwap, 0, stage, other, {}});
  }
  const std::vector<int> nodes = NodesIn(stage, state);
  for (const int node : nodes) {
    moves.push_back({Kind::kPull, node, 0, 0, {}});
    moves.push_back({Kind::kPush, node, 0, 0, {}});
  }
  for (const int node : nodes) {
    for (const StageReplicas& on : choices) moves.push_back({Kind::kSplit, node, 0, 0, on});
  }
  if (stage > 0) moves.push_back({Kind::kMerge, 0, stage - 1, 0, {}});
  moves.push_back({Kind::kMerge, 0, stage, 0, {}});
  return moves;
}

}  // namespace stagecraft
