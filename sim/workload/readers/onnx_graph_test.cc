#include "sim/workload/readers/onnx_graph.h"

#include <gtest/gtest.h>

#include <functional>

#include "costmodel/check.h"
#include "sim/workload/workload_proto.h"
#include "sim/workload/workload_to_proto.h"

namespace stagecraft {
namespace {

using Dims = std::vector<int64_t>;
constexpr int64_t kBatch = -1;  // a size called "batch"

// Builds a ModelProto as an exporter with shape inference would.
class Model {
 public:
  Model& Input(const std::string& name, const Dims& dims) {
    Shape(proto_.mutable_graph()->add_input(), name, dims);
    return *this;
  }
  Model& Weight(const std::string& name, const Dims& dims, int data_type = 1) {
    auto* weight = proto_.mutable_graph()->add_initializer();
    weight->set_name(name);
    weight->set_data_type(data_type);
    for (const int64_t dim : dims) weight->add_dims(dim);
    return *this;
  }
  // If `dims` is empty, there is no value_info.
  Model& Node(const std::string& op_type, const std::vector<std::string>& inputs,
              const std::string& output, const Dims& dims) {
    auto* node = proto_.mutable_graph()->add_node();
    node->set_op_type(op_type);
    node->set_name("make_" + output);
    for (const std::string& input : inputs) node->add_input(input);
    node->add_output(output);
    if (!dims.empty()) Shape(proto_.mutable_graph()->add_value_info(), output, dims);
    return *this;
  }
  onnx::NodeProto& Last() {
    return *proto_.mutable_graph()->mutable_node(proto_.graph().node_size() - 1);
  }
  Workload Build() const { return OnnxWorkload(proto_, "m.onnx"); }
  std::string Error() const {
    try {
      Build();
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }

 private:
  static void Shape(onnx::ValueInfoProto* value, const std::string& name, const Dims& dims) {
    value->set_name(name);
    auto* shape = value->mutable_type()->mutable_tensor_type()->mutable_shape();
    for (const int64_t dim : dims) {
      if (dim == kBatch) {
        shape->add_dim()->set_dim_param("batch");
      } else {
        shape->add_dim()->set_dim_value(dim);
      }
    }
  }
  onnx::ModelProto proto_;
};

// 3x3 convolution of an 8x8 image, ReLU, mean, ten classes.
Model Classifier(int64_t batch = kBatch) {
  Model m;
  m.Input("x", {batch, 3, 8, 8}).Weight("w", {4, 3, 3, 3}).Weight("b", {4});
  m.Weight("fc", {10, 4}).Weight("fc_b", {10});
  m.Node("Conv", {"x", "w", "b"}, "c", {batch, 4, 8, 8});
  m.Node("Relu", {"c"}, "r", {batch, 4, 8, 8});
  m.Node("GlobalAveragePool", {"r"}, "p", {batch, 4, 1, 1});
  m.Node("Flatten", {"p"}, "f", {batch, 4});
  m.Node("Gemm", {"f", "fc", "fc_b"}, "y", {batch, 10});
  auto* flip = m.Last().add_attribute();
  flip->set_name("transB");
  flip->set_i(1);
  return m;
}

TEST(OnnxGraphTest, CountsAClassifierThatCanBeCheckedInOnesHead) {
  const Workload net = Classifier().Build();
  EXPECT_EQ(net.Parameters(), 4 * 27 + 4 + 10 * 4 + 10);
  const double macs = net.TrainingFlopsPerToken(1).count() / 6;
  EXPECT_EQ(macs, 4 * 27 * 64 + 40);
  ASSERT_EQ(net.layer_count(), 2);
  EXPECT_EQ(net.layer(0).boundary_features * net.layer(0).boundary_positions, 4);
  EXPECT_EQ(net.layer(1).role, LayerRole::kHead);
  const Operator& conv = net.layer(0).operators[0];
  EXPECT_EQ(conv.positions, 64);
  EXPECT_EQ(conv.in_features, 27);
  EXPECT_EQ(conv.input_elements, 3 * 64);
  EXPECT_TRUE(net.lists_kernels);
}

TEST(OnnxGraphTest, BatchOfTheExportIsDividedOut) {
  const Workload one = Classifier().Build();
  const Workload eight = Classifier(8).Build();
  EXPECT_TRUE(one == eight);
}

TEST(OnnxGraphTest, CanBeWrittenToAWorkloadFile) {
  const Workload net = Classifier().Build();
  EXPECT_TRUE(WorkloadFromProto(WorkloadToProto(net), "x") == net);
}

TEST(OnnxGraphTest, ResidualBlocksAreLayers) {
  Model m;
  m.Input("x", {kBatch, 4, 8, 8}).Weight("stem", {4, 4, 1, 1});
  m.Node("Conv", {"x", "stem"}, "s0", {kBatch, 4, 8, 8});
  for (int block = 0; block < 3; ++block) {
    const std::string in = "s" + std::to_string(block);
    const std::string id = std::to_string(block);
    m.Weight("w" + id, {4, 4, 3, 3});
    m.Node("Conv", {in, "w" + id}, "c" + id, {kBatch, 4, 8, 8});
    m.Node("Add", {"c" + id, in}, "a" + id, {kBatch, 4, 8, 8});
    m.Node("Relu", {"a" + id}, "s" + std::to_string(block + 1), {kBatch, 4, 8, 8});
  }
  const Workload net = m.Build();
  ASSERT_EQ(net.layer_count(), 4);
  EXPECT_EQ(net.layer(1).boundary_features, 4 * 64);
  EXPECT_EQ(net.layers[1], net.layers[2]);
  EXPECT_TRUE(net.layer(1).operators[0].reads_layer_input);
}

TEST(OnnxGraphTest, MasksDoNotJoinLayersAndTiedTablesCountOnce) {
  Model m;
  m.Input("ids", {kBatch, 6}).Input("mask", {kBatch, 6}).Weight("scale", {});
  m.Weight("table", {100, 8}).Weight("w", {8, 8});
  m.Node("Mul", {"mask", "scale"}, "bias", {kBatch, 6});
  m.Node("Gather", {"table", "ids"}, "e", {kBatch, 6, 8});
  m.Node("MatMul", {"e", "w"}, "q", {kBatch, 6, 8});
  m.Node("Transpose", {"e"}, "t", {kBatch, 8, 6});
  m.Node("MatMul", {"q", "t"}, "scores", {kBatch, 6, 6});
  m.Node("Add", {"scores", "bias"}, "masked", {kBatch, 6, 6});
  m.Node("Softmax", {"masked"}, "soft", {kBatch, 6, 6});
  m.Node("MatMul", {"soft", "e"}, "o", {kBatch, 6, 8});
  m.Node("Transpose", {"table"}, "head", {8, 100});
  m.Node("MatMul", {"o", "head"}, "logits", {kBatch, 6, 100});
  m.Node("Add", {"logits", "bias"}, "y", {kBatch, 6, 100});
  const Workload net = m.Build();
  EXPECT_EQ(net.Parameters(), 100 * 8 + 8 * 8);
  ASSERT_EQ(net.layer_count(), 3);
  EXPECT_EQ(net.layer(2).tied_parameters, 800);
  const double macs = net.TrainingFlopsPerToken(1).count() / 6;
  EXPECT_EQ(macs, 6 * 8 * 8 + 2 * 6 * 6 * 8 + 6 * 8 * 100);
}

TEST(OnnxGraphTest, ShapeArithmeticIsNoWork) {
  Model m = Classifier();
  m.Weight("one", {1}, /*data_type=*/7);
  m.Node("Shape", {"y"}, "shape", {2}).Node("Gather", {"shape", "one"}, "n", {});
  m.Node("Reshape", {"y", "n"}, "z", {});
  EXPECT_TRUE(m.Build() == Classifier().Build());
}

TEST(OnnxGraphTest, NodesMayComeInAnyOrder) {
  Model m;
  m.Input("x", {1, 4}).Weight("w", {4, 4});
  m.Node("Relu", {"h"}, "y", {1, 4}).Node("MatMul", {"x", "w"}, "h", {1, 4});
  EXPECT_EQ(m.Build().layer(0).operators[0].kind, OperatorKind::kLinear);
}

TEST(OnnxGraphTest, NamesTheNodeAndItsType) {
  Model unknown = Classifier();
  unknown.Node("Einsum", {"y"}, "z", {kBatch, 10});
  EXPECT_EQ(unknown.Error(),
            "m.onnx: node 'make_z' (Einsum): operators of this type are not known");
  Model shapeless = Classifier();
  shapeless.Node("Relu", {"y"}, "z", {});
  EXPECT_EQ(shapeless.Error(),
            "m.onnx: node 'make_z' (Relu): the shape of 'z' is not in the file or has sizes "
            "without a number, want numbers for all but the batch: run shape inference first");
  Model cyclic;
  cyclic.Input("x", {1, 4}).Node("Add", {"x", "b"}, "a", {1, 4}).Node("Relu", {"a"}, "b", {1, 4});
  EXPECT_EQ(cyclic.Error(),
            "m.onnx: node 'make_a' (Add): is on a cycle or after one, want a graph without cycles");
  Model dangling;
  dangling.Input("x", {1, 4}).Node("Add", {"x", "q"}, "a", {1, 4});
  EXPECT_EQ(dangling.Error(), "m.onnx: node 'make_a' (Add): reads 'q', which nothing makes");
  Model twice = Classifier();
  twice.Node("Relu", {"x"}, "y", {1, 4});
  EXPECT_EQ(twice.Error(),
            "m.onnx: node 'make_y' (Relu): makes 'y', which exists already, want a new name");
}

TEST(OnnxGraphTest, RefusesWhatDoesNotFit) {
  const std::vector<std::function<void(Model&)>> breaks = {
      [](Model& m) {
        m.Weight("v", {4, 0, 3, 3}).Node("Conv", {"r", "v"}, "z", {1, 4, 8, 8});
      },
      [](Model& m) {
        m.Weight("v", {4, 4}).Node("Conv", {"r", "v"}, "z", {1, 4, 8, 8});
      },
      [](Model& m) {
        m.Node("Conv", {"r"}, "z", {1, 4, 8, 8});
      },
      [](Model& m) {
        m.Weight("v", {1LL << 40, 1LL << 40});
      },
      [](Model& m) { m.Weight("w", {1}); },
      [](Model& m) { m.Last().clear_attribute(); },
      [](Model& m) {
        m.Node("Relu", {"r"}, "z", {0, 4});
      },
      [](Model& m) {
        m.Node("Relu", {"r"}, "z", {1LL << 40, 1LL << 40});
      },
      [](Model& m) {
        m.Node("Relu", {"r"}, "z", {1, 4});
        m.Last().set_domain("my.domain");
      },
      [](Model& m) {
        m.Weight("v", {4, 4, 3, 3}).Node("Conv", {"r", "v"}, "z", {1, 4, 8, 8});
        auto* group = m.Last().add_attribute();
        group->set_name("group");
        group->set_i(3);
      },
      [](Model& m) {
        m.Node("MaxPool", {"r"}, "z", {kBatch, 4, 4, 4});
        m.Last().add_output("places");
        m.Node("Relu", {"places"}, "q", {kBatch, 4, 4, 4});
      },
  };
  for (size_t i = 0; i < breaks.size(); ++i) {
    Model m = Classifier();
    breaks[i](m);
    EXPECT_TRUE(m.Error().starts_with("m.onnx: ")) << i << ": " << m.Error();
  }
  EXPECT_EQ(Model().Error(), "m.onnx: no node reads an input, want a network");
  Model views;
  views.Input("x", {1, 4}).Node("Flatten", {"x"}, "y", {1, 4});
  EXPECT_EQ(views.Error(), "m.onnx: no node computes anything, want a network");
}

}  // namespace
}  // namespace stagecraft
