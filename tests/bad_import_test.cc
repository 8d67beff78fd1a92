// Tests that broken output of other tools is refused by one sentence and exit code 2, and that
// nothing is written then.
#include <algorithm>
#include <string>
#include <vector>

#include "costmodel/proto_file.h"
#include "tests/bad_input.h"

namespace stagecraft::bad_input {
namespace {

struct Broken {
  std::string text;
  std::string wants;
};

class BadImportTest : public FolderTest {
 protected:
  // Expects that each text is refused, in a file of its own; `flags` follow the file's name.
  void ExpectAllRefused(const std::string& format, const std::string& extension,
                        const std::string& flags, const std::vector<Broken>& all) {
    std::vector<Case> cases;
    for (size_t i = 0; i < all.size(); ++i) {
      const std::string name = format + std::to_string(i) + extension;
      Write(name, all[i].text);
      const std::string line = "import " + format + " $T/" + name + " -o $T/out.json " + flags;
      cases.push_back({line, all[i].wants, ""});
    }
    ExpectRefused(cases);
  }
};

std::string Repeated(const std::string& part, size_t bytes) {
  std::string text;
  text.reserve(bytes + part.size());
  while (text.size() < bytes) text += part;
  return text;
}

TEST_F(BadImportTest, WrongFlagsAndFilesAreRefused) {
  Write("t.conf", "SwitchName=l Nodes=a\n");
  Write("empty.conf", "");
  const std::string slurm = "import slurm $T/t.conf ";
  ExpectRefused({
      {"import slurm", "IN"},
      {"import", "FORMAT"},
      {"import lshw $T/t.conf -o $T/o.json", "FORMAT"},
      {"import slurm $T/none.conf -o $T/o.json --gpu h100", "none.conf: cannot be read"},
      {"import slurm $T/empty.conf -o $T/o.json --gpu h100", "empty.conf: got an empty file"},
      {slurm + "--gpu h100", "-o"},
      {slurm + "--gpu h100 -o $T/o.xml", "-o: got"},
      {slurm + "--gpu h100 -o $T/o.pb", "-o: got"},
      {slurm + "--gpu h100 -o $T/no/o.json", "no/o.json"},
      {slurm + "-o $T/o.json", "node \"a\": got a node without a GPU's name"},
      {slurm + "-o $T/o.json --gpu h1000", "--gpu: unknown GPU \"h1000\"; did you mean"},
      {slurm + "-o $T/o.json --node dgx-h10", "--node: unknown node type"},
      {slurm + "-o $T/o.json --gpu h100 --oversubscription 0", "--oversubscription: got 0"},
      {slurm + "-o $T/o.json --gpu h100 --oversubscription -2", "--oversubscription: got -2"},
      {slurm + "-o $T/o.json --gpu h100 --nic-gbit 100", "--nic-gbit: got a value that import"},
      {slurm + "-o $T/o.json --gpu h100-pcie", "no reference node for h100-pcie-80gb"},
      {slurm + "-o $T/o.json --gpu h100 --gres $T/none.conf", "none.conf: cannot be read"},
  });
}

TEST_F(BadImportTest, BrokenSlurmTopologiesAreRefused) {
  ExpectAllRefused(
      "slurm", ".conf", "--gpu h100",
      {
          {"# nothing\n", "got no switches"},
          {"SwitchName\n", "line 1: got \"SwitchName\", want Key=Value"},
          {"=x\n", "line 1: got \"=x\", want Key=Value"},
          {"Foo=bar\n", "line 1: got key \"foo\" first"},
          {"SwitchName=l Nodes=a Speed=3\n", "line 1: got key \"speed\""},
          {"SwitchName=l\n", "line 1: got neither Nodes nor Switches"},
          {"SwitchName=l Nodes=\n", "line 1: nodes: got no value"},
          {"SwitchName= Nodes=a\n", "line 1: switchname: got no value"},
          {"SwitchName=l Nodes=a Nodes=b\n", "line 1: got \"nodes\" again"},
          {"SwitchName=l Nodes=a Switches=b\n", "got both Nodes and Switches"},
          {"SwitchName=l Nodes=a[0-3\n", "got \"a[0-3\", want names separated by commas"},
          {"SwitchName=l Nodes=a]0[\n", "want brackets in pairs"},
          {"SwitchName=l Nodes=a[[0]]\n", "want brackets in pairs"},
          {"SwitchName=l Nodes=a[3-0]\n", "got the range \"3-0\", want it to rise"},
          {"SwitchName=l Nodes=a[x]\n", "got \"x\" in brackets"},
          {"SwitchName=l Nodes=a[]\n", "got \"\" in brackets"},
          {"SwitchName=l Nodes=a[0-999999999]\n", "got more than 200000 names"},
          {"SwitchName=l Nodes=a[0-999][0-999]\n", "got more than 200000 names"},
          {"SwitchName=l Nodes=a,,b\n", "want names separated by commas"},
          {"SwitchName=l Nodes=a,a\n", "got node \"a\" again"},
          {"SwitchName=l Nodes=a\nSwitchName=l Nodes=b\n", "line 2: got switch \"l\" again"},
          {"SwitchName=s Switches=s\n", "line 1: got switch \"s\" below itself"},
          {"SwitchName=s Switches=t\n", "got switch \"t\" below \"s\", want one of the file"},
          {"SwitchName=s Switches=t\nSwitchName=t Switches=s\n", "in a cycle"},
          {"SwitchName=r Nodes=a\nSwitchName=s Switches=t\nSwitchName=t Switches=s\n",
           "line 2: got switch \"s\" in a cycle"},
          {"SwitchName=r Nodes=a\nSwitchName=s Nodes=b\n",
           "line 2: got no switch above both \"r\" and \"s\""},
          {"SwitchName=s Switches=l,m\nSwitchName=t Switches=l\nSwitchName=l Nodes=a\n"
           "SwitchName=m Nodes=b\n",
           "line 2: got switch \"l\" below two others"},
          {"SwitchName=s Switches=l,m\nSwitchName=l Nodes=a\nSwitchName=m Nodes=a\n",
           "line 3: got node \"a\" again"},
          {"BlockName=b\n", "got a block without Nodes"},
          {std::string("SwitchName=l\0x Nodes=a\x01\n", 23), "line 1: got"},
          {Repeated("noise ", 1 << 16), "line 1: got \"noise\", want Key=Value"},
      });
}

TEST_F(BadImportTest, BrokenSlurmYamlAndGresAreRefused) {
  ExpectAllRefused(
      "slurm", ".yaml", "--gpu h100",
      {
          {"{", "slurm0.yaml:1:1: got"},
          {"topology: x\n", "got no list of topologies"},
          {"[]\n", "got no list of topologies"},
          {"- {a: 1}\n", "[0]: got no topology"},
          {"- {topology: x}\n", "[0]: got neither tree nor block"},
          {"- {topology: x, tree: {}}\n", "[0].tree: got no switches"},
          {"- {topology: x, tree: {switches: 3}}\n", "switches: got no list"},
          {"- {topology: x, tree: {switches: [{switch: l}]}}\n",
           "switches[0]: got neither of nodes and children"},
          {"- {topology: x, tree: {switches: [{nodes: a}]}}\n", "switches[0]: got no switch"},
          {"- {topology: x, tree: {switches: [{switch: l, nodes: [a]}]}}\n",
           "switches[0].nodes: got no text"},
          {"- {topology: x, tree: {switches: [{switch: s, children: s}]}}\n", "below itself"},
          {"- {topology: x, block: {blocks: [{block: b}]}}\n", "blocks[0]: got no nodes"},
          {Repeated("[", 1 << 16), "yaml:1:1: got"},
      });
  Write("t.conf", "SwitchName=l Nodes=a\n");
  const std::string line = "import slurm $T/t.conf -o $T/out.json --gres $T/";
  Write("type.conf", "NodeName=a Name=gpu Type=h1000 Count=8\n");
  Write("count.conf", "NodeName=a Name=gpu Type=h100 Count=eight\n");
  Write("many.conf", "NodeName=a Name=gpu Type=h100 Count=9\n");
  Write("two.conf",
        "NodeName=a Name=gpu Type=h100 Count=4\nNodeName=a Name=gpu Type=a100 Count=4\n");
  Write("gres.conf", "NodeName=a Gres=gpu:h100:x\n");
  Write("other.conf", "NodeName=b Name=gpu Type=h100 Count=8\n");
  ExpectRefused({{line + "type.conf", "type.conf: line 1: node \"a\": unknown GPU \"h1000\""},
                 {line + "count.conf", "line 1: Count: got \"eight\""},
                 {line + "many.conf", "got 9 devices per node, want from 1 to the 8"},
                 {line + "two.conf", "line 2: got GPU \"a100\" and \"h100\" on \"a\""},
                 {line + "gres.conf", "line 1: Gres gpu: got \"x\""},
                 {line + "other.conf", "node \"a\": got a node without a GPU's name"}});
}

std::string Gpu(const std::string& bus, const std::string& dev, const std::string& inside) {
  return "<pci busid=\"" + bus +
         "\" class=\"0x030200\" vendor=\"0x10de\" device=\"0x2330\" link_speed=\"32.0 GT/s PCIe\" "
         "link_width=\"16\"><gpu dev=\"" +
         dev + "\">" + inside + "</gpu></pci>";
}
std::string System(const std::string& inside) {
  return "<system version=\"1\"><cpu numaid=\"0\">" + inside + "</cpu></system>";
}
std::string Nvlink(const std::string& target, const std::string& count, const std::string& kind) {
  return "<nvlink target=\"" + target + "\" count=\"" + count + "\" tclass=\"" + kind + "\"/>";
}

TEST_F(BadImportTest, BrokenNcclTopologiesAreRefused) {
  const std::string peer = Gpu("b", "1", "");
  const std::string whole = System(Gpu("a", "0", ""));
  ExpectAllRefused(
      "nccl-topo", ".xml", "",
      {
          {"noise", "nccl-topo0.xml: "},
          {"<system/>", "got no <cpu> with GPUs"},
          {"<topology/>", "got no <system>"},
          {whole.substr(0, whole.size() / 2), "line 1: got XML with"},
          {whole.substr(0, whole.size() - 1), "line 1: got XML with"},
          {"<!DOCTYPE x [<!ENTITY a \"b\">]>" + whole, "got a declaration"},
          {Repeated("<pci>", 1 << 16), "nested 65 deep, want 64 at most"},
          {System(""), "got a host without GPUs"},
          {System("<gpu/>"), "<gpu>: got this inside of <cpu>"},
          {System("<pci class=\"0x060400\"/>"), "<pci> busid: got none"},
          {System("<pci busid=\"s\"><disk/></pci>"), "<disk>: got this inside of <pci>"},
          {System(Gpu("a", "0", "") + Gpu("a", "1", "")), "busid: got \"a\" again"},
          {System(Gpu("a", "0", "") + Gpu("b", "0", "")), "<gpu> dev: got 0 again"},
          {System(Gpu("a", "zero", "")), "<gpu> dev: got \"zero\""},
          {System(Gpu("a", "-1", "")), "<gpu> dev: got \"-1\""},
          {System(Gpu("a", "0", Nvlink("a", "2", "0x030200")) + peer),
           "target: got the GPU itself"},
          {System(Gpu("a", "0", Nvlink("z", "2", "0x030200")) + peer), "target: got \"z\""},
          {System(Gpu("a", "0", Nvlink("b", "2", "0x030200")) + peer),
           "want the same number each way"},
          {System(Gpu("a", "0", Nvlink("b", "2", "0x0c0300")) + peer), "tclass: got \"0x0c0300\""},
          {System(Gpu("a", "0", Nvlink("b", "900", "0x068000")) + peer), "count: got \"900\""},
          {System(Gpu("a", "0", Nvlink("f", "18", "0x068000")) + peer),
           "unequal numbers of NVLinks to switches"},
          {System("<pci busid=\"a\" class=\"0x030200\" vendor=\"0x10de\" device=\"0xffff\"/>"),
           "device: got \"0x10de 0xffff\", want a GPU whose PCI id is known"},
          {System("<pci busid=\"a\" class=\"0x030200\" vendor=\"0x10de\" device=\"0x2330\" "
                  "link_speed=\"9 GT/s\" link_width=\"16\"/>"),
           "link_speed: got \"9 GT/s\""},
          {System("<pci busid=\"a\" class=\"0x030200\" vendor=\"0x10de\" device=\"0x2330\" "
                  "link_speed=\"8 GT/s\" link_width=\"wide\"/>"),
           "link_width: got \"wide\""},
          {System(Gpu("a", "0", "") + "<pci busid=\"n\" class=\"0x020000\"><nic><net "
                                      "speed=\"fast\"/></nic></pci>"),
           "<net> speed: got \"fast\""},
          {System(Gpu("a", "0", "") +
                  "<pci busid=\"n\" class=\"0x020000\"><nic><net speed=\"0\"/></nic></pci>"),
           "<net> speed: got 0"},
      });
}

constexpr char kHeader[] = "\tGPU0\tGPU1\tCPU Affinity\n";

TEST_F(BadImportTest, BrokenSmiMatricesAreRefused) {
  const std::string header = kHeader;
  const std::string second = "GPU1\tNV4\t X \t0\n";
  ExpectAllRefused(
      "smi-topo", ".txt", "--gpu v100-sxm2-32gb",
      {
          {"noise\n", "got no header with GPU0"},
          {"Legend:\n X = Self\n", "got no header with GPU0"},
          {"GPU0 GPU1\n", "line 1: got no columns, want columns separated by tabs"},
          {header, "line 2: got row \"\", want GPU0"},
          {header + "GPU0\t X \tNV4\t0\n", "line 3: got row \"\", want GPU1"},
          {header + "GPU1\t X \tNV4\t0\n", "line 2: got row \"GPU1\", want GPU0"},
          {header + "GPU0\t X \n", "line 2: got 1 cells, want 2"},
          {header + "GPU0\t X \tFOO\t0\n" + second, "line 2: GPU0 to GPU1: got \"FOO\""},
          {header + "GPU0\t X \t\t0\n" + second, "line 2: GPU0 to GPU1: got \"\""},
          {header + "GPU0\t X \tNVx\t0\n" + second, "GPU0 to GPU1 NV#: got \"x\""},
          {header + "GPU0\t X \tNV0\t0\n" + second, "NV#: got \"0\""},
          {header + "GPU0\t X \tNV9999999999999999999\t0\n" + second, "NV#: got"},
          {header + "GPU0\tNV4\tNV4\t0\n" + second, "GPU0 to GPU0: got a link to itself"},
          {header + "GPU0\t X \t X \t0\n" + second, "GPU0 to GPU1: got X, want a link"},
          {header + "GPU0\t X \tNV2\t0\n" + second, "want a symmetric matrix"},
          {"\tGPU0\tGPU0\nGPU0\t X \tNV4\n", "got column GPU0 again"},
          {"\tGPU0\tNIC0\tGPU1\n", "got GPU1 after network interfaces"},
          {"\tGPU0\tGPU1\tGPU2\nGPU0\t X \tNV1\tPHB\nGPU1\tNV1\t X \tNV2\nGPU2\tPHB\tNV2\t X \n",
           "neither all-to-all, pairs nor the cube mesh"},
      });
}

TEST_F(BadImportTest, FlagsThatDoNotFitASmiMatrixAreRefused) {
  const std::string row = "\tGPU0\tGPU1\nGPU0\t X \tNV4\nGPU1\tNV4\t X \n";
  Write("m.txt", row);
  Write("nic.txt", "\tGPU0\tNIC0\nGPU0\t X \tPIX\nNIC0\tPIX\t X \n");
  ExpectRefused({
      {"import smi-topo $T/m.txt -o $T/o.json", "--gpu: got none"},
      {"import smi-topo $T/m.txt -o $T/o.json --gpu t4", "got NVLinks on t4-16gb"},
      {"import smi-topo $T/m.txt -o $T/o.json --gpu v100 --gres $T/m.txt", "--gres: got a value"},
      {"import smi-topo $T/nic.txt -o $T/o.json --gpu h100-pcie",
       "got 1 network interfaces of no stated speed, want --nic-gbit"},
  });
}

std::string Node(const std::string& name, const std::string& labels, const std::string& capacity) {
  return "{\"metadata\":{\"name\":\"" + name + "\",\"labels\":{" + labels +
         "}},\"status\":{\"capacity\":{" + capacity + "}}}";
}
std::string List(const std::string& nodes) { return "{\"items\":[" + nodes + "]}"; }

TEST_F(BadImportTest, BrokenKubernetesNodesAreRefused) {
  const std::string product = "\"nvidia.com/gpu.product\":\"NVIDIA-H100-80GB-HBM3\"";
  const std::string eight = "\"nvidia.com/gpu\":\"8\"";
  const std::string good = Node("a", product, eight);
  ExpectAllRefused(
      "k8s", ".json", "",
      {
          {"noise", "k8s0.json:1:2: got a syntax error"},
          {List(good).substr(0, 80), "k8s1.json:1:81: got a syntax error"},
          {"[]", "items: got no list"},
          {"{}", "items: got no list"},
          {"{\"items\":{}}", "items: got no list"},
          {List(""), "items: got no list"},
          {List("3"), "items[0].metadata: got no object"},
          {List("{}"), "items[0].metadata: got no object"},
          {List("{\"metadata\":{}}"), "metadata.name: got none"},
          {List("{\"metadata\":{\"name\":7}}"), "metadata.name: got none"},
          {List("{\"metadata\":{\"name\":\"a\",\"labels\":[]}}"), "labels: got no object"},
          {List("{\"metadata\":{\"name\":\"a\"},\"status\":3}"), "status: got no object"},
          {List(good + "," + good), "items[1] \"a\": got this name again"},
          {List(Node("a", "", "\"cpu\":\"4\"")), "got 1 nodes without GPUs"},
          {List(Node("a", "", eight)), "got a node without a GPU's name"},
          {List(Node("a", "\"nvidia.com/gpu.product\":\"NVIDIA-H1000\"", eight)),
           "items[0] \"a\": unknown GPU \"NVIDIA-H1000\"; did you mean"},
          {List(Node("a", product, "\"nvidia.com/gpu\":\"many\"")), "nvidia.com/gpu: got \"many\""},
          {List(Node("a", product, "\"nvidia.com/gpu\":-8")), "nvidia.com/gpu: got \"-8\""},
          {List(Node("a", product + ",\"nvidia.com/gpu.count\":\"4\"", eight)),
           "got 4 GPUs by label and 8 by capacity"},
          {List(Node("a", product + ",\"nvidia.com/gpu.count\":4", eight)),
           "labels.nvidia.com/gpu.count: got no text"},
          {List(Node("a", product, "\"nvidia.com/gpu\":\"9\"")), "got 9 devices per node"},
          {List(Node("a", product, "\"nvidia.com/mig-1g.10gb\":\"7\"")),
           "MIG instances are not supported"},
          {Repeated("[", 1 << 16), "k8s"},
      });
}

// The file is refused because of its size, before it is read.
TEST_F(BadImportTest, AHundredMegabytesOfNoiseAreRefused) {
  Write("noise", Repeated("\x01noise <[{\t", 100'000'000));
  for (const char* format : {"nccl-topo", "smi-topo", "slurm", "k8s"}) {
    ExpectRefused({{std::string("import ") + format + " $T/noise -o $T/o.json --gpu h100",
                    "want at most", "$T/noise"}});
  }
}

TEST_F(BadImportTest, AFailedImportLeavesTheOldFile) {
  Write("old.json", "{\"name\": \"old\"}");
  Write("bad.conf", "SwitchName=s Switches=s\n");
  ExpectRefused({{"import slurm $T/bad.conf --gpu h100 -o $T/old.json", "below itself"}});
  EXPECT_EQ(ReadFile(Expand("$T/old.json")), "{\"name\": \"old\"}");
}

// Wherever a text is cut, it is either read or refused, and nothing else happens.
TEST_F(BadImportTest, TruncatedTextsAreReadOrRefused) {
  const std::string xml = System(Gpu("a", "0", Nvlink("b", "2", "0x030200")) +
                                 Gpu("b", "1", Nvlink("a", "2", "0x030200")));
  const std::string json = List(Node("a", "\"nvidia.com/gpu.product\":\"NVIDIA-H100-80GB-HBM3\"",
                                     "\"nvidia.com/gpu\":\"8\""));
  const std::string conf =
      "SwitchName=s Switches=l[0-1]\nSwitchName=l0 Nodes=a[0-3]\n"
      "SwitchName=l1 Nodes=a[4-7]\n";
  const std::pair<std::string, std::string> all[] = {
      {"nccl-topo", xml}, {"k8s", json}, {"slurm", conf}};
  for (const auto& [format, text] : all) {
    for (size_t length = 1; length < text.size(); length += 3) {
      Write("cut", text.substr(0, length));
      const std::string gpu = format == "slurm" ? " --gpu h100" : "";
      const Result result = RunLine(Expand("import " + format + " $T/cut -o $T/o.json" + gpu));
      EXPECT_TRUE(result.code == kExitOk || result.code == kExitBadInput)
          << format << " cut at " << length << ": " << result.err;
    }
  }
}

}  // namespace
}  // namespace stagecraft::bad_input
