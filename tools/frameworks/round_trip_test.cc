// Tests that plans which a framework can run come back from its launch files as they were.
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/random.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/plan/plan_proto.h"
#include "sim/workload/workload_catalogue.h"
#include "tools/frameworks/deepspeed_reader.h"
#include "tools/frameworks/megatron_flags.h"
#include "tools/frameworks/megatron_reader.h"
#include "tools/frameworks/nemo_reader.h"
#include "tools/frameworks/parted_plan.h"
#include "tools/frameworks/torchtitan_reader.h"
#include "tools/frameworks/training_export.h"
#include "tools/stacks/stack_table.h"

namespace stagecraft {
namespace {

constexpr int kPlans = 500;

// Draws plans of one framework: what its table allows, on clusters and networks of several sizes.
class PlanSource {
 public:
  PlanSource(const char* framework, const char* stack, uint64_t seed)
      : framework_(*FrameworkTable::Embedded().Find(framework)),
        stack_(*StackTable::Embedded().Find(stack)),
        random_(seed) {}

  template <typename T>
  T OneOf(const std::vector<T>& values) {
    return values[Below(values.size())];
  }
  size_t Below(size_t count) { return random_.Bits() % count; }
  bool Chance(int percent) { return static_cast<int>(Below(100)) < percent; }

  // Degrees that may not fit together; MakePlan() says so.
  PlanDegrees Draw(const Workload& workload, bool has_experts) {
    PlanDegrees d;
    d.framework = stack_.framework;
    d.pipeline = framework_.pipelines ? OneOf<int>({1, 2, 4}) : 1;
    d.tensor = framework_.tensor_parallel ? OneOf<int>({1, 2, 4}) : 1;
    d.context = framework_.context_exchanges.empty() ? 1 : OneOf<int>({1, 1, 2});
    d.expert = has_experts && framework_.expert_parallel ? OneOf<int>({1, 2, 4}) : 1;
    d.schedule =
        d.pipeline > 1 ? OneOf(framework_.schedules) : PipelineSchedule::kOneForwardOneBackward;
    d.chunks = LeastChunks(d.schedule);
    if (d.schedule == PipelineSchedule::kInterleaved) d.chunks = OneOf<int>({2, 4});
    d.micro_batch = OneOf<int64_t>({1, 2});
    d.global_batch = OneOf<int64_t>({128, 256});
    d.sequence = OneOf<int64_t>({2048, 4096});
    d.sequence_parallel = framework_.with_sequence_parallel && Chance(60) ? 1 : 0;
    d.zero = OneOf(d.pipeline > 1 ? framework_.pipeline_zeros : framework_.zeros);
    if (!framework_.context_exchanges.empty())
      d.context_exchange = OneOf(framework_.context_exchanges);
    d.rank_order = OneOf(framework_.rank_orders);
    d.precision = OneOf(framework_.precisions);
    if (!framework_.fp8_recipes.empty()) d.fp8_recipe = OneOf(framework_.fp8_recipes);
    d.optimizer = OneOf(framework_.optimizers);
    d.recompute = OneOf(framework_.recomputes);
    if (framework_.any_stage_layers && d.pipeline > 1 && Chance(40)) {
      DrawStageBlocks(workload.layer_count() - 2, d);
    }
    return d;
  }

 private:
  // Moves blocks from one stage to another.
  void DrawStageBlocks(int blocks, PlanDegrees& d) {
    d.stage_blocks.assign(d.pipeline, blocks / d.pipeline);
    d.stage_blocks.back() += blocks % d.pipeline;
    const auto from = Below(d.pipeline);
    const auto to = Below(d.pipeline);
    const int moved = static_cast<int>(Below(3));
    d.stage_blocks[from] -= moved;
    d.stage_blocks[to] += moved;
  }

  const TrainingFramework& framework_;
  const StackDefaults& stack_;
  Random random_;
};

PlanProto WithoutOrders(const Plan& plan) {
  Plan plain = plan;
  plain.orders.clear();
  return ToProto(plain);
}

// Exports and imports a plan; returns how the two differ, or nothing.
template <typename Import>
std::string Difference(const char* format, const char* path, const Plan& plan,
                       const Workload& workload, const Cluster& cluster, const std::string& model,
                       const Import& import) {
  const TrainingExport::Format& writer = *TrainingExport::Find(format);
  const LaunchText launch = TrainingExport::Write(writer, plan, workload, cluster, model, path);
  ImportedTraining training = import(launch.text);
  EXPECT_TRUE(training.options.unknown.empty()) << training.options.unknown[0].option;
  PlaceParts(path, workload, &cluster, training);
  const Plan back = PlanFromProto(training.plan, workload, cluster, path);
  google::protobuf::util::MessageDifferencer differencer;
  std::string difference;
  differencer.ReportDifferencesToString(&difference);
  const bool is_equal = differencer.Compare(WithoutOrders(plan), WithoutOrders(back));
  return is_equal ? "" : difference + "\n" + launch.text;
}

std::optional<Plan> MakeIfPossible(const PlanDegrees& degrees, const Workload& workload,
                                   const Cluster& cluster, const char* framework) {
  try {
    Plan plan = MakePlan(degrees, workload, cluster);
    const bool runs =
        FindObstacles(*FrameworkTable::Embedded().Find(framework), plan, workload).empty();
    return runs ? std::optional<Plan>(std::move(plan)) : std::nullopt;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

// Calls `run` with plans until it has returned true kPlans times.
template <typename Adjust, typename Run>
void ForManyPlans(const char* framework, const char* stack, const std::vector<std::string>& models,
                  const Adjust& adjust, const Run& run) {
  PlanSource source(framework, stack, 1);
  const std::vector<std::string> specs = {"b200-sxm:1x8", "b200-sxm:2x8", "b200-sxm:4x8"};
  std::map<std::string, Workload> workloads;
  std::map<std::string, Cluster> clusters;
  for (const std::string& model : models) {
    workloads.emplace(model, LoadWorkload(model, AttentionBackend::kFlash));
  }
  for (const std::string& spec : specs) clusters.emplace(spec, ParseCluster(spec));
  int done = 0, tried = 0;
  for (; done < kPlans && tried < 100 * kPlans; ++tried) {
    const std::string model = source.OneOf(models);
    const Workload& workload = workloads.at(model);
    const Cluster& cluster = clusters.at(source.OneOf(specs));
    const bool has_experts = model == "mixtral-8x7b";
    PlanDegrees degrees = source.Draw(workload, has_experts);
    adjust(source, degrees, has_experts);
    const auto plan = MakeIfPossible(degrees, workload, cluster, framework);
    if (!plan || !run(*plan, workload, cluster, model)) continue;
    ++done;
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_EQ(done, kPlans) << "of " << tried;
}

// What Megatron-core does not leave open.
void AdjustToMegatron(PlanSource& source, PlanDegrees& d, bool has_experts) {
  d.overlap_p2p = d.chunks > 1 && source.Chance(70);
  d.overlap_param_gather = d.zero == 1 && source.Chance(50);
  d.overlap_grad_reduce = d.overlap_param_gather || source.Chance(50);
  d.overlap_tensor = d.sequence_parallel == 1 && d.tensor > 1 && source.Chance(30);
  d.gradient_bytes = d.precision == DType::kFp32 ? 4 : source.OneOf<int>({2, 4});
  d.bucket_bytes = source.Chance(30) ? 40'000'000 : 0;
  d.attention_kernel = source.Chance(50) ? AttentionKernel::kCudnn : AttentionKernel::kUsual;
  if (d.context == 1) d.context_exchange = ContextExchange::kRing;
  if (d.precision != DType::kFp8) d.fp8_recipe = Fp8Recipe::kDelayed;
  if (has_experts) {
    d.framework.multiplies_experts_apart = source.Chance(30);
    if (d.expert > 1 && source.Chance(30)) d.expert_exchange.sends = ExpertSends::kOncePerNode;
    const bool may_pair = d.expert > 1 && d.zero <= 1 && d.chunks > 1;
    d.schedule_options.pairs_passes = may_pair && source.Chance(30);
    d.recomputed_parts.activations = d.recompute != Recompute::kFull && source.Chance(20);
  }
  d.recomputed_parts.norms = d.recompute != Recompute::kFull && source.Chance(20);
  if (d.recompute == Recompute::kFull && source.Chance(60)) {
    const bool is_uniform = source.Chance(50) && d.zero < 3;
    d.recompute_choice.method =
        is_uniform ? RecomputeChoice::Method::kUniform : RecomputeChoice::Method::kBlock;
    d.recompute_choice.counts = {source.OneOf<int>({2, 3})};
  }
  if (d.chunks > 1 && source.Chance(20)) d.schedule_options.groups.size = 2 * d.pipeline;
}

// Plans that only the writer refuses, by a sentence.
template <typename Check>
bool IsRefused(const Check& check) {
  try {
    check();
    return false;
  } catch (const InputError&) {
    return true;
  }
}

TEST(RoundTripTest, PlansOfMegatronComeBack) {
  const std::vector<std::string> models = {"llama3-8b", "gpt2-medium", "mixtral-8x7b"};
  int refused = 0;
  ForManyPlans(
      "megatron-core", "megatron-core", models, AdjustToMegatron,
      [&](const Plan& plan, const Workload& workload, const Cluster& cluster,
          const std::string& model) {
        const auto import = [&](const std::string& text) {
          TrainingWishes wishes;
          wishes.cluster = &cluster;
          return ImportMegatron(text, "train.sh", {}, wishes);
        };
        const TrainingExport::Format& writer = *TrainingExport::Find("megatron");
        if (IsRefused([&] {
              TrainingExport::Write(writer, plan, workload, cluster, model, "train.sh");
            })) {
          ++refused;
          return false;
        }
        EXPECT_EQ(Difference("megatron", "train.sh", plan, workload, cluster, model, import), "");
        return true;
      });
  EXPECT_LT(refused, 10 * kPlans);
}

TEST(RoundTripTest, PlansOfNemoComeBack) {
  const std::vector<std::string> models = {"llama3-8b", "mixtral-8x7b"};
  ForManyPlans("megatron-bridge", "nemo", models, AdjustToMegatron,
               [&](const Plan& plan, const Workload& workload, const Cluster& cluster,
                   const std::string& model) {
                 const auto import = [&](const std::string& text) {
                   TrainingWishes wishes;
                   wishes.cluster = &cluster;
                   return ImportNemo(text, "train.yaml", wishes);
                 };
                 const TrainingExport::Format& writer = *TrainingExport::Find("nemo");
                 if (IsRefused([&] {
                       TrainingExport::Write(writer, plan, workload, cluster, model, "train.yaml");
                     })) {
                   return false;
                 }
                 EXPECT_EQ(Difference("nemo", "train.yaml", plan, workload, cluster, model, import),
                           "");
                 return true;
               });
}

void AdjustToTorchtitan(PlanSource& source, PlanDegrees& d, bool) {
  d.overlap_param_gather = d.zero == 3;
  d.reshard_after_forward = source.Chance(50);
  d.overlap_tensor = d.sequence_parallel == 1 && d.tensor > 1 && source.Chance(30);
  d.gradient_bytes = d.precision == DType::kFp32 ? 4 : source.OneOf<int>({2, 4});
  if (d.context == 1) d.context_exchange = ContextExchange::kGather;
  if (d.precision != DType::kFp8) d.fp8_recipe = Fp8Recipe::kDelayed;
  if (source.Chance(40)) d.framework.elementwise_traffic = 1;
}

TEST(RoundTripTest, PlansOfTorchtitanComeBack) {
  for (const char* path : {"job.toml", "job.sh"}) {
    ForManyPlans(
        "torchtitan", "torchtitan", {"llama3-8b"}, AdjustToTorchtitan,
        [&](const Plan& plan, const Workload& workload, const Cluster& cluster,
            const std::string& model) {
          const int ranks =
              static_cast<int>(plan.stages[0].replicas.size()) * plan.stages[0].context_parallel;
          if (ranks == 1 && plan.zero != 0) return false;  // nothing is shared
          if (ranks == 1 && plan.overlap_param_gather) return false;
          if (plan.zero == 0 && plan.stages[0].context_parallel > 1) return false;
          const auto import = [&](const std::string& text) {
            TrainingWishes wishes;
            wishes.cluster = &cluster;
            wishes.model = model;
            return ImportTorchtitan(text, path, {}, wishes);
          };
          EXPECT_EQ(Difference("torchtitan", path, plan, workload, cluster, model, import), "");
          return true;
        });
  }
}

void AdjustToDeepspeed(PlanSource& source, PlanDegrees& d, bool) {
  d.overlap_p2p = false;
  d.overlap_param_gather = d.zero == 3;
  d.overlap_grad_reduce = source.Chance(50);
  d.gradient_bytes = d.precision == DType::kFp32 ? 4 : source.OneOf<int>({2, 4});
  d.bucket_bytes = source.OneOf<int64_t>({400'000'000, 1'000'000'000});
}

TEST(RoundTripTest, PlansOfDeepspeedComeBack) {
  ForManyPlans(
      "deepspeed", "deepspeed", {"llama3-8b", "gpt2-medium"}, AdjustToDeepspeed,
      [&](const Plan& plan, const Workload& workload, const Cluster& cluster,
          const std::string& model) {
        const Stage& stage = plan.stages[0];
        const auto import = [&](const std::string& text) {
          TrainingWishes wishes;
          wishes.cluster = &cluster;
          wishes.model = model;
          wishes.sequence = plan.sequence;
          // Without a pipeline only the model's code says it.
          wishes.recompute = stage.recompute == Recompute::kFull ? "full" : "none";
          return ImportDeepspeed(text, "ds.json", wishes);
        };
        EXPECT_EQ(Difference("deepspeed", "ds.json", plan, workload, cluster, model, import), "");
        return true;
      });
}

// The table of arguments is what stands in for Megatron-LM's own parser.
TEST(RoundTripTest, EveryArgumentWrittenForMegatronIsOfItsGrammar) {
  const Workload workload = LoadWorkload("mixtral-8x7b", AttentionBackend::kFlash);
  const Cluster cluster = ParseCluster("h100-sxm:4x8");
  PlanDegrees degrees;
  degrees.tensor = 2;
  degrees.pipeline = 4;
  degrees.chunks = 2;
  degrees.expert = 4;
  degrees.schedule = PipelineSchedule::kInterleaved;
  degrees.global_batch = 64;
  degrees.sequence = 4096;
  degrees.precision = DType::kFp8;
  const Plan plan = MakePlan(degrees, workload, cluster);
  const LaunchText launch = TrainingExport::Write(*TrainingExport::Find("megatron"), plan, workload,
                                                  cluster, "mixtral-8x7b", "t.sh");
  const LaunchOptions options =
      ReadLaunchOptions(ReadLaunchScript(launch.text, "t.sh", {}), "t.sh", MegatronValues);
  EXPECT_GT(options.options.size(), 40u);
  for (const Option& option : options.options) {
    const OptionValues values = MegatronValues(option.name);
    EXPECT_NE(values, OptionValues::kUnknown) << option.name;
    EXPECT_EQ(values == OptionValues::kNone, option.value.is_boolean()) << option.name;
  }
}

}  // namespace
}  // namespace stagecraft
