#include "sim/job/history_output.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "costmodel/csv_records.h"
#include "costmodel/enum_testing.h"
#include "costmodel/error_of.h"
#include "costmodel/proto_file.h"
#include "costmodel/random.h"
#include "proto/job_events.pb.h"
#include "sim/job/drawn_events.h"
#include "sim/job/job_run.h"
#include "sim/job/job_testing.h"

namespace stagecraft {
namespace {

class HistoryOutputTest : public testing::Test {
 protected:
  HistoryOutputTest() {
    RunSpec spec = SmallRun(cluster_, 4);
    spec.events = {Fails(37, DeviceNumber(1)), Recovers(41, DeviceNumber(1))};
    history_ = SimulateRun(spec, Random(1));
  }

  const Cluster cluster_ = SwitchedNodes(2);
  History history_;
};

TEST_F(HistoryOutputTest, TextListsPhasesAndLosses) {
  EXPECT_EQ(HistoryText(history_),
            "       start s  phase         first step    steps      length s     step ms  devices  "
            "reason\n"
            "         0.000  computing              0        3        30.000   10000.000       16\n"
            "        30.000  checkpoint             3        0         5.000           -       16\n"
            "        35.000  redone                 3        0         2.000   10000.000       16  "
            "lost when node0/gpu1 failed\n"
            "        37.000  detection              3        0         2.000           -       15  "
            "node0/gpu1 failed\n"
            "        39.000  waiting                3        0         2.000           -       15  "
            "node0/gpu1 failed\n"
            "        41.000  restart                3        0         3.000           -       16  "
            "after: node0/gpu1 failed\n"
            "        44.000  reload                 3        0         4.000           -       16  "
            "after: node0/gpu1 failed\n"
            "        48.000  computing              3        1        10.000   10000.000       16\n"
            "        58.000  checkpoint             4        0         5.000           -       16\n"
            "4 steps in 0.018 h on 16 devices: goodput 63.49 %; failures: 1, checkpoints: 2, steps "
            "redone: 0\n"
            "lost to checkpoint             0.044 GPU-hours   15.87 %\n"
            "lost to detection              0.009 GPU-hours    3.17 %\n"
            "lost to waiting                0.009 GPU-hours    3.17 %\n"
            "lost to restart                0.013 GPU-hours    4.76 %\n"
            "lost to reload                 0.018 GPU-hours    6.35 %\n"
            "lost to redone                 0.009 GPU-hours    3.17 %\n");
}

TEST_F(HistoryOutputTest, AMessageOfAHistoryIsReadBack) {
  const auto plan = std::make_shared<RunPlan>(RunPlan{"tp 2 x pp 2", {3, 4}});
  history_.phases[0].plan = plan;
  history_.phases[0].idle_share = 0.25;
  history_.stopped = "too many failures";
  const History read = HistoryFromProto(HistoryToProto(history_), "h.json");
  EXPECT_EQ(HistoryCsv(read), HistoryCsv(history_));
  EXPECT_EQ(HistoryText(read), HistoryText(history_));
}

TEST_F(HistoryOutputTest, AMessageThatIsNoHistoryIsRefused) {
  const auto error = [&](const auto& spoil) {
    HistoryProto proto = HistoryToProto(history_);
    spoil(proto);
    return ErrorOf([&] { HistoryFromProto(proto, "h.json"); });
  };
  EXPECT_EQ(error([](HistoryProto&) {}), "");
  EXPECT_EQ(error([](HistoryProto& proto) { proto.mutable_phases(1)->clear_kind(); }),
            "h.json: phases[1].kind: got 0, want a kind of phase");
  EXPECT_EQ(error([](HistoryProto& proto) { proto.mutable_phases(0)->set_plan(1); }),
            "h.json: phases[0].plan: got 1, want 0 to the 0 of plans");
  EXPECT_EQ(error([](HistoryProto& proto) { proto.mutable_phases(2)->set_length_ns(-1); }),
            "h.json: phases[2]: got a time below 0, want none");
}

TEST_F(HistoryOutputTest, CsvHasALineForEachPhase) {
  history_.phases[2].reason = "a \"b\", c";
  const std::string csv = HistoryCsv(history_);
  CsvRecords records(csv, "h.csv");
  ASSERT_TRUE(records.Next());
  EXPECT_EQ(records.fields().size(), 11u);
  for (size_t i = 0; i < history_.phases.size(); ++i) ASSERT_TRUE(records.Next());
  EXPECT_EQ(
      csv.find("redone,3,0,35000000000,2000000000,10000000000,16,\"a \"\"b\"\", c\",\"\",,0\n") !=
          std::string::npos,
      true);
  EXPECT_FALSE(records.Next());
}

// Plans are numbered where they are first used; the first one comes back.
TEST_F(HistoryOutputTest, PhasesNameTheirPlans) {
  const auto whole = std::make_shared<const RunPlan>(RunPlan{"pp 2", {3, 4}});
  const auto rest = std::make_shared<const RunPlan>(RunPlan{"pp 1", {7}});
  history_.phases[0].plan = whole;
  history_.phases[0].idle_share = 0.25;
  history_.phases[2].plan = rest;
  history_.phases[7].plan = std::make_shared<const RunPlan>(*whole);
  const HistoryProto proto = HistoryToProto(history_);
  ASSERT_EQ(proto.plans_size(), 2);
  EXPECT_EQ(proto.plans(1).words(), "pp 1");
  EXPECT_EQ(proto.plans(0).layers_size(), 2);
  EXPECT_EQ(proto.phases(0).plan(), 1);
  EXPECT_EQ(proto.phases(0).idle_share(), 0.25);
  EXPECT_EQ(proto.phases(1).plan(), 0);
  EXPECT_EQ(proto.phases(2).plan(), 2);
  EXPECT_EQ(proto.phases(7).plan(), 1);
  const std::string text = HistoryText(history_);
  EXPECT_NE(text.find("\nplan 1: pp 2, layers 3-4\nplan 2: pp 1, layers 7\n"), std::string::npos)
      << text;
  EXPECT_NE(HistoryCsv(history_).find(",\"\",\"pp 2\",3-4,0.25\n"), std::string::npos);
}

TEST_F(HistoryOutputTest, JsonIsReadBack) {
  HistoryProto read;
  ParseProtoText(HistoryJson(history_), "h.json", ".json", &read);
  EXPECT_EQ(read.SerializeAsString(), HistoryToProto(history_).SerializeAsString());
  EXPECT_EQ(read.phases_size(), 9);
  EXPECT_EQ(read.time_ns(), history_.totals.time.ns());
}

TEST_F(HistoryOutputTest, AHistoryThatStoppedEarlySaysWhy) {
  RunSpec spec = SmallRun(cluster_, 4);
  spec.events = {Fails(0, DeviceNumber(1))};
  EXPECT_THROW(SimulateRun(spec, Random(1), &history_), RunCannotContinue);
  const std::string sentence =
      "the run stops at 0.0 s with 0 of 4 steps: the cluster is not complete; 15 of the 16 devices "
      "of the plan are left, and nothing that is still to happen lets the plan run again";
  EXPECT_EQ(HistoryText(history_),
            "       start s  phase         first step    steps      length s     step ms  devices  "
            "reason\n"
            "0 steps in 0.000 h on 16 devices: goodput 0.00 %; failures: 0, checkpoints: 0, steps "
            "redone: 0\n"
            "stopped early: " +
                sentence + "\n");
  HistoryProto read;
  ParseProtoText(HistoryJson(history_), "h.json", ".json", &read);
  EXPECT_EQ(read.stopped(), sentence);
  EXPECT_EQ(read.goodput(), 0);
}

TEST_F(HistoryOutputTest, SummariesHaveQuantiles) {
  std::vector<RunTotals> runs;
  for (int i = 0; i <= 100; ++i) {
    RunTotals run;
    run.devices = 4;
    run.time = Seconds(3600 * (i + 1));
    run.useful = Seconds(3600);
    run.failures = i;
    run.lost[static_cast<int>(PhaseKind::kWaiting)] = Seconds(3600 * i);
    runs.push_back(run);
  }
  const RunsSummary summary = Summarise(runs);
  EXPECT_DOUBLE_EQ(summary.time_s.p5, 6 * 3600.0);
  EXPECT_DOUBLE_EQ(summary.failures.mean, 50);
  EXPECT_DOUBLE_EQ(summary.lost_gpu_hours[static_cast<int>(PhaseKind::kWaiting)].p95, 4 * 95.0);
  EXPECT_EQ(
      RunsText(summary),
      "101 histories                         mean           5 %        median          95 %\n"
      "time to finish, h                   51.000         6.000        51.000        96.000\n"
      "goodput, %                           5.146         1.042         1.961        16.667\n"
      "failures                            50.000         5.000        50.000        95.000\n"
      "GPU-h lost to waiting              200.000        20.000       200.000       380.000\n");
}

TEST(JobEnumTwinsTest, EnumsAreNumberedAsTheirProtos) {
  ExpectTwins<PhaseKind, PhaseProto::Kind>();
  ExpectTwins<ClusterEvent::What, ClusterEventProto::What>();
  ExpectTwins<EventRates::RepairTime, EventRatesProto::RepairTime>();
}

}  // namespace
}  // namespace stagecraft
