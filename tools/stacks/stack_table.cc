#include "tools/stacks/stack_table.h"

#include <fmt/core.h>
#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <initializer_list>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "costmodel/text.h"
#include "data/embedded.h"
#include "proto/stack.pb.h"
#include "sim/workload/limits.h"

namespace stagecraft {
namespace {

using google::protobuf::FieldDescriptor;

constexpr const char* kFile = "stacks.textproto";
constexpr int64_t kMaxMultiple = 1 << 20;

void CheckWord(const std::string& word, std::initializer_list<const char*> known,
               const std::string& place) {
  if (std::find(known.begin(), known.end(), word) != known.end()) return;
  throw InputError(place + ": got \"" + word + "\", want one of " + Join(known, ", "));
}

void CheckOptionalWord(const std::string& word, std::initializer_list<const char*> known,
                       const std::string& place) {
  if (!word.empty()) CheckWord(word, known, place);
}

void CheckRange(int64_t value, int64_t least, int64_t most, const std::string& place) {
  if (value >= least && value <= most) return;
  throw InputError(place + ": got " + std::to_string(value) + ", want " + std::to_string(least) +
                   " to " + std::to_string(most));
}

void CheckElement(int bytes, const std::string& place) {
  if (bytes == 2 || bytes == 4) return;
  throw InputError(place + ": got " + std::to_string(bytes) + ", want 2 or 4");
}

void CheckTraffic(double traffic, const std::string& place) {
  if (traffic >= 1 && traffic <= kMostElementwiseTraffic) return;
  throw InputError(
      fmt::format("{}: got {}, want 1 to {}", place, traffic, kMostElementwiseTraffic));
}

void CheckStack(const StackProto& proto, const std::string& place) {
  CheckWord(proto.recompute(), {"none", "selective", "full"}, place + ".recompute");
  CheckOptionalWord(proto.recompute_others(), {"none", "selective", "full"},
                    place + ".recompute_others");
  CheckWord(proto.order(), {"gpipe", "1f1b", "interleaved"}, place + ".order");
  CheckWord(proto.attention(), {"flash", "flash1", "flash2", "flash3", "cudnn", "unfused"},
            place + ".attention");
  CheckOptionalWord(proto.optimizer(), {"adam", "sgd"}, place + ".optimizer");
  CheckOptionalWord(proto.embedding_placement(), {"first-last", "redistributed"},
                    place + ".embedding_placement");
  CheckOptionalWord(proto.context_exchange(), {"ring", "gather", "ulysses"},
                    place + ".context_exchange");
  CheckOptionalWord(proto.parameter_gather(),
                    {Name(ParameterGather::kLayers), Name(ParameterGather::kTensors)},
                    place + ".parameter_gather");
  CheckOptionalWord(proto.backward_prefetch(),
                    {Name(BackwardPrefetch::kBefore), Name(BackwardPrefetch::kAfter)},
                    place + ".backward_prefetch");
  CheckOptionalWord(proto.parameter_exchange(),
                    {Name(ParameterExchange::kGather), Name(ParameterExchange::kBroadcasts)},
                    place + ".parameter_exchange");
  CheckOptionalWord(
      proto.shard_copies(),
      {Name(ShardCopies::kNone), Name(ShardCopies::kGradients), Name(ShardCopies::kParameters)},
      place + ".shard_copies");
  CheckOptionalWord(
      proto.cross_entropy(),
      {Name(CrossEntropy::kInPlace), Name(CrossEntropy::kCopies), Name(CrossEntropy::kEager)},
      place + ".cross_entropy");
  CheckOptionalWord(
      proto.weight_update(),
      {Name(UpdateKind::kFused), Name(UpdateKind::kForeach), Name(UpdateKind::kDeepspeed)},
      place + ".weight_update");
  CheckRange(proto.zero(), 0, 3, place + ".zero");
  CheckRange(proto.micro_batch(), 0, kMostOfABatch, place + ".micro_batch");
  CheckRange(proto.vocabulary_multiple(), 0, kMaxMultiple, place + ".vocabulary_multiple");
  CheckRange(proto.bucket_bytes(), 0, kMostBucketBytes, place + ".bucket_bytes");
  if (proto.has_gradient_bytes()) {
    CheckElement(proto.gradient_bytes(), place + ".gradient_bytes");
  }
  if (proto.has_fp16_gradient_bytes()) {
    CheckElement(proto.fp16_gradient_bytes(), place + ".fp16_gradient_bytes");
  }
  if (proto.has_elementwise_traffic()) {
    CheckTraffic(proto.elementwise_traffic(), place + ".elementwise_traffic");
  }
}

std::string ValueInWords(const StackProto& proto, const FieldDescriptor* field) {
  const google::protobuf::Reflection& reflection = *proto.GetReflection();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return reflection.GetString(proto, field);
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.GetBool(proto, field) ? "true" : "false";
    case FieldDescriptor::CPPTYPE_INT32:
      return std::to_string(reflection.GetInt32(proto, field));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return fmt::format("{:g}", reflection.GetDouble(proto, field));
    default:
      return std::to_string(reflection.GetInt64(proto, field));
  }
}

// Every field that is set except the id, each with its origin, of which there must be exactly one.
std::vector<StackValue> ValuesFromProto(const StackProto& proto, const std::string& place) {
  std::map<std::string, std::string> origins;
  for (int i = 0; i < proto.origins_size(); ++i) {
    const StackOriginProto& origin = proto.origins(i);
    const std::string inside = place + ".origins[" + std::to_string(i) + "]";
    if (origin.origin().empty()) throw InputError(inside + ".origin: got none, want a source");
    for (const std::string& field : origin.field()) {
      if (origins.emplace(field, origin.origin()).second) continue;
      throw InputError(inside + ".field: got \"" + field + "\" twice, want it once");
    }
  }
  std::vector<const FieldDescriptor*> fields;
  proto.GetReflection()->ListFields(proto, &fields);
  std::vector<StackValue> values;
  for (const FieldDescriptor* field : fields) {
    if (field->name() == "id" || field->name() == "since" || field->name() == "origins") continue;
    const auto origin = origins.extract(field->name());
    if (origin.empty()) {
      throw InputError(place + ".origins: got none for \"" + field->name() + "\", want one");
    }
    values.push_back({field->name(), ValueInWords(proto, field), origin.mapped()});
  }
  if (!origins.empty()) {
    throw InputError(place + ".origins: got one for \"" + origins.begin()->first +
                     "\", want a field that the stack sets");
  }
  return values;
}

// Replaces the values of equal keys, and appends the others.
void Change(std::vector<StackValue>& values, std::vector<StackValue> newer) {
  for (StackValue& value : newer) {
    const auto older = std::find_if(values.begin(), values.end(), [&](const StackValue& known) {
      return known.key == value.key;
    });
    if (older == values.end()) {
      values.push_back(std::move(value));
    } else {
      *older = std::move(value);
    }
  }
}

Framework FrameworkOf(const StackProto& proto) {
  Framework framework;
  if (proto.has_elementwise_traffic()) framework.elementwise_traffic = proto.elementwise_traffic();
  framework.composes_operators = proto.composes_operators();
  if (proto.backward_prefetch() == Name(BackwardPrefetch::kAfter)) {
    framework.backward_prefetch = BackwardPrefetch::kAfter;
  }
  if (proto.parameter_gather() == Name(ParameterGather::kTensors)) {
    framework.parameter_gather = ParameterGather::kTensors;
  }
  if (proto.parameter_exchange() == Name(ParameterExchange::kBroadcasts)) {
    framework.parameter_exchange = ParameterExchange::kBroadcasts;
  }
  for (const ShardCopies copies : {ShardCopies::kGradients, ShardCopies::kParameters}) {
    if (proto.shard_copies() == Name(copies)) framework.shard_copies = copies;
  }
  framework.updates_by_operations = proto.weight_update() == Name(UpdateKind::kForeach);
  framework.autocasts = proto.casts_weights();
  framework.adds_gradients_apart = proto.adds_gradients_apart();
  framework.scatters_messages = proto.scatters_messages();
  framework.exposes_tensor_gradients = proto.exposes_tensor_gradients();
  return framework;
}

// Megatron's activations are [sequence, batch, hidden], so it copies the output of attention; its
// data loaders make masks.
FrameworkMemory MemoryOf(const StackProto& proto) {
  FrameworkMemory memory;
  memory.copies_attention_output = memory.makes_attention_mask = proto.megatron_layers();
  for (const CrossEntropy loss : {CrossEntropy::kCopies, CrossEntropy::kEager}) {
    if (proto.cross_entropy() == Name(loss)) memory.cross_entropy = loss;
  }
  for (const UpdateKind update : {UpdateKind::kForeach, UpdateKind::kDeepspeed}) {
    if (proto.weight_update() == Name(update)) memory.update = update;
  }
  if (proto.has_keeps_gradients()) memory.keeps_gradients = proto.keeps_gradients();
  // A kernel that adds to a gradient needs a buffer of it.
  memory.fuses_weight_gradients = memory.keeps_gradients;
  memory.casts_weights = proto.casts_weights();
  memory.wraps_layers = proto.wraps_layers();
  memory.keeps_outputs = proto.keeps_outputs();
  memory.keeps_score_buffer = proto.keeps_score_buffer();
  memory.has_global_groups = proto.has_global_groups();
  return memory;
}

StackDefaults DefaultsFromProto(const StackProto& proto, const std::string& place) {
  CheckStack(proto, place);
  StackDefaults defaults;
  defaults.recompute = proto.recompute();
  defaults.recompute_others =
      proto.recompute_others().empty() ? proto.recompute() : proto.recompute_others();
  defaults.micro_batch = proto.micro_batch();
  defaults.micro_batch_is_all = proto.micro_batch_is_all();
  defaults.schedule = proto.order();
  defaults.zero = proto.zero();
  defaults.overlap_grad_reduce = proto.overlap_grad_reduce();
  defaults.overlap_param_gather = proto.overlap_param_gather();
  defaults.sequence_parallel = proto.sequence_parallel();
  defaults.attention = proto.attention();
  defaults.vocabulary_multiple = proto.vocabulary_multiple();
  defaults.bucket_bytes = proto.bucket_bytes();
  defaults.optimizer = proto.optimizer();
  defaults.gradient_bytes = proto.gradient_bytes();
  defaults.fp16_gradient_bytes = proto.fp16_gradient_bytes();
  defaults.embedding_placement = proto.embedding_placement();
  defaults.overlap_p2p = proto.overlap_p2p();
  defaults.overlap_tensor = proto.overlap_tensor();
  defaults.context_exchange = proto.context_exchange();
  defaults.framework = FrameworkOf(proto);
  defaults.memory = MemoryOf(proto);
  defaults.megatron_layers = proto.megatron_layers();
  return defaults;
}

}  // namespace

bool IsMonth(std::string_view text) {
  if (text.size() != 7 || text[4] != '-') return false;
  for (const size_t i : {0, 1, 2, 3, 5, 6}) {
    if (text[i] < '0' || text[i] > '9') return false;
  }
  const int month = 10 * (text[5] - '0') + (text[6] - '0');
  return month >= 1 && month <= 12;
}

const StackValue* StackDefaults::Find(std::string_view key) const {
  const auto found = std::find_if(values.begin(), values.end(),
                                  [&](const StackValue& value) { return value.key == key; });
  return found == values.end() ? nullptr : &*found;
}

StackTable StackTable::Parse(const std::string& text, const std::string& name,
                             const std::string& extension) {
  StackTableProto proto;
  ParseProtoText(text, name, extension, &proto);
  StackTable table;
  std::map<std::string, StackProto> now;  // the entries so far, by id, put together
  for (int i = 0; i < proto.stacks_size(); ++i) {
    const StackProto& stack = proto.stacks(i);
    const std::string place = name + ": stacks[" + std::to_string(i) + "]";
    if (stack.id().empty()) throw InputError(place + ".id: got none, want a name");
    std::vector<Entry>& entries = table.stacks_[stack.id()];
    if (entries.empty() != stack.since().empty() ||
        (!entries.empty() && entries.back().since >= stack.since())) {
      throw InputError(place + ".since: got \"" + stack.since() + "\", want " +
                       (entries.empty() ? "none in the first entry of a stack"
                                        : "a later month than in the entry before it"));
    }
    if (!stack.since().empty() && !IsMonth(stack.since())) {
      throw InputError(place + ".since: got \"" + stack.since() + "\", want a month, as 2024-07");
    }
    StackProto& merged = now[stack.id()];
    merged.MergeFrom(stack);
    Entry entry{stack.since(), DefaultsFromProto(merged, place)};
    if (!entries.empty()) entry.defaults.values = entries.back().defaults.values;
    Change(entry.defaults.values, ValuesFromProto(stack, place));
    entries.push_back(std::move(entry));
  }
  const auto positive = [&](const char* field, int64_t value) {
    if (value < 1) {
      throw InputError(name + ": " + field + ": got " + std::to_string(value) + ", want > 0");
    }
    return value;
  };
  table.gpt_vocabulary_ = positive("gpt_vocabulary", proto.gpt_vocabulary());
  table.bert_vocabulary_ = positive("bert_vocabulary", proto.bert_vocabulary());
  table.sentence_tokens_ = positive("sentence_tokens", proto.sentence_tokens());
  table.span_tokens_ = positive("span_tokens", proto.span_tokens());
  return table;
}

const StackTable& StackTable::Embedded() {
  static const StackTable table = Parse(std::string(EmbeddedStacks()), kFile, ".pb");
  return table;
}

const StackDefaults* StackTable::Find(const std::string& stack, const std::string& month) const {
  const auto found = stacks_.find(stack);
  if (found == stacks_.end()) return nullptr;
  const std::vector<Entry>& entries = found->second;
  size_t last = entries.size() - 1;
  while (last > 0 && !month.empty() && entries[last].since > month) --last;
  return &entries[last].defaults;
}

std::vector<std::string> StackTable::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, entries] : stacks_) names.push_back(name);
  return names;
}

}  // namespace stagecraft
