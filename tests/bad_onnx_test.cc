// Tests of ONNX files that are broken, have unknown operators or contradict themselves.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proto/onnx_subset.pb.h"
#include "tests/bad_input.h"

namespace stagecraft {
namespace {

using bad_input::Case;

// A matrix product and a ReLU, as an exporter with shape inference would write them.
class OnnxFile {
 public:
  OnnxFile() {
    Value(graph().add_input(), "x", {-1, 4});
    Weight("w", {4, 4});
    Node("MatMul", {"x", "w"}, "h", {-1, 4});
    Node("Relu", {"h"}, "y", {-1, 4});
  }
  onnx::GraphProto& graph() { return *model_.mutable_graph(); }
  onnx::NodeProto& node(int index) { return *graph().mutable_node(index); }
  void Weight(const std::string& name, const std::vector<int64_t>& dims) {
    onnx::TensorProto* weight = graph().add_initializer();
    weight->set_name(name);
    weight->set_data_type(1);
    for (const int64_t dim : dims) weight->add_dims(dim);
  }
  // Adds a node; without `dims` its output has no shape.
  onnx::NodeProto& Node(const std::string& type, const std::vector<std::string>& inputs,
                        const std::string& output, const std::vector<int64_t>& dims) {
    onnx::NodeProto* node = graph().add_node();
    node->set_op_type(type);
    node->set_name("make_" + output);
    for (const std::string& input : inputs) node->add_input(input);
    node->add_output(output);
    if (!dims.empty()) Value(graph().add_value_info(), output, dims);
    return *node;
  }
  // Sets name and shape of a value. Size -1 is the parameter "batch", and -2 is "tokens".
  static void Value(onnx::ValueInfoProto* value, const std::string& name,
                    const std::vector<int64_t>& dims) {
    value->set_name(name);
    auto* shape = value->mutable_type()->mutable_tensor_type()->mutable_shape();
    for (const int64_t dim : dims) {
      if (dim == -1) {
        shape->add_dim()->set_dim_param("batch");
      } else if (dim == -2) {
        shape->add_dim()->set_dim_param("tokens");
      } else {
        shape->add_dim()->set_dim_value(dim);
      }
    }
  }
  std::string Bytes() const { return model_.SerializeAsString(); }

 private:
  onnx::ModelProto model_;
};

struct BadOnnx {
  void (*spoil)(OnnxFile&);
  const char* wants;
};

const std::vector<BadOnnx> kBadOnnx = {
    {[](OnnxFile& f) {
       f.Node("Einsum", {"y"}, "z", {-1, 4});
     },
     "node 'make_z' (Einsum): operators of this type are not known"},
    {[](OnnxFile& f) { f.node(1).set_op_type(""); }, "node 'make_y' (): operators of this type"},
    {[](OnnxFile& f) { f.node(1).set_domain("my.domain"); }, "is of domain 'my.domain'"},
    {[](OnnxFile& f) { f.node(0).set_input(0, "y"); }, "node 'make_h' (MatMul): is on a cycle"},
    {[](OnnxFile& f) { f.node(1).set_input(0, "y"); }, "node 'make_y' (Relu): is on a cycle"},
    {[](OnnxFile& f) { f.graph().mutable_value_info()->Clear(); }, "the shape of 'h' is not"},
    {[](OnnxFile& f) { f.Node("Relu", {"y"}, "z", {}); }, "run shape inference first"},
    {[](OnnxFile& f) {
       f.Node("Relu", {"y"}, "z", {-1, -2});
     },
     "node 'make_z' (Relu): the shape of 'z'"},
    {[](OnnxFile& f) { f.graph().clear_input(); }, "node 'make_h' (MatMul): reads 'x', which"},
    {[](OnnxFile& f) { f.graph().clear_initializer(); }, "reads 'w', which nothing makes"},
    {[](OnnxFile& f) {
       f.Weight("w", {4, 4});
     },
     "initializer 'w' is there twice"},
    {[](OnnxFile& f) {
       f.Weight("v", {4, -4});
     },
     "initializer 'v': got a size of -4"},
    {[](OnnxFile& f) {
       f.Weight("v", {1LL << 40, 1LL << 40});
     },
     "initializer 'v': got a size"},
    {[](OnnxFile& f) {
       f.Node("Relu", {"y"}, "z", {-1, 0});
     },
     "tensor 'z': got a size of 0"},
    {[](OnnxFile& f) { f.Node("Relu", {"x"}, "y", {}); }, "makes 'y', which exists already"},
    {[](OnnxFile& f) { f.Node("Relu", {"x"}, "w", {}); }, "makes 'w', which exists already"},
    {[](OnnxFile& f) { f.node(1).clear_output(); }, "(Relu): has no output"},
    {[](OnnxFile& f) { f.node(0).mutable_input()->RemoveLast(); },
     "node 'make_h' (MatMul): input 1 is missing"},
    {[](OnnxFile& f) { f.graph().mutable_initializer(0)->set_dims(0, 5); },
     "node 'make_h' (MatMul): got 5 x 4 weights between 4 and 4 features"},
    {[](OnnxFile& f) { f.graph().mutable_initializer(0)->set_dims(1, 8); },
     "node 'make_h' (MatMul): got 4 x 8 weights between 4 and 4 features"},
    {[](OnnxFile& f) {
       f.Node("Conv", {"y", "w"}, "z", {-1, 4, 8, 8});
     },
     "node 'make_z' (Conv): got weights [4, 4]"},
    {[](OnnxFile& f) {
       f.Weight("v", {4, 4, 3, 3});
       f.Node("Conv", {"y", "v"}, "z", {-1, 4, 8, 8}).add_attribute()->set_name("group");
       f.node(2).mutable_attribute(0)->set_i(3);
     },
     "and 3 groups, want"},
    {[](OnnxFile& f) {
       f.Node("MaxPool", {"y"}, "z", {-1, 4}).add_output("places");
       OnnxFile::Value(f.graph().add_value_info(), "places", {-1, 4});
       f.Node("Relu", {"places"}, "q", {-1, 4});
     },
     "node 'make_q' (Relu): reads 'places', a further output"},
    {[](OnnxFile& f) { f.node(1).set_name("two\nlines"), f.node(1).set_op_type("No\nline"); },
     "operators of this type are not known"},
    {[](OnnxFile& f) { f.graph().clear_node(); }, "no node reads an input, want a network"},
    {[](OnnxFile& f) { f.graph().Clear(); }, "no node reads an input, want a network"},
    {[](OnnxFile& f) {
       f.graph().clear_node();
       f.Node("Flatten", {"x"}, "z", {-1, 4});
     },
     "no node computes anything, want a network"},
};

using BadOnnxTest = bad_input::FolderTest;

TEST_F(BadOnnxTest, NodesOfAnOnnxFileAreNamed) {
  const std::string sound = OnnxFile().Bytes();
  const Case right = ModelCase("right.onnx", sound, "");
  EXPECT_EQ(bad_input::RunLine(Expand(right.line)).code, kExitOk);
  std::vector<Case> cases;
  for (const BadOnnx& bad : kBadOnnx) {
    OnnxFile file;
    bad.spoil(file);
    cases.push_back(ModelCase(fmt::format("{}.onnx", cases.size()), file.Bytes(), bad.wants));
  }
  const char kNoModel[] = "is not an ONNX model, want a ModelProto with a graph";
  cases.push_back(ModelCase("short.onnx", sound.substr(0, sound.size() - 3), kNoModel));
  cases.push_back(ModelCase("empty.onnx", "", kNoModel));
  cases.push_back(ModelCase("text.onnx", "not a network", kNoModel));
  cases.push_back({"simulate --cluster h100-sxm:1x8 --model $T/missing.onnx", "cannot be read",
                   "$T/missing.onnx"});
  cases.push_back({right.line + " --tp 2", "tensor_parallel: 2"});
  cases.push_back({right.line + " --pp 8", "virtual stages 1 = 8 is more than the"});
  cases.push_back({right.line + " --ep 2", "has no experts"});
  ExpectRefused(cases);
}

}  // namespace
}  // namespace stagecraft
