#include "search/partition/stages/policy_pass.h"

#include <algorithm>
#include <numeric>

#include "search/partition/stages/stage_cuts.h"

namespace stagecraft {
PolicyPass::PolicyPass(Tape& tape, StagePolicy& policy, const PolicyGraph& graph,
                       PolicyBatch& batch, Random* random, const StopSign& stop)
    : tape_(tape), policy_(policy), graph_(graph), batch_(batch), random_(random), stop_(stop) {
  std::vector<int> counts;
  for (const StageDeviceKind& kind : graph.problem().kinds) counts.push_back(kind.count);
  unused_.assign(batch.plans(), counts);
}

PolicyDecisions PolicyPass::Run() {
  const Variable encoded = policy_.Encode(tape_, graph_);
  DecideEnds(encoded);
  DecideChoices(encoded);
  return {JoinColumns(tape_, log_probabilities_), JoinColumns(tape_, entropies_)};
}

std::vector<int> PolicyPass::Decide(Variable logits, const Mask& mask,
                                    const std::vector<int>& followed) {
  const Variable logarithms = LogSoftmax(tape_, logits, mask);
  const Variable shares = Softmax(tape_, logits, mask);
  std::vector<int> decided = followed;
  for (int row = 0; random_ != nullptr && row < batch_.plans(); ++row) {
    double luck = random_->Uniform();
    for (int option = 0; option < mask.cols(); ++option) {
      if (mask(row, option) == 0) continue;
      decided[row] = option;  // the last allowed one if rounding leaves a rest
      luck -= tape_.value(shares)(row, option);
      if (luck < 0) break;
    }
  }
  log_probabilities_.push_back(PickColumns(tape_, logarithms, decided));
  const Variable terms = Multiply(tape_, shares, logarithms);
  entropies_.push_back(
      Scale(tape_, MatMul(tape_, terms, tape_.Constant(Matrix::Ones(mask.cols(), 1))), -1));
  return decided;
}

PolicyPass::CutInputs PolicyPass::InputsAt(int position, std::vector<double>& loads) const {
  const int plans = batch_.plans();
  const int nodes = graph_.nodes();
  CutInputs inputs{Matrix(plans, kCutFeatures), Mask::Ones(plans, 2)};
  for (int plan = 0; plan < plans; ++plan) {
    loads[plan] += graph_.load(batch_.order[position]);
    const int cuts_left = batch_.stages[plan] - 1 - static_cast<int>(batch_.ends[plan].size());
    const int nodes_left = nodes - 1 - position;
    if (cuts_left == 0) inputs.mask(plan, 1) = 0;
    if (cuts_left == nodes_left) inputs.mask(plan, 0) = 0;
    const double share = static_cast<double>(batch_.stages[plan]) / nodes;
    inputs.features.row(plan) << loads[plan] * share,
        static_cast<double>(cuts_left) / graph_.problem().devices(),
        static_cast<double>(nodes_left) / nodes, nodes_left * share / (cuts_left + 1);
  }
  return inputs;
}

void PolicyPass::DecideEnds(Variable encoded) {
  const int plans = batch_.plans();
  const std::vector<std::vector<int>> known = batch_.ends;
  batch_.ends.assign(plans, {});
  LstmCell::State state = policy_.partitioner_.Start(tape_, plans);
  std::vector<double> loads(plans, 0);  // of the stage that is not cut off yet
  for (int position = 0; position + 1 < graph_.nodes(); ++position) {
    stop_.Check();
    const CutInputs inputs = InputsAt(position, loads);
    const Variable node =
        GatherRows(tape_, encoded, std::vector<int>(plans, batch_.order[position]));
    const Variable input = JoinColumns(tape_, {node, tape_.Constant(inputs.features)});
    state = policy_.partitioner_.Apply(tape_, input, state);
    std::vector<int> followed(plans);
    for (int plan = 0; random_ == nullptr && plan < plans; ++plan) {
      followed[plan] = known[plan][batch_.ends[plan].size()] == position + 1;
    }
    const Variable logits = policy_.cut_.Apply(tape_, state.hidden);
    const std::vector<int> decided = Decide(logits, inputs.mask, followed);
    for (int plan = 0; plan < plans; ++plan) {
      if (decided[plan] == 0) continue;
      batch_.ends[plan].push_back(position + 1);
      loads[plan] = 0;
    }
  }
  for (std::vector<int>& ends : batch_.ends) ends.push_back(graph_.nodes());
}

PolicyPass::PlanSizes PolicyPass::SizesOf(const std::vector<int>& ends) const {
  const StageCosts& costs = graph_.costs();
  const Dag& dag = costs.dag();
  const StagePlan plan = PlanFromCuts(batch_.order, ends, {});
  PlanSizes all{std::vector<StageSizes>(ends.size()), std::vector<int64_t>(ends.size())};
  for (int node = 0; node < dag.size(); ++node) {
    const int stage = plan.stage_of[node];
    all.sizes[stage] += costs.of(node);
    int last = stage;
    for (const int consumer : dag.consumers[node]) last = std::max(last, plan.stage_of[consumer]);
    for (int cut = stage; cut < last; ++cut) all.crossing[cut] += costs.of(node).activations;
  }
  return all;
}

void PolicyPass::DecideChoices(Variable encoded) {
  batch_.choices.resize(batch_.plans());
  for (const std::vector<int>& ends : batch_.ends) sizes_.push_back(SizesOf(ends));
  const int stages = *std::max_element(batch_.stages.begin(), batch_.stages.end());
  for (int stage = 0; stage < stages; ++stage) {
    stop_.Check();
    DecideChoice(stage, encoded);
  }
}

PolicyPass::ChoiceInputs PolicyPass::InputsOf(int stage) const {
  const int plans = batch_.plans();
  const std::vector<StageReplicas>& choices = graph_.choices();
  const auto options = static_cast<int>(choices.size());
  ChoiceInputs inputs{Matrix::Zero(plans, graph_.nodes()),
                      Matrix::Zero(plans * options, kChoiceFeatures), Mask::Zero(plans, options)};
  for (int plan = 0; plan < plans; ++plan) {
    const int behind = batch_.stages[plan] - 1 - stage;
    if (behind < 0) {
      inputs.mask(plan, 0) = 1;  // nothing to decide
      continue;
    }
    const std::vector<int>& ends = batch_.ends[plan];
    const int begin = stage > 0 ? ends[stage - 1] : 0;
    for (int position = begin; position < ends[stage]; ++position) {
      inputs.means(plan, batch_.order[position]) = 1.0 / (ends[stage] - begin);
    }
    const PlanSizes& sizes = sizes_[plan];
    const int64_t in = stage > 0 ? sizes.crossing[stage - 1] : 0;
    const int64_t out = stage > 0 ? sizes.crossing[stage] : 0;
    const std::vector<int>& unused = unused_[plan];
    const int left = std::accumulate(unused.begin(), unused.end(), 0);
    for (int option = 0; option < options; ++option) {
      const StageReplicas& on = choices[option];
      if (on.replicas > unused[on.kind] || left - on.replicas < behind) continue;
      inputs.mask(plan, option) = 1;
      inputs.features.row(option * plans + plan) =
          graph_.ChoiceFeatures(sizes.sizes[stage], in, out, on, unused, behind);
    }
  }
  return inputs;
}

void PolicyPass::DecideChoice(int stage, Variable encoded) {
  const int plans = batch_.plans();
  const auto options = static_cast<int>(graph_.choices().size());
  const ChoiceInputs inputs = InputsOf(stage);
  std::vector<int> repeated(plans * options);
  for (int row = 0; row < plans * options; ++row) repeated[row] = row % plans;
  const Variable means = MatMul(tape_, tape_.Constant(inputs.means), encoded);
  const Variable input =
      JoinColumns(tape_, {GatherRows(tape_, means, repeated), tape_.Constant(inputs.features)});
  const Variable hidden = Tanh(tape_, policy_.choice_hidden_.Apply(tape_, input));
  const Variable logits = Reshape(tape_, policy_.choice_.Apply(tape_, hidden), plans, options);
  std::vector<int> followed(plans);
  for (int plan = 0; random_ == nullptr && plan < plans; ++plan) {
    if (stage < batch_.stages[plan]) followed[plan] = batch_.choices[plan][stage];
  }
  const std::vector<int> decided = Decide(logits, inputs.mask, followed);
  for (int plan = 0; plan < plans; ++plan) {
    if (stage >= batch_.stages[plan]) continue;
    const StageReplicas& on = graph_.choices()[decided[plan]];
    unused_[plan][on.kind] -= on.replicas;
    if (random_ != nullptr) batch_.choices[plan].push_back(decided[plan]);
  }
}

}  // namespace stagecraft
