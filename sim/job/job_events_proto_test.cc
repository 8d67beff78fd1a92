#include "sim/job/job_events_proto.h"

#include <gtest/gtest.h>

#include <string>

#include "costmodel/error_of.h"
#include "costmodel/proto_file.h"
#include "sim/job/job_testing.h"

namespace stagecraft {
namespace {

using What = ClusterEvent::What;

JobEvents ReadYaml(const std::string& yaml, const Cluster& cluster) {
  JobEventsProto proto;
  ParseProtoText(yaml, "e.yaml", ".yaml", &proto);
  return JobEventsFromProto(proto, cluster, "e.yaml");
}

std::string YamlError(const std::string& yaml) {
  const Cluster cluster = SwitchedNodes(4);
  return ErrorOf([&] { ReadYaml(yaml, cluster); });
}

// The error of a file with these events.
std::string EventError(const std::string& events) {
  return YamlError("nodes_per_rack: 2\nevents:\n" + events);
}

TEST(JobEventsProtoTest, ReadsEveryKindOfEvent) {
  const Cluster cluster = SwitchedNodes(4);
  const JobEvents read = ReadYaml(
      "nodes_per_rack: 2\n"
      "events:\n"
      "- {at_s: 0, device: node3/gpu1, what: slow, rate: 0.5}\n"
      "- {at_s: 1.5, node: node2, what: fail}\n"
      "- {at_s: 2, node: node2, what: recover}\n"
      "- {at_step: 100, rack: rack1, what: leave, notice_s: 30}\n"
      "- {at_step: 200, rack: rack1, what: join}\n"
      "- {at_s: 2, link: 'node0/gpu3 -> node0/nvswitch', what: slow, rate: 0}\n"
      "- {at_s: 3, link: 'node0/gpu3 -> node0/nvswitch', what: recover}\n"
      "rates:\n"
      "  device_failures: [{device: gpu, mtbf_s: 1.8e8}]\n"
      "  node_mtbf_s: 3e7\n"
      "  rack_probability: 0.1\n"
      "  repair_s: 3600\n"
      "  repair_time: exponential\n"
      "  slow_devices: [{share: 0.01, rate: 0.8}]\n",
      cluster);
  ASSERT_EQ(read.events.size(), 7u);
  EXPECT_EQ(read.events[0].target, DeviceNumber(25));
  EXPECT_EQ(read.events[0].rate, 0.5);
  EXPECT_EQ(read.events[1].target, NodeNumber(2));
  EXPECT_EQ(read.events[1].at, Seconds(1.5));
  EXPECT_EQ(read.events[3].target, RackNumber(1));
  EXPECT_EQ(read.events[3].what, What::kLeave);
  EXPECT_EQ(read.events[3].notice, Seconds(30));
  EXPECT_EQ(read.events[3].at_step, 100);
  EXPECT_EQ(NameOf(read.events[5].target, cluster), "node0/gpu3 -> node0/nvswitch");
  EXPECT_EQ(Describe(read.events[5], cluster),
            "node0/gpu3 -> node0/nvswitch slowed to 0 of its speed");
  EXPECT_EQ(read.rates.device_kinds[0].mtbf, Seconds(1.8e8));
  EXPECT_EQ(read.rates.node_mtbf, Seconds(3e7));
  EXPECT_EQ(read.rates.repair_time, EventRates::RepairTime::kExponential);
  EXPECT_EQ(read.rates.slow[0].rate, 0.8);
  EXPECT_EQ(read.nodes_per_rack, 2);
}

TEST(JobEventsProtoTest, NamesPartsThatTheClusterLacks) {
  EXPECT_EQ(EventError("- {at_s: 1, device: node3/gpu8, what: fail}"),
            "e.yaml: events[0].device: got \"node3/gpu8\", which the cluster lacks, want from "
            "node0/gpu0 to node3/gpu7");
  EXPECT_EQ(EventError("- {at_s: 1, node: node4, what: fail}"),
            "e.yaml: events[0].node: got \"node4\", which the cluster lacks, want from node0 to "
            "node3");
  EXPECT_EQ(EventError("- {at_s: 1, node: node01, what: fail}").find("e.yaml: events[0].node"), 0u);
  EXPECT_EQ(EventError("- {at_s: 1, rack: rack2, what: fail}"),
            "e.yaml: events[0].rack: got \"rack2\", which the cluster lacks, want from rack0 to "
            "rack1");
  EXPECT_EQ(YamlError("events: [{at_s: 1, rack: rack0, what: fail}]"),
            "e.yaml: events[0].rack: got \"rack0\", but the cluster's racks are not known, want "
            "nodes_per_rack in this file");
  EXPECT_EQ(EventError("- {at_s: 1, link: a -> b, what: fail}").find("e.yaml: events[0].link"), 0u);
  EXPECT_EQ(EventError("- {at_s: 1, what: fail}"),
            "e.yaml: events[0]: want a device, node, link or rack");
}

TEST(JobEventsProtoTest, RefusesEventsThatCannotHappen) {
  const std::string fail = "- {at_s: 5, device: node0/gpu1, what: fail}\n";
  EXPECT_EQ(EventError(fail + "- {at_s: 4, node: node1, what: fail}"),
            "e.yaml: events[1]: got 4 s after 5 s, want events in order");
  EXPECT_EQ(EventError("- {at_step: 5, node: node0, what: fail}\n"
                       "- {at_step: 4, node: node1, what: fail}"),
            "e.yaml: events[1]: got step 4 after step 5, want events in order");
  EXPECT_EQ(EventError("- {at_s: -1, node: node1, what: fail}"),
            "e.yaml: events[0].at_s: got -1 s, want from 0 s to 100 years");
  EXPECT_EQ(EventError("- {at_step: -1, node: node1, what: fail}"),
            "e.yaml: events[0].at_step: got -1, want 0 or more");
  EXPECT_EQ(EventError("- {node: node1, what: fail}"), "e.yaml: events[0]: want at_s or at_step");
  EXPECT_EQ(EventError(fail + "- {at_s: 6, device: node0/gpu1, what: fail}"),
            "e.yaml: events[1]: node0/gpu1 fails twice, want it to recover in between");
  EXPECT_EQ(EventError("- {at_s: 6, node: node0, what: recover}"),
            "e.yaml: events[0]: node0 recovers, but it neither failed nor was slow before");
  EXPECT_EQ(EventError(fail + "- {at_s: 6, device: node0/gpu1, what: join}"),
            "e.yaml: events[1]: node0/gpu1 joins, but it did not leave before");
  EXPECT_EQ(EventError("- {at_s: 6, node: node0, what: leave}\n"
                       "- {at_s: 7, node: node0, what: leave}"),
            "e.yaml: events[1]: node0 leaves twice, want it to join in between");
  EXPECT_EQ(EventError("- {at_s: 6, node: node0, what: leave}\n"
                       "- {at_s: 7, node: node0, what: fail}"),
            "e.yaml: events[1]: node0 fails after it left, want it to join first");
}

TEST(JobEventsProtoTest, RefusesEventsOfPartsThatAreAway) {
  const std::string fail = "- {at_s: 5, node: node0, what: fail}\n";
  EXPECT_EQ(EventError(fail + "- {at_s: 6, node: node0, what: slow, rate: 0.5}"),
            "e.yaml: events[1]: node0 slows down while it is down, want it to recover first");
  const std::string slow = "- {at_s: 4, node: node0, what: slow, rate: 0.5}\n";
  const std::string leave = "- {at_s: 5, node: node0, what: leave}\n";
  EXPECT_EQ(EventError(slow + leave + "- {at_s: 6, node: node0, what: recover}"),
            "e.yaml: events[2]: node0 recovers after it left, want it to join");
  EXPECT_EQ(EventError(leave + "- {at_s: 6, node: node0, what: slow, rate: 0.5}"),
            "e.yaml: events[1]: node0 slows down after it left, want it to join first");
  EXPECT_EQ(EventError("- {at_s: 5, node: node0, what: leave, notice_s: 100}\n"
                       "- {at_s: 50, node: node0, what: join}"),
            "e.yaml: events[1]: node0 has an event at 50 s, want it after 105 s, when it leaves as "
            "announced");
  EXPECT_EQ(EventError("- {at_s: 5, node: node0, what: leave, notice_s: 100}\n"
                       "- {at_s: 105, node: node0, what: join}"),
            "");
  EXPECT_EQ(EventError("- {at_s: 5, rack: rack1, what: leave}\n"
                       "- {at_s: 6, node: node2, what: join}"),
            "e.yaml: events[1]: node2 joins, but it left with rack1, want rack1 to join");
  EXPECT_EQ(EventError(leave + "- {at_s: 6, device: node0/gpu1, what: join}"),
            "e.yaml: events[1]: node0/gpu1 joins, but it left with node0, want node0 to join");
}

TEST(JobEventsProtoTest, RefusesNumbersThatAreNotFinite) {
  for (const char* number : {".nan", ".inf", "-.inf"}) {
    const std::string text = number;
    EXPECT_NE(EventError("- {at_s: " + text + ", node: node1, what: fail}"), "");
    EXPECT_NE(EventError("- {at_s: 1, node: node1, what: slow, rate: " + text + "}"), "");
    EXPECT_NE(EventError("- {at_s: 1, node: node1, what: leave, notice_s: " + text + "}"), "");
    for (const char* key : {"node_mtbf_s", "rack_probability", "repair_s"}) {
      EXPECT_NE(YamlError(std::string("nodes_per_rack: 2\nrates: {") + key + ": " + text + "}"), "")
          << key;
    }
    EXPECT_NE(YamlError("rates: {device_failures: [{mtbf_s: " + text + "}]}"), "");
    EXPECT_NE(YamlError("rates: {slow_devices: [{share: " + text + ", rate: 0.5}]}"), "");
    EXPECT_NE(YamlError("rates: {slow_devices: [{share: 0.5, rate: " + text + "}]}"), "");
  }
}

TEST(JobEventsProtoTest, RefusesRatesOutsideTheirRange) {
  const std::string slow = "- {at_s: 1, node: node1, what: slow, rate: ";
  EXPECT_EQ(EventError(slow + "1.5}"), "e.yaml: events[0]: rate: got 1.5, want from 0 to 1");
  EXPECT_EQ(EventError(slow + "-0.5}"), "e.yaml: events[0]: rate: got -0.5, want from 0 to 1");
  EXPECT_EQ(EventError(slow + "0}"),
            "e.yaml: events[0]: rate: got 0, want above 0: let node1 fail instead");
  EXPECT_EQ(EventError("- {at_s: 1, node: node1, what: fail, rate: 0.5}"),
            "e.yaml: events[0].rate: want it for SLOW, and for nothing else");
  EXPECT_EQ(EventError("- {at_s: 1, node: node1, what: fail, notice_s: 3}"),
            "e.yaml: events[0].notice_s: got 3, want it for LEAVE only");
  EXPECT_EQ(EventError("- {at_s: 1, node: node1}"),
            "e.yaml: events[0].what: want SLOW, FAIL, RECOVER, JOIN or LEAVE");
}

TEST(JobEventsProtoTest, ALinkThatIsDownMustReturn) {
  const std::string link = "link: node0/gpu3 -> node0/nvswitch";
  EXPECT_EQ(EventError("- {at_s: 1, " + link +
                       ", what: slow, rate: 0}\n"
                       "- {at_s: 2, node: node1, what: fail}"),
            "e.yaml: events[0]: node0/gpu3 -> node0/nvswitch is down and never returns, want a "
            "later event that recovers it");
  EXPECT_EQ(EventError("- {at_s: 1, " + link +
                       ", what: slow, rate: 0}\n"
                       "- {at_s: 2, " +
                       link + ", what: slow, rate: 0.5}"),
            "");
  EXPECT_EQ(EventError("- {at_s: 1, " + link + ", what: leave}"),
            "e.yaml: events[0]: node0/gpu3 -> node0/nvswitch is a link, which cannot leave");
}

TEST(JobEventsProtoTest, ChecksRatesOfFailures) {
  EXPECT_EQ(YamlError("rates: {device_failures: [{device: gpv, mtbf_s: 1}]}")
                .find("e.yaml: rates.device_failures[0].device: got \"gpv\", which the cluster "
                      "lacks"),
            0u);
  EXPECT_EQ(YamlError("rates: {device_failures: [{mtbf_s: 0}]}"),
            "e.yaml: rates.device_failures[0].mtbf_s: got 0, want above 0");
  EXPECT_EQ(YamlError("rates: {device_failures: [{mtbf_s: 1}, {mtbf_s: 2}]}"),
            "e.yaml: rates.device_failures[1].device: got \"\" twice, want it once");
  EXPECT_EQ(YamlError("rates: {rack_probability: 2}"),
            "e.yaml: rates.rack_probability: got 2, want from 0 to 1");
  EXPECT_EQ(YamlError("rates: {rack_probability: 0.5}"),
            "e.yaml: rates.rack_probability: got 0.5, but the cluster's racks are not known, want "
            "nodes_per_rack in this file");
  EXPECT_EQ(YamlError("rates: {repair_s: -1}"),
            "e.yaml: rates.repair_s: got -1 s, want from 0 s to 100 years");
  EXPECT_EQ(YamlError("rates: {slow_devices: [{share: 0.5, rate: 0}]}"),
            "e.yaml: rates.slow_devices[0].rate: got 0, want above 0, at most 1");
  EXPECT_EQ(YamlError("rates: {slow_devices: [{share: 0.6, rate: 0.5}, {share: 0.6, rate: 1}]}"),
            "e.yaml: rates.slow_devices: shares sum to 1.2, want at most 1");
  EXPECT_EQ(YamlError("rates: {slow_devices: [{share: 0.33, rate: 0.5}, {share: 0.56, rate: 1}, "
                      "{share: 0.11, rate: 0.7}]}"),
            "");
  EXPECT_EQ(YamlError("nodes_per_rack: -1"), "e.yaml: nodes_per_rack: got -1, want 0 or more");
}

TEST(RacksTest, ScaleUpDomainsOfSeveralNodesAreRacks) {
  const Cluster domains("racks", {{Rack(), 5}});
  const Racks racks(domains, 0);
  EXPECT_EQ(racks.count(), 3);
  EXPECT_EQ(racks.rack(4), 2);
  EXPECT_EQ(racks.first_node(2), 4);
  EXPECT_EQ(racks.first_node(3), 5);
  EXPECT_EQ(Racks(SwitchedNodes(5), 0).count(), 0);
  EXPECT_EQ(Racks(SwitchedNodes(5), 2).count(), 3);
}

}  // namespace
}  // namespace stagecraft
