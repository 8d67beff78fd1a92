#include "costmodel/proto_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "costmodel/check.h"
#include "costmodel/nearest.h"
#include "proto/cluster.pb.h"

namespace stagecraft {
namespace {

std::string ErrorOf(const std::string& text, const std::string& extension) {
  ClusterProto proto;
  try {
    ParseProtoText(text, "c" + extension, extension, &proto);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error: " + proto.ShortDebugString();
}

std::string TestPath(const std::string& name) {
  return std::string(std::getenv("TEST_TMPDIR")) + "/" + name;
}

TEST(ProtoFileTest, AllFormatsGiveTheSameMessage) {
  ClusterProto expected;
  expected.set_name("lab");
  NodeGroupProto* group = expected.add_node_groups();
  group->set_device("h100");
  group->set_count(2);
  LinkProto* link = group->mutable_inline_node_type()->mutable_intra();
  link->set_kind(LinkProto::NVLINK);
  link->set_latency_ns(600);
  link->set_bandwidth_bytes_per_s(4.5e11);
  const std::pair<const char*, std::string> cases[] = {
      {".textproto",
       "name: 'lab' node_groups { device: 'h100' count: 2 inline_node_type { intra {"
       " kind: NVLINK latency_ns: 600 bandwidth_bytes_per_s: 450e9 } } }"},
      {".json",
       R"({"name": "lab", "nodeGroups": [{"device": "h100", "count": 2.0, "inline_node_type":
           {"intra": {"kind": "nvlink", "latency_ns": "600", "bandwidth_bytes_per_s": 450e9}}}]})"},
      {".yaml",
       "name: lab\nnode_groups:\n- device: h100\n  count: 2\n  inline_node_type:\n"
       "    intra: {kind: NVLINK, latency_ns: +600, bandwidth_bytes_per_s: 4.5e+11}\n"},
      {".pb", expected.SerializeAsString()},
  };
  for (const auto& [extension, text] : cases) {
    ClusterProto proto;
    ParseProtoText(text, "x", extension, &proto);
    EXPECT_EQ(proto.SerializeAsString(), expected.SerializeAsString()) << extension;
  }
}

TEST(ProtoFileTest, ErrorsNameFileKeyValueAndWant) {
  const std::string json_want = ", want a whole number";
  const std::tuple<const char*, std::string, std::string> cases[] = {
      {".yaml", "node_groups:\n- count: 1\n- count: abc\n",
       "c.yaml: node_groups[1].count: got \"abc\", want a whole number"},
      {".json", R"({"node_groups": [{"count": 1.5}]})",
       "c.json: node_groups[0].count: got 1.5, want a whole number"},
      {".json", R"({"node_groups": [{"count": 3000000000}]})",
       "c.json: node_groups[0].count: got 3000000000, want a whole number from -2147483648 to "
       "2147483647"},
      {".json", R"({"node_groups": [{"count": 1e300}]})",
       "c.json: node_groups[0].count: got 1e+300, want a number that fits the field"},
      {".json", R"({"nmae": "x"})", "c.json: unknown key \"nmae\"; did you mean \"name\"?"},
      {".json", R"({"name": 3})", "c.json: name: got 3, want text; put it in quotes"},
      {".json", R"({"name": "a", "name": "b"})",
       "c.json: key \"name\" is given twice in one map, want once"},
      {".json", R"({"node_groups": [], "nodeGroups": {}})",
       "c.json: node_groups: got a map, want a list"},
      {".json", R"({"node_groups": [null]})", "c.json: node_groups[0]: got null, want a value"},
      {".json", R"({"links": [{"link": {"bandwidth_bytes_per_s": 1e999}}]})",
       "c.json: got a number too large for any field, want a finite number"},
      {".json", R"({"links": [{"link": {"kind": "NVLINKS"}}]})",
       "c.json: links[0].link.kind: got \"NVLINKS\", want one of NVLINK, PCIE, NETWORK, HOST"},
      {".json", "{\n  \"name\": \n",
       "c.json:3:1: got a syntax error or the end of the file, "
       "want JSON"},
      {".json", "[]", "c.json: got a list, want a map with the keys of a cluster"},
      {".yaml", "name: a\nname: b\n",
       "c.yaml:2:1: key \"name\" is given twice in one map, want "
       "once"},
      {".yaml", "links: [{link: {bandwidth_bytes_per_s: .nan}}]",
       "c.yaml: links[0].link.bandwidth_bytes_per_s: got \".nan\", want a number"},
      {".yaml", "a: 1\n---\nb: 2\n",
       "c.yaml:2:1: got more after the end of the document, want one YAML document"},
      {".textproto", "name: 'a'\nnmae: 'b'",
       "c.textproto:2:5: Message type \"stagecraft.ClusterProto\" has no field named \"nmae\", "
       "want a ClusterProto in text format"},
      {".textproto", "links {\n link { bandwidth_bytes_per_s: nan } }",
       "c.textproto: links[0].link.bandwidth_bytes_per_s: got nan, want a finite number"},
      {".textproto", "  \n", "c.textproto: got an empty file, want a cluster"},
      {".pb", "not a protobuf",
       "c.pb: got 14 bytes that are damaged or cut short, or not a cluster; stagecraft check says "
       "what they are"},
      {".pb", std::string("\x50\x01", 2), "c.pb: got unknown field number 10, want a cluster"},
      {".json", R"({"degrees": {}, "name": "x"})",
       "c.json: unknown key \"degrees\": the file is a plan, want a cluster"},
      {".yaml", "displayTimeUnit: ms\ntraceEvents: []\n",
       "c.yaml: unknown key \"displayTimeUnit\": the file is a Chrome or Kineto trace, want a "
       "cluster"},
      {".textproto", "degrees { tp: 8 }", "c.textproto: the file is a plan, want a cluster"},
      {".yaml", "node_groups: []\nnmae: x\n",
       "c.yaml: unknown key \"nmae\"; did you mean \"name\"?"},
      {".csv", "name", "c.csv: got extension \".csv\", want .textproto, .json, .yaml or .pb"},
  };
  for (const auto& [extension, text, want] : cases) EXPECT_EQ(ErrorOf(text, extension), want);
}

TEST(ProtoFileTest, HostileTextIsRefusedAndNotExpanded) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int j = 1; j < 10; ++j) bomb += ", " + before;
    bomb += "]\n";
  }
  EXPECT_NE(ErrorOf(bomb, ".yaml").find("expands without end"), std::string::npos);
  EXPECT_TRUE(ErrorOf("a: &a [*a]", ".yaml").starts_with("c.yaml"));
  EXPECT_TRUE(ErrorOf(std::string(100000, '['), ".yaml").starts_with("c.yaml"));
  EXPECT_TRUE(ErrorOf(std::string(100000, '['), ".json").starts_with("c.json"));
  EXPECT_TRUE(ErrorOf(std::string("\x00\xff\xfe{", 4), ".json").starts_with("c.json"));
  EXPECT_TRUE(ErrorOf(std::string("\x00\xff\xfe{", 4), ".yaml").starts_with("c.yaml"));
}

TEST(ProtoFileTest, EveryPrefixOfABinaryIsReadOrRefused) {
  ClusterProto proto;
  proto.set_name("lab");
  proto.add_node_groups()->set_device("h100");
  const std::string whole = proto.SerializeAsString();
  for (size_t size = 0; size < whole.size(); ++size) {
    ClusterProto read;
    try {
      ParseProtoText(whole.substr(0, size), "x", ".pb", &read);
      EXPECT_EQ(whole.substr(0, size), read.SerializeAsString());
    } catch (const InputError&) {
    }
  }
}

TEST(ProtoFileTest, FilesThatCannotBeReadAreInputErrors) {
  EXPECT_THROW(ReadFile(TestPath("missing.json")), InputError);
  EXPECT_THROW(ReadFile(TestPath("")), InputError);
  ClusterProto proto;
  EXPECT_THROW(ReadProtoFile(TestPath("missing.json"), &proto), InputError);
  EXPECT_THROW(ReadProtoFile("no-extension", &proto), InputError);
}

// A file whose size is known is refused by its size, without first reading 2 GiB of it.
TEST(ProtoFileTest, FilesThatAreTooLargeAreRefusedBeforeTheyAreRead) {
  for (const int shift : {31, 33, 36, 40}) {
    const std::string path = TestPath("large.pb");
    WriteFileAtomically(path, "");
    std::error_code error;
    std::filesystem::resize_file(path, (uintmax_t{1} << shift) + 1, error);  // no byte on the disk
    if (error) GTEST_SKIP() << "no file system for files of 1 TiB";
    ClusterProto proto;
    try {
      ReadProtoFile(path, &proto);
      ADD_FAILURE() << "no error for 2^" << shift << " bytes";
    } catch (const InputError& refusal) {
      EXPECT_EQ(std::string(refusal.what()), path + ": got more than 2 GiB, want a smaller file");
    }
    std::filesystem::remove(path);
  }
  try {
    ReadFile("/dev/zero");
    ADD_FAILURE() << "no error";
  } catch (const InputError& refusal) {
    EXPECT_EQ(
        std::string(refusal.what()),
        "/dev/zero: got more than 256 MiB from a file that is not regular, want a smaller file");
  }
}

TEST(ProtoFileTest, WritingReplacesTheWholeFileAndLeavesNothingElse) {
  const std::string folder = TestPath("written");
  std::filesystem::create_directory(folder);
  const std::string path = folder + "/out.json";
  WriteFileAtomically(path, std::string(100000, 'a'));
  WriteFileAtomically(path, R"({"name": "b"})");
  EXPECT_EQ(ReadFile(path), R"({"name": "b"})");
  std::filesystem::create_symlink(path, folder + "/link.json");
  WriteFileAtomically(folder + "/link.json", R"({"name": "c"})");
  EXPECT_EQ(ReadFile(path), R"({"name": "c"})");
  const std::filesystem::directory_iterator files(folder);
  EXPECT_EQ(std::distance(begin(files), end(files)), 2);
  WriteFileAtomically("/dev/null", "x");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(ProtoFileTest, WritingIntoNoDirectoryIsAnInputError) {
  EXPECT_THROW(WriteFileAtomically(TestPath("none/out.json"), "x"), InputError);
  EXPECT_THROW(WriteFileAtomically(TestPath(""), "x"), InputError);
}

TEST(NearestTest, PrefixesComeBeforeSmallEditDistances) {
  const std::vector<std::string> known = {"count", "device", "devices_per_node", "node_type"};
  EXPECT_EQ(NearestNames("dev", known), "did you mean \"device\" or \"devices_per_node\"?");
  EXPECT_EQ(NearestNames("Cuont", {"count"}), "did you mean \"count\"?");
  EXPECT_EQ(NearestNames("x", {}), "");
  EXPECT_EQ(NearestNames("tarin", {"train", "run"}), "did you mean \"train\"?");
  // Too many letters differ.
  EXPECT_EQ(NearestNames("--gpus", {"--pue"}), "want \"--pue\"");
  EXPECT_EQ(NearestNames("list", {"fit", "check", "search", "train", "run", "compare"}),
            "no known name is similar");
  EXPECT_EQ(NearestNames("--num-layers", {"--stage-layers", "a", "b", "c", "d", "e"}),
            "no known name is similar");
  EXPECT_EQ(NearestNames("--mtbf", {"--tp", "--cp", "--dp"}),
            "want \"--tp\", \"--cp\" or \"--dp\"");
  EXPECT_EQ(NearestNames("whatif", {"check", "fit", "search", "train", "run", "compare"}),
            "no known name is similar");
  EXPECT_EQ(NearestNames("--tq", {"--tp", "--global-batch"}), "did you mean \"--tp\"?");
  EXPECT_EQ(DidYouMean("1F1B", {"gpipe", "1f1b"}), "; did you mean \"1f1b\"?");
  EXPECT_EQ(DidYouMean("float", {"bf16", "fp16"}), "");
}

}  // namespace
}  // namespace stagecraft
