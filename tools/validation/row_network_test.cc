// Predictions of rows by the networks that they name.
#include <gtest/gtest.h>

#include "tools/validation/prediction_testing.h"
#include "tools/validation/test_rows.h"

namespace stagecraft {
namespace {

// A row of data parallelism on one node, with as few columns as older papers state.
MeasuredRow DataParallel(const char* kind, const char* model) {
  MeasuredRow row;
  row.source = "paper";
  row.stack = "ddp";
  row.model_kind = kind;
  row.model = model;
  row.micro_batch = 32;
  row.n_gpus = row.gpus_per_node = 4;
  row.n_nodes = 1;
  row.gpu_id = "v100-sxm2-16gb";
  row.intra_kind = "nvlink2-cube-mesh";
  row.dtype = "fp16";
  row.metric_kind = "samples_per_s";
  return row;
}

TEST(RowNetworkTest, BertIsKnownByItsName) {
  const Prediction prediction = Predict(DataParallel("bert", "BERT-base (SQuAD)"));
  ASSERT_TRUE(prediction.value.has_value()) << prediction.reason;
  for (const char* used : {"layers 12", "hidden 768", "heads 12", "head with two numbers per token",
                           "seq 384", "vocab 30522", "global_batch 128"}) {
    EXPECT_TRUE(Uses(prediction, used)) << used;
  }
  // Each of the blocks' 85 M parameters takes 6 x 384 FLOPs per sample. The rate is less than these
  // alone allow at the peak of 4 x 125 TFLOP/s, and more than a tenth of that.
  const double at_peak = 4 * 125e12 / (6 * 85e6 * 384);
  EXPECT_LT(*prediction.value, at_peak);
  EXPECT_GT(*prediction.value, at_peak / 10);
  EXPECT_GT(prediction.step->model_flops, 0);
}

TEST(RowNetworkTest, ImagesAreOnePositionAndTrainWithSgd) {
  MeasuredRow row = DataParallel("resnet50", "ResNet50-v1.5");
  const Prediction prediction = Predict(row);
  ASSERT_TRUE(prediction.value.has_value()) << prediction.reason;
  EXPECT_TRUE(Uses(prediction, "network resnet50"));
  EXPECT_TRUE(Uses(prediction, "optimizer sgd"));
  // An image takes 3 passes of 4.1 G multiplications and additions, hence 6 x 4.1 GFLOPs.
  EXPECT_LT(*prediction.value, 4 * 125e12 / (6 * 4.0e9));
  row.metric_kind = "mfu";
  row.flop_convention = "3x-full-attention";
  EXPECT_EQ(Predict(row).reason, "FLOP conventions count only transformers");
  EXPECT_TRUE(Uses(Predict(DataParallel("resnet18", "ResNet-18")), "network resnet18-cifar"));
}

TEST(RowNetworkTest, DetectorsAndSpeechAreOnePositionAndTrainWithSgd) {
  const Prediction coco = Predict(DataParallel("yolov3", "YOLOv3"));
  const Prediction voc = Predict(DataParallel("yolov3", "YOLOv3 (PASCAL VOC)"));
  const Prediction speech = Predict(DataParallel("deepspeech2", "DeepSpeech2 (CMU ARCTIC)"));
  ASSERT_TRUE(coco.value.has_value()) << coco.reason;
  ASSERT_TRUE(speech.value.has_value()) << speech.reason;
  EXPECT_TRUE(Uses(coco, "network yolov3"));
  EXPECT_TRUE(Uses(voc, "network yolov3-voc"));
  EXPECT_TRUE(Uses(speech, "network deepspeech2"));
  EXPECT_TRUE(Uses(coco, "optimizer sgd"));
  EXPECT_TRUE(Uses(speech, "optimizer sgd"));
  // An image takes 3 passes of 65.9 GFLOPs, an utterance 3 of 27.8.
  EXPECT_LT(*coco.value, 4 * 125e12 / (3 * 65.9e9));
  EXPECT_LT(*speech.value, 4 * 125e12 / (3 * 27.8e9));
}

TEST(RowNetworkTest, TranslatorsCountTokensOfBothSides) {
  MeasuredRow row = DataParallel("gnmt", "GNMT-v2");
  const double pairs = Predict(row).value.value();
  row.metric_kind = "tokens_per_s";
  const double sentence = static_cast<double>(StackTable::Embedded().sentence_tokens());
  EXPECT_NEAR(Predict(row).value.value(), 2 * sentence * pairs, 1e-6 * pairs);
}

TEST(RowNetworkTest, SomeSourcesCountAStepOnEveryRank) {
  MeasuredRow row = DataParallel("resnet50", "ResNet-50");
  row.metric_kind = "step_time";
  const double once = Predict(row).value.value();
  row.source = "Gavel (OSDI20) measured throughputs";
  const Prediction every = Predict(row);
  EXPECT_DOUBLE_EQ(*every.value, once / 4);
  EXPECT_TRUE(Uses(every, "steps counted on every rank"));
}

// Kepler has no 16-bit GEMMs, and the row does not state how its four GPUs are wired.
TEST(RowNetworkTest, OldGpusAreOnPcie) {
  MeasuredRow row = DataParallel("resnet50", "ResNet-50");
  row.gpu_id = "k80-12gb";
  row.intra_kind = "";
  row.dtype = "fp32";
  const Prediction prediction = Predict(row);
  ASSERT_TRUE(prediction.value.has_value()) << prediction.reason;
  EXPECT_TRUE(Uses(prediction, "wiring pcie3"));
}

TEST(RowNetworkTest, AnEncoderDecoderHoldsItsParametersAndActivations) {
  MeasuredRow row = Gpt();
  row.model_kind = "t5";
  row.layers = row.encoder_layers = row.decoder_layers = 12;
  row.hidden = 768;
  row.heads = 12;
  row.ffn = 3072;
  row.vocab = 29184;
  row.seq = row.encoder_seq = 512;
  row.decoder_seq = 128;
  row.micro_batch = 4;
  row.tp = row.pp = 1;
  row.dp = row.n_gpus = 8;
  row.n_nodes = 1;
  row.zero = "0";
  row.metric_kind = "peak_memory_allocated";
  row.rank = "max";
  const Prediction prediction = Predict(row);
  ASSERT_TRUE(prediction.value.has_value()) << prediction.reason;
  // The blocks have 12 x (12 + 16) x 768^2 parameters and the embedding 29184 x 768, of 18 bytes
  // each: 4 GB. Activations come on top.
  EXPECT_GT(*prediction.value, 3.9e9);
  EXPECT_LT(*prediction.value, 8e9);
}

TEST(RowNetworkTest, RedistributedLayersLeaveTheHeadItsShare) {
  MeasuredRow row = Gpt();
  row.schedule = "1f1b";
  row.interleave = 1;
  row.layers = 32;
  row.vocab_placement = "redistributed";
  // Per token, the forward of a block takes 24 x 1024^2 + 2 x 1024^2 FLOPs, and that of the head
  // 2 x 1024 x 262144, as many as 19.7 blocks.
  row.vocab = 262144;
  EXPECT_TRUE(Uses(Predict(row), "stage_layers 10,11,11,0"));
  row.vocab = 32768;  // as many as 2.5 blocks
  EXPECT_TRUE(Uses(Predict(row), "stage_layers 8,9,9,6"));
}

// The head is as large as 262144 / (12 x 4096) = 5.3 blocks, of which the network has 8: the last
// of four stages has 7.3, or each of them 3.3, 0.46 times as many.
TEST(RowNetworkTest, RowsSayWhichStagesHoldTheVocabulary) {
  MeasuredRow row = Gpt();
  row.schedule = "1f1b";
  row.interleave = 1;
  row.hidden = 4096;
  row.heads = 32;
  row.vocab = 262144;
  row.global_batch = 512;
  const double whole = *Predict(row).value;
  for (const char* placement : {"vocab-1", "vocab-2", "interlaced"}) {
    row.vocab_placement = placement;
    const double shared = *Predict(row).value;
    EXPECT_LT(shared, 0.65 * whole) << placement;
    EXPECT_GT(shared, 0.4 * whole) << placement;
  }
}

}  // namespace
}  // namespace stagecraft
