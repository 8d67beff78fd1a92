#include "sim/workload/layer_gradients.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

// "residual_12" -> "residual".
std::string WithoutNumber(const std::string& name) {
  const size_t end = name.find_last_not_of("0123456789");
  const bool has_number = end != name.npos && end + 1 < name.size() && end > 0 && name[end] == '_';
  return has_number ? name.substr(0, end) : name;
}

const char* Name(LayerRole role) {
  constexpr const char* kNames[] = {"embedding", "blocks", "head"};
  return kNames[static_cast<int>(role)];
}

void CheckFrozen(const std::string& key, const std::vector<bool>& is_frozen,
                 const Workload& workload) {
  if (workload.is_profile()) {
    throw InputError(key + ": got frozen layers of the profile " + workload.name +
                     ", want none: it does not divide the time of backwards");
  }
  if (std::find(is_frozen.begin(), is_frozen.end(), false) == is_frozen.end()) {
    throw InputError(key + ": got all " + std::to_string(is_frozen.size()) + " layers of " +
                     workload.name + ", want one or more that are trained");
  }
  for (int layer = 0; layer < workload.layer_count(); ++layer) {
    const LayerKind& kind = workload.layer(layer);
    if (kind.tied_parameters == 0 || is_frozen[layer] == is_frozen[0]) continue;
    const auto tell = [&](int l) {
      return std::to_string(l) + " (" + workload.layer(l).name + ")";
    };
    throw InputError(key + ": got only one of layers " + tell(0) + " and " + tell(layer) + " of " +
                     workload.name + ", want both or none: their weights are one tensor");
  }
}

// A name for the layers of a kind that have this backward, which no kind has yet.
std::string NameOf(const LayerKind& kind, std::set<std::string>& taken) {
  std::string name = kind.name;
  if (kind.is_frozen) {
    name += kind.returns_gradient ? "_frozen_behind_trained" : "_frozen";
  } else if (!kind.returns_gradient) {
    name += "_first_trained";
  }
  while (!taken.insert(name).second) name += "_";
  return name;
}

double ForwardFlopsPerRow(const Operator& op, int64_t sequence) {
  switch (op.kind) {
    case OperatorKind::kLinear:
    case OperatorKind::kConvolution:
    case OperatorKind::kRecurrent:
      return 2.0 * static_cast<double>(op.in_features) * static_cast<double>(op.out_features) *
             (op.experts > 0 ? op.experts_per_token : 1);
    case OperatorKind::kAttention: {
      const int64_t rows = op.positions > 0 ? op.positions : sequence;
      const double keys = static_cast<double>(op.keys > 0 ? op.keys : rows);
      return 4.0 * op.heads * op.head_size * keys * (op.causal ? 0.5 : 1.0);
    }
    default:
      return 0;
  }
}

}  // namespace

double ForwardFlopsPerToken(const Operator& op, int64_t sequence) {
  const double rows =
      op.positions > 0 ? static_cast<double>(op.positions) / static_cast<double>(sequence) : 1.0;
  return rows * ForwardFlopsPerRow(op, sequence);
}

double TrainingFlopsPerToken(const Operator& op, const OperatorGradients& gradients,
                             int64_t sequence) {
  const double forward = ForwardFlopsPerToken(op, sequence);
  // The gradients of an attention's queries, keys and values count as those of an input. What steps
  // back through a recurrent layer is the same for both of its gradients.
  if (op.kind == OperatorKind::kAttention) return gradients.Any() ? 3 * forward : forward;
  const bool steps_back = op.kind == OperatorKind::kRecurrent && gradients.Any();
  return (1 + (gradients.of_input || steps_back) + gradients.of_weights) * forward;
}

std::vector<OperatorGradients> GradientsOf(const LayerKind& layer) {
  std::vector<OperatorGradients> gradients(layer.operators.size());
  if (!layer.is_frozen && layer.returns_gradient) return gradients;
  for (size_t v = 0; v < gradients.size(); ++v) {
    const Operator& op = layer.operators[v];
    const std::vector<size_t>& producers = layer.operators.producers(v);
    gradients[v].of_input = (op.reads_layer_input && layer.returns_gradient) ||
                            std::any_of(producers.begin(), producers.end(),
                                        [&](size_t producer) { return gradients[producer].Any(); });
    gradients[v].of_weights = !layer.is_frozen && op.parameters > 0;
  }
  return gradients;
}

void FreezeLayers(const std::string& key, std::vector<bool> is_frozen, Workload& workload) {
  CHECK(is_frozen.size() == workload.layers.size());
  for (int layer = 0; layer < workload.layer_count(); ++layer) {
    if (workload.layer(layer).is_frozen) is_frozen[layer] = true;
  }
  if (std::find(is_frozen.begin(), is_frozen.end(), true) == is_frozen.end()) return;
  CheckFrozen(key, is_frozen, workload);
  const auto first_trained =
      static_cast<int>(std::find(is_frozen.begin(), is_frozen.end(), false) - is_frozen.begin());
  // What becomes of the layers of each kind: frozen or not, with a gradient of the input or not.
  std::vector<std::set<std::pair<bool, bool>>> variants(workload.kinds.size());
  const auto variant_of = [&](int layer) {
    return std::pair<bool, bool>(is_frozen[layer], first_trained == 0 || layer > first_trained);
  };
  for (int layer = 0; layer < workload.layer_count(); ++layer) {
    variants[workload.layers[layer]].insert(variant_of(layer));
  }
  std::set<std::string> taken;
  for (const LayerKind& kind : workload.kinds) taken.insert(kind.name);
  std::map<std::tuple<int, bool, bool>, int> known;
  for (int layer = 0; layer < workload.layer_count(); ++layer) {
    const int kind = workload.layers[layer];
    const auto [frozen, returns] = variant_of(layer);
    const auto [entry, is_new] = known.try_emplace({kind, frozen, returns}, kind);
    if (is_new) {
      // The kind itself stands for the usual variant or, if it has none, for another one.
      constexpr std::pair<bool, bool> kUsual(false, true);
      const bool has_usual = variants[kind].contains(kUsual);
      const bool keeps_kind =
          std::pair(frozen, returns) == (has_usual ? kUsual : *variants[kind].begin());
      LayerKind variant = workload.kinds[kind];
      variant.is_frozen = frozen;
      variant.returns_gradient = returns;
      if (keeps_kind) {
        workload.kinds[kind] = std::move(variant);
      } else {
        variant.name = NameOf(variant, taken);
        entry->second = static_cast<int>(workload.kinds.size());
        workload.kinds.push_back(std::move(variant));
      }
    }
    workload.layers[layer] = entry->second;
  }
}

std::vector<std::string> PartNames(const Workload& workload) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (int layer = 0; layer < workload.layer_count(); ++layer) {
    add(Name(workload.layer(layer).role));
  }
  for (int layer = 0; layer < workload.layer_count(); ++layer) {
    add(WithoutNumber(workload.layer(layer).name));
  }
  return names;
}

std::vector<int> FindPart(const Workload& workload, const std::string& name) {
  std::vector<int> layers;
  for (int layer = 0; layer < workload.layer_count(); ++layer) {
    const LayerKind& kind = workload.layer(layer);
    const bool is_part =
        name == Name(kind.role) || name == kind.name || name == WithoutNumber(kind.name);
    if (is_part) layers.push_back(layer);
  }
  return layers;
}

}  // namespace stagecraft
