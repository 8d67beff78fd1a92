#include "tests/random_lines/study_words.h"

#include <string>

namespace stagecraft::random_lines {

void AddSweep(WordSource& words) {
  if (words.Chance(25)) {
    words.Add("--list", words.File("database"));
    words.Maybe(40, "--csv", {"out/r.csv", "absent/r.csv"});
    words.Maybe(30, "--report", {"out/r.html", "out/r.txt"});
    words.Maybe(15, "--energy-price", {"0.1", "0"});
  } else {
    // A mutation of a grid may have any number of points.
    words.Add(words.SoundFile("grid"));
    words.Add("-o", words.Chance(80) ? words.OneOf({"out/r.db", "out/s.db", "absent/r.db"})
                                     : words.File("database"));
    words.Maybe(20, "--shard", {"0/2", "1/2", "2/2", "0/1", "x"});
    words.Maybe(5, "--shards", {"2", "0"});
    words.Maybe(40, "--threads", {"1", "2", "0"});
    if (words.Chance(30)) words.Add("--reuse", words.File("database"));
  }
  words.Maybe(20, "--by", {"mfu", "memory", "step-time", "days", "cost", "price"});
  words.Maybe(30, "--tokens", {"1B", "1T"});
  words.Maybe(20, "--price", {"2.5"});
  words.Maybe(20, "--top", {"1", "3", "0"});
}

void AddMerge(WordSource& words) {
  for (int file = words.Between(1, 3); file > 0; --file) words.Add(words.File("database"));
  words.Add("-o", words.OneOf({"out/all.db", "out/b.db", "absent/all.db"}));
  words.Maybe(25, "--allow-other-grids");
  words.Maybe(25, "--allow-other-versions");
}

void AddTrain(WordSource& words) {
  if (words.Chance(40)) {
    words.Add("--job", words.File("job"));
  } else {
    words.Add("--model", words.OneOf({"gpt2-tiny", "megatron:4x256x4", "gpt2"}));
    words.Add("--cluster", words.OneOf({"h100-sxm:1x4", "h100-sxm:2x8", "a100-sxm4-80gb:2x4"}));
    words.Add("--global-batch", words.OneOf({"16", "32"}));
    words.Add("--seq", words.OneOf({"128", "256"}));
    words.Maybe(50, "--pp", {"2", "4"});
    if (words.Chance(40)) words.Add("--dynamics", words.File("dynamics"));
    if (words.Chance(40)) words.Add("--events", words.File("job_events"));
    words.Maybe(80, "--steps", {"100", "2000", "0"});
  }
  words.Maybe(20, "--mtbf", {"3h", "1h", "0"});
  words.Maybe(20, "--checkpoint", {"auto", "600", "-1"});
  words.Maybe(20, "--storage-bandwidth", {"50", "0"});
  words.Maybe(20, "--recover", {"restart", "spare", "pray"});
  words.Maybe(15, "--spares", {"1", "2"});
  words.Maybe(20, "--runs", {"1", "5", "0"});
  words.Maybe(10, "--tokens", {"1B", "0"});
}

void AddReport(WordSource& words) {
  words.Add(words.Chance(60) ? words.File("database") : words.File("plan"));
  words.Maybe(40, "--model", {"gpt2", "gpt2-tiny"});
  words.Maybe(40, "--cluster", {"h100-sxm:1x4", "h100-sxm:2x8"});
  words.Add("-o", words.OneOf({"out/r.html", "out/r.txt", "absent/r.html"}));
}

void AddTrainingImport(WordSource& words) {
  const std::string format =
      words.OneOf({"megatron", "nemo", "torchtitan", "deepspeed", "huggingface"});
  words.Add(format);
  const bool is_script = format == "megatron" || (format == "torchtitan" && words.Chance(40));
  const std::string kind = is_script                ? "launch_script"
                           : format == "torchtitan" ? "torchtitan_job"
                                                    : "training_config";
  words.Add(words.File(kind));
  words.Maybe(70, "--cluster", {"h100-sxm:1x8", "h100-sxm:2x8", "h100-sxm:8x8"});
  words.Maybe(60, "--model", {"llama3-8b", "gpt2"});
  words.Maybe(50, "--seq", {"2048", "4096", "0"});
  words.Maybe(30, "--recompute", {"full", "none", "some"});
  words.Maybe(20, "--vocab", {"32000", "0"});
  words.Maybe(20, "--set", {"TP=2", "NNODES=1", "x"});
  words.Add("-o", words.OneOf({"out/p.yaml", "out/p.json", "out/p.txt"}));
}

void AddTraceImport(WordSource& words) {
  const std::string format = words.OneOf({"kineto", "nsys", "chakra"});
  words.Add(format);
  words.Add(words.File(format));
  words.Add("-o", words.OneOf({"out/m.pb", "out/m.pb", "out/m.csv"}));
  words.Maybe(20, "--samples", {"out/s.csv", "out/s.pb"});
  words.Maybe(15, "--collectives", {"out/c.csv"});
  words.Maybe(15, "--cluster", {"h100-sxm:1x2", "h100-sxm:1x8"});
  words.Maybe(10, "--sample-precision", {"bf16", "fp16", "int8"});
  words.Maybe(10, "--attention-causal", {"true", "false"});
  words.Maybe(10, "--cut-off");
}

void AddFrameworkFormat(WordSource& words) {
  const std::string format = words.OneOf({"megatron", "nemo", "torchtitan", "deepspeed"});
  words.Add(format);
  words.Add("-o", words.OneOf({"out/a.sh", "out/a.yaml", "out/a.toml", "out/a.json"}));
}

void AddLaunch(WordSource& words) {
  words.Maybe(90, "--for",
              {"megatron-core", "megatron-bridge", "torchtitan", "deepspeed", "fsdp", "jax"});
  words.Maybe(70, "--launch",
              {"out/a.sh", "out/a.yaml", "out/a.toml", "out/a.json", "absent/a.sh"});
}

}  // namespace stagecraft::random_lines
