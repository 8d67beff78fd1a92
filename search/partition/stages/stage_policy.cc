#include "search/partition/stages/stage_policy.h"

#include <fmt/core.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "costmodel/check.h"
#include "search/partition/stages/policy_pass.h"

namespace stagecraft {
namespace {

constexpr int kEncoderLayers = 2;
constexpr int kMostWidth = 1024;
constexpr char kFormat[] = "stage-policy-1";

// Returns the beginning of a text for an error: a file that is not a policy may be one very long
// line of any bytes.
std::string Beginning(const std::string& text) {
  constexpr size_t kShown = 60;
  std::string shown = text.substr(0, std::min(kShown, text.find('\n')));
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  return shown;
}

std::vector<LinearLayer> MakeEncoder(ParameterSet& parameters, const StagePolicyShape& shape,
                                     Random random) {
  std::vector<LinearLayer> layers;
  const int parts = shape.is_directed ? 3 : 1;
  for (int layer = 0; layer < kEncoderLayers; ++layer) {
    for (int part = 0; part < parts; ++part) {
      const int inputs = layer == 0 ? kNodeFeatures : shape.width;
      layers.emplace_back(parameters, fmt::format("encoder.{}.{}", layer, part), inputs,
                          shape.width, random);
    }
  }
  return layers;
}

LinearLayer MakeLayer(ParameterSet& parameters, const std::string& name, int inputs, int outputs,
                      uint64_t seed) {
  Random random = Random(seed).Child(name, 0);
  return LinearLayer(parameters, name, inputs, outputs, random);
}

LstmCell MakeCell(ParameterSet& parameters, int inputs, int width, uint64_t seed) {
  Random random = Random(seed).Child("partitioner", 0);
  return LstmCell(parameters, "partitioner", inputs, width, random);
}

}  // namespace

StagePolicy::StagePolicy(const StagePolicyShape& shape, uint64_t seed)
    : shape_(shape),
      encoder_(MakeEncoder(parameters_, shape, Random(seed).Child("encoder", 0))),
      partitioner_(MakeCell(parameters_, shape.width + kCutFeatures, shape.width, seed)),
      cut_(MakeLayer(parameters_, "cut", shape.width, 2, seed)),
      choice_hidden_(MakeLayer(parameters_, "choice_hidden", shape.width + kChoiceFeatures,
                               shape.width, seed)),
      choice_(MakeLayer(parameters_, "choice", shape.width, 1, seed)) {}

Variable StagePolicy::Encode(Tape& tape, const PolicyGraph& graph) const {
  Variable encoded = tape.Constant(graph.features());
  for (int layer = 0; layer < kEncoderLayers; ++layer) {
    if (!shape_.is_directed) {
      const Variable near = MatMul(tape, tape.Constant(graph.undirected()), encoded);
      encoded = Relu(tape, encoder_[layer].Apply(tape, near));
      continue;
    }
    const Variable before = MatMul(tape, tape.Constant(graph.from_producers()), encoded);
    const Variable behind = MatMul(tape, tape.Constant(graph.from_consumers()), encoded);
    const LinearLayer* parts = &encoder_[3 * layer];
    encoded =
        Relu(tape, Add(tape, parts[0].Apply(tape, encoded),
                       Add(tape, parts[1].Apply(tape, before), parts[2].Apply(tape, behind))));
  }
  return encoded;
}

PolicyBatch StagePolicy::Draw(const PolicyGraph& graph, std::vector<int> order, int stages,
                              int plans, Random& random, const StopSign& stop) {
  PolicyBatch batch{std::move(order), std::vector<int>(plans, stages), {}, {}};
  Tape tape;
  PolicyPass(tape, *this, graph, batch, &random, stop).Run();
  return batch;
}

PolicyDecisions StagePolicy::Decisions(Tape& tape, const PolicyGraph& graph,
                                       const PolicyBatch& batch, const StopSign& stop) {
  PolicyBatch followed = batch;
  return PolicyPass(tape, *this, graph, followed, nullptr, stop).Run();
}

std::string StagePolicy::Write() const {
  return fmt::format("{} width {} {}\n{}", kFormat, shape_.width,
                     shape_.is_directed ? "directed" : "undirected", parameters_.Write());
}

StagePolicy StagePolicy::Read(const std::string& text, const std::string& source) {
  std::istringstream stream(text.substr(0, text.find('\n')));
  std::string format;
  std::string key;
  std::string direction;
  StagePolicyShape shape;
  stream >> format >> key >> shape.width >> direction;
  const bool is_known = format == kFormat && key == "width" && shape.width >= 1 &&
                        shape.width <= kMostWidth &&
                        (direction == "directed" || direction == "undirected");
  if (!stream || !is_known) {
    throw InputError(
        fmt::format("{}: begins with \"{}\", want \"{} width <1..{}> directed|undirected\"", source,
                    Beginning(text), kFormat, kMostWidth));
  }
  shape.is_directed = direction == "directed";
  StagePolicy policy(shape, 0);
  policy.parameters_.Read(text.substr(text.find('\n') + 1), source);
  return policy;
}

}  // namespace stagecraft
