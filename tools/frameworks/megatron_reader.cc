#include "tools/frameworks/megatron_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/json_to_proto.h"
#include "sim/plan/rank_order.h"
#include "sim/workload/limits.h"
#include "tools/frameworks/framework_defaults.h"
#include "tools/frameworks/megatron_flags.h"
#include "tools/frameworks/megatron_network.h"
#include "tools/frameworks/megatron_step.h"
#include "tools/frameworks/pipeline_layout.h"
#include "tools/frameworks/training_reader.h"

namespace stagecraft {
namespace {

constexpr const char* kVirtualFlags[] = {"num-layers-per-virtual-pipeline-stage",
                                         "num-virtual-stages-per-pipeline-rank",
                                         "pipeline-model-parallel-layout"};

class PlanReader : public TrainingReader {
 public:
  using TrainingReader::TrainingReader;

  void Run() {
    BeginPlan();
    ReadDegrees();
    training_.network =
        ReadMegatronNetwork(reader_, file_, degrees_.tp(), wishes_.vocabulary, training_.notes);
    ReadBatch();
    ReadStages();
    TakeDataParallelism(file_, wishes_, training_);
    if (!plan_.global_batch()) {
      // arguments.py: one micro-batch for every replica.
      if (!degrees_.has_dp()) {
        throw InputError(file_ + ": got no global-batch-size, want it, or --cluster");
      }
      plan_.set_global_batch(plan_.micro_batch() * degrees_.dp());
    }
    ReadMegatronStep(reader_, file_, wishes_, training_);
    TakeStackHabits("megatron-core", wishes_, training_);
  }

 private:
  int Degree(const char* name, const char* flag) {
    const int degree = static_cast<int>(reader_.Whole(name, 1, kMostOfADegree).value_or(1));
    reader_.Became(name, fmt::format("{} {}", flag, degree));
    return degree;
  }

  void ReadDegrees() {
    degrees_.set_tp(Degree("tensor-model-parallel-size", "tp"));
    degrees_.set_pp(Degree("pipeline-model-parallel-size", "pp"));
    degrees_.set_cp(Degree("context-parallel-size", "cp"));
    degrees_.set_ep(Degree("expert-model-parallel-size", "ep"));
    if (const auto experts = reader_.Whole("expert-tensor-parallel-size", 1, kMostOfADegree)) {
      if (*experts == degrees_.tp() || degrees_.ep() == 1) {
        reader_.Became("expert-tensor-parallel-size", "as tp");
      } else {
        reader_.IsNotSimulated("expert-tensor-parallel-size",
                               fmt::format("experts are divided by tp {}", degrees_.tp()));
      }
    }
    if (reader_.Has("model-parallel-size")) {
      reader_.Refuse("model-parallel-size", "tensor-model-parallel-size");
    }
    if (reader_.Has("deepspeed")) {
      reader_.Refuse("deepspeed", "Megatron-LM's own arguments; import deepspeed reads the JSON");
    }
    plan_.set_rank_order(reader_.IsOn("use-tp-pp-dp-mapping") ? kStagesFirstRankOrder
                                                              : kDefaultRankOrder);
    reader_.Became("use-tp-pp-dp-mapping", "rank order " + plan_.rank_order());
  }

  void ReadBatch() {
    const auto sequence = reader_.Whole("seq-length", 1, kMostOfABatch);
    const auto older = reader_.Whole("encoder-seq-length", 1, kMostOfABatch);
    plan_.set_sequence(wishes_.sequence > 0 ? wishes_.sequence
                                            : sequence.value_or(older.value_or(0)));
    reader_.Became("seq-length", fmt::format("seq {}", plan_.sequence()));
    reader_.Became("encoder-seq-length", fmt::format("seq {}", plan_.sequence()));
    const auto micro = reader_.Whole("micro-batch-size", 1, kMostOfABatch);
    if (!micro) throw InputError(file_ + ": got no micro-batch-size, want the samples of one");
    plan_.set_micro_batch(*micro);
    reader_.Became("micro-batch-size", fmt::format("micro-batch {}", *micro));
    const auto batch = reader_.Whole("global-batch-size", 1, kMostOfABatch);
    plan_.set_global_batch(wishes_.global_batch > 0 ? wishes_.global_batch : batch.value_or(0));
    reader_.Became("global-batch-size", fmt::format("global batch {}", plan_.global_batch()));
    reader_.IsNotSimulated("rampup-batch-size", "steps have the global batch that follows it");
  }

  // Returns how many chunks each stage has; ReadLayout() says what is in them.
  int Chunks(int blocks) {
    const int stages = degrees_.pp();
    int given = 0;
    for (const char* name : kVirtualFlags) given += reader_.Has(name) ? 1 : 0;
    if (given > 1) {
      throw InputError(fmt::format("{}: got {} of {}, want at most one", file_, given,
                                   fmt::join(kVirtualFlags, ", ")));
    }
    if (const auto chunks = reader_.Whole(kVirtualFlags[1], 1, kMostLayers)) {
      reader_.Became(kVirtualFlags[1], fmt::format("vpp {}", *chunks));
      return static_cast<int>(*chunks);
    }
    const auto layers = reader_.Whole(kVirtualFlags[0], 1, kMostLayers);
    if (!layers) return 1;
    const int64_t units = blocks + Units("embedding") + Units("loss");
    if (units % (stages * *layers) != 0) {
      reader_.Refuse(kVirtualFlags[0],
                     fmt::format("a number that divides {} layers by pp {}", units, stages));
    }
    const int64_t chunks = units / (stages * *layers);
    reader_.Became(kVirtualFlags[0], fmt::format("vpp {}", chunks));
    return static_cast<int>(chunks);
  }

  // Whether the embedding, or the loss, counts as a layer when layers are divided.
  int Units(const char* part) {
    const std::string name = fmt::format("account-for-{}-in-pipeline-split", part);
    const bool counts = reader_.IsOn(name);
    reader_.Became(name, fmt::format("the {} counts as a layer", part));
    return counts ? 1 : 0;
  }

  void ReadStages() {
    const DecoderConfig& network = *training_.network;
    const auto blocks = static_cast<int>(std::min(network.layers, kMostLayers));
    const auto predicting =
        static_cast<int>(std::min<int64_t>(network.prediction_layers, kMostLayers));
    if (const auto layout = reader_.Text("pipeline-model-parallel-layout")) {
      Chunks(blocks);
      const Option& option = *reader_.Find("pipeline-model-parallel-layout");
      TakeParts(ReadPipelineLayout(*layout, option.place, blocks, predicting), option.place);
      reader_.Became("pipeline-model-parallel-layout",
                     fmt::format("vpp {}, layers of {} parts", degrees_.virtual_stages(),
                                 training_.parts->counts.size()));
    } else if (reader_.Has("decoder-first-pipeline-num-layers") ||
               reader_.Has("decoder-last-pipeline-num-layers")) {
      ReadEnds(blocks, predicting);
    } else {
      Divide(blocks, predicting);
    }
    plan_.set_order(degrees_.virtual_stages() > 1 ? PlanProto::INTERLEAVED
                                                  : PlanProto::ONE_FORWARD_ONE_BACKWARD);
  }

  void TakeParts(std::vector<int> counts, const std::string& place) {
    const auto parts = static_cast<int>(counts.size());
    if (parts % degrees_.pp() != 0) {
      throw InputError(
          fmt::format("{}: got {} parts, want a multiple of pp {}", place, parts, degrees_.pp()));
    }
    degrees_.set_virtual_stages(parts / degrees_.pp());
    training_.parts = {std::move(counts), place};
  }

  // The first and the last stage have other numbers of layers than those between them.
  void ReadEnds(int blocks, int predicting) {
    const int chunks = Chunks(blocks);
    const int stages = degrees_.pp();
    const auto first = reader_.Whole("decoder-first-pipeline-num-layers", 0, kMostLayers);
    const auto last = reader_.Whole("decoder-last-pipeline-num-layers", 0, kMostLayers);
    const std::string place =
        reader_
            .Find(first ? "decoder-first-pipeline-num-layers" : "decoder-last-pipeline-num-layers")
            ->place;
    const int between = stages - (first ? 1 : 0) - (last ? 1 : 0);
    const int64_t rest = blocks - first.value_or(0) - last.value_or(0);
    const int64_t parts = static_cast<int64_t>(std::max(between, 0)) * chunks;
    const bool divides = parts > 0 ? rest > 0 && rest % parts == 0 : rest == 0;
    if (!divides || first.value_or(0) % chunks != 0 || last.value_or(0) % chunks != 0) {
      throw InputError(
          fmt::format("{}: leaves {} of {} layers for the other {} stages of {} "
                      "chunks, want a number that divides evenly",
                      place, rest, blocks, between, chunks));
    }
    std::vector<int> counts;
    for (int chunk = 0; chunk < chunks; ++chunk) {
      for (int stage = 0; stage < stages; ++stage) {
        const bool is_first = stage == 0 && first, is_last = stage == stages - 1 && last;
        counts.push_back(static_cast<int>(is_first  ? *first / chunks
                                          : is_last ? *last / chunks
                                                    : rest / parts));
      }
    }
    AddEnds(counts, predicting);
    for (const char* name :
         {"decoder-first-pipeline-num-layers", "decoder-last-pipeline-num-layers"}) {
      reader_.Became(name, "layers of the stages");
    }
    TakeParts(std::move(counts), place);
  }

  static void AddEnds(std::vector<int>& counts, int predicting) {
    ++counts.front();
    counts.back() += predicting + 1;
  }

  // All parts have equally many layers, if what else counts as one is counted.
  void Divide(int blocks, int predicting) {
    const int chunks = Chunks(blocks);
    const int stages = degrees_.pp();
    const int embedding = Units("embedding"), loss = Units("loss");
    const int64_t parts = static_cast<int64_t>(stages) * chunks;
    const int64_t units = blocks + embedding + loss;
    if (units % parts != 0 || units / parts < embedding || units / parts < loss) {
      throw InputError(
          fmt::format("{}: num-layers {} cannot be divided by pp {} x {} chunks, want "
                      "pipeline-model-parallel-layout",
                      file_, blocks, stages, chunks));
    }
    std::vector<int> counts(parts, static_cast<int>(units / parts));
    counts.front() -= embedding;
    counts.back() -= loss;
    AddEnds(counts, predicting);
    TakeParts(std::move(counts), file_ + ": num-layers");
  }
};

// The arguments in a YAML file: groups such as model_parallel only order them.
std::vector<Option> YamlArguments(const std::string& text, const std::string& file) {
  std::vector<Option> options = FlatOptions(ParseYaml(text, file), file);
  for (Option& option : options) {
    option.spelling = option.name;
    option.name = option.name.substr(option.name.rfind('.') + 1);
    std::replace(option.name.begin(), option.name.end(), '_', '-');
  }
  return options;
}

}  // namespace

void ReadMegatronOptions(OptionReader& reader, const std::string& file,
                         const TrainingWishes& wishes, ImportedTraining& training) {
  PlanReader(reader, file, wishes, training).Run();
}

OptionReport MegatronReport(const OptionReader& reader) {
  std::vector<IrrelevantOptions> irrelevant;
  for (const MegatronFlags& group : MegatronFlagTable()) {
    if (group.irrelevant_because == nullptr) continue;
    irrelevant.push_back({group.irrelevant_because, group.names});
  }
  return reader.Report(irrelevant);
}

ImportedTraining ImportMegatron(const std::string& text, const std::string& file,
                                const ShellVariables& variables, const TrainingWishes& wishes) {
  ImportedTraining training;
  std::vector<Option> options;
  std::vector<OptionFate> launcher;
  if (file.ends_with(".yaml") || file.ends_with(".yml")) {
    options = YamlArguments(text, file);
  } else {
    LaunchOptions launch =
        ReadLaunchOptions(ReadLaunchScript(text, file, variables), file, MegatronValues);
    options = std::move(launch.options);
    training.processes = launch.processes;
    launcher = std::move(launch.launcher);
  }
  OptionReader reader(std::move(options));
  ReadMegatronOptions(reader, file, wishes, training);
  training.options = MegatronReport(reader);
  training.options.understood.insert(training.options.understood.begin(), launcher.begin(),
                                     launcher.end());
  return training;
}

}  // namespace stagecraft
