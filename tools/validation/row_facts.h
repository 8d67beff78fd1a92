// RowFacts: what is known about how a measured row was run besides what its columns say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/validation/measured_row.h"

namespace stagecraft {

// Members without a value are unknown. RowFactsProto says what each of them means.
struct RowFacts {
  std::optional<std::string> attention, network, pass;
  std::optional<int64_t> vocabulary, layers, hidden, heads;
  std::optional<int> gradient_bytes;
  std::optional<bool> prints_gib, passes_only, counts_every_rank, span_head, swiglu_ffn;
  std::optional<bool> local_layers, transformer_engine, qk_norm, fuses_weight_gradients;
  std::optional<bool> fuses_softmax, makes_attention_mask, deterministic, post_validation;
  std::optional<bool> counts_context, first_stage;
  std::optional<std::vector<std::string>> network_sites;
};

// Facts that were inferred from the rows on which they are scored.
struct InferredFacts {
  std::string words;   // "vocabulary 32000"
  std::string origin;  // "assumption: ..."
  bool of_network_sites = false;
  friend bool operator==(const InferredFacts&, const InferredFacts&) = default;
};

// Immutable; may be used from any thread.
class RowFactTable {
 public:
  // The data/row_facts.textproto that is embedded in the binary, read at the first call.
  static const RowFactTable& Embedded();
  // Reads a RowFactTableProto in text format. Throws an InputError that begins with `name`.
  static RowFactTable Parse(const std::string& text, const std::string& name);

  // Returns what is known about a row. `inferred`, if given, receives those facts that were
  // inferred from the scored rows.
  RowFacts Of(const MeasuredRow& row, std::vector<InferredFacts>* inferred = nullptr) const;
  // These return the same without all facts that were inferred from the scored rows, or without one
  // entry of them.
  RowFacts WithoutInferred(const MeasuredRow& row) const;
  RowFacts Without(const MeasuredRow& row, const InferredFacts& inferred) const;
  // Returns the sites of the network model that any facts name.
  std::vector<std::string> NetworkSites() const;
  // Returns whether a run had a flag, given with its value or without: "bf16", "cp-comm-type=a2a".
  bool HasFlag(const MeasuredRow& row, const std::string& flag) const;

 private:
  struct Entry {
    std::string source, metric, flag, without_flag;
    std::vector<std::string> model_words, schedules;
    RowFacts facts;
    bool is_inferred = false;
    InferredFacts words;
  };
  struct FlagList {
    std::string source, begin, end;
  };

  bool Holds(const Entry& entry, const MeasuredRow& row) const;

  std::vector<Entry> entries_;
  std::vector<FlagList> flag_lists_;
};

}  // namespace stagecraft
