#include "tools/profile/network_shapes.h"

#include <set>
#include <string>
#include <tuple>

#include "sim/workload_catalogue.h"

namespace stagecraft {
namespace {

// Widths from 1600 to 18432, heads of 64 and 128, with and without shared keys.
constexpr const char* kQuick[] = {"llama-3-8b", "gpt3-175b"};
constexpr const char* kFull[] = {"gpt2-xl",     "bert-large", "llama-2-13b", "llama-3-8b",
                                 "llama-3-70b", "qwen2.5-7b", "gpt3-175b"};

Divided DividedBy(Split split) {
  if (split == Split::kColumn) return Divided::kOutputs;
  return split == Split::kRow ? Divided::kInputs : Divided::kNothing;
}

}  // namespace

NetworkShape ShapeOf(const Workload& workload) {
  NetworkShape shape;
  shape.hidden = workload.hidden;
  std::set<std::tuple<int64_t, int64_t, Split>> linears;
  std::set<std::tuple<int, int, int, bool>> attentions;
  for (const LayerKind& kind : workload.kinds) {
    for (const Operator& op : kind.operators) {
      if (op.kind == OperatorKind::kLinear && op.experts == 0 &&
          linears.insert({op.in_features, op.out_features, op.split}).second) {
        shape.linears.push_back({op.in_features, op.out_features, DividedBy(op.split)});
      }
      if (op.kind == OperatorKind::kAttention &&
          attentions.insert({op.heads, op.kv_heads, op.head_size, op.causal}).second) {
        shape.attentions.push_back({op.heads, op.kv_heads, op.head_size, op.causal});
      }
    }
  }
  return shape;
}

std::vector<NetworkShape> ProfiledNetworks(SuiteSize size) {
  std::vector<NetworkShape> shapes;
  const auto add = [&](const char* name) {
    shapes.push_back(ShapeOf(LoadWorkload(name, AttentionBackend::kFlash)));
  };
  if (size == SuiteSize::kQuick) {
    for (const char* name : kQuick) add(name);
  } else {
    for (const char* name : kFull) add(name);
  }
  return shapes;
}

}  // namespace stagecraft
