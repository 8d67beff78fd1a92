#include "sim/workload/readers/onnx_elementwise.h"

#include <algorithm>

namespace stagecraft {
namespace {

constexpr std::string_view kKeepsInputs[] = {"Abs",         "BiasGelu",   "Celu",
                                             "Clip",        "Cos",        "Div",
                                             "Erf",         "FastGelu",   "Gelu",
                                             "HardSigmoid", "HardSwish",  "LeakyRelu",
                                             "Log",         "Max",        "Min",
                                             "Mish",        "Mul",        "PRelu",
                                             "Pow",         "ReduceL2",   "ReduceMax",
                                             "ReduceMin",   "ReduceProd", "Sin",
                                             "Softplus",    "Softsign",   "ThresholdedRelu"};
constexpr std::string_view kKeepsOutput[] = {"Elu",  "Exp",     "LogSoftmax", "Reciprocal", "Relu",
                                             "Selu", "Sigmoid", "Softmax",    "Sqrt",       "Tanh"};
constexpr std::string_view kKeepsNothing[] = {"Cast",       "Dropout",   "Mean", "Neg",
                                              "ReduceMean", "ReduceSum", "Where"};
// These have no kernel in the backward: gradients pass as they are, or there are none.
constexpr std::string_view kNoBackward[] = {"Add",     "And",  "Ceil", "Equal", "Floor",
                                            "Greater", "Less", "Not",  "Or",    "Round",
                                            "Sign",    "Sub",  "Sum"};

template <size_t N>
bool Holds(const std::string_view (&types)[N], std::string_view type) {
  return std::find(types, types + N, type) != types + N;
}

}  // namespace

std::optional<ElementwiseRule> FindElementwise(std::string_view op_type) {
  if (Holds(kKeepsInputs, op_type)) return ElementwiseRule{Keeps::kInputs, true};
  if (Holds(kKeepsOutput, op_type)) return ElementwiseRule{Keeps::kOutput, true};
  if (Holds(kKeepsNothing, op_type)) return ElementwiseRule{Keeps::kNothing, true};
  if (Holds(kNoBackward, op_type)) return ElementwiseRule{Keeps::kNothing, false};
  return std::nullopt;
}

}  // namespace stagecraft
