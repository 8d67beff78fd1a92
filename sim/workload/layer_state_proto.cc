#include "sim/workload/layer_state_proto.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "costmodel/check.h"
#include "sim/workload/layer_parts.h"
#include "sim/workload/limits.h"

namespace stagecraft {
namespace {

constexpr int kMostRank = 65'536;
constexpr double kMostRows = 1e15;

class Reader {
 public:
  Reader(const LayerStatesProto& proto, const std::string& file) : proto_(proto), file_(file) {}

  void CheckNumbers() const {
    Range("depth", proto_.depth(), kMostLayers);
    Range("trained_last", proto_.trained_last(), kMostLayers);
    for (int i = 0; i < proto_.states_size(); ++i) CheckNumbers(i, proto_.states(i));
  }

  std::vector<LayerState> Read(const Workload& workload) const {
    CheckNumbers();
    if (proto_.depth() > 0 && proto_.depth() != workload.layer_count()) {
      Fail("depth", "got {}, want {}, the layers of {}", proto_.depth(), workload.layer_count(),
           workload.name);
    }
    if (proto_.trained_last() > workload.layer_count()) {
      Fail("trained_last", "got {}, want at most {}, the layers of {}", proto_.trained_last(),
           workload.layer_count(), workload.name);
    }
    std::vector<LayerState> states(workload.layers.size());
    const int frozen =
        proto_.trained_last() > 0 ? workload.layer_count() - proto_.trained_last() : 0;
    for (int layer = 0; layer < frozen; ++layer) states[layer].is_trained = false;
    for (int i = 0; i < proto_.states_size(); ++i) {
      const LayerStateProto& proto = proto_.states(i);
      const std::vector<bool> is_meant =
          proto.layers().empty() ? std::vector<bool>(states.size(), true)
                                 : LayersOfParts(Key(i, "layers", true), proto.layers(), workload);
      CheckUse(i, proto, is_meant, workload);
      for (size_t layer = 0; layer < states.size(); ++layer) {
        if (is_meant[layer]) Set(proto, states[layer]);
      }
    }
    const bool are_frozen = std::none_of(states.begin(), states.begin() + frozen,
                                         [](const LayerState& state) { return state.is_trained; });
    if (are_frozen) DetachTied(workload, frozen, states);
    return states;
  }

 private:
  std::string Key(int i, std::string_view field, bool with_file = false) const {
    return fmt::format("{}states[{}].{}", with_file ? file_ + ": " : "", i, field);
  }
  template <typename... Args>
  [[noreturn]] void Fail(std::string_view key, fmt::format_string<Args...> text,
                         Args&&... args) const {
    throw InputError(
        fmt::format("{}: {}: {}", file_, key, fmt::format(text, std::forward<Args>(args)...)));
  }
  void Range(std::string_view key, int64_t value, int64_t most) const {
    if (value < 0 || value > most) Fail(key, "got {}, want 0 to {}", value, most);
  }
  void Share(const std::string& key, double share) const {
    if (!(share >= 0 && share <= 1)) Fail(key, "got {}, want 0 to 1", share);
  }

  void CheckNumbers(int i, const LayerStateProto& proto) const {
    if (proto.has_token_share()) Share(Key(i, "token_share"), proto.token_share());
    if (proto.has_weight_density()) Share(Key(i, "weight_density"), proto.weight_density());
    if (proto.has_attention_density()) {
      Share(Key(i, "attention_density"), proto.attention_density());
    }
    if (!LayerStateProto::Storage_IsValid(proto.storage())) {
      Fail(Key(i, "storage"), "got {}, want MASKED or CSR", static_cast<int>(proto.storage()));
    }
    if (!LayerStateProto::ExitHead_IsValid(proto.exit_head())) {
      Fail(Key(i, "exit_head"), "got {}, want NONE, OWN or TIED",
           static_cast<int>(proto.exit_head()));
    }
    if (proto.detached() && proto.trained()) {
      Fail(Key(i, "detached"), "got it for trained layers, want it without trained: true");
    }
    Range(Key(i, "adapter_rank"), proto.adapter_rank(), kMostRank);
    for (const double rows : proto.expert_rows()) {
      if (!(rows >= 0 && rows <= kMostRows)) {
        Fail(Key(i, "expert_rows"), "got {}, want 0 to {:g}", rows, kMostRows);
      }
    }
    const auto& rows = proto.expert_rows();
    if (!rows.empty() && std::all_of(rows.begin(), rows.end(), [](double r) { return r == 0; })) {
      Fail(Key(i, "expert_rows"), "got no rows for any expert, want some");
    }
  }

  // Fails if none of the layers has what a field is about.
  void CheckUse(int i, const LayerStateProto& proto, const std::vector<bool>& is_meant,
                const Workload& workload) const {
    const auto any_operator = [&](auto is_such) {
      for (int layer = 0; layer < workload.layer_count(); ++layer) {
        if (!is_meant[layer]) continue;
        const LayerKind& kind = workload.layer(layer);
        const bool has = std::any_of(kind.operators.begin(), kind.operators.end(),
                                     [&](const Operator& op) { return is_such(kind, op); });
        if (has) return true;
      }
      return false;
    };
    const auto is_matrix = [](const LayerKind& kind, const Operator& op) {
      return kind.role == LayerRole::kBlock && op.kind == OperatorKind::kLinear;
    };
    const auto attends = [](const LayerKind&, const Operator& op) {
      return op.kind == OperatorKind::kAttention;
    };
    const auto require = [&](bool is_given, const char* field, auto is_such, const char* what) {
      if (!is_given || any_operator(is_such)) return;
      Fail(Key(i, field), "got it for layers of {} without {}, want layers that have some",
           workload.name, what);
    };
    require(proto.has_attention_density(), "attention_density", attends, "attention");
    require(proto.has_weight_density(), "weight_density", is_matrix, "matrices of blocks");
    require(proto.adapter_rank() > 0, "adapter_rank", is_matrix, "matrices of blocks");
    if (proto.expert_rows_size() > 0) CheckExperts(i, proto.expert_rows_size(), is_meant, workload);
  }

  void CheckExperts(int i, int experts, const std::vector<bool>& is_meant,
                    const Workload& workload) const {
    bool has_some = false;
    for (int layer = 0; layer < workload.layer_count(); ++layer) {
      for (const Operator& op : workload.layer(layer).operators) {
        if (!is_meant[layer] || op.experts == 0) continue;
        has_some = true;
        if (op.experts == experts) continue;
        Fail(Key(i, "expert_rows"), "got {} numbers, want {}, one for each expert of layer {} ({})",
             experts, op.experts, layer, workload.layer(layer).name);
      }
    }
    if (!has_some) {
      Fail(Key(i, "expert_rows"),
           "got it for layers of {} without experts, want layers that have some", workload.name);
    }
  }

  static void Set(const LayerStateProto& proto, LayerState& state) {
    if (proto.has_trained()) state.is_trained = proto.trained();
    if (proto.has_cached()) state.is_cached = proto.cached();
    if (proto.has_token_share()) state.token_share = proto.token_share();
    if (proto.has_weight_density()) state.weight_density = proto.weight_density();
    if (proto.storage() != LayerStateProto::STORAGE_UNSPECIFIED) {
      state.storage = static_cast<WeightStorage>(static_cast<int>(proto.storage()) - 1);
    }
    if (proto.has_attention_density()) state.attention_density = proto.attention_density();
    if (proto.expert_rows_size() > 0) {
      state.expert_rows.assign(proto.expert_rows().begin(), proto.expert_rows().end());
    }
    if (proto.has_adapter_rank()) state.adapter_rank = proto.adapter_rank();
    if (proto.has_trained() && proto.trained()) state.is_detached = false;
    if (proto.has_detached()) {
      state.is_detached = proto.detached();
      if (proto.detached()) state.is_trained = false;
    }
    if (proto.exit_head() != LayerStateProto::EXIT_HEAD_UNSPECIFIED) {
      state.exit_head = static_cast<ExitHead>(static_cast<int>(proto.exit_head()) - 1);
    }
  }

  const LayerStatesProto& proto_;
  const std::string& file_;
};

}  // namespace

void CheckLayerStates(const LayerStatesProto& proto, const std::string& file) {
  Reader(proto, file).CheckNumbers();
}

std::vector<LayerState> LayerStatesFromProto(const LayerStatesProto& proto,
                                             const Workload& workload, const std::string& file) {
  return Reader(proto, file).Read(workload);
}

}  // namespace stagecraft
