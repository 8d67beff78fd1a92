#include "sim/workload/vocabulary_layers.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "costmodel/divide.h"

namespace stagecraft {
namespace {

bool IsTokenTable(const Operator& op) {
  return op.kind == OperatorKind::kEmbedding && op.split == Split::kRow;
}

// Operators [first, last) of the layer.
struct Part {
  size_t first = 0;
  size_t last = 0;
};

// The operators that grow with the vocabulary.
Part VocabularyOf(const LayerKind& layer) {
  const size_t count = layer.operators.size();
  if (layer.role == LayerRole::kEmbedding) return {0, 1};
  if (layer.role == LayerRole::kHead) return {count - 2, count};
  return {count, count};
}

// The operators of a part and the edges between them. What they read from others is an input of the
// layer.
OperatorGraph Take(const OperatorGraph& from, const Part& part) {
  OperatorGraph taken;
  for (size_t i = part.first; i < part.last; ++i) {
    Operator op = from[i];
    for (const size_t producer : from.producers(i)) {
      if (producer < part.first || producer >= part.last) op.reads_layer_input = true;
    }
    taken.Add(std::move(op));
  }
  for (size_t i = part.first; i < part.last; ++i) {
    for (const size_t producer : from.producers(i)) {
      if (producer < part.first || producer >= part.last) continue;
      taken.AddEdge(producer - part.first, i - part.first);
    }
  }
  return taken;
}

// One of `shares` parts of a number of rows of the vocabulary, of which `whole` is a multiple.
int64_t Share(int64_t whole, int64_t rows, int64_t shares) {
  return whole / rows * DivideUp(rows, shares);
}

void TakeShare(int64_t shares, Operator& op) {
  if (op.kind == OperatorKind::kLinear) {
    op.parameters = Share(op.parameters, op.out_features, shares);
    op.out_features = DivideUp(op.out_features, shares);
    return;
  }
  const int64_t rows = op.in_features;
  op.parameters = Share(op.parameters, rows, shares);
  op.in_features = DivideUp(rows, shares);
  // A table looks up every token, those of other shares in vain.
  if (op.kind == OperatorKind::kEmbedding) return;
  op.forward_elements = Share(op.forward_elements, rows, shares);
  op.backward_elements = Share(op.backward_elements, rows, shares);
  for (SavedTensor& tensor : op.saved) tensor.features = Share(tensor.features, rows, shares);
}

bool EndsWithLogits(const LayerKind& layer, int64_t vocabulary) {
  const OperatorGraph& operators = layer.operators;
  const size_t count = operators.size();
  if (layer.role != LayerRole::kHead || count < 2) return false;
  const size_t projection = count - 2;
  const size_t loss = count - 1;
  const bool is_column = operators[projection].kind == OperatorKind::kLinear &&
                         operators[projection].split == Split::kColumn;
  if (!is_column || operators[projection].out_features != vocabulary) return false;
  if (operators[loss].kind != OperatorKind::kLoss || operators[loss].in_features != vocabulary) {
    return false;
  }
  for (size_t i = 0; i < projection; ++i) {
    if (operators[i].kind == OperatorKind::kLoss) return false;
  }
  const std::vector<size_t>& inputs = operators.producers(projection);
  const bool reads_last = inputs.empty() ? projection == 0 : inputs == std::vector{projection - 1};
  return reads_last && operators.producers(loss) == std::vector{projection};
}

}  // namespace

std::string FindVocabularyError(const Workload& workload) {
  const int last = workload.layer_count() - 1;
  const LayerKind& first = workload.layer(0);
  const bool begins_with_tokens = first.role == LayerRole::kEmbedding &&
                                  first.operators.size() > 0 && IsTokenTable(first.operators[0]) &&
                                  first.operators[0].in_features == workload.vocabulary;
  if (last < 1 || !begins_with_tokens) return "does not begin with a table of tokens";
  if (!EndsWithLogits(workload.layer(last), workload.vocabulary)) {
    return "does not end with one projection to its vocabulary";
  }
  for (int l = 1; l < last; ++l) {
    for (const Operator& op : workload.layer(l).operators) {
      if (IsTokenTable(op)) return "looks up tokens in another layer, too";
      if (op.kind == OperatorKind::kLoss) return "has exits with heads in other layers, too";
    }
  }
  return "";
}

LayerKind WithoutVocabulary(const LayerKind& layer) {
  if (layer.role == LayerRole::kBlock) return layer;
  const Part part = VocabularyOf(layer);
  const bool is_head = layer.role == LayerRole::kHead;
  LayerKind rest = layer;
  rest.operators = Take(layer.operators,
                        is_head ? Part{0, part.first} : Part{part.last, layer.operators.size()});
  if (is_head) rest.boundary_features = layer.operators[part.first].in_features;
  rest.tied_parameters = 0;
  return rest;
}

LayerKind VocabularyShare(const LayerKind& layer, int64_t shares) {
  const Part part = VocabularyOf(layer);
  LayerKind share = layer;
  share.operators = Take(layer.operators, part);
  const Operator& first = layer.operators[part.first];
  const bool is_head = layer.role == LayerRole::kHead;
  share.tied_parameters =
      is_head ? Share(layer.tied_parameters, first.out_features, shares) : int64_t{0};
  share.boundary_features = is_head ? 0 : first.out_features;
  for (Operator& op : share.operators) TakeShare(shares, op);
  return share;
}

}  // namespace stagecraft
