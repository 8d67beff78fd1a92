#include "costmodel/network/network_model.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/collectives.h"
#include "costmodel/embedded_nccl_tuning.h"
#include "costmodel/error_of.h"
#include "costmodel/network/curve_features.h"
#include "costmodel/random.h"
#include "proto/network.pb.h"

namespace stagecraft {
namespace {

// Returns a fabric of A100, each with NVLinks of 300 GB/s and an interface of 25 GB/s.
Fabric A100s(int nodes, int ranks_per_node) {
  Fabric fabric;
  fabric.ranks = nodes * ranks_per_node;
  fabric.nodes = nodes;
  fabric.ranks_per_node = ranks_per_node;
  fabric.intra = {LinkKind::kNvlink, 600_ns, Bandwidth(300e9)};
  fabric.inter = {LinkKind::kNetwork, 2_us, Bandwidth(25e9 * ranks_per_node)};
  return fabric;
}

Device TestGpu(Generation generation) {
  Device device;
  device.generation = generation;
  return device;
}

NetworkSample Sample(int64_t bytes, const Fabric& fabric, Duration time) {
  NetworkSample sample;
  sample.op = Op::Collective(OpKind::kAllReduce, Bytes(bytes), fabric);
  sample.gpu = "a100-sxm4-80gb";
  sample.site = "here";
  sample.time = time;
  return sample;
}

// Returns samples that take twice the time of the formula, at sizes one octave apart.
std::vector<NetworkSample> TwiceTheFormula(const Fabric& fabric) {
  std::vector<NetworkSample> samples;
  for (int size = 10; size <= 30; ++size) {
    NetworkSample sample = Sample(int64_t{1} << size, fabric, Duration());
    const Duration formula =
        ChooseCollective(sample.op, TestGpu(Generation::kAmpere), EmbeddedNcclTuning()).time;
    sample.time = 2 * formula;
    samples.push_back(sample);
  }
  return samples;
}

// Returns the model's prediction for the sample's op on an A100.
NetworkEstimate Predict(const NetworkModel& model, const NetworkSample& sample) {
  const Op ops[] = {sample.op};
  return model.Predict(ops, TestGpu(Generation::kAmpere))[0];
}

TEST(NetworkModelTest, WithoutSamplesItIsTheFormula) {
  const NetworkModel model = NetworkModel::Fit({});
  const NetworkSample sample = Sample(1 << 20, A100s(2, 8), Duration());
  const NetworkEstimate estimate = Predict(model, sample);
  EXPECT_NEAR(estimate.estimate.time.seconds() / estimate.choice.time.seconds(), 1, 1e-3);
  EXPECT_EQ(estimate.estimate.basis, Basis::kAnalytical);
}

// At 1 GiB latency is nothing. A ring takes a tenth of a step more than its n - 1 steps each way.
TEST(NetworkModelTest, ARingInsideANodeTakesPartOfAStepMore) {
  const NetworkModel model = NetworkModel::Fit({});
  for (const int ranks : {2, 4, 8}) {
    const NetworkEstimate estimate = Predict(model, Sample(1 << 30, A100s(1, ranks), Duration()));
    EXPECT_NEAR(estimate.estimate.time.seconds() / estimate.choice.time.seconds(),
                1 + 0.1 / (ranks - 1), 1e-3);
  }
}

CurveFeatures Features(OpKind kind, int nodes, int ranks_per_node) {
  return FeaturesOf(Op::Collective(kind, Bytes(), A100s(nodes, ranks_per_node)),
                    TestGpu(Generation::kAmpere));
}

TEST(NetworkModelTest, ARankAloneOnItsNodeSaysNothingOfTheBandwidthInside) {
  const CurveFeatures inside = Features(OpKind::kAllReduce, 1, 8);
  const CurveFeatures alone = Features(OpKind::kAllReduce, 2, 1);
  const CurveFeatures both = Features(OpKind::kAllReduce, 2, 8);
  EXPECT_EQ(Correlations(inside, alone)[1], 0);
  EXPECT_GT(Correlations(inside, alone)[0], 0);
  EXPECT_GT(Correlations(inside, both)[1], 0);
  EXPECT_GT(Correlations(alone, both)[1], 0.5);
}

TEST(NetworkModelTest, AMeasuredGroupIsInterpolatedAndItsNeighboursFollow) {
  const NetworkModel model = NetworkModel::Fit(TwiceTheFormula(A100s(1, 8))).WithHome("here");
  const auto ratio = [&](int ranks) {
    const NetworkEstimate estimate = Predict(model, Sample(3 << 20, A100s(1, ranks), Duration()));
    return estimate.estimate.time.seconds() / estimate.choice.time.seconds();
  };
  EXPECT_NEAR(ratio(8), 2, 0.06);
  EXPECT_NEAR(ratio(4), 2, 0.2);
  EXPECT_EQ(Predict(model, Sample(3 << 20, A100s(1, 8), Duration())).estimate.basis,
            Basis::kInterpolated);
  EXPECT_EQ(Predict(model, Sample(3 << 20, A100s(1, 4), Duration())).estimate.basis,
            Basis::kCalibrated);
}

TEST(NetworkModelTest, AnOpElsewhereIsPricedAsOnTheFabricMostLikeIt) {
  const NetworkModel model = NetworkModel::Fit(TwiceTheFormula(A100s(1, 8)));
  const Op op = Op::Collective(OpKind::kAllReduce, Bytes(3 << 20), A100s(1, 8));
  const Op ops[] = {op};
  const NetworkEstimate ampere = model.Predict(ops, TestGpu(Generation::kAmpere))[0];
  EXPECT_NEAR(ampere.estimate.time.seconds() / ampere.choice.time.seconds(), 2, 0.06);
  EXPECT_EQ(ampere.estimate.basis, Basis::kLearned);
  const NetworkEstimate blackwell = model.Predict(ops, TestGpu(Generation::kBlackwell))[0];
  EXPECT_EQ(blackwell.estimate.basis, Basis::kExtrapolated);
  EXPECT_GT(blackwell.estimate.spread, ampere.estimate.spread);
}

// Prices of a model without a home site are not used at a home site.
TEST(NetworkModelTest, AModelAtHomePricesAnew) {
  const NetworkModel model = NetworkModel::Fit(TwiceTheFormula(A100s(1, 8)));
  const Op ops[] = {Op::Collective(OpKind::kAllReduce, Bytes(3 << 20), A100s(1, 8))};
  const Device gpu = TestGpu(Generation::kAmpere);
  EXPECT_EQ(model.Predict(ops, gpu)[0].estimate.basis, Basis::kLearned);
  EXPECT_EQ(model.WithHome("here").Predict(ops, gpu)[0].estimate.basis, Basis::kInterpolated);
  EXPECT_EQ(model.Predict(ops, gpu)[0].estimate.basis, Basis::kLearned);
}

// A group that was measured at the home site is interpolated over size, whether its source times
// collectives or a framework.
// A hundred sizes of another site say that times are twice the formula's; one row of the home site
// says three times at one size. That holds there, and fades towards the other site's two.
TEST(NetworkModelTest, ASitesRowsCorrectThePredictionAndDoNotReplaceIt) {
  const Fabric fabric = A100s(2, 8);
  std::vector<NetworkSample> samples = TwiceTheFormula(fabric);
  for (NetworkSample& sample : samples) sample.site = "there";
  NetworkSample one = samples[10];  // of 1 MiB
  one.site = "here";
  one.time = Duration::Seconds(1.5 * one.time.seconds());
  samples.push_back(one);
  const NetworkModel home = NetworkModel::Fit(samples).WithHome("here");
  const auto ratio = [&](int64_t bytes) {
    const NetworkEstimate estimate = Predict(home, Sample(bytes, fabric, Duration()));
    return estimate.estimate.time.seconds() / estimate.choice.time.seconds();
  };
  EXPECT_NEAR(ratio(1 << 20), 3, 0.05);
  EXPECT_GT(ratio(1 << 23), 2.1);
  EXPECT_LT(ratio(1 << 23), 2.8);
  EXPECT_NEAR(ratio(1 << 30), 2, 0.1);
  // With nothing but the formula to fall back on, the row counts at all sizes.
  const NetworkModel alone = NetworkModel::Fit(std::span(&one, 1)).WithHome("here");
  const NetworkEstimate far = Predict(alone, Sample(1 << 30, fabric, Duration()));
  EXPECT_NEAR(far.estimate.time.seconds() / far.choice.time.seconds(), 3, 0.1);
}

TEST(NetworkModelTest, HomesAreTimedAsTheirMeasurementsAre) {
  std::vector<NetworkSample> samples = TwiceTheFormula(A100s(1, 8));
  for (NetworkSample& sample : samples) sample.timing = Timing::kFramework;
  const NetworkModel model = NetworkModel::Fit(samples).WithHome("here");
  for (const NetworkSample& sample : samples) {
    EXPECT_EQ(Predict(model, sample).estimate.basis, Basis::kInterpolated);
  }
}

// Returns the factor each way of the 80 % interval.
double FactorOf(const NetworkModel& model, const NetworkSample& sample) {
  return std::exp(kSigmas80 * Predict(model, sample).estimate.spread);
}

TEST(NetworkModelTest, KindsOfNetworksThatNobodyMeasuredHaveWideIntervals) {
  Fabric fabric = A100s(2, 8);
  fabric.inter.network = NetworkKind::kInfiniband;
  NetworkModel model = NetworkModel::Fit(TwiceTheFormula(fabric));
  const auto on = [&](NetworkKind kind) {
    fabric.inter.network = kind;
    return Sample(1 << 28, fabric, Duration());
  };
  const auto knows = [&](NetworkKind kind) { return model.KnowsNetwork(on(kind).op.fabric.inter); };
  EXPECT_TRUE(knows(NetworkKind::kInfiniband));
  EXPECT_FALSE(knows(NetworkKind::kRoce));
  EXPECT_FALSE(knows(NetworkKind::kUnstated));
  EXPECT_LT(FactorOf(model, on(NetworkKind::kInfiniband)), 1.4);
  EXPECT_GE(FactorOf(model, on(NetworkKind::kRoce)), 1.5);
  EXPECT_GE(FactorOf(model, on(NetworkKind::kUnstated)), 1.5);
  EXPECT_GE(FactorOf(model, on(NetworkKind::kCloudTcp)), 1.5);
  // RDMA of another kind is slowed like the kind that was measured; sockets have nothing in common.
  const auto ratio = [&](NetworkKind kind) {
    const NetworkEstimate estimate = Predict(model, on(kind));
    return estimate.estimate.time.seconds() / estimate.choice.time.seconds();
  };
  EXPECT_NEAR(ratio(NetworkKind::kInfiniband), 2, 0.2);
  EXPECT_GT(ratio(NetworkKind::kRoce), 1.3);
  EXPECT_NEAR(ratio(NetworkKind::kCloudTcp), 1, 0.01);
  // The home site's network is known whether or not its kind is stated.
  model = model.WithHome("here");
  EXPECT_TRUE(knows(NetworkKind::kUnstated));
  EXPECT_LT(FactorOf(model, on(NetworkKind::kUnstated)), 1.4);
}

TEST(NetworkModelTest, LargerMessagesThanWereMeasuredCostWhatTheLastBytesDid) {
  const Fabric fabric = A100s(1, 8);
  std::vector<NetworkSample> samples;
  for (NetworkSample sample : TwiceTheFormula(fabric)) {
    if (sample.op.bytes > Bytes(1 << 24)) break;
    // A start of a tenth of a millisecond, and bytes at the formula's rate.
    sample.time = Duration::Nanoseconds(sample.time.ns() / 2) + 100_us;
    samples.push_back(sample);
  }
  const NetworkModel model = NetworkModel::Fit(samples);
  const NetworkEstimate far = Predict(model, Sample(1 << 30, fabric, Duration()));
  EXPECT_NEAR(far.estimate.time.seconds() / far.choice.time.seconds(), 1, 0.15);
}

TEST(NetworkModelTest, WhatIsKeptOfPricesHasABoundThatChangesNoPrice) {
  const NetworkModel model = NetworkModel::Fit({});
  std::vector<Op> ops;
  for (size_t i = 0; i < NetworkModel::kMostPriced + 50; ++i) {
    Fabric fabric = A100s(1, 8);
    fabric.intra.bandwidth = Bandwidth(1e9 + 1e6 * static_cast<double>(i));
    ops.push_back(Op::Collective(OpKind::kAllReduce, Bytes(1 << 20), fabric));
  }
  const Device gpu = TestGpu(Generation::kAmpere);
  const std::vector<NetworkEstimate> first = model.Predict(ops, gpu);
  EXPECT_EQ(model.priced(), NetworkModel::kMostPriced);
  const std::span last = std::span(ops).last(100);
  const std::vector<NetworkEstimate> again = model.Predict(last, gpu);
  for (size_t i = 0; i < again.size(); ++i) {
    EXPECT_EQ(again[i].estimate, first[first.size() - again.size() + i].estimate);
  }
  EXPECT_EQ(model.priced(), NetworkModel::kMostPriced);
}

TEST(NetworkModelTest, ThreadsThatPriceTheSameGetTheSame) {
  const NetworkModel model = NetworkModel::Fit(TwiceTheFormula(A100s(1, 8)));
  std::vector<Op> ops;
  for (int ranks = 2; ranks <= 64; ++ranks) {
    ops.push_back(Op::Collective(OpKind::kAllReduce, Bytes(ranks << 20), A100s(1, ranks)));
  }
  std::vector<std::vector<NetworkEstimate>> of_thread(4);
  std::vector<std::thread> threads;
  for (auto& estimates : of_thread) {
    threads.emplace_back([&] { estimates = model.Predict(ops, TestGpu(Generation::kAmpere)); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& estimates : of_thread) {
    ASSERT_EQ(estimates.size(), ops.size());
    for (size_t i = 0; i < ops.size(); ++i) {
      EXPECT_EQ(estimates[i].estimate.time, of_thread[0][i].estimate.time);
    }
  }
}

TEST(NetworkModelTest, AModelSurvivesItsProto) {
  const NetworkModel model = NetworkModel::Fit(TwiceTheFormula(A100s(2, 8))).WithHome("here");
  const NetworkModelProto proto = model.ToProto();
  const NetworkModel read = NetworkModel::FromProto(proto, "m");
  EXPECT_EQ(read.ToProto().SerializeAsString(), proto.SerializeAsString());
  NetworkModelProto bad = proto;
  bad.mutable_curves(0)->set_op("gemm");
  EXPECT_THROW(NetworkModel::FromProto(bad, "m"), InputError);
  bad = proto;
  bad.mutable_curves(0)->set_sizes(1, 0);
  EXPECT_THROW(NetworkModel::FromProto(bad, "m"), InputError);
  bad = proto;
  bad.set_home("nowhere");
  EXPECT_THROW(NetworkModel::FromProto(bad, "m"), InputError);
}

TEST(NetworkModelTest, EveryNumberOfAKnotHasARange) {
  const NetworkModelProto proto = NetworkModel::Fit(TwiceTheFormula(A100s(2, 8))).ToProto();
  const int last = proto.curves(0).sizes_size() - 1;
  const float nan = std::nanf(""), infinity = HUGE_VALF;
  // The value goes into the last knot, where a large size leaves sizes in ascending order, as they
  // must be.
  const auto refusal = [&](const char* field, float value) {
    NetworkModelProto bad = proto;
    TimeCurveProto& curve = *bad.mutable_curves(0);
    const std::string name(field);
    (name == "sizes"     ? curve.mutable_sizes()
     : name == "regimes" ? curve.mutable_regimes()
                         : curve.mutable_ratios())
        ->Set(last, value);
    return ErrorOf([&] { NetworkModel::FromProto(bad, "m"); });
  };
  for (const char* field : {"sizes", "regimes", "ratios"}) {
    for (const float value : {1e21F, 3e38F, 65.0F, infinity}) {
      EXPECT_EQ(refusal(field, value)
                    .find(fmt::format("m: curves[0].{}[{}]: got {}, want from ", field, last,
                                      static_cast<double>(value))),
                0u)
          << refusal(field, value);
    }
    for (const float value : {nan, -1e21F, -infinity})
      EXPECT_NE(refusal(field, value), "") << value;
  }
  EXPECT_EQ(refusal("ratios", -20), "");
}

// 2^36.125 is the border between two quarters of an octave: sizes just below and above it are the
// same number in a file.
TEST(NetworkModelTest, WhatIsFittedCanBeReadBack) {
  std::vector<NetworkSample> samples;
  for (int step = -3; step <= 3; ++step) {
    const int64_t border = std::llround(std::exp2(36.125)) + step;
    samples.push_back(Sample(border, A100s(2, 8), Duration::Seconds(1 + 0.01 * step)));
  }
  const NetworkModelProto proto = NetworkModel::Fit(samples).ToProto();
  EXPECT_EQ(proto.curves(0).sizes_size(), 1);
  EXPECT_EQ(NetworkModel::FromProto(proto, "m").ToProto().SerializeAsString(),
            proto.SerializeAsString());
}

TEST(NetworkModelTest, TimesThatNoFileHoldsAreRefused) {
  const std::vector<NetworkSample> hours = {
      Sample(1024, A100s(2, 8), Duration::Seconds(1'000'000))};
  EXPECT_THROW(NetworkModel::Fit(hours), InputError);
  EXPECT_THROW(NetworkModel::Fit({}).With(hours), InputError);
}

Op RandomCollective(Random& random) {
  const auto all = Collectives();
  const OpKind kind = all[random.Integer(0, static_cast<int64_t>(all.size()) - 1)].kind;
  const bool sends = kind == OpKind::kSendRecv;
  const int nodes = sends ? static_cast<int>(random.Integer(1, 2)) : 1 << random.Integer(0, 8);
  const int per_node = sends ? 3 - nodes : 1 << random.Integer(0, 3);
  Fabric fabric = A100s(nodes, per_node);
  const int64_t place = random.Integer(0, 2);
  if (place == 1) fabric.intra = {LinkKind::kPcie, 1_us, Bandwidth(31.5e9)};
  if (place == 2) fabric.intra = {LinkKind::kHost, 1_us, Bandwidth(15.75e9)};
  if (random.Integer(0, 1) == 0) fabric.inter.latency = 25_us;
  fabric.inter.bandwidth = static_cast<double>(random.Integer(1, 16)) * Bandwidth(3e9);
  return Op::Collective(kind, Bytes(random.Integer(0, int64_t{1} << random.Integer(4, 36))),
                        fabric);
}

TEST(NetworkModelTest, NoLinkCarriesMoreThanItsBandwidthAndMoreBytesAreNeverFaster) {
  constexpr uint64_t kSeed = 5;
  constexpr Generation kGenerations[] = {Generation::kVolta, Generation::kAmpere,
                                         Generation::kHopper, Generation::kBlackwell,
                                         Generation::kCdna3};
  Random random(kSeed);
  const NetworkModel& model = NetworkModel::Shipped();
  for (int i = 0; i < 300; ++i) {
    const Op op = RandomCollective(random);
    if (op.fabric.ranks == 1) continue;
    Op more = op;
    more.bytes += Bytes(1 + op.bytes.count() / 8);
    const Op ops[] = {op, more};
    const Device device = TestGpu(kGenerations[random.Integer(0, 4)]);
    const std::vector<NetworkEstimate> estimates = model.Predict(ops, device);
    for (int k = 0; k < 2; ++k) {
      ASSERT_GE(estimates[k].estimate.time,
                BusiestLinkTime(ops[k], estimates[k].choice.method.algorithm))
          << Describe(ops[k]) << " seed " << kSeed;
    }
    ASSERT_GE(estimates[1].estimate.time, estimates[0].estimate.time)
        << Describe(op) << " seed " << kSeed;
  }
}

// With 1 GiB and an interface of 200 Gb/s each, 16 to 1,024 A100 reach about as much as the 16 and
// 32 ranks of ND A100 v4 (125 GB/s), and 16,384 not less than half of it.
TEST(NetworkModelTest, ManyNodesRunAtWhatTwoAndFourReach) {
  for (const int nodes : {2, 4, 16, 128, 2048}) {
    const Op op = Op::Collective(OpKind::kAllReduce, Bytes(1 << 30), A100s(nodes, 8));
    const Op ops[] = {op};
    const Estimate estimate =
        NetworkModel::Shipped().Predict(ops, TestGpu(Generation::kAmpere))[0].estimate;
    const double gb_per_s = BusBandwidth(op, estimate.time).bytes_per_s() * 1e-9;
    RecordProperty(fmt::format("nodes_{}", nodes), fmt::format("{:.1f}", gb_per_s));
    if (nodes > 128) {
      EXPECT_GT(gb_per_s, 60) << nodes;
    } else {
      EXPECT_NEAR(gb_per_s, 122, 15) << nodes;
    }
  }
}

// On fabrics without measurements, 1 GiB runs at more than a quarter of the nominal bandwidth and
// less than all of it.
TEST(NetworkModelTest, UnknownFabricsRunBelowTheirLinks) {
  const auto domain = [](int ranks, LinkKind kind, double gb_per_s) {
    Fabric fabric = A100s(1, ranks);
    fabric.intra = {kind, 1_us, Bandwidth(gb_per_s * 1e9)};
    return fabric;
  };
  const struct {
    Generation generation;
    Fabric fabric;
    double gb_per_s;
  } cases[] = {{Generation::kBlackwell, domain(72, LinkKind::kNvlink, 900), 900},
               {Generation::kCdna3, domain(8, LinkKind::kNvlink, 448), 448},
               {Generation::kAda, domain(8, LinkKind::kPcie, 31.5), 31.5}};
  for (const auto& unknown : cases) {
    const Op ops[] = {Op::Collective(OpKind::kAllReduce, Bytes(1 << 30), unknown.fabric)};
    const Estimate estimate =
        NetworkModel::Shipped().Predict(ops, TestGpu(unknown.generation))[0].estimate;
    const double gb_per_s = BusBandwidth(ops[0], estimate.time).bytes_per_s() * 1e-9;
    EXPECT_GT(gb_per_s, unknown.gb_per_s / 4);
    EXPECT_LT(gb_per_s, unknown.gb_per_s);
    EXPECT_EQ(estimate.basis, Basis::kExtrapolated);
  }
}

}  // namespace
}  // namespace stagecraft
