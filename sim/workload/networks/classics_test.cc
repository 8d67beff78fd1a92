#include "sim/workload/networks/classics.h"

#include <gtest/gtest.h>

#include "costmodel/check.h"
#include "sim/workload/networks/classics_networks.h"
#include "sim/workload/workload_proto.h"
#include "sim/workload/workload_to_proto.h"

namespace stagecraft {
namespace {

Workload Classic(const std::string& name) {
  return BuildClassic(name, AttentionBackend::kFlash).value();
}

// Returns the forward multiply-accumulates of one sample; training does three times as many FLOPs,
// and a multiply-accumulate is two.
double GigaMacs(const Workload& workload, int64_t sequence = 1) {
  return workload.TrainingFlopsPerToken(sequence).count() * static_cast<double>(sequence) / 6e9;
}

const Operator& Named(const LayerKind& kind, const std::string& name) {
  for (const Operator& op : kind.operators) {
    if (op.name == name) return op;
  }
  throw InputError(kind.name + " has no " + name);
}

// Returns the elements that a layer keeps per sample, each counted as one.
int64_t SavedElements(const LayerKind& kind) {
  int64_t elements = 0;
  for (const Operator& op : kind.operators) {
    for (const SavedTensor& tensor : op.saved) elements += tensor.features * op.positions;
  }
  return elements;
}

// 13 convolutions of VGG-16 have windows of 3 x 3; so have 16 of ResNet-18's 20, and three of these
// move by two elements.
TEST(ClassicsTest, WinogradSuitsWindowsOfThreeThatMoveByOne) {
  const auto suited = [](const Workload& network) {
    int count = 0;
    for (const int kind : network.layers) {
      for (const Operator& op : network.kinds[kind].operators) count += SuitsWinograd(op) ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(suited(Classic("vgg16")), 13);
  EXPECT_EQ(suited(Classic("resnet18")), 13);
  EXPECT_EQ(suited(Classic("gnmt-8")), 0);
}

TEST(ClassicsTest, StemOfResNetHasShapesThatCanBeCheckedInOnesHead) {
  const Workload net = Classic("resnet18");
  const LayerKind& stem = net.layer(0);
  const Operator& conv = Named(stem, "conv_0");
  EXPECT_EQ(conv.in_features, 3 * 7 * 7);
  EXPECT_EQ(conv.positions, 112 * 112);
  EXPECT_EQ(conv.input_elements, 3 * 224 * 224);
  EXPECT_EQ(conv.parameters, 64 * 147);
  EXPECT_EQ(stem.boundary_features, 64);
  EXPECT_EQ(stem.boundary_positions, 56 * 56);
}

struct Published {
  const char* name;
  int64_t parameters;
  double giga_macs;
};

class PublishedTest : public testing::TestWithParam<Published> {};

TEST_P(PublishedTest, CountsParametersExactlyAndMultiplyAccumulatesWithinOnePercent) {
  const Workload net = Classic(GetParam().name);
  EXPECT_EQ(net.Parameters(), GetParam().parameters);
  EXPECT_NEAR(GigaMacs(net) / GetParam().giga_macs, 1, 0.01);
  EXPECT_EQ(net.max_sequence, 1);
  EXPECT_EQ(net.layer(0).role, LayerRole::kEmbedding);
  EXPECT_EQ(net.layer(net.layer_count() - 1).role, LayerRole::kHead);
}

// Parameters and GFLOPS are from torchvision's table of weights, for CIFAR from
// github.com/kuangliu/pytorch-cifar.
INSTANTIATE_TEST_SUITE_P(Torchvision, PublishedTest,
                         testing::Values(Published{"vgg16", 138'357'544, 15.47},
                                         Published{"alexnet", 61'100'840, 0.714},
                                         Published{"resnet18", 11'689'512, 1.814},
                                         Published{"resnet50", 25'557'032, 4.089},
                                         Published{"resnet101", 44'549'160, 7.801},
                                         Published{"inception-v3", 23'834'568, 5.713},
                                         Published{"resnet18-cifar", 11'173'962, 0.5559}),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           std::erase(name, '-');
                           return name;
                         });

// torchgpipe's README: 362.2 M, 2.21 B, 4.99 B, 7.80 B.
TEST(ClassicsTest, UNetsHaveTheParametersOfTorchgpipe) {
  const auto millions = [](int convolutions, int64_t channels) {
    const Workload net = BuildUNet("unet", {convolutions, channels}, 192);
    return static_cast<double>(net.Parameters()) / 1e6;
  };
  EXPECT_NEAR(millions(6, 72), 362.2, 0.05);
  EXPECT_NEAR(millions(11, 128), 2210, 5);
  EXPECT_NEAR(millions(24, 128), 4990, 5);
  EXPECT_NEAR(millions(24, 160), 7800, 5);
}

// torchgpipe's README: 81.5 M, 319.0 M, 542.7 M, 1.06 B.
TEST(ClassicsTest, AmoebaNetsHaveTheParametersOfTorchgpipe) {
  const auto millions = [](int cells, int64_t filters) {
    const Workload net = BuildAmoebaNetD("amoebanet-d", {cells, filters}, 224);
    return static_cast<double>(net.Parameters()) / 1e6;
  };
  EXPECT_NEAR(millions(18, 208), 81.5, 0.05);
  EXPECT_NEAR(millions(18, 416), 319.0, 0.05);
  EXPECT_NEAR(millions(18, 544), 542.7, 0.05);
  EXPECT_NEAR(millions(36, 544), 1060, 5);
}

// 160,671,297 is what NVIDIA's training log prints; PipeDream's profiles, with
// two embedding tables, hold 775 and 1,111 MB in fp32.
TEST(ClassicsTest, GnmtHasThePublishedParameters) {
  EXPECT_EQ(Classic("gnmt-8").Parameters(), 160'671'297);
  EXPECT_NEAR(4e-6 * static_cast<double>(BuildGnmt("g", 4, false).Parameters()), 775, 0.5);
  EXPECT_NEAR(4e-6 * static_cast<double>(BuildGnmt("g", 8, false).Parameters()), 1111, 0.5);
}

// fairseq's log: "num. model params: 209911808".
TEST(ClassicsTest, TransformerHasThePublishedParameters) {
  EXPECT_EQ(Classic("transformer-big").Parameters(), 209'911'808);
  EXPECT_EQ(Classic("transformer-base").Parameters(), 44'138'496 + 32'768 * 512);
}

// 191,950,298 is what NVIDIA's training log prints for the base.
TEST(ClassicsTest, TransformerXlHasThePublishedParameters) {
  EXPECT_EQ(Classic("transformer-xl-base").Parameters(), 191'950'298);
  // The sum of its tensors' sizes; 285 M is what Hugging Face's hub shows.
  EXPECT_EQ(Classic("transformer-xl-large").Parameters(), 285'167'482);
}

TEST(ClassicsTest, SsdPredictsFourCornersAndEightyOneClassesForEveryBox) {
  const Workload net = Classic("ssd300");
  const LayerKind& head = net.layer(net.layer_count() - 1);
  int64_t corners = 0;
  int64_t classes = 0;
  for (size_t v = 0; v < head.operators.size(); v += 3) {
    corners += head.operators[v].positions * head.operators[v].out_features;
    classes += head.operators[v + 1].positions * head.operators[v + 1].out_features;
  }
  EXPECT_EQ(corners, 4 * 8732);
  EXPECT_EQ(classes, 81 * 8732);
}

TEST(ClassicsTest, EqualBlocksAreOneKindAndBackwardKeepsEachTensorOnce) {
  const Workload net = Classic("resnet50");
  EXPECT_EQ(net.layer_count(), 1 + 3 + 4 + 6 + 3 + 1);
  EXPECT_EQ(net.layers[5], net.layers[6]);  // blocks 2 and 3 of the second group
  // Input 512, conv and ReLU outputs 128 twice each, conv output 512; the
  // block's own output is the next block's input.
  EXPECT_EQ(SavedElements(net.layer(5)), (512 + 4 * 128 + 512) * 28 * 28);
  const Operator& relu = Named(net.layer(5), "relu_9");
  EXPECT_EQ(relu.backward_elements, (3 + 3) * 512);  // the shortcut's gradient is added
}

TEST(ClassicsTest, TensorsThatSkipLayersTravelWithTheBoundary) {
  const Workload unet = Classic("unet");
  int64_t widest = 0;
  for (const LayerKind& kind : unet.kinds) {
    if (kind.boundary_positions == 1) widest = std::max(widest, kind.boundary_features);
  }
  const int64_t first_map = 64 * 192 * 192;
  EXPECT_GT(widest, first_map * (1 + 1 / 2.0 + 1 / 4.0 + 1 / 8.0));
  const Workload gnmt = Classic("gnmt-8");
  EXPECT_EQ(gnmt.layer(4).boundary_features, 1024);      // the encoder's output
  EXPECT_EQ(gnmt.layer(5).boundary_features, 2 * 1024);  // and the attention's context
}

TEST(ClassicsTest, NetworksOfImagesListKernels) {
  for (const char* name : {"resnet50", "vgg16", "unet", "ssd300"}) {
    EXPECT_TRUE(Classic(name).lists_kernels) << name;
  }
  for (const char* name : {"gnmt-8", "transformer-base", "transformer-xl-base"}) {
    EXPECT_FALSE(Classic(name).lists_kernels) << name;
  }
}

TEST(ClassicsTest, EveryClassicCanBeWrittenToAFileAndReadBack) {
  for (const std::string& name : ClassicNames()) {
    const Workload net = Classic(name);
    EXPECT_TRUE(WorkloadFromProto(WorkloadToProto(net), name) == net) << name;
  }
}

TEST(ClassicsTest, TakesTheSideOfTheImageAsASuffix) {
  const double usual = GigaMacs(Classic("ResNet50"));
  const Workload small = Classic("resnet50@112");
  EXPECT_EQ(small.name, "resnet50@112");
  EXPECT_EQ(small.Parameters(), 25'557'032);
  EXPECT_NEAR(GigaMacs(small) / usual, 0.25, 0.03);
  for (const std::string& name : ClassicNames()) EXPECT_TRUE(Classic(name).Parameters() > 0);
}

TEST(ClassicsTest, BuildsAtTheSmallestSizesItAllows) {
  for (const char* name :
       {"vgg16@32", "alexnet@63", "resnet18@32", "resnet18-cifar@8", "inception-v3@75", "unet@32",
        "vgg16@4096", "yolov3@32", "deepspeech2@1", "deepspeech2@4096"}) {
    EXPECT_GT(Classic(name).Parameters(), 0) << name;
  }
}

TEST(ClassicsTest, RefusesSizesThatDoNotFit) {
  for (const char* name :
       {"resnet50@", "resnet50@31", "resnet50@4097", "resnet50@224x224", "unet@100", "yolov3@400",
        "gnmt-8@224", "resnet50@99999999999999999999"}) {
    EXPECT_THROW(Classic(name), InputError) << name;
  }
  EXPECT_FALSE(BuildClassic("resnet", AttentionBackend::kFlash).has_value());
}

}  // namespace
}  // namespace stagecraft
