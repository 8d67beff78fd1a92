#include "sim/workload/readers/onnx_operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "costmodel/divide.h"
#include "sim/workload/readers/onnx_elementwise.h"

namespace stagecraft {
namespace {

constexpr int64_t kMostGroups = 1 << 30;  // fits an int

bool IsOneOf(std::string_view op_type, std::initializer_list<std::string_view> types) {
  return std::find(types.begin(), types.end(), op_type) != types.end();
}

int64_t Attribute(const onnx::NodeProto& node, std::string_view name, int64_t otherwise) {
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.name() == name) return attribute.i();
  }
  return otherwise;
}

std::string NodeName(const onnx::NodeProto& node) {
  std::string name = node.op_type();
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return name;
}

}  // namespace

bool IsOnnxProduct(const std::string& op_type) {
  return IsOneOf(op_type, {"Conv", "ConvTranspose", "Gemm", "MatMul", "Gather"});
}

void OnnxEmitter::AddInput(const std::string& name) {
  const OnnxTensor& input = tensors_.at(name);
  const int64_t elements = input.has_shape ? DivideUp(input.Elements(), tensors_.batch()) : 1;
  made_[name] = net_.Input(elements, 1, 1);
}

void OnnxEmitter::Emit(const onnx::NodeProto& node) {
  const std::string& type = node.op_type();
  const bool is_known_domain = IsOneOf(node.domain(), {"", "ai.onnx", "com.microsoft"});
  if (node.output_size() == 0 || node.output(0).empty()) tensors_.Fail(node, "has no output");
  if (!is_known_domain) {
    tensors_.Fail(node, "is of domain '" + node.domain() + "', want an operator of ONNX's own");
  }
  if (IsOneOf(type, {"Conv", "ConvTranspose"})) return Convolve(node, type != "Conv");
  if (IsOneOf(type, {"Gemm", "MatMul"})) return Multiply(node);
  if (type == "Gather" && tensors_.at(Input(node, 0)).is_static) return LookUp(node);
  if (IsOneOf(type, {"BatchNormalization", "InstanceNormalization", "LayerNormalization",
                     "GroupNormalization", "SimplifiedLayerNormalization", "RMSNormalization",
                     "LRN", "LpNormalization"})) {
    return Normalize(node);
  }
  if (IsOneOf(type, {"MaxPool", "AveragePool", "LpPool", "GlobalAveragePool", "GlobalMaxPool"})) {
    return Pool(node);
  }
  if (IsOneOf(type, {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Slice", "Split"})) {
    return View(node);
  }
  if (IsOneOf(type, {"Transpose", "Concat", "Gather", "GatherElements", "GatherND", "Pad", "Expand",
                     "Tile", "Resize", "Upsample", "DepthToSpace", "SpaceToDepth"})) {
    return Copy(node);
  }
  if (FindElementwise(type)) return Elementwise(node);
  tensors_.Fail(node, "operators of this type are not known");
}

const std::string& OnnxEmitter::Input(const onnx::NodeProto& node, int index) const {
  if (index >= node.input_size() || node.input(index).empty()) {
    tensors_.Fail(node, fmt::format("input {} is missing", index));
  }
  return node.input(index);
}

std::vector<Tensor> OnnxEmitter::Dynamic(const onnx::NodeProto& node, int first) const {
  std::vector<Tensor> inputs;
  std::set<std::string> seen;
  for (int i = first; i < node.input_size(); ++i) {
    const std::string& name = node.input(i);
    if (name.empty() || tensors_.at(name).is_static || !seen.insert(name).second) continue;
    const auto found = made_.find(name);
    if (found == made_.end()) {
      tensors_.Fail(
          node, fmt::format(
                    "reads '{}', a further output of an operator: only the first one is supported",
                    name));
    }
    // Views of one tensor are one operand.
    const bool is_new = std::none_of(inputs.begin(), inputs.end(), [&](const Tensor& input) {
      return input.id == found->second.id;
    });
    if (is_new) inputs.push_back(found->second);
  }
  return inputs;
}

int64_t OnnxEmitter::Parameters(const onnx::NodeProto& node, int index) {
  if (index >= node.input_size() || node.input(index).empty()) return 0;
  const OnnxTensor& tensor = tensors_.at(node.input(index));
  if (!tensor.is_static || !tensor.is_trained) return 0;
  const int64_t count = tensors_.Shaped(node.input(index), node).Elements();
  const std::string& key = tensor.initializer.empty() ? node.input(index) : tensor.initializer;
  if (std::exchange(is_counted_[key], true)) net_.TieParameters(count);
  return count;
}

void OnnxEmitter::Add(const onnx::NodeProto& node, Operator op, const std::vector<Tensor>& inputs,
                      const std::vector<Tensor>& keeps, bool keeps_output) {
  const Tensor out{-1, Elements(node.output(0), node), 1, 1};
  const Tensor made = net_.Emit(std::move(op), inputs, out, keeps);
  if (keeps_output) net_.Keep(made);
  made_[node.output(0)] = made;
}

// Weights are [out, in / groups, window...]; of a transposed convolution, whose
// rows are the input's pixels, [in, out / groups, window...].
void OnnxEmitter::Convolve(const onnx::NodeProto& node, bool is_transposed) {
  const std::string& in_name = Input(node, 0);
  const std::vector<int64_t>& weights = tensors_.Shaped(Input(node, 1), node).dims;
  const std::vector<int64_t>& rows =
      tensors_.Shaped(is_transposed ? in_name : node.output(0), node).dims;
  const std::vector<Tensor> inputs = Dynamic(node);
  const int64_t groups = Attribute(node, "group", 1);
  const int64_t window = weights.size() < 3 ? 0 : ElementsOf(weights, 2);
  if (window == 0 || rows.size() != weights.size() || weights[0] * weights[1] == 0 || groups < 1 ||
      groups > kMostGroups || weights[0] % groups != 0) {
    tensors_.Fail(
        node, fmt::format("got weights [{}], a map [{}] and {} groups, want as many sizes of the "
                          "weights as of the map, at least 3, and groups that divide the first",
                          fmt::join(weights, ", "), fmt::join(rows, ", "), groups));
  }
  Operator op{.name = NodeName(node), .kind = OperatorKind::kConvolution};
  op.positions = ElementsOf(rows, 2);
  op.in_features = is_transposed ? weights[0] / groups : weights[1] * window;
  op.out_features = is_transposed ? weights[1] * groups * window : weights[0];
  op.groups = static_cast<int>(groups);
  op.input_elements = Elements(in_name, node);
  op.parameters = Parameters(node, 1) + Parameters(node, 2);
  Add(node, std::move(op), inputs, inputs);
}

// Multiplies rows by a matrix. If the matrix is not a weight (scores of attention), it is a GEMM
// without parameters.
void OnnxEmitter::Multiply(const onnx::NodeProto& node) {
  const std::vector<int64_t>& left = tensors_.Shaped(Input(node, 0), node).dims;
  const std::vector<int64_t>& out = tensors_.Shaped(node.output(0), node).dims;
  Input(node, 1);
  const bool is_transposed = node.op_type() == "Gemm" && Attribute(node, "transA", 0) != 0;
  if (left.empty() || out.empty() || (is_transposed && left.size() != 2)) {
    tensors_.Fail(node, "got a number, want a matrix");
  }
  Operator op{.name = NodeName(node), .kind = OperatorKind::kLinear};
  op.in_features = is_transposed ? left[0] : left.back();
  op.out_features = out.back();
  CheckMatrix(node, op);
  op.positions = DivideUp(ElementsOf(out) / out.back(), tensors_.batch());
  for (int i = 0; i < node.input_size(); ++i) op.parameters += Parameters(node, i);
  const std::vector<Tensor> inputs = Dynamic(node);
  Add(node, std::move(op), inputs, inputs);
}

// Checks that a matrix that is in the file has the sizes of its operand and its result.
void OnnxEmitter::CheckMatrix(const onnx::NodeProto& node, const Operator& op) const {
  const OnnxTensor& matrix = tensors_.at(node.input(1));
  if (!matrix.is_static || !matrix.has_shape || matrix.dims.size() < 2) return;
  int64_t rows = matrix.dims[matrix.dims.size() - 2];
  int64_t columns = matrix.dims.back();
  if (node.op_type() == "Gemm" && Attribute(node, "transB", 0) != 0) std::swap(rows, columns);
  if (rows == op.in_features && columns == op.out_features) return;
  tensors_.Fail(
      node, fmt::format("got {} x {} weights between {} and {} features, want {} x {}", rows,
                        columns, op.in_features, op.out_features, op.in_features, op.out_features));
}

void OnnxEmitter::LookUp(const onnx::NodeProto& node) {
  const int64_t elements = Elements(node.output(0), node);
  Operator op{.name = NodeName(node), .kind = OperatorKind::kEmbedding};
  op.parameters = Parameters(node, 0);
  op.forward_elements = 2 * elements;
  op.backward_elements = 3 * elements;
  Add(node, std::move(op), Dynamic(node, 1), {});
}

// Statistics of a whole batch or image come before the output: memory is read
// twice. Rows of a layer norm stay in registers.
void OnnxEmitter::Normalize(const onnx::NodeProto& node) {
  const std::vector<Tensor> inputs = Dynamic(node);
  const int64_t elements = Elements(Input(node, 0), node);
  const bool is_twice = IsOneOf(
      node.op_type(), {"BatchNormalization", "InstanceNormalization", "GroupNormalization"});
  Operator op{.name = NodeName(node), .kind = OperatorKind::kNorm};
  op.in_features = elements;
  op.forward_elements = (is_twice ? 3 : 2) * elements;
  op.backward_elements = (is_twice ? 5 : 3) * elements;
  op.kernels = is_twice ? 2 : 1;
  // Inputs 3 and 4 of batch norm are running statistics.
  op.parameters = Parameters(node, 1) + Parameters(node, 2);
  Add(node, std::move(op), inputs, inputs);
}

void OnnxEmitter::Pool(const onnx::NodeProto& node) {
  constexpr int kPlaceBytes = 8;  // PyTorch's index of a maximum
  const std::vector<Tensor> inputs = Dynamic(node);
  const int64_t out = Elements(node.output(0), node);
  const bool keeps_places = IsOneOf(node.op_type(), {"MaxPool", "GlobalMaxPool"});
  Operator op{.name = NodeName(node), .in_features = Elements(Input(node, 0), node)};
  op.forward_elements = op.backward_elements =
      op.in_features + out + (keeps_places ? kPlaceBytes / 2 * out : 0);
  if (keeps_places) op.saved = {{"maximum_places", out, kPlaceBytes}};
  Add(node, std::move(op), inputs, inputs);
}

void OnnxEmitter::Elementwise(const onnx::NodeProto& node) {
  const ElementwiseRule rule = FindElementwise(node.op_type()).value();
  const int64_t out = Elements(node.output(0), node);
  Operator op{.name = NodeName(node)};
  for (int i = 0; i < node.input_size(); ++i) {
    const std::string& name = node.input(i);
    if (name.empty()) continue;
    op.parameters += Parameters(node, i);
    if (!tensors_.at(name).is_static) op.in_features += Elements(name, node);
  }
  op.forward_elements = op.in_features + out;
  const int64_t kept = rule.keeps == Keeps::kInputs   ? op.in_features
                       : rule.keeps == Keeps::kOutput ? out
                                                      : 0;
  if (rule.has_backward) op.backward_elements = out + kept + op.in_features;
  if (node.op_type() == "Dropout") op.saved = {{"dropout_mask", out, 1}};
  const std::vector<Tensor> inputs = Dynamic(node);
  Add(node, std::move(op), inputs, rule.keeps == Keeps::kInputs ? inputs : std::vector<Tensor>(),
      rule.keeps == Keeps::kOutput);
}

void OnnxEmitter::Copy(const onnx::NodeProto& node) {
  Operator op{.name = NodeName(node)};
  op.forward_elements = op.backward_elements = 2 * Elements(node.output(0), node);
  Add(node, std::move(op), Dynamic(node), {});
}

// A view has the memory of its first operand, which is what is kept.
void OnnxEmitter::View(const onnx::NodeProto& node) {
  const std::string& name = Input(node, 0);
  const auto found = made_.find(name);
  if (tensors_.at(name).is_static || found == made_.end()) {
    tensors_.Fail(node, fmt::format("'{}' is not an output that is supported", name));
  }
  const Tensor same = found->second;
  for (const std::string& output : node.output()) {
    if (!output.empty()) made_[output] = same;
  }
}

}  // namespace stagecraft
