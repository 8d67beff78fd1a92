#include "tools/gpu_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "costmodel/gpu_datasheet.h"

namespace stagecraft {
namespace {

// A number without the digits that only come from its binary form: "3.35".
std::string Number(double value) { return fmt::format("{:.6g}", value); }

std::string Upper(std::string word) {
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return word;
}

// Returns a line of the datasheet with its comment.
std::string Line(const char* key, const std::string& value, const char* comment) {
  const std::string entry = fmt::format("{}: {}", key, value);
  if (*comment == '\0') return fmt::format("        {}\n", entry);
  return fmt::format("        {:<28}# {}\n", entry, comment);
}

}  // namespace

std::string GpuTemplate(const Device& device, const std::string& file) {
  const GpuDatasheetProto sheet = DatasheetOf(device);
  std::string text = fmt::format(
      "# A GPU as its datasheet describes it; the values are those of {}. Change them, then:\n"
      "#\n"
      "#   stagecraft simulate --model llama3-8b --cluster {} --tp 2 --global-batch 64 --seq 8192\n"
      "#\n"
      "# A few measured kernels make predictions more accurate: a CSV file with the columns\n"
      "# gpu,m,n,k,dtype,time_us, in which gpu is the id below.\n"
      "#\n"
      "#   stagecraft fit --calibrate kernels.csv --cluster {} -o model.pb\n"
      "#   stagecraft simulate --cost-model model.pb --model llama3-8b --cluster {} …\n"
      "name: my-cluster\n"
      "node_groups:\n"
      "  - count: 2                              # nodes\n"
      "    inline_node_type:\n"
      "      id: my-node\n"
      "      devices: 8                          # GPUs of a node\n"
      "      wiring: SWITCHED                    # SWITCHED (NVSwitch), ALL_PAIRS, PAIRS (bridges) "
      "or "
      "PCIE\n"
      "      # What one GPU sends to the others over all its links, in one direction: half of the\n"
      "      # figure that vendors call bidirectional.\n"
      "      intra: {{kind: NVLINK, bandwidth_gb_per_s: 450, latency_ns: 600}}\n"
      "      fallback: {{kind: PCIE, bandwidth_gb_per_s: 63, latency_ns: 1000}}  # the PCIe port "
      "of a "
      "GPU\n"
      "      nics: 8                             # network interfaces of a node\n"
      "      # One of them: INFINIBAND, ROCE, EFA, SLINGSHOT, OMNI_PATH, CLOUD_TCP or ETHERNET, "
      "with\n"
      "      # latency_ns if it is not the usual one.\n"
      "      nic: {{kind: NETWORK, network: INFINIBAND, bandwidth_gbit_per_s: 400}}\n"
      "      datasheet:\n",
      device.name, file, file, file);
  text += Line("id", "my-gpu", "a name");
  text +=
      Line("generation", Upper(Name(device.generation)),
           "KEPLER, PASCAL, VOLTA, TURING, AMPERE, ADA, HOPPER, BLACKWELL, CDNA2, CDNA3, CDNA4, "
           "GAUDI");
  text += Line("multiprocessors", fmt::format("{}", sheet.multiprocessors()),
               "SMs; AMD's compute units");
  text += Line("boost_clock_mhz", Number(sheet.boost_clock_mhz()), "MHz");
  text += Line("power_w", Number(sheet.power_w()), "W: TDP or TGP, what the board may draw");
  text += Line("fp32_tflops", Number(sheet.fp32_tflops()),
               "TFLOP/s of vector units; all rates without sparsity");
  text += Line("tf32_tflops", Number(sheet.tf32_tflops()), "of tensor cores; 0: there is none");
  text += Line("fp16_tflops", Number(sheet.fp16_tflops()), "with fp32 accumulation");
  text += Line("bf16_tflops", Number(sheet.bf16_tflops()), "");
  text += Line("fp8_tflops", Number(sheet.fp8_tflops()), "");
  text += Line("nvfp4_tflops", Number(sheet.nvfp4_tflops()), "");
  text += Line("memory_gb", Number(sheet.memory_gb()), "GB");
  text += Line("memory_gb_per_s", Number(sheet.memory_gb_per_s()), "GB/s");
  text += Line("memory_kind", Upper(Name(device.memory_kind)), "HBM or GDDR");
  text += Line("l2_mb", Number(sheet.l2_mb()), "MB of L2 cache");
  text += Line("exponentials_per_clock", Number(device.exponentials_per_clock),
               "of an SM; 16 up to B200, 32 on B300 and GB300");
  return text;
}

}  // namespace stagecraft
