#include "tools/validation/stack_table.h"

#include <algorithm>
#include <initializer_list>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "data/embedded.h"
#include "proto/stack.pb.h"

namespace stagecraft {
namespace {

constexpr const char* kFile = "stacks.textproto";
constexpr int kMaxMultiple = 1 << 20;

void CheckWord(const std::string& word, std::initializer_list<const char*> known,
               const std::string& place) {
  std::string want;
  for (const char* name : known) {
    if (word == name) return;
    want += (want.empty() ? "" : ", ") + std::string(name);
  }
  throw InputError(place + ": got \"" + word + "\", want one of " + want);
}

StackDefaults DefaultsFromProto(const StackProto& proto, const std::string& place) {
  CheckWord(proto.recompute(), {"none", "selective", "full"}, place + ".recompute");
  if (!proto.recompute_others().empty()) {
    CheckWord(proto.recompute_others(), {"none", "selective", "full"}, place + ".recompute_others");
  }
  CheckWord(proto.order(), {"gpipe", "1f1b", "interleaved"}, place + ".order");
  CheckWord(proto.attention(), {"unfused", "flash"}, place + ".attention");
  if (proto.zero() < 0 || proto.zero() > 3) {
    throw InputError(place + ".zero: got " + std::to_string(proto.zero()) + ", want 0 to 3");
  }
  if (proto.micro_batch() < 0) {
    throw InputError(place + ".micro_batch: got " + std::to_string(proto.micro_batch()) +
                     ", want >= 0");
  }
  if (proto.vocabulary_multiple() < 0 || proto.vocabulary_multiple() > kMaxMultiple) {
    throw InputError(place + ".vocabulary_multiple: got " +
                     std::to_string(proto.vocabulary_multiple()) + ", want 0 to " +
                     std::to_string(kMaxMultiple));
  }
  if (proto.bucket_bytes() < 0) {
    throw InputError(place + ".bucket_bytes: got " + std::to_string(proto.bucket_bytes()) +
                     ", want >= 0");
  }
  StackDefaults defaults;
  defaults.recompute = proto.recompute();
  defaults.recompute_others =
      proto.recompute_others().empty() ? proto.recompute() : proto.recompute_others();
  defaults.micro_batch = proto.micro_batch();
  defaults.micro_batch_is_all = proto.micro_batch_is_all();
  defaults.order = proto.order();
  defaults.zero = proto.zero();
  defaults.overlap_grad_reduce = proto.overlap_grad_reduce();
  defaults.overlap_param_gather = proto.overlap_param_gather();
  defaults.sequence_parallel = proto.sequence_parallel();
  defaults.attention = proto.attention();
  defaults.vocabulary_multiple = proto.vocabulary_multiple();
  defaults.bucket_bytes = proto.bucket_bytes();
  return defaults;
}

}  // namespace

StackTable StackTable::Parse(const std::string& text, const std::string& name) {
  StackTableProto proto;
  ParseProtoText(text, name, ".textproto", &proto);
  StackTable table;
  for (int i = 0; i < proto.stacks_size(); ++i) {
    const StackProto& stack = proto.stacks(i);
    const std::string place = name + ": stacks[" + std::to_string(i) + "]";
    if (stack.id().empty()) throw InputError(place + ".id: got none, want a name");
    if (!table.stacks_.emplace(stack.id(), DefaultsFromProto(stack, place)).second) {
      throw InputError(place + ".id: got \"" + stack.id() + "\" twice, want it once");
    }
  }
  for (const SourceProto& source : proto.sources()) {
    if (source.is_passes_only()) table.passes_only_.insert(source.source());
    if (source.counts_every_rank()) table.every_rank_.insert(source.source());
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
  static const StackTable table = Parse(std::string(EmbeddedFile(kFile)), kFile);
  return table;
}

const StackDefaults* StackTable::Find(const std::string& stack) const {
  const auto found = stacks_.find(stack);
  return found == stacks_.end() ? nullptr : &found->second;
}

std::vector<std::string> StackTable::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, defaults] : stacks_) names.push_back(name);
  return names;
}

}  // namespace stagecraft
