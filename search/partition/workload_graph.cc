#include "search/partition/workload_graph.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "sim/memory/tensor_sizes.h"
#include "sim/shard/shard.h"

namespace stagecraft {
namespace {

ShardSpec SpecOf(const Workload& workload, const WorkloadBatch& batch) {
  ShardSpec spec;
  spec.micro_batch = batch.samples;
  spec.sequence = batch.sequence;
  spec.precision = batch.precision;
  spec.attention = workload.attention;
  return spec;
}

// Returns the kernels of one operator, as those of a layer that has no other operator.
LayerSteps StepsOf(const Operator& op, const ShardSpec& spec) {
  LayerKind alone;
  alone.operators.Add(op);
  return ShardLayer(alone, spec);
}

// TimedLayer is the operators of one kind of layer, numbered as its vertices.
struct TimedLayer {
  std::vector<TimedNode> nodes;
  std::vector<DagEdge> edges;
  std::vector<int> readers;  // operators that read what the layer before hands on
  std::vector<int> outputs;  // operators whose output no other operator of the layer reads
};

std::vector<TimedNode> UntimedNodes(const LayerKind& kind, const ShardSpec& spec) {
  std::vector<TimedNode> nodes;
  std::map<std::string, int> seen;
  for (const Operator& op : kind.operators) {
    const int times = ++seen[op.name];
    nodes.push_back({times == 1 ? op.name : fmt::format("{}_{}", op.name, times),
                     {},
                     {},
                     OutputBytes(op, spec),
                     WeightBytes(op, spec)});
  }
  return nodes;
}

TimedLayer UntimedLayer(const LayerKind& kind, const ShardSpec& spec) {
  const OperatorGraph& operators = kind.operators;
  TimedLayer layer;
  layer.nodes = UntimedNodes(kind, spec);
  std::vector<int> sources;
  Bytes rest = BoundaryBytes(kind, spec);
  for (size_t v = 0; v < operators.size(); ++v) {
    const int node = static_cast<int>(v);
    if (operators[v].reads_layer_input) layer.readers.push_back(node);
    if (operators.producers(v).empty()) sources.push_back(node);
    for (const size_t reader : operators.consumers(v)) {
      layer.edges.push_back({node, static_cast<int>(reader)});
    }
    if (!operators.consumers(v).empty()) continue;
    layer.outputs.push_back(node);
    rest = rest - layer.nodes[v].activation;
  }
  if (layer.readers.empty()) layer.readers = std::move(sources);
  if (!layer.outputs.empty() && rest > Bytes()) {
    layer.nodes[layer.outputs.back()].activation += rest;
  }
  return layer;
}

// Times all kinds in one batch of predictions.
std::vector<TimedLayer> TimeKinds(const Workload& workload, const ShardSpec& spec,
                                  const Device& device, const CostModel& model) {
  std::vector<TimedLayer> layers;
  std::vector<Op> ops;
  std::vector<Duration*> places;  // by op: where its time is added
  const auto add = [&](const Steps& steps, Duration& time) {
    for (const Step& step : steps) {
      ops.push_back(step.op);
      places.push_back(&time);
    }
  };
  for (const LayerKind& kind : workload.kinds) layers.push_back(UntimedLayer(kind, spec));
  for (size_t k = 0; k < layers.size(); ++k) {
    for (size_t v = 0; v < layers[k].nodes.size(); ++v) {
      const LayerSteps steps = StepsOf(workload.kinds[k].operators[v], spec);
      add(steps.forward, layers[k].nodes[v].forward);
      add(steps.backward, layers[k].nodes[v].backward);
    }
  }
  const std::vector<Estimate> estimates = model.Predict(ops, device);
  for (size_t op = 0; op < ops.size(); ++op) *places[op] += estimates[op].time;
  return layers;
}

// Returns the graph of all layers, one after another.
TimedGraph Chain(const Workload& workload, const std::vector<TimedLayer>& kinds) {
  TimedGraph graph;
  graph.name = workload.name;
  std::vector<DagEdge> edges;
  std::vector<int> handed_on;
  for (int number = 0; number < workload.layer_count(); ++number) {
    const TimedLayer& layer = kinds[workload.layers[number]];
    if (layer.nodes.empty()) continue;
    const int first = static_cast<int>(graph.nodes.size());
    for (const TimedNode& node : layer.nodes) {
      graph.nodes.push_back(node);
      graph.nodes.back().name = fmt::format("{}.{}", number, node.name);
    }
    for (const DagEdge& edge : layer.edges) edges.push_back({first + edge.from, first + edge.to});
    for (const int producer : handed_on) {
      for (const int reader : layer.readers) edges.push_back({producer, first + reader});
    }
    handed_on.clear();
    for (const int output : layer.outputs) handed_on.push_back(first + output);
  }
  std::vector<std::string> names;
  for (const TimedNode& node : graph.nodes) names.push_back(node.name);
  graph.dag = MakeDag(names, edges, graph.name);
  RequireOneComponent(names, edges, graph.name);
  return graph;
}

}  // namespace

TimedGraph ToTimedGraph(const Workload& workload, const WorkloadBatch& batch, const Device& device,
                        const CostModel& model) {
  if (workload.is_profile()) {
    throw InputError(
        workload.name +
        ": is a profile with times of its own GPU type, want a workload without times");
  }
  if (workload.has_frozen_layers()) {
    throw InputError(workload.name + ": has frozen layers, want a workload that trains all layers");
  }
  if (device.Peak(batch.precision).flop_per_s() <= 0) {
    throw InputError(
        fmt::format("precision: {} has no {} arithmetic", device.name, Name(batch.precision)));
  }
  const ShardSpec spec = SpecOf(workload, batch);
  return Chain(workload, TimeKinds(workload, spec, device, model));
}

}  // namespace stagecraft
