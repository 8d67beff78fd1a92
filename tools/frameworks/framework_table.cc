#include "tools/frameworks/framework_table.h"

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <initializer_list>
#include <set>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "costmodel/text.h"
#include "data/embedded.h"
#include "proto/training_framework.pb.h"

namespace stagecraft {
namespace {

using google::protobuf::FieldDescriptor;

constexpr const char* kFile = "training_frameworks.textproto";

// Returns the values whose Name() the words are. Throws InputError for another word.
template <typename Words, typename Enum>
std::vector<Enum> ValuesOf(const Words& words, std::initializer_list<Enum> all,
                           const std::string& place) {
  std::vector<Enum> values;
  for (const std::string& word : words) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](Enum value) { return word == Name(value); });
    if (found == all.end()) {
      throw InputError(fmt::format("{}: got \"{}\", want one of {}", place, word,
                                   Join(all, ", ", [](Enum value) { return Name(value); })));
    }
    values.push_back(*found);
  }
  return values;
}

std::vector<int> Zeros(const google::protobuf::RepeatedField<int32_t>& zeros,
                       const std::string& place) {
  for (const int zero : zeros) {
    if (zero < 0 || zero > 3) throw InputError(fmt::format("{}: got {}, want 0 to 3", place, zero));
  }
  return {zeros.begin(), zeros.end()};
}

template <typename Words>
std::vector<PipelineSchedule> Schedules(const Words& words, const std::string& place) {
  std::vector<PipelineSchedule> schedules;
  for (const std::string& word : words) {
    const auto schedule = FindPipelineSchedule(word);
    if (!schedule) throw InputError(fmt::format("{}: got \"{}\"", place, word));
    schedules.push_back(*schedule);
  }
  return schedules;
}

void CheckOrigins(const TrainingFrameworkProto& proto, const std::string& place) {
  std::set<std::string> known;
  for (const TrainingFrameworkOriginProto& origin : proto.origins()) {
    if (origin.origin().empty()) throw InputError(place + ".origins: got an empty origin");
    for (const std::string& field : origin.field()) {
      if (proto.GetDescriptor()->FindFieldByName(field) == nullptr) {
        throw InputError(fmt::format("{}.origins: got \"{}\", want a field", place, field));
      }
      if (!known.insert(field).second) {
        throw InputError(fmt::format("{}.origins: got \"{}\" twice, want it once", place, field));
      }
    }
  }
  std::vector<const FieldDescriptor*> fields;
  proto.GetReflection()->ListFields(proto, &fields);
  for (const FieldDescriptor* field : fields) {
    const std::string& name = field->name();
    if (name == "id" || name == "title" || name == "origins" || known.contains(name)) continue;
    throw InputError(fmt::format("{}.origins: got none for \"{}\", want one", place, name));
  }
}

TrainingFramework FromProto(const TrainingFrameworkProto& proto, const std::string& place) {
  CheckOrigins(proto, place);
  TrainingFramework framework;
  framework.id = proto.id();
  framework.title = proto.title();
  framework.schedules = Schedules(proto.schedules(), place + ".schedules");
  framework.zeros = Zeros(proto.zeros(), place + ".zeros");
  framework.pipeline_zeros = Zeros(proto.pipeline_zeros(), place + ".pipeline_zeros");
  framework.recomputes =
      ValuesOf(proto.recomputes(),
               {Recompute::kNone, Recompute::kSelective, Recompute::kFull, Recompute::kOperators},
               place + ".recomputes");
  framework.recomputes_some_blocks = proto.recomputes_some_blocks();
  for (const std::string& word : proto.recompute_parts()) {
    const auto parts = FindRecomputedParts(word);
    if (!parts) throw InputError(fmt::format("{}.recompute_parts: got \"{}\"", place, word));
    framework.recompute_parts.norms |= parts->norms;
    framework.recompute_parts.latents |= parts->latents;
    framework.recompute_parts.activations |= parts->activations;
  }
  framework.any_stage_layers = proto.any_stage_layers();
  framework.tensor_parallel = proto.tensor_parallel();
  framework.tensor_in_pipeline = proto.tensor_in_pipeline();
  framework.context_exchanges =
      ValuesOf(proto.context_exchanges(),
               {ContextExchange::kRing, ContextExchange::kGather, ContextExchange::kUlysses},
               place + ".context_exchanges");
  framework.expert_parallel = proto.expert_parallel();
  framework.precisions =
      ValuesOf(proto.precisions(),
               {DType::kBf16, DType::kFp16, DType::kFp32, DType::kTf32, DType::kFp8, DType::kNvfp4},
               place + ".precisions");
  framework.fp8_recipes = ValuesOf(proto.fp8_recipes(),
                                   {Fp8Recipe::kDelayed, Fp8Recipe::kCurrent, Fp8Recipe::kMx,
                                    Fp8Recipe::kRowwise, Fp8Recipe::kBlock},
                                   place + ".fp8_recipes");
  framework.optimizers = ValuesOf(proto.optimizers(),
                                  {Optimizer::kAdam, Optimizer::kSgd, Optimizer::kAdam8Bit,
                                   Optimizer::kPlainSgd, Optimizer::kAdam16Bit},
                                  place + ".optimizers");
  for (const std::string& order : proto.rank_orders()) {
    if (!ParseRankOrder(order))
      throw InputError(place + ".rank_orders: " + RankOrderProblem(order));
    framework.rank_orders.push_back(order);
  }
  framework.without_sequence_parallel = proto.without_sequence_parallel();
  framework.with_sequence_parallel = proto.with_sequence_parallel();
  framework.expert_sends =
      ValuesOf(proto.expert_sends(), {ExpertSends::kEveryCopy, ExpertSends::kOncePerNode},
               place + ".expert_sends");
  framework.overlap_experts = proto.overlap_experts();
  framework.order_groups = proto.order_groups();
  framework.zero_groups = proto.zero_groups();
  framework.offload_optimizer = proto.offload_optimizer();
  framework.pipelines = proto.pipelines();
  framework.overlap_tensor = proto.overlap_tp();
  framework.overlap_param_gather = proto.overlap_param_gather();
  framework.overlap_p2p = Schedules(proto.overlap_p2p(), place + ".overlap_p2p");
  return framework;
}

}  // namespace

FrameworkTable FrameworkTable::Parse(const std::string& text, const std::string& name) {
  TrainingFrameworkTableProto proto;
  ParseProtoText(text, name, ".textproto", &proto);
  FrameworkTable table;
  for (int i = 0; i < proto.frameworks_size(); ++i) {
    const TrainingFrameworkProto& one = proto.frameworks(i);
    const std::string place = fmt::format("{}: frameworks[{}]", name, i);
    if (one.id().empty() || one.title().empty()) {
      throw InputError(place + ": got no id or no title, want both");
    }
    if (table.Find(one.id()) != nullptr) {
      throw InputError(fmt::format("{}.id: got \"{}\" twice, want it once", place, one.id()));
    }
    table.frameworks_.push_back(FromProto(one, place));
  }
  return table;
}

const FrameworkTable& FrameworkTable::Embedded() {
  static const FrameworkTable table = Parse(std::string(EmbeddedFile(kFile)), kFile);
  return table;
}

std::vector<std::string> FrameworkTable::Names() const {
  std::vector<std::string> names;
  for (const TrainingFramework& framework : frameworks_) names.push_back(framework.id);
  return names;
}

const TrainingFramework* FrameworkTable::Find(std::string_view id) const {
  for (const TrainingFramework& framework : frameworks_) {
    if (framework.id == id) return &framework;
  }
  return nullptr;
}

}  // namespace stagecraft
