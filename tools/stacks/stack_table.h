// StackTable: what training stacks do unless told otherwise.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/memory/framework_memory.h"
#include "sim/plan/framework.h"

namespace stagecraft {

// One default in words. The origin is a document and the option's name there, or begins with
// "assumption: ".
struct StackValue {
  std::string key;  // a field of StackProto
  std::string value;
  std::string origin;
};

// The words are those of MeasuredRow's fields and of the flags.
struct StackDefaults {
  std::string recompute;
  std::string recompute_others;     // of networks that are not decoders
  int64_t micro_batch = 0;          // samples; 0: not set
  bool micro_batch_is_all = false;  // global batch / data-parallel ranks
  std::string schedule;
  int zero = 0;
  bool overlap_grad_reduce = false;
  bool overlap_param_gather = false;
  bool sequence_parallel = false;  // if there are several tensor-parallel ranks
  std::string attention;
  int vocabulary_multiple = 0;  // 0: the vocabulary is not padded
  int64_t bucket_bytes = 0;     // of gradients; 0: as in Plan::bucket_bytes
  std::string optimizer;
  int gradient_bytes = 0;           // below 32-bit precision; 0: as in PlanDegrees::gradient_bytes
  int fp16_gradient_bytes = 0;      // the same in fp16
  std::string embedding_placement;  // "first-last" or empty
  bool overlap_p2p = false;         // if `order` is interleaved, only in that pipeline schedule
  bool overlap_tensor = false;
  std::string context_exchange;
  Framework framework;
  FrameworkMemory memory;          // whatever its flags
  bool megatron_layers = false;    // layers and data loaders of Megatron-LM
  std::vector<StackValue> values;  // those that the table sets, with their origins

  // Returns the default of a key; nullptr if the table does not set it, in which case the field
  // above has no meaning.
  const StackValue* Find(std::string_view key) const;
};

// Whether the text is a month as the table writes it, such as 2024-07.
bool IsMonth(std::string_view text);

// Immutable; may be used from any thread.
class StackTable {
 public:
  // The data/stacks.textproto that is embedded in the binary, read at the first call.
  static const StackTable& Embedded();
  // Reads a StackTableProto in any format; `name` and `extension` are those of ParseProtoText().
  // Throws an InputError that begins with `name`.
  static StackTable Parse(const std::string& text, const std::string& name,
                          const std::string& extension = ".textproto");

  std::vector<std::string> Names() const;
  // Returns what a stack did in a month, YYYY-MM; without a month, what it does now. nullptr if the
  // stack is not in the table.
  const StackDefaults* Find(const std::string& stack, const std::string& month = "") const;
  int64_t gpt_vocabulary() const { return gpt_vocabulary_; }
  int64_t bert_vocabulary() const { return bert_vocabulary_; }
  int64_t sentence_tokens() const { return sentence_tokens_; }
  int64_t span_tokens() const { return span_tokens_; }

 private:
  struct Entry {
    std::string since;  // ascending; "" in the first
    StackDefaults defaults;
  };
  std::map<std::string, std::vector<Entry>> stacks_;
  int64_t gpt_vocabulary_ = 0;
  int64_t bert_vocabulary_ = 0;
  int64_t sentence_tokens_ = 0;
  int64_t span_tokens_ = 0;
};

}  // namespace stagecraft
