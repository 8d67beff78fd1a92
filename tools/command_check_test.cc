#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "data/embedded.h"
#include "proto/perfetto_trace.pb.h"
#include "proto/timeline.pb.h"
#include "proto/workload.pb.h"
#include "sim/cluster/cluster_proto.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/engine/engine.h"
#include "sim/pipeline/pass_order.h"
#include "sim/pipeline/timed_pipeline.h"
#include "sim/schedule/schedule_proto.h"
#include "sim/workload/workload_catalogue.h"
#include "sim/workload/workload_proto.h"
#include "sim/workload/workload_to_proto.h"
#include "tools/trace/chrome_writer.h"
#include "tools/trace/perfetto_writer.h"
#include "tools/trace/trace_view.h"
#include "tools/verb/command.h"

namespace stagecraft {
namespace {

struct Outcome {
  int code = 0;
  std::string out, err;
};

// Runs check as main() does: an InputError is exit code 2.
Outcome Call(const Args& args) {
  std::istringstream in;
  std::ostringstream out, err;
  Outcome outcome;
  try {
    outcome.code = RunCheck(args, in, out, err);
  } catch (const InputError& error) {
    err << error.what() << '\n';
    outcome.code = kExitBadInput;
  }
  outcome.out = out.str();
  outcome.err = err.str();
  return outcome;
}

std::string Write(const std::string& name, const std::string& contents) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "command_check_test";
  std::filesystem::create_directories(folder);
  const std::string path = (folder / name).string();
  std::ofstream(path, std::ios::binary) << contents;
  return path;
}

// The smallest pipeline that sends anything: one of two stages.
struct Example {
  TimedSchedule timed;
  Timeline timeline;
};

Example MakeExample() {
  UniformPipeline pipeline{{}, 1, 2, 1_us, 2_us, 1_us};
  pipeline.orders = {OneForwardOneBackwardOrder(1, 2), OneForwardOneBackwardOrder(0, 2)};
  Example example{BuildUniformPipeline(pipeline), {}};
  example.timeline = Engine().Run(example.timed.schedule, example.timed.durations);
  return example;
}

std::string PerfettoBytes() {
  const Example example = MakeExample();
  std::ostringstream out;
  WritePerfetto(MakeTraceView({.schedule = example.timed.schedule, .timeline = example.timeline}),
                out);
  return out.str();
}

std::string ChromeText() {
  const Example example = MakeExample();
  std::ostringstream out;
  WriteChrome(MakeTraceView({.schedule = example.timed.schedule, .timeline = example.timeline}),
              out);
  return out.str();
}

TimelineProto ExampleTimeline() {
  const Example example = MakeExample();
  return ToProto(example.timeline, example.timed.schedule);
}

constexpr const char* kPlan =
    "micro_batch: 1\nglobal_batch: 16\nsequence: 2048\ndegrees: {tp: 4, pp: 2}\n";
constexpr const char* kHuggingFace =
    R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
        "intermediate_size": 128, "vocab_size": 256, "max_position_embeddings": 128})";

void ExpectSound(const std::string& path, const std::string& want) {
  const Outcome outcome = Call({path});
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
  EXPECT_NE(outcome.out.find(": " + want), std::string::npos) << outcome.out << "want: " << want;
}

TEST(CommandCheckTest, EveryKindOfFileIsRecognisedByItsContent) {
  const Workload workload = LoadWorkload("megatron:2x64x4", AttentionBackend::kFlash);
  const std::string cluster = ToProto(ParseCluster("h100-sxm:2x8")).DebugString();
  ExpectSound(Write("a.textproto", cluster), "cluster, 16 GPUs");
  ExpectSound(Write("a.yaml", "nodeGroups: [{nodeType: dgx-h100, count: 2}]\n"), "cluster, 16");
  for (const char* name : {"h100-sxm:2x8", "dgx-h100:1", "a100-sxm4-80gb:4x8+v100-sxm2-32gb:4x8"}) {
    const Cluster binary = ParseCluster(name);
    ExpectSound(Write("a.pb", ToProto(binary).SerializeAsString()),
                "cluster, " + std::to_string(binary.device_count()) + " GPUs");
  }
  ExpectSound(Write("b.textproto", WorkloadToProto(workload).DebugString()), "workload, megatron");
  ExpectSound(Write("c.yaml", kPlan), "plan, only its structure is checked");
  ExpectSound(Write("d.textproto", ToProto(MakeExample().timed.schedule).DebugString()),
              "schedule, 12 tasks on ");
  ExpectSound(Write("d.pb", ToProto(MakeExample().timed.schedule).SerializeAsString()),
              "schedule, 12 tasks on ");
  ExpectSound(Write("e.pb", ExampleTimeline().SerializeAsString()), "timeline, 12 tasks in 0.0");
  ExpectSound(Write("f.json", kHuggingFace), "Hugging Face config.json, llama: 2 layers");
  ExpectSound(Write("g.pftrace", PerfettoBytes()), "Perfetto trace, ");
  ExpectSound(Write("h.json", ChromeText()), "Chrome trace, ");
  const auto embedded = [](const char* name) { return std::string(EmbeddedFile(name)); };
  ExpectSound(Write("i.textproto", embedded("gpus.textproto")), "device catalogue, ");
  ExpectSound(Write("j.textproto", embedded("nodes.textproto")), "node catalogue, ");
  ExpectSound(Write("k.textproto", embedded("nccl_2.28.textproto")), "NCCL tuning, version ");
  ExpectSound(Write("m.textproto", embedded("stacks.textproto")), "stack defaults, ");
  ExpectSound(Write("n.pb", std::string(EmbeddedNetworkModel())), "network model, ");
  ExpectSound(Write("l.csv",
                    "id,gpu_id,dtype,metric_kind,step_time_s,scored\n"
                    "a,h100-sxm,bf16,step_time,1.5,1\n"),
              "measured rows, 1 rows, 1 of them scored");
}

// Traces of PyTorch name NCCL's version, as logs of nccl-tests do.
TEST(CommandCheckTest, TracesOfPytorchJobsAreTraces) {
  const std::string job =
      R"({"distributedInfo": {"backend": "nccl", "nccl_version": "2.21.5"}, "displayTimeUnit": "ms",
          "traceEvents": )";
  const std::string trace = ChromeText();
  const size_t events = trace.find("\"traceEvents\":") + std::string("\"traceEvents\":").size();
  ExpectSound(Write("kineto.json", job + trace.substr(events)), "Chrome trace, ");
}

// Also the tables that only this program reads.
TEST(CommandCheckTest, EveryTableInTheBinaryIsSound) {
  int tables = 0;
  for (const std::string_view name : EmbeddedFileNames()) {
    if (!name.ends_with(".textproto")) continue;
    ++tables;
    const Outcome outcome = Call({Write(std::string(name), std::string(EmbeddedFile(name)))});
    EXPECT_EQ(outcome.code, kExitOk) << name << ": " << outcome.err;
  }
  EXPECT_GE(tables, 8);
}

TEST(CommandCheckTest, TheExampleClusterIsSound) {
  ExpectSound("data/clusters/two_halls.yaml", "cluster, 128 GPUs: 8 x dgx-h100");
}

TEST(CommandCheckTest, PlansAreCheckedWhollyIfWorkloadAndClusterAreGiven) {
  const std::string path = Write("whole.yaml", kPlan);
  const Args rest = {"--model", "megatron:6x1024x16", "--cluster"};
  const Outcome good = Call({path, rest[0], rest[1], rest[2], "h100-sxm:2x8"});
  EXPECT_EQ(good.code, kExitOk) << good.err;
  EXPECT_NE(good.out.find("2 stages on 16 of 16 devices"), std::string::npos) << good.out;
  const Outcome bad = Call({path, rest[0], rest[1], rest[2], "h100-sxm:1x6"});
  EXPECT_EQ(bad.code, kExitBadInput);
  EXPECT_NE(bad.err.find("does not divide the 6 devices"), std::string::npos) << bad.err;
}

void ExpectUnsound(const std::string& path, const std::string& want) {
  const Outcome outcome = Call({path});
  EXPECT_EQ(outcome.code, kExitBadInput) << outcome.out;
  EXPECT_NE(outcome.err.find(path + ":"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find(want), std::string::npos) << outcome.err << "want: " << want;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

TEST(CommandCheckTest, EachUnsoundFileIsReportedInOneSentence) {
  ExpectUnsound(Write("x.yaml", "degrees: {tp: 0}\nmicro_batch: 1\nglobal_batch: 1\nsequence: 1\n"),
                "degrees.tp: got 0");
  ExpectUnsound(Write("x.textproto", "stages { chunks { first: 0"), "want a PlanProto");
  ExpectUnsound(Write("x.json", "{\"hello\": 1}"),
                "got the key \"hello\", want one of the kinds of file");
  ExpectUnsound(Write("y.json", "{\"traceEvents\": "), "x");
  ExpectUnsound(Write("empty.yaml", " \n"), "got an empty file");
  ExpectUnsound(Write("x.txt", "hello"), "got a file of no kind");
  ExpectUnsound(Write("x.pb",
                      "\x7f"
                      "ELF\x01\x02"),
                "damaged or cut short");
  ExpectUnsound(testing::TempDir(), "got a directory");
  ExpectUnsound(Write("x.csv", "id,id\n1,2\n"), "id");
  const std::string timeline = ExampleTimeline().SerializeAsString();
  ExpectUnsound(Write("cut.pb", timeline.substr(0, timeline.size() / 2)), "damaged or cut short");
}

TEST(CommandCheckTest, TimelinesThatBreakTheirScheduleAreUnsound) {
  TimelineProto early = ExampleTimeline();
  early.clear_fingerprint();
  const int last = early.start_ns_size() - 1;
  early.set_start_ns(last, 0);
  ExpectUnsound(Write("early.pb", early.SerializeAsString()), "got 0, want at least");

  TimelineProto circle = ExampleTimeline();
  circle.mutable_schedule()->mutable_tasks(1)->add_successors(0);
  ExpectUnsound(Write("circle.pb", circle.schedule().SerializeAsString()),
                "wait for each other in a circle");
}

using PerfettoTrace = perfetto::protos::Trace;

// Returns the example's trace, changed by `spoil`.
std::string Spoiled(const std::function<void(PerfettoTrace&)>& spoil) {
  PerfettoTrace trace;
  trace.ParseFromString(PerfettoBytes());
  spoil(trace);
  return trace.SerializeAsString();
}

perfetto::protos::TrackEvent& FirstBegin(PerfettoTrace& trace) {
  for (auto& packet : *trace.mutable_packet()) {
    if (packet.track_event().type() == perfetto::protos::TrackEvent::TYPE_SLICE_BEGIN) {
      return *packet.mutable_track_event();
    }
  }
  return *trace.add_packet()->mutable_track_event();
}

TEST(CommandCheckTest, PerfettoTracesThatViewersMustGuessAtAreUnsound) {
  const auto check = [](const char* name, const std::string& bytes, const char* want) {
    ExpectUnsound(Write(name, bytes), want);
  };
  check("p1.pftrace", PerfettoBytes().substr(0, 100), "damaged or cut short");
  check("p2.pftrace", Spoiled([](auto& trace) { FirstBegin(trace).set_name_iid(9999); }),
        "name_iid: got 9999, want an id");
  check("p3.pftrace", Spoiled([](auto& trace) {
          FirstBegin(trace).set_type(perfetto::protos::TrackEvent::TYPE_SLICE_END);
        }),
        "none is open");
  check("p4.pftrace", Spoiled([](auto& trace) {
          FirstBegin(trace).set_type(perfetto::protos::TrackEvent::TYPE_INSTANT);
        }),
        "none is open");
  check("p5.pftrace", Spoiled([](auto& trace) {
          auto* packets = trace.mutable_packet();
          while (packets->rbegin()->track_event().type() !=
                 perfetto::protos::TrackEvent::TYPE_SLICE_END) {
            packets->RemoveLast();
          }
          packets->RemoveLast();
        }),
        "never end");
  check("p6.pftrace", Spoiled([](auto& trace) { FirstBegin(trace).set_track_uuid(12345); }),
        "track");
  check("p7.pftrace", Spoiled([](auto& trace) {
          for (auto& packet : *trace.mutable_packet()) {
            if (packet.has_track_event()) packet.clear_timestamp();
          }
        }),
        "timestamp: got none");
  check("p8.pftrace", Spoiled([](auto& trace) {
          trace.clear_packet();
          trace.add_packet();
        }),
        "no slices");
  // A counter value on a track of slices whose description comes before or after it.
  for (const bool is_first : {true, false}) {
    check("p9.pftrace", Spoiled([&](auto& trace) {
            perfetto::protos::TracePacket value, track;
            value.set_timestamp(1);
            value.mutable_track_event()->set_type(perfetto::protos::TrackEvent::TYPE_COUNTER);
            value.mutable_track_event()->set_track_uuid(777);
            track.mutable_track_descriptor()->set_uuid(777);
            *trace.add_packet() = is_first ? track : value;
            *trace.add_packet() = is_first ? value : track;
          }),
          "track_uuid: got 777, want a counter track");
  }
}

TEST(CommandCheckTest, ChromeTracesWhoseSlicesDoNotNestAreUnsound) {
  const auto check = [](const char* name, const std::string& events, const char* want) {
    ExpectUnsound(Write(name, "{\"traceEvents\": [" + events + "]}"), want);
  };
  check("c1.json", R"({"ph":"X","ts":0,"dur":2,"pid":1,"tid":1},
                      {"ph":"X","ts":1,"dur":2,"pid":1,"tid":1})",
        "traceEvents[1]: dur: got an end at 3000 ns, want one no later than the 2000 ns");
  check("c2.json", R"({"ph":"B","ts":0,"pid":1,"tid":1})", "never ends");
  check("c3.json", R"({"ph":"E","ts":0,"pid":1,"tid":1})", "no slice of its thread is open");
  check("c4.json", R"({"ph":"X","dur":2})", "ts: got no number");
  check("c5.json", R"({"ph":"X","ts":0,"dur":-2})", "dur: got less than zero");
  check("c6.json", R"({"ts":0})", "ph: got none");
  check("c7.json", R"(3)", "ph: got none");
  ExpectUnsound(Write("c8.json", "{\"traceEvents\": 3}"), "traceEvents: got none");
}

// The slices [outer 0..9 [inner 2..5]], with their end events listed before their begin events.
TEST(CommandCheckTest, ChromeSlicesPairByTime) {
  const auto event = [](const char* phase, int microseconds) {
    return std::string("{\"ph\":\"") + phase + "\",\"ts\":" + std::to_string(microseconds) +
           ",\"pid\":1,\"tid\":1}";
  };
  const std::string ends = event("E", 9) + "," + event("E", 5);
  const auto file = [](const std::string& name, const std::string& events) {
    return Write(name, "{\"traceEvents\": [" + events + "]}");
  };
  ExpectSound(file("d1.json", ends + "," + event("B", 2) + "," + event("B", 0)),
              "Chrome trace, 4 events, 2 slices on 1 threads");
  ExpectUnsound(file("d2.json", event("B", 3) + "," + event("E", 2)),
                "traceEvents[1]: ph: got an \"E\", but no slice of its thread is open");
  // The list of events alone is a trace, too.
  ExpectSound(Write("d3.json", "[" + ends + "," + event("B", 2) + "," + event("B", 0) + "]"),
              "Chrome trace, 4 events, 2 slices on 1 threads");
  ExpectUnsound(Write("d4.json", "[" + event("B", 3) + "," + event("E", 2) + "]"),
                "d4.json: [1]: ph: got an \"E\"");
}

TEST(CommandCheckTest, AllFilesAreReportedThoughOneIsBad) {
  const std::string good = Write("good.yaml", kPlan);
  const std::string bad = Write("bad.yaml", "degrees: {}\n");
  const Outcome outcome = Call({bad, good, "--json"});
  EXPECT_EQ(outcome.code, kExitBadInput);
  const auto report = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(report["command"], "check");
  ASSERT_EQ(report["files"].size(), 2u);
  EXPECT_EQ(report["files"][0]["sound"], false);
  EXPECT_EQ(report["files"][1]["sound"], true);
  EXPECT_EQ(report["files"][1]["kind"], "plan");
}

TEST(CommandCheckTest, HelpShowsAnExample) {
  const Outcome outcome = Call({"--help"});
  EXPECT_EQ(outcome.code, kExitOk);
  EXPECT_NE(outcome.out.find("Examples:\n  stagecraft check"), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace stagecraft
