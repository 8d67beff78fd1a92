#include "sim/workload/early_exit.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "costmodel/error_of.h"
#include "sim/workload/layer_gradients.h"
#include "sim/workload/layer_state.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/encoder.h"
#include "sim/workload/networks/test_decoders.h"
#include "sim/workload/networks/test_linears.h"
#include "sim/workload/tied_layers.h"
#include "sim/workload/workload.h"

namespace stagecraft {
namespace {

constexpr int64_t kHidden = 64, kWords = 100, kSequence = 128;
constexpr int64_t kMatrix = kHidden * kWords;  // of a projection to the vocabulary

using States = std::vector<LayerState>;

// Embedding, four blocks and a head. The head is a norm with a weight for each feature (of GPT: and
// a bias) and a matrix, which GPT shares with the embedding.
Workload Net(const std::string& family) {
  const DecoderConfig config = SizedDecoder(family, {.layers = 4,
                                                     .hidden = kHidden,
                                                     .heads = 4,
                                                     .ffn = 192,
                                                     .vocab = kWords,
                                                     .max_sequence = kSequence});
  return BuildDecoder(config, AttentionBackend::kFlash, family);
}

States WithExits(const std::vector<int>& layers, ExitHead head) {
  States states(6);
  for (const int layer : layers) states[layer].exit_head = head;
  return states;
}

std::string ErrorOfStates(const Workload& workload, const States& states) {
  return ErrorOf([&] { With(workload, states); });
}

// The operators of the last layer follow those of the block, and read what it hands on, as does the
// operator that hands it on.
TEST(EarlyExitTest, TheHeadOfAnExitIsThatOfTheNetwork) {
  const Workload plain = Net("llama");
  const Workload net = With(plain, WithExits({2}, ExitHead::kOwn));
  const LayerKind& block = net.layer(2);
  const size_t first = FirstExitOperator(block);
  ASSERT_EQ(first, plain.layer(2).operators.size());
  ASSERT_EQ(block.operators.size(), first + 4);
  EXPECT_TRUE(HasExit(block));
  EXPECT_FALSE(HasExit(net.layer(1)));
  EXPECT_EQ(FirstExitOperator(net.layer(1)), first);
  EXPECT_EQ(block.operators[first].name, "exit_final_norm");
  EXPECT_EQ(block.operators[first].saved[0].name, "exit_final_norm_input");
  EXPECT_EQ(block.operators.producers(first), std::vector<size_t>{first - 1});
  EXPECT_FALSE(block.operators[first].reads_layer_input);
  EXPECT_EQ(block.operators[first + 1].out_features, kWords);
  EXPECT_EQ(block.operators.producers(first + 2), std::vector<size_t>{first + 1});
  EXPECT_EQ(block.operators.producers(first + 3), std::vector<size_t>{first - 1});
  EXPECT_EQ(net.layer(1), plain.layer(1));
}

TEST(EarlyExitTest, OwnHeadsHaveWeightsAndTiedOnesShareTheirMatrix) {
  const Workload llama = Net("llama"), gpt = Net("gpt");
  const auto added = [](const Workload& net, ExitHead head) {
    const Workload exits = With(net, WithExits({1, 2, 3}, head));
    EXPECT_EQ(exits.TrainedParameters(), exits.Parameters());
    return exits.Parameters() - net.Parameters();
  };
  EXPECT_EQ(added(llama, ExitHead::kOwn), 3 * (kHidden + kMatrix));
  EXPECT_EQ(added(gpt, ExitHead::kOwn), 3 * (2 * kHidden + kMatrix));
  EXPECT_EQ(added(llama, ExitHead::kTied), 3 * kHidden);
  EXPECT_EQ(added(gpt, ExitHead::kTied), 3 * 2 * kHidden);
  EXPECT_EQ(HomeOfTied(With(llama, WithExits({1}, ExitHead::kTied))), 5);
  EXPECT_EQ(HomeOfTied(With(gpt, WithExits({1}, ExitHead::kTied))), 0);
  EXPECT_EQ(TiedLayers(With(gpt, WithExits({1, 3}, ExitHead::kTied))),
            (std::vector<int>{0, 1, 3, 5}));
}

// Half of the tokens leave at each of two exits. The head of an exit computes all that reach it:
// 2 x 64 x 100 FLOPs for each of 1 and 1/2 of the tokens, three times in a training step.
TEST(EarlyExitTest, TheHeadComputesTheTokensThatReachTheExit) {
  States shares(6);
  for (int layer = 2; layer < 6; ++layer) shares[layer].token_share = layer < 4 ? 0.5 : 0.25;
  States states = shares;
  states[1].exit_head = states[3].exit_head = ExitHead::kOwn;
  const Workload without = With(Net("llama"), shares);
  const Workload net = With(Net("llama"), states);
  const double flops = net.ForwardFlopsPerToken(kSequence).count();
  EXPECT_DOUBLE_EQ(flops - without.ForwardFlopsPerToken(kSequence).count(), 2 * kMatrix * 1.5);
  EXPECT_DOUBLE_EQ(net.TrainingFlopsPerToken(kSequence).count(), 3 * flops);
  const LayerKind& first = net.layer(1);
  EXPECT_EQ(first.operators[FirstExitOperator(first)].row_share, 1);
  const Operator& gather = first.operators[first.operators.size() - 1];
  EXPECT_EQ(gather.row_share, 0.5);
  EXPECT_EQ(gather.forward_elements, 2 * kHidden);  // the tokens that go on are read and written
  EXPECT_EQ(first.boundary_share, 0.5);
}

TEST(EarlyExitTest, IfNoTokenLeavesNothingIsGathered) {
  const Workload net = With(Net("llama"), WithExits({1}, ExitHead::kOwn));
  const OperatorGraph& operators = net.layer(1).operators;
  EXPECT_EQ(operators[operators.size() - 1].forward_elements, 0);
}

// A frozen block takes its exit along, which then computes forward alone. A tied exit of a trained
// block trains its norm alone if the network's head is frozen.
TEST(EarlyExitTest, ExitsAreFrozenWithTheirBlockAndTiedOnesWithTheHead) {
  const Workload plain = Net("llama");
  States states = WithExits({1, 3}, ExitHead::kTied);
  for (int layer = 0; layer < 3; ++layer) states[layer].is_trained = false;
  const Workload prefix = With(plain, states);
  EXPECT_FALSE(prefix.layer(1).has_backward());
  EXPECT_EQ(DetachedLayers(prefix), 1);
  EXPECT_EQ(prefix.TrainedParameters(),
            2 * plain.layer(1).Parameters() + plain.layer(5).Parameters() + kHidden);
  states[5].is_trained = false;
  const Workload without_head = With(plain, states);
  EXPECT_EQ(without_head.TrainedParameters(), 2 * plain.layer(1).Parameters() + kHidden);
  EXPECT_EQ(DetachedLayers(without_head), 0);
}

TEST(EarlyExitTest, RefusesExitsThatCannotBe) {
  const Workload llama = Net("llama");
  EXPECT_EQ(ErrorOfStates(llama, WithExits({0}, ExitHead::kOwn)),
            "test: got an exit with an own head behind layer 0 (embedding), want it behind blocks "
            "before the last one");
  EXPECT_EQ(ErrorOfStates(llama, WithExits({4}, ExitHead::kTied)),
            "test: got an exit with a tied head behind layer 4 (block), want it behind blocks "
            "before the last one");
  EXPECT_EQ(
      ErrorOfStates(With(llama, WithExits({2}, ExitHead::kOwn)), WithExits({2}, ExitHead::kOwn)),
      "test: got an exit with an own head behind layer 2 (block_with_exit), which has an exit "
      "already, want no other");
  States states = WithExits({2}, ExitHead::kOwn);
  states[2].adapter_rank = 4;
  EXPECT_EQ(ErrorOfStates(llama, states),
            "test: got an exit with an own head behind layer 2 (block), which has adapters, want "
            "one of the two");
  states = WithExits({1}, ExitHead::kOwn);
  for (int layer = 0; layer < 2; ++layer) {
    states[layer].is_trained = false;
    states[layer].is_cached = true;
  }
  EXPECT_EQ(ErrorOfStates(llama, states),
            "test: got an exit with an own head behind layer 1 (block), whose output is cached, "
            "want its output computed");
  States chain(3);
  chain[0].exit_head = ExitHead::kOwn;
  EXPECT_EQ(ErrorOfStates(LinearChain(3, 8), chain),
            "test: got an exit with an own head behind layer 0 (linear) of chain, want a network "
            "whose last layer is a head with a single loss");
}

// The blocks of the encoder hand on other rows than the head reads; the weights that an encoder and
// a decoder share are not the head's.
TEST(EarlyExitTest, InEncoderDecodersBlocksOfTheDecoderAloneCanHaveOwnHeads) {
  EncoderDecoderConfig config = EncoderDecoderOfFamily("t5");
  config.block.layers = config.decoder_layers = 2;
  config.block.hidden = 64;
  config.block.heads = 4;
  config.block.vocab = 128;
  config.encoder_sequence = 256;
  config.decoder_sequence = config.block.max_sequence = 128;
  config.block.tied_embeddings = false;
  const Workload t5 = BuildEncoderDecoder(Completed(config), AttentionBackend::kFlash, "t5");
  ASSERT_EQ(t5.layer_count(), 7);
  const auto error = [&](int layer, ExitHead head) {
    States states(7);
    states[layer].exit_head = head;
    return ErrorOfStates(t5, states);
  };
  EXPECT_NE(error(1, ExitHead::kOwn).find("a layer that hands on what the head of t5 reads"),
            std::string::npos);
  EXPECT_NE(error(4, ExitHead::kTied).find("are not those of its head, want an own head"),
            std::string::npos)
      << error(4, ExitHead::kTied);
}

}  // namespace
}  // namespace stagecraft
