#include "tools/report/layer_state_report.h"

#include <fmt/core.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

#include "costmodel/op.h"
#include "sim/workload/early_exit.h"
#include "sim/workload/tied_layers.h"

namespace stagecraft {
namespace {

// The layers that compute or store only a share of something.
struct Shares {
  int layers = 0;
  double least = 1, most = 0;

  void Add(double share) {
    ++layers;
    least = std::min(least, share);
    most = std::max(most, share);
  }
  // "12.5 %" or "12.5 to 50 %".
  std::string Text() const {
    return least == most ? fmt::format("{:.3g} %", 100 * least)
                         : fmt::format("{:.3g} to {:.3g} %", 100 * least, 100 * most);
  }
};

struct LayerCounts {
  int frozen = 0, cached = 0, adapted = 0, routed = 0, exits = 0, tied_exits = 0;
  Shares rows, entries, scores;
};

void Count(const LayerKind& kind, LayerCounts& counts) {
  counts.frozen += kind.is_frozen ? 1 : 0;
  counts.cached += kind.is_cached ? 1 : 0;
  counts.exits += HasExit(kind) ? 1 : 0;
  counts.tied_exits += HasExit(kind) && kind.tied_parameters > 0 ? 1 : 0;
  double rows = 1, scores = 1, entries = 0, places = 0;
  bool is_adapted = false, is_routed = false;
  for (const Operator& op : kind.operators) {
    rows = std::min(rows, op.row_share);
    scores = std::min(scores, op.score_density);
    is_adapted = is_adapted || op.is_frozen;
    is_routed = is_routed || !op.expert_rows.empty();
    if (!op.nonzeros) continue;
    const double matrices = std::max(1, op.experts);
    entries += matrices * static_cast<double>(*op.nonzeros);
    places += matrices * static_cast<double>(op.in_features) * static_cast<double>(op.out_features);
  }
  counts.adapted += is_adapted ? 1 : 0;
  counts.routed += is_routed ? 1 : 0;
  if (rows < 1) counts.rows.Add(rows);
  if (places > 0) counts.entries.Add(entries / places);
  if (scores < 1) counts.scores.Add(scores);
}

LayerCounts CountLayers(const Workload& workload) {
  LayerCounts counts;
  for (int layer = 0; layer < workload.layer_count(); ++layer) {
    Count(workload.layer(layer), counts);
  }
  return counts;
}

nlohmann::ordered_json ToJson(const Shares& shares) {
  if (shares.layers == 0) return {{"layers", 0}, {"least", nullptr}, {"most", nullptr}};
  return {{"layers", shares.layers}, {"least", shares.least}, {"most", shares.most}};
}

}  // namespace

void PrintLayerStates(const Workload& workload, std::ostream& out) {
  const LayerCounts counts = CountLayers(workload);
  if (workload.has_frozen_layers()) {
    fmt::print(out, "          {} of {} layers frozen{}, {} of {} parameters trained\n",
               counts.frozen, workload.layer_count(),
               counts.adapted == 0 ? "" : fmt::format(", adapters trained in {}", counts.adapted),
               workload.TrainedParameters(), workload.Parameters());
  }
  if (const int detached = DetachedLayers(workload); detached > 0) {
    fmt::print(out,
               "          shared weights of {} frozen {} trained where other layers use them\n",
               detached, detached == 1 ? "layer" : "layers");
  }
  if (counts.exits > 0) {
    fmt::print(out, "          exits with heads behind {} layers, {} of them tied to the last\n",
               counts.exits, counts.tied_exits == 0 ? "none" : fmt::to_string(counts.tied_exits));
  }
  if (counts.cached > 0) {
    fmt::print(out, "          outputs of {} layers cached\n", counts.cached);
  }
  if (counts.rows.layers > 0) {
    fmt::print(out, "          {} of the rows in {} layers\n", counts.rows.Text(),
               counts.rows.layers);
  }
  if (counts.entries.layers > 0) {
    fmt::print(out, "          {} of the matrices of {} layers stored, as csr\n",
               counts.entries.Text(), counts.entries.layers);
  }
  if (counts.scores.layers > 0) {
    fmt::print(out, "          {} of the scores of attention in {} layers\n", counts.scores.Text(),
               counts.scores.layers);
  }
  if (counts.routed > 0) {
    fmt::print(out, "          rows of experts as stated in {} layers\n", counts.routed);
  }
}

nlohmann::ordered_json LayerStatesToJson(const Workload& workload) {
  const LayerCounts counts = CountLayers(workload);
  return {{"frozen", counts.frozen},
          {"detached", DetachedLayers(workload)},
          {"exits", counts.exits},
          {"tied_exits", counts.tied_exits},
          {"cached", counts.cached},
          {"adapted", counts.adapted},
          {"routed", counts.routed},
          {"row_share", ToJson(counts.rows)},
          {"weight_density", ToJson(counts.entries)},
          {"attention_density", ToJson(counts.scores)}};
}

std::string SparseNote(const SparseProducts& products) {
  const int all = products.from_entries + products.expanded;
  if (all == 0) return "";
  if (products.expanded == 0) {
    return fmt::format(
        "all {} kinds of sparse products run from the entries: dense ones would take longer", all);
  }
  if (products.from_entries == 0) {
    return fmt::format(
        "all {} kinds of sparse products run as dense ones, into which the entries are expanded: "
        "from the entries they would take longer",
        all);
  }
  return fmt::format(
      "{} of {} kinds of sparse products run from the entries, the others as dense ones, into "
      "which the entries are expanded: each in the way that takes less time",
      products.from_entries, all);
}

std::vector<std::string> SparseNotes(const Schedule& schedule) {
  std::string note = SparseNote(CountSparseProducts(schedule));
  if (note.empty()) return {};
  return {std::move(note)};
}

}  // namespace stagecraft
