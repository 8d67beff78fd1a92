#include "tools/validation/row_facts.h"

#include <fmt/core.h>
#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <cctype>
#include <tuple>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "costmodel/text.h"
#include "data/embedded.h"
#include "proto/row_facts.pb.h"
#include "sim/workload/networks/classics.h"

namespace stagecraft {
namespace {

using google::protobuf::FieldDescriptor;

constexpr const char* kFile = "row_facts.textproto";
constexpr int64_t kMostSize = 1'000'000'000;

constexpr auto kFields =
    std::tuple(&RowFacts::attention, &RowFacts::network, &RowFacts::pass, &RowFacts::vocabulary,
               &RowFacts::layers, &RowFacts::hidden, &RowFacts::heads, &RowFacts::gradient_bytes,
               &RowFacts::prints_gib, &RowFacts::passes_only, &RowFacts::counts_every_rank,
               &RowFacts::span_head, &RowFacts::swiglu_ffn, &RowFacts::local_layers,
               &RowFacts::transformer_engine, &RowFacts::qk_norm, &RowFacts::fuses_weight_gradients,
               &RowFacts::fuses_softmax, &RowFacts::makes_attention_mask, &RowFacts::deterministic,
               &RowFacts::post_validation, &RowFacts::counts_context, &RowFacts::first_stage,
               &RowFacts::network_sites);

// Adds the facts that `known` states and `facts` does not; returns whether there were any.
bool Add(const RowFacts& known, RowFacts& facts) {
  bool has_added = false;
  const auto add = [&](auto field) {
    if ((facts.*field).has_value() || !(known.*field).has_value()) return;
    facts.*field = known.*field;
    has_added = true;
  };
  std::apply([&](auto... field) { (add(field), ...); }, kFields);
  return has_added;
}

void CheckWord(const std::string& word, std::initializer_list<std::string_view> known,
               const std::string& place) {
  if (std::find(known.begin(), known.end(), word) != known.end()) return;
  throw InputError(fmt::format("{}: got \"{}\", want one of {}", place, word, Join(known, ", ")));
}

int64_t Size(int64_t value, const std::string& place) {
  if (value >= 1 && value <= kMostSize) return value;
  throw InputError(fmt::format("{}: got {}, want 1 to {}", place, value, kMostSize));
}

void CheckFacts(const RowFactsProto& proto, const std::string& place) {
  if (proto.has_attention()) {
    CheckWord(proto.attention(), {"flash", "flash1", "flash2", "flash3", "cudnn", "unfused"},
              place + ".attention");
  }
  if (proto.has_pass()) {
    CheckWord(proto.pass(), {"forward", "backward", "both"}, place + ".pass");
  }
  if (proto.has_gradient_bytes() && proto.gradient_bytes() != 2 && proto.gradient_bytes() != 4) {
    throw InputError(
        fmt::format("{}.gradient_bytes: got {}, want 2 or 4", place, proto.gradient_bytes()));
  }
  if (proto.has_network()) {
    const std::vector<std::string> names = ClassicNames();
    if (std::find(names.begin(), names.end(), proto.network()) == names.end()) {
      throw InputError(
          fmt::format("{}.network: got \"{}\", want a classic network of `catalogue "
                      "models`",
                      place, proto.network()));
    }
  }
}

RowFacts FactsFromProto(const RowFactsProto& proto, const std::string& place) {
  CheckFacts(proto, place);
  RowFacts facts;
  if (proto.has_attention()) facts.attention = proto.attention();
  if (proto.has_network()) facts.network = proto.network();
  if (proto.has_pass()) facts.pass = proto.pass();
  if (proto.has_vocabulary()) facts.vocabulary = Size(proto.vocabulary(), place + ".vocabulary");
  if (proto.has_layers()) facts.layers = Size(proto.layers(), place + ".layers");
  if (proto.has_hidden()) facts.hidden = Size(proto.hidden(), place + ".hidden");
  if (proto.has_heads()) facts.heads = Size(proto.heads(), place + ".heads");
  if (proto.has_gradient_bytes()) facts.gradient_bytes = proto.gradient_bytes();
  const auto claim = [](bool is_set, bool value) {
    return is_set ? std::optional(value) : std::nullopt;
  };
  facts.prints_gib = claim(proto.has_prints_gib(), proto.prints_gib());
  facts.passes_only = claim(proto.has_passes_only(), proto.passes_only());
  facts.counts_every_rank = claim(proto.has_counts_every_rank(), proto.counts_every_rank());
  facts.span_head = claim(proto.has_span_head(), proto.span_head());
  facts.swiglu_ffn = claim(proto.has_swiglu_ffn(), proto.swiglu_ffn());
  facts.local_layers = claim(proto.has_local_layers(), proto.local_layers());
  facts.transformer_engine = claim(proto.has_transformer_engine(), proto.transformer_engine());
  facts.qk_norm = claim(proto.has_qk_norm(), proto.qk_norm());
  facts.fuses_weight_gradients =
      claim(proto.has_fuses_weight_gradients(), proto.fuses_weight_gradients());
  facts.fuses_softmax = claim(proto.has_fuses_softmax(), proto.fuses_softmax());
  facts.makes_attention_mask =
      claim(proto.has_makes_attention_mask(), proto.makes_attention_mask());
  facts.deterministic = claim(proto.has_deterministic(), proto.deterministic());
  facts.post_validation = claim(proto.has_post_validation(), proto.post_validation());
  facts.counts_context = claim(proto.has_counts_context(), proto.counts_context());
  facts.first_stage = claim(proto.has_first_stage(), proto.first_stage());
  if (!proto.network_sites().empty()) {
    facts.network_sites.emplace(proto.network_sites().begin(), proto.network_sites().end());
  }
  return facts;
}

// The facts in words: "gradient_bytes 2, prints_gib".
std::string InWords(const RowFactsProto& proto) {
  const google::protobuf::Reflection& reflection = *proto.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(proto, &fields);
  std::string words;
  for (const FieldDescriptor* field : fields) {
    std::string value;
    if (field->is_repeated()) {
      for (int i = 0; i < reflection.FieldSize(proto, field); ++i) {
        value += (i == 0 ? " " : ", ") + reflection.GetRepeatedString(proto, field, i);
      }
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      value = " " + reflection.GetString(proto, field);
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
      value = fmt::format(" {}", reflection.GetInt64(proto, field));
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT32) {
      value = fmt::format(" {}", reflection.GetInt32(proto, field));
    } else if (!reflection.GetBool(proto, field)) {
      value = " no";
    }
    words += (words.empty() ? "" : ", ") + std::string(field->name()) + value;
  }
  return words;
}

std::string Lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return text;
}

// Whether the text has this word, in upper or lower case. Words consist of letters, digits, "-" and
// ".".
bool HasWord(const std::string& text, const std::string& word) {
  const auto belongs = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.';
  };
  const std::string in = Lower(text);
  const std::string wanted = Lower(word);
  for (size_t at = in.find(wanted); at != in.npos; at = in.find(wanted, at + 1)) {
    const size_t end = at + wanted.size();
    if ((at == 0 || !belongs(in[at - 1])) && (end == in.size() || !belongs(in[end]))) return true;
  }
  return false;
}

}  // namespace

RowFactTable RowFactTable::Parse(const std::string& text, const std::string& name) {
  RowFactTableProto proto;
  ParseProtoText(text, name, ".textproto", &proto);
  RowFactTable table;
  for (int i = 0; i < proto.rows_size(); ++i) {
    const KnownRowsProto& rows = proto.rows(i);
    const std::string place = fmt::format("{}: rows[{}]", name, i);
    Entry entry;
    entry.source = rows.source();
    entry.metric = rows.metric();
    entry.flag = rows.flag();
    entry.without_flag = rows.without_flag();
    entry.model_words.assign(rows.model_words().begin(), rows.model_words().end());
    entry.schedules.assign(rows.order().begin(), rows.order().end());
    entry.facts = FactsFromProto(rows.facts(), place + ".facts");
    entry.is_inferred = rows.inferred_from_scored_rows();
    entry.words = {InWords(rows.facts()), rows.origin(), entry.facts.network_sites.has_value()};
    if (entry.words.words.empty()) throw InputError(place + ".facts: got none, want at least one");
    if (rows.origin().empty()) {
      throw InputError(place + ".origin: got none, want a document or \"assumption: why\"");
    }
    table.entries_.push_back(std::move(entry));
  }
  for (int i = 0; i < proto.flag_lists_size(); ++i) {
    const FlagListProto& list = proto.flag_lists(i);
    if (list.source().empty() || list.begin().empty() || list.end().empty() ||
        list.origin().empty()) {
      throw InputError(fmt::format(
          "{}: flag_lists[{}]: want source, begin, end and origin, none of them empty", name, i));
    }
    table.flag_lists_.push_back({list.source(), list.begin(), list.end()});
  }
  return table;
}

const RowFactTable& RowFactTable::Embedded() {
  static const RowFactTable table = Parse(std::string(EmbeddedFile(kFile)), kFile);
  return table;
}

bool RowFactTable::HasFlag(const MeasuredRow& row, const std::string& flag) const {
  for (const FlagList& list : flag_lists_) {
    if (list.source != row.source) continue;
    const size_t begin = row.notes.find(list.begin);
    if (begin == std::string::npos) continue;
    const size_t first = begin + list.begin.size();
    const size_t end = row.notes.find(list.end, first);
    const std::string flags = ' ' + row.notes.substr(first, end - first) + ' ';
    if (flags.find(' ' + flag + ' ') != std::string::npos ||
        flags.find(' ' + flag + '=') != std::string::npos) {
      return true;
    }
  }
  return false;
}

bool RowFactTable::Holds(const Entry& entry, const MeasuredRow& row) const {
  const auto is_in_model = [&](const std::string& word) { return HasWord(row.model, word); };
  const auto is_one_of = [&](const std::vector<std::string>& values, const std::string& value) {
    return values.empty() || std::find(values.begin(), values.end(), value) != values.end();
  };
  return (entry.source.empty() || entry.source == row.source) &&
         (entry.metric.empty() || entry.metric == row.metric) &&
         is_one_of(entry.schedules, row.schedule) &&
         std::all_of(entry.model_words.begin(), entry.model_words.end(), is_in_model) &&
         (entry.flag.empty() || HasFlag(row, entry.flag)) &&
         (entry.without_flag.empty() || !HasFlag(row, entry.without_flag));
}

RowFacts RowFactTable::Of(const MeasuredRow& row, std::vector<InferredFacts>* inferred) const {
  RowFacts facts;
  for (const Entry& entry : entries_) {
    if (!Holds(entry, row) || !Add(entry.facts, facts)) continue;
    if (entry.is_inferred && inferred != nullptr) inferred->push_back(entry.words);
  }
  return facts;
}

RowFacts RowFactTable::WithoutInferred(const MeasuredRow& row) const {
  RowFacts facts;
  for (const Entry& entry : entries_) {
    if (!entry.is_inferred && Holds(entry, row)) Add(entry.facts, facts);
  }
  return facts;
}

RowFacts RowFactTable::Without(const MeasuredRow& row, const InferredFacts& inferred) const {
  RowFacts facts;
  for (const Entry& entry : entries_) {
    const bool is_left_out = entry.is_inferred && entry.words == inferred;
    if (!is_left_out && Holds(entry, row)) Add(entry.facts, facts);
  }
  return facts;
}

std::vector<std::string> RowFactTable::NetworkSites() const {
  std::vector<std::string> sites;
  for (const Entry& entry : entries_) {
    if (!entry.facts.network_sites) continue;
    sites.insert(sites.end(), entry.facts.network_sites->begin(), entry.facts.network_sites->end());
  }
  return sites;
}

}  // namespace stagecraft
