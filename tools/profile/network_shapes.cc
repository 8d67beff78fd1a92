#include "tools/profile/network_shapes.h"

#include <set>
#include <span>

#include "sim/workload/workload_catalogue.h"

namespace stagecraft {
namespace {

// Widths from 1600 to 18432, heads of 64 and 128, with and without shared keys.
constexpr const char* kQuick[] = {"llama-3-8b", "gpt3-175b"};
constexpr const char* kFull[] = {"gpt2-xl",     "bert-large", "llama-2-13b", "llama-3-8b",
                                 "llama-3-70b", "qwen2.5-7b", "gpt3-175b"};

constexpr const char* kQuickOnHost[] = {"gpt2-tiny", "gpt2"};
constexpr const char* kFullOnHost[] = {"gpt2-tiny", "gpt2", "bert-base", "gpt2-medium"};

Divided DividedBy(Split split) {
  if (split == Split::kColumn) return Divided::kOutputs;
  return split == Split::kRow ? Divided::kInputs : Divided::kNothing;
}

}  // namespace

NetworkShape ShapeOf(const Workload& workload) {
  NetworkShape shape;
  std::set<LinearShape> linears;
  std::set<AttentionShape> attentions;
  for (const LayerKind& kind : workload.kinds) {
    for (const Operator& op : kind.operators) {
      if (op.kind == OperatorKind::kLinear && op.experts == 0) {
        const LinearShape linear = {op.in_features, op.out_features, DividedBy(op.split)};
        if (linears.insert(linear).second) shape.linears.push_back(linear);
      }
      if (op.kind == OperatorKind::kAttention) {
        const AttentionShape attention = {op.heads, op.kv_heads, op.head_size, op.causal};
        if (attentions.insert(attention).second) shape.attentions.push_back(attention);
      }
    }
  }
  return shape;
}

std::vector<NetworkShape> ProfiledNetworks(SuiteSize size, bool on_host) {
  const bool is_full = size == SuiteSize::kFull;
  std::span<const char* const> names = is_full ? std::span<const char* const>(kFull) : kQuick;
  if (on_host) names = is_full ? std::span<const char* const>(kFullOnHost) : kQuickOnHost;
  std::vector<NetworkShape> shapes;
  for (const char* name : names) {
    shapes.push_back(ShapeOf(LoadWorkload(name, AttentionBackend::kFlash)));
  }
  return shapes;
}

}  // namespace stagecraft
