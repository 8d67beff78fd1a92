// import kineto, import nsys, import chakra, and compare with what they make.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <string>

#include "costmodel/learned/samples/gzip.h"
#include "costmodel/proto_file.h"
#include "proto/chakra.pb.h"
#include "proto/timeline.pb.h"
#include "sim/schedule/timeline_record_proto.h"
#include "tools/recorded/kineto_testing.h"
#include "tools/verb/verb_testing.h"

namespace stagecraft {
namespace {

class ImportTracesTest : public VerbTest {
 protected:
  static std::string Kineto(const KinetoShape& shape) {
    std::ostringstream text;
    KinetoTrace(shape, text).Write();
    return text.str();
  }

  static TimelineRecord Record(const std::string& path) {
    TimelineProto proto;
    ReadProtoFile(path, &proto);
    return TimelineRecordFromProto(proto, path);
  }

  // The kernels of a class.
  static nlohmann::json ClassIn(const nlohmann::json& rows, const std::string& kind) {
    for (const auto& row : rows) {
      if (row["class"] == kind) return row;
    }
    return nullptr;
  }

  std::string Sqlite(const std::string& name, const std::string& statements) const {
    const std::string path = Path(name);
    sqlite3* file = nullptr;
    EXPECT_EQ(sqlite3_open(path.c_str(), &file), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(file, statements.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(file);
    sqlite3_close(file);
    return path;
  }

  static std::string Framed(const google::protobuf::Message& message) {
    const std::string bytes = message.SerializeAsString();
    std::string frame;
    for (size_t size = bytes.size();; size >>= 7) {
      const bool is_last = size < 128;
      frame += static_cast<char>((size & 127) | (is_last ? 0 : 128));
      if (is_last) return frame + bytes;
    }
  }
};

// One layer: GEMM 300, softmax 20, copy 10 | GEMM 500 | all-reduce 700 beside, Adam 90; 2 ms a
// step.
TEST_F(ImportTracesTest, AStepOfAKinetoTraceBecomesATimelineOfItsKernels) {
  const std::string trace = Write("rank0.json", Kineto({.steps = 3, .layers = 1}));
  const nlohmann::json report =
      Json(RunImport, {"kineto", trace, "-o", Path("measured.pb"), "--samples", Path("s.csv")});
  EXPECT_EQ(report["kernels"], 6);
  EXPECT_EQ(report["recorded_kernels"], 18);
  EXPECT_EQ(report["kernels_in_other_steps"], 12);
  EXPECT_EQ(report["kernels_outside_of_steps"], 0);
  EXPECT_EQ(report["steps_ms"].size(), 3);
  EXPECT_DOUBLE_EQ(report["steps_ms"][0], 2.0);  // to the start of the next
  const auto& classes = report["op_classes"];
  EXPECT_DOUBLE_EQ(ClassIn(classes, "gemm")["time_ms"], 0.8);
  EXPECT_DOUBLE_EQ(ClassIn(classes, "softmax")["time_ms"], 0.02);
  EXPECT_DOUBLE_EQ(ClassIn(classes, "copy")["time_ms"], 0.01);
  EXPECT_DOUBLE_EQ(ClassIn(classes, "all-reduce")["time_ms"], 0.7);
  EXPECT_DOUBLE_EQ(ClassIn(classes, "optimizer")["time_ms"], 0.09);
  const TimelineRecord record = Record(Path("measured.pb"));
  ASSERT_TRUE(record.kernels);
  EXPECT_EQ(record.kernels->world_size, 1);
  EXPECT_EQ(record.measurement->executor, "kineto");
  EXPECT_EQ(record.measurement->software, "NCCL 2.21.5");
  EXPECT_EQ(record.measurement->devices, std::vector<std::string>{"NVIDIA H100 80GB HBM3"});
  EXPECT_EQ(record.schedule.lane_count(), 2);
  EXPECT_EQ(record.schedule.lane_infos()[1].kind, LaneKind::kData);
  EXPECT_EQ(record.timeline.start(0), Duration());
  // The forward GEMM starts 10 us after its layer does, the backward one 400 us later.
  EXPECT_EQ(record.timeline.start(3), 400_us);
  EXPECT_EQ(record.schedule.tag(0).phase, Phase::kForward);
  EXPECT_EQ(record.schedule.tag(3).phase, Phase::kBackward);
  EXPECT_EQ(record.kernels->kernels[3].layer, 0);  // by the sequence number of its forward
  EXPECT_EQ(record.schedule.tag(5).phase, Phase::kOptimizer);
}

TEST_F(ImportTracesTest, ProductsBecomeSamplesWithTheMedianOfTheirTimes) {
  const std::string trace = Write("rank0.json", Kineto({.steps = 3, .layers = 2}));
  Run(RunImport, {"kineto", trace, "-o", Path("m.pb"), "--samples", Path("s.csv")});
  const std::string table = Read(Path("s.csv"));
  // The first of three steps is left out: two steps of two layers.
  EXPECT_NE(table.find(",1,4096,3584,8192,0,1,h100-sxm5-80gb,300,0,4,"), std::string::npos)
      << table;
  EXPECT_NE(table.find(",1,3584,8192,4096,0,1,h100-sxm5-80gb,500,0,4,"), std::string::npos)
      << table;
}

// Forward 30 us, backward 5 and 60 us; 64 heads in all, 16 of keys. The name of a sample says which
// FlashAttention ran.
TEST_F(ImportTracesTest, AttentionBecomesSamplesWhereInputsOrKernelsTellWhetherItIsCausal) {
  const std::string sizes = ",training,2,16,64,2048,2048,128,0,1,h100-sxm5-80gb,";
  const auto import = [&](TracedAttention attention, const std::vector<std::string>& more) {
    const std::string trace =
        Write("rank0.json", Kineto({.steps = 3, .layers = 2, .attention = attention}));
    Args args = {"kineto", trace, "-o", Path("m.pb"), "--samples", Path("s.csv")};
    args.insert(args.end(), more.begin(), more.end());
    const nlohmann::json report = Json(RunImport, args);
    EXPECT_EQ(report["samples"]["attention_rows"].get<int>() + 2, report["samples"]["rows"]);
    return report;
  };
  const auto has = [&](const std::string& direction, bool is_causal, const std::string& time,
                       const std::string& name) {
    const std::string table = Read(Path("s.csv"));
    const std::string row = "attention,bf16," + direction + (is_causal ? ",1" : ",0") + sizes +
                            time + ",0,4,0,0," + name + ",";
    EXPECT_NE(table.find(row), std::string::npos) << row << "\n" << table;
  };
  EXPECT_EQ(import(TracedAttention::kByInputs, {})["samples"]["attention_rows"], 2);
  has("forward", true, "30", "flash_attention");
  has("backward", true, "65", "flash2_attention");  // one of its kernels is FlashAttention 2's
  EXPECT_EQ(import(TracedAttention::kByKernel, {})["samples"]["attention_rows"], 2);
  has("forward", true, "30", "flash2_attention");
  has("backward", true, "65", "flash2_attention");
  // Calls of which nothing tells whether they are causal are left out and counted: two steps of two
  // layers, forward and backward.
  const nlohmann::json untold = import(TracedAttention::kUntold, {});
  EXPECT_EQ(untold["samples"]["attention_rows"], 0);
  EXPECT_NE(untold["notes"].dump().find(
                "8 of 8 calls of attention give no sample: neither their inputs nor their kernels "
                "tell whether they are causal (--attention-causal says it)"),
            std::string::npos)
      << untold["notes"];
  EXPECT_EQ(import(TracedAttention::kUntold,
                   {"--attention-causal", "false"})["samples"]["attention_rows"],
            2);
  has("forward", false, "30", "flash_attention");
  // What the trace tells is not overruled.
  import(TracedAttention::kByInputs, {"--attention-causal", "false"});
  has("forward", true, "30", "flash_attention");
}

TEST_F(ImportTracesTest, SamplesOfAttentionCanBeFitted) {
  const std::string trace = Write(
      "rank0.json", Kineto({.steps = 3, .layers = 2, .attention = TracedAttention::kByKernel}));
  Run(RunImport, {"kineto", trace, "-o", Path("m.pb"), "--samples", Path("s.csv")});
  const nlohmann::json report = Json(RunEvaluate, {"--samples", Path("s.csv")});
  EXPECT_NE(report.dump().find("attention"), std::string::npos) << report;
}

TEST_F(ImportTracesTest, WordsOnAttentionNeedSamples) {
  const std::string trace = Write("rank0.json", Kineto({}));
  EXPECT_NE(ErrorOf(RunImport, {"kineto", trace, "-o", Path("m.pb"), "--attention-causal", "true"})
                .find("--attention-causal: got it without --samples, want both"),
            std::string::npos);
  EXPECT_NE(ErrorOf(RunImport, {"kineto", trace, "-o", Path("m.pb"), "--samples", Path("s.csv"),
                                "--attention-causal", "perhaps"})
                .find("--attention-causal: got \"perhaps\""),
            std::string::npos);
}

TEST_F(ImportTracesTest, OfSeveralRanksTheFastestOneTellsHowLongACollectiveTransfers) {
  const std::string first = Write("rank0.json", Kineto({.rank = 0, .world_size = 2}));
  const std::string second = Write("rank1.json", Kineto({.rank = 1, .world_size = 2}));
  const nlohmann::json report =
      Json(RunImport, {"kineto", first, second, "-o", Path("m.pb"), "--collectives", Path("c.csv"),
                       "--cluster", "h100-sxm:1x2"});
  EXPECT_EQ(report["ranks"], 2);
  EXPECT_EQ(report["world_size"], 2);
  EXPECT_DOUBLE_EQ(ClassIn(report["op_classes"], "all-reduce")["time_ms"], 1.5);
  EXPECT_DOUBLE_EQ(ClassIn(report["op_classes"], "all-reduce")["waits_ms"], 0.1);
  EXPECT_EQ(report["collectives"]["rows"], 1);
  EXPECT_NE(Read(Path("c.csv")).find("67108864"), std::string::npos);
}

TEST_F(ImportTracesTest, AGzippedTraceGivesTheSameTimeline) {
  const std::string text = Kineto({});
  Run(RunImport, {"kineto", Write("a.json", text), "-o", Path("a.pb")});
  Run(RunImport, {"kineto", Write("b.json.gz", Gzip(text)), "-o", Path("b.pb")});
  EXPECT_EQ(Read(Path("a.pb")), Read(Path("b.pb")));
}

TEST_F(ImportTracesTest, OneRankOfManyIsSaid) {
  const std::string trace = Write("rank3.json", Kineto({.rank = 3, .world_size = 16}));
  EXPECT_NE(Output(RunImport, {"kineto", trace, "-o", Path("m.pb")})
                .find("note: 1 of the 16 ranks of the job is recorded here"),
            std::string::npos);
}

TEST_F(ImportTracesTest, ACutOffTraceIsRefusedUnlessItIsAskedFor) {
  const std::string text = Kineto({});
  const std::string cut = Write("cut.json", text.substr(0, text.size() / 2));
  const std::string error = ErrorOf(RunImport, {"kineto", cut, "-o", Path("m.pb")});
  EXPECT_NE(error.find("cut.json: cut off after "), std::string::npos) << error;
  EXPECT_NE(error.find("want the whole file, or --cut-off"), std::string::npos) << error;
  EXPECT_FALSE(std::filesystem::exists(Path("m.pb")));
  EXPECT_NE(Output(RunImport, {"kineto", cut, "-o", Path("m.pb"), "--cut-off"})
                .find("what came later is missing"),
            std::string::npos);
  const std::string zipped = Gzip(text);
  const std::string half = Write("cut.json.gz", zipped.substr(0, zipped.size() / 2));
  EXPECT_NE(ErrorOf(RunImport, {"kineto", half, "-o", Path("m.pb")}).find("cut off after"),
            std::string::npos);
}

TEST_F(ImportTracesTest, EventsAloneMayLackTheirLastBracket) {
  const std::string event =
      R"({"ph":"X","cat":"kernel","name":"sgemm","pid":0,"tid":7,"ts":1726000000000123.456,)"
      R"("dur":1.5,"args":{"device":0,"stream":7}})";
  Run(RunImport,
      {"kineto", Write("list.json", "[" + event + ",\n" + event + ",\n"), "-o", Path("m.pb")});
  const TimelineRecord record = Record(Path("m.pb"));
  EXPECT_EQ(record.schedule.task_count(), 2);
  EXPECT_EQ(record.timeline.end(0), 1500_ns);
}

TEST_F(ImportTracesTest, WhatIsNoTraceIsRefusedInASentence) {
  const auto error = [&](const std::string& format, const std::string& name,
                         const std::string& text) {
    return ErrorOf(RunImport, {format, Write(name, text), "-o", Path("m.pb")});
  };
  EXPECT_NE(error("kineto", "a.json", "{\"a\":1}").find("traceEvents: got none"),
            std::string::npos);
  EXPECT_NE(error("kineto", "b.json", "{\"traceEvents\":[]}").find("got no kernel among 0 events"),
            std::string::npos);
  EXPECT_NE(error("kineto", "c.json", "{\"traceEvents\":[{\"ph\":\"X\",}]}").find("line 1"),
            std::string::npos);
  EXPECT_NE(error("kineto", "d.json",
                  "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":1}]}")
                .find("event 0: kernel \"k\": got no ts or no dur"),
            std::string::npos);
  EXPECT_NE(error("kineto", "e.json",
                  "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":1e300,"
                  "\"dur\":1}]}")
                .find("want microseconds before the year 2039"),
            std::string::npos);
  EXPECT_NE(error("nsys", "f.sqlite", "SQLite format 3 but no more").find("f.sqlite: "),
            std::string::npos);
  EXPECT_NE(error("nsys", "g.sqlite", "text").find("nsys export --type sqlite"), std::string::npos);
  EXPECT_NE(error("chakra", "h.et", "text").find("h.et: "), std::string::npos);
  EXPECT_NE(error("chakra", "i.et", "").find("begins with its metadata"), std::string::npos);
  EXPECT_NE(error("chakra", "j.et", "version: \"0.0.4\"").find("begins with its metadata"),
            std::string::npos);
  const std::string trace = Write("rank0.json", Kineto({}));
  EXPECT_NE(ErrorOf(RunImport, {"kineto", trace, trace, "-o", Path("m.pb")}).find("twice"),
            std::string::npos);
  const std::string other = Write("other.json", Kineto({}));
  EXPECT_NE(ErrorOf(RunImport, {"kineto", trace, other, "-o", Path("m.pb")})
                .find("rank 0: got it again, want traces of different ranks"),
            std::string::npos);
  EXPECT_NE(ErrorOf(RunImport, {"kineto", trace, "-o", Path("m.yaml")}).find("want a .pb file"),
            std::string::npos);
  EXPECT_NE(
      ErrorOf(RunImport, {"kineto", trace, "-o", Path("m.pb"), "--collectives", Path("c.csv")})
          .find("--cluster: got none with --collectives"),
      std::string::npos);
}

TEST_F(ImportTracesTest, KernelsThatAreDecadesApartAreRefused) {
  const auto trace = [&](const std::string& name, const std::string& start) {
    return Write(name, R"([{"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":)" + start +
                           R"(,"dur":1,"args":{}},{"ph":"X","cat":"kernel","name":"b","pid":0,)" +
                           R"("tid":7,"ts":2100000000000000,"dur":2100000000000000,"args":{}}])");
  };
  const std::string first = trace("a.json", "2099999999999999");
  const std::string second = trace("b.json", "-2100000000000000");
  EXPECT_NE(ErrorOf(RunImport, {"kineto", second, first, "-o", Path("m.pb")})
                .find("b.json: got kernels that are 6300000000 s apart, want those of one run"),
            std::string::npos);
}

TEST_F(ImportTracesTest, ObjectsInPlaceOfSizesAreNoSizes) {
  const std::string trace =
      Write("a.json",
            R"([{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":9,"args":{
      "Input Dims":[{"a":4},{"b":4}],"Input type":["float","float"]}},
      {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":2.0625,"dur":3.5,"args":{}}])");
  const nlohmann::json report = Json(RunImport, {"kineto", trace, "-o", Path("m.pb")});
  EXPECT_EQ(report["kernels"], 1);
  EXPECT_DOUBLE_EQ(report["step_ms"], 0.0035);
}

TEST_F(ImportTracesTest, NsightSystemsTellsKernelsByTheRangesAroundTheirLaunch) {
  // Thread 5 of process 1: globalTid 0x1000005; a kernel in "layer4.mlp" of "forward micro-batch
  // 2".
  const std::string path = Sqlite("report.sqlite", R"(
    CREATE TABLE StringIds(id INTEGER, value TEXT);
    INSERT INTO StringIds VALUES(1,'sm90_xmma_gemm_bf16'),(2,'gemm'),(3,'ncclDevKernel_SendRecv');
    CREATE TABLE TARGET_INFO_GPU(id INTEGER, name TEXT);
    INSERT INTO TARGET_INFO_GPU VALUES(0,'NVIDIA H100 80GB HBM3');
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, deviceId INTEGER,
      streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER,
      shortName INTEGER);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(1000,4000,0,7,901,16777216,1,2),
      (2000,2500,0,8,902,16777216,3,3);
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER, end INTEGER, deviceId INTEGER,
      streamId INTEGER, bytes INTEGER, globalPid INTEGER);
    INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(5000,5100,0,7,64,16777216);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, globalTid INTEGER,
      correlationId INTEGER);
    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(500,16777221,901),(600,16777221,902);
    CREATE TABLE NVTX_EVENTS(start INTEGER, end INTEGER, eventType INTEGER, text TEXT,
      textId INTEGER, globalTid INTEGER);
    INSERT INTO NVTX_EVENTS VALUES(400,590,59,'layer4.mlp',NULL,16777221),
      (300,800,59,'forward micro-batch 2',NULL,16777221);)");
  const nlohmann::json report = Json(RunImport, {"nsys", path, "-o", Path("m.pb")});
  EXPECT_EQ(report["kernels"], 3);
  const TimelineRecord record = Record(Path("m.pb"));
  EXPECT_EQ(record.timeline.end(0), 3_us);
  EXPECT_EQ(record.kernels->kernels[0].kind, KernelClass::kGemm);
  EXPECT_EQ(record.kernels->kernels[0].layer, 4);
  EXPECT_EQ(record.schedule.tag(0).micro_batch, 2);
  EXPECT_EQ(record.schedule.tag(0).phase, Phase::kForward);
  EXPECT_EQ(record.kernels->kernels[1].kind, KernelClass::kSendRecv);
  EXPECT_EQ(record.kernels->kernels[1].layer, -1);
  EXPECT_EQ(record.kernels->kernels[2].kind, KernelClass::kCopy);
  EXPECT_FALSE(record.kernels->kernels[2].has_phase);
}

TEST_F(ImportTracesTest, ChakraNodesWithDurationsAreKernels) {
  chakra::GlobalMetadata metadata;
  metadata.set_version("0.0.4");
  chakra::Node gemm;
  gemm.set_id(1);
  gemm.set_name("layer0.forward.sgemm");
  gemm.set_type(chakra::Node::COMP_NODE);
  gemm.set_start_time_micros(10);
  gemm.set_duration_micros(5);
  chakra::Node reduce;
  reduce.set_id(2);
  reduce.set_name("tp_allreduce");
  reduce.set_type(chakra::Node::COMM_COLL_NODE);
  reduce.set_start_time_micros(15);
  reduce.set_duration_micros(7);
  chakra::Attribute* const type = reduce.add_attr();
  type->set_name("comm_type");
  type->set_uint64_val(7);  // not the arm that the format asks for
  const std::string bytes = Framed(metadata) + Framed(gemm) + Framed(reduce);
  const nlohmann::json report =
      Json(RunImport, {"chakra", Write("trace.3.et", bytes), "-o", Path("m.pb")});
  EXPECT_DOUBLE_EQ(report["step_ms"], 0.012);
  const TimelineRecord record = Record(Path("m.pb"));
  EXPECT_EQ(record.schedule.ranks()[0].device, 3);
  EXPECT_EQ(record.kernels->kernels[0].kind, KernelClass::kGemm);
  EXPECT_EQ(record.kernels->kernels[1].kind, KernelClass::kReduceScatter);
  const std::string cut = Write("cut.et", bytes.substr(0, bytes.size() - 3));
  EXPECT_NE(
      ErrorOf(RunImport, {"chakra", cut, "-o", Path("n.pb")}).find("cut off after 1 whole nodes"),
      std::string::npos);
}

TEST_F(ImportTracesTest, CompareNamesWhatWasNeverPredictedAndWhatNeverRan) {
  Run(RunSimulate, {"--model", "gpt2-medium", "--cluster", "h100-sxm:1x1", "--global-batch", "4",
                    "--seq", "512", "--timeline", Path("predicted.pb"), "--quiet"});
  std::string text = Kineto({.steps = 1, .layers = 1});
  const std::string known = "void at::native::softmax_warp_forward<float>";
  text.replace(text.find(known), known.size(), "my_secret_kernel");
  Run(RunImport, {"kineto", Write("rank0.json", text), "-o", Path("measured.pb")});
  const nlohmann::json report =
      Json(RunCompare, {Path("predicted.pb"), Path("measured.pb"), "--top", "9"});
  const auto& classes = report["kernel_classes"];
  EXPECT_DOUBLE_EQ(ClassIn(classes, "gemm")["measured_ms"], 0.8);
  EXPECT_GT(ClassIn(classes, "gemm")["predicted_ms"], 1);
  EXPECT_DOUBLE_EQ(ClassIn(classes, "attention")["measured_ms"], 0);
  EXPECT_NE(std::find(report["never_ran"].begin(), report["never_ran"].end(), "attention"),
            report["never_ran"].end());
  // Longest first: the all-reduce of one device, the unknown kernel, the copy.
  ASSERT_EQ(report["never_predicted"].size(), 3);
  EXPECT_EQ(report["never_predicted"][0]["class"], "all-reduce");
  EXPECT_EQ(report["never_predicted"][1]["kernel"], "my_secret_kernel");
  EXPECT_DOUBLE_EQ(report["never_predicted"][1]["measured_ms"], 0.02);
  EXPECT_NE(Output(RunCompare, {Path("predicted.pb"), Path("measured.pb")})
                .find("predicted, but never ran: attention"),
            std::string::npos);
  const std::string wide = Write("rank1.json", Kineto({.rank = 1, .world_size = 2}));
  Run(RunImport, {"kineto", wide, "-o", Path("two.pb")});
  EXPECT_NE(ErrorOf(RunCompare, {Path("predicted.pb"), Path("two.pb")})
                .find("two.pb: got a job of 2 ranks, want 1, the devices of "),
            std::string::npos);
}

// What compare reads of traces is what import would have made of them.
TEST_F(ImportTracesTest, CompareReadsTracesThemselves) {
  Run(RunSimulate, {"--model", "gpt2-medium", "--cluster", "h100-sxm:1x2", "--global-batch", "4",
                    "--seq", "512", "--timeline", Path("predicted.pb"), "--quiet"});
  const std::string first = Write("rank0.json", Kineto({.rank = 0, .world_size = 2}));
  const std::string second = Write("rank1.json.gz", Gzip(Kineto({.rank = 1, .world_size = 2})));
  Run(RunImport, {"kineto", first, second, "-o", Path("measured.pb")});
  EXPECT_EQ(Output(RunCompare, {Path("predicted.pb"), first, second}),
            Output(RunCompare, {Path("predicted.pb"), Path("measured.pb")}));
  nlohmann::json report = Json(RunCompare, {Path("predicted.pb"), first, second});
  EXPECT_EQ(report["inputs"].size(), 3);
  EXPECT_EQ(report["measured"]["path"], first + ", " + second);
}

TEST_F(ImportTracesTest, CompareTakesNoOtherFilesSideBySide) {
  Run(RunSimulate, {"--model", "gpt2-medium", "--cluster", "h100-sxm:1x1", "--global-batch", "4",
                    "--seq", "512", "--timeline", Path("predicted.pb"), "--quiet"});
  const std::string trace = Write("rank0.json", Kineto({}));
  EXPECT_NE(ErrorOf(RunCompare, {Path("predicted.pb"), Path("predicted.pb"), trace})
                .find("MEASURED: got 2 files of which " + Path("predicted.pb") +
                      " is no trace of a profiler"),
            std::string::npos);
  EXPECT_NE(ErrorOf(RunCompare, {Path("predicted.pb"), trace, Path("predicted.pb")})
                .find(Path("predicted.pb")),
            std::string::npos);
  EXPECT_NE(ErrorOf(RunCompare, {Path("predicted.pb"), Path("missing.json")}).find("missing.json"),
            std::string::npos);
  EXPECT_EQ(ErrorOf(RunCompare, {Path("predicted.pb"), trace, trace}),
            trace + ": given twice, want it once");
}

TEST_F(ImportTracesTest, CompareReadsAListOfEventsWithoutAHead) {
  Run(RunSimulate, {"--model", "gpt2-medium", "--cluster", "h100-sxm:1x1", "--global-batch", "4",
                    "--seq", "512", "--timeline", Path("predicted.pb"), "--quiet"});
  const std::string list =
      Write("list.json", nlohmann::json::parse(Kineto({}))["traceEvents"].dump());
  Run(RunImport, {"kineto", list, "-o", Path("measured.pb")});
  EXPECT_EQ(Output(RunCompare, {Path("predicted.pb"), list}),
            Output(RunCompare, {Path("predicted.pb"), Path("measured.pb")}));
}

TEST_F(ImportTracesTest, AnExportedTimelineIsReadBackEqual) {
  Run(RunSimulate,
      {"--model", "gpt2-medium", "--cluster", "h100-sxm:1x4", "--pp", "2", "--global-batch", "8",
       "--seq", "512", "--unfold", "--timeline", Path("a.pb"), "--quiet"});
  Run(RunExport, {"kineto", Path("a.pb"), "-o", Path("a.json")});
  Run(RunImport, {"kineto", Path("a.json"), "-o", Path("b.pb")});
  const TimelineRecord a = Record(Path("a.pb")), b = Record(Path("b.pb"));
  ASSERT_EQ(a.schedule.task_count(), b.schedule.task_count());
  EXPECT_EQ(a.timeline.Fingerprint(), b.timeline.Fingerprint());
  ASSERT_EQ(a.schedule.ranks().size(), b.schedule.ranks().size());
  for (TaskId task = 0; task < a.schedule.task_count(); ++task) {
    const Tag& want = a.schedule.tag(task);
    const Tag& got = b.schedule.tag(task);
    EXPECT_EQ(want.rank, got.rank);
    EXPECT_EQ(want.phase, got.phase);
    EXPECT_EQ(want.stage, got.stage);
    EXPECT_EQ(want.chunk, got.chunk);
    EXPECT_EQ(want.micro_batch, got.micro_batch);
    EXPECT_EQ(want.segment, got.segment);
    ASSERT_EQ(a.schedule.lanes(task).size(), b.schedule.lanes(task).size());
    for (size_t i = 0; i < a.schedule.lanes(task).size(); ++i) {
      const LaneInfo& lane = a.schedule.lane_infos()[Index(a.schedule.lanes(task)[i])];
      const LaneInfo& read = b.schedule.lane_infos()[Index(b.schedule.lanes(task)[i])];
      EXPECT_EQ(lane.rank, read.rank);
      EXPECT_EQ(lane.kind, read.kind);
    }
  }
  const nlohmann::json report = Json(RunCompare, {Path("a.pb"), Path("b.pb")});
  for (const auto& row : report["kernel_classes"]) {
    EXPECT_NEAR(row["difference_ms"].get<double>(), 0, 1e-9) << row;
  }
}

}  // namespace
}  // namespace stagecraft
