#include "tools/report/in_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "data/embedded.h"
#include "proto/in_view.pb.h"

namespace stagecraft {
namespace {

constexpr const char* kFile = "in_view.textproto";
constexpr const char* kRows = "rows";
constexpr const char* kKernels = "kernels";
constexpr const char* kCollectives = "collectives";

bool Has(const std::vector<std::string>& values, const std::string& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

bool HasSome(const std::vector<std::string>& values, const std::set<std::string>& some) {
  return std::any_of(values.begin(), values.end(),
                     [&](const std::string& value) { return some.contains(value); });
}

// The kind of a split: "leave-out:gpu" for "leave-out:gpu=v100", "random" for "random:0.2".
std::string KindOf(const std::string& split) {
  if (split.starts_with("leave-out:")) return split.substr(0, split.find('='));
  return split.substr(0, split.find(':'));
}

void CheckEntry(const ConstantsInViewProto& proto, const std::string& place) {
  for (const auto& [field, value] :
       {std::pair("constants", &proto.constants()), std::pair("how", &proto.how()),
        std::pair("origin", &proto.origin())}) {
    if (value->empty()) throw InputError(fmt::format("{}.{}: got none, want words", place, field));
  }
  const std::string& judged = proto.judged();
  if (judged != kRows && judged != kKernels && judged != kCollectives) {
    throw InputError(
        fmt::format("{}.judged: got \"{}\", want rows, kernels or collectives", place, judged));
  }
  if (proto.sources().empty()) throw InputError(place + ".sources: got none, want at least one");
  if (judged == kRows && !proto.splits().empty()) {
    throw InputError(place + ".splits: got some with judged rows, want none");
  }
  if (judged != kKernels && !proto.ops().empty()) {
    throw InputError(fmt::format("{}.ops: got some with judged {}, want none", place, judged));
  }
  if (judged != kRows && (proto.splits().empty() || !proto.metric_kinds().empty())) {
    throw InputError(
        fmt::format("{}: got judged {}, want splits with it and no metric_kinds", place, judged));
  }
}

}  // namespace

std::string ConstantsInView::InWords() const {
  return fmt::format("{}: {} ({})", constants, how, origin);
}

std::string InViewNote(const ConstantsInView& chosen) {
  return "these errors are not those of unseen data, as constants were chosen with this split in "
         "view: " +
         chosen.InWords();
}

InViewTable InViewTable::Parse(const std::string& text, const std::string& name) {
  InViewTableProto proto;
  ParseProtoText(text, name, ".textproto", &proto);
  InViewTable table;
  for (int i = 0; i < proto.chosen_size(); ++i) {
    const ConstantsInViewProto& chosen = proto.chosen(i);
    CheckEntry(chosen, fmt::format("{}: chosen[{}]", name, i));
    table.entries_.push_back({{chosen.constants(), chosen.how(), chosen.origin()},
                              chosen.judged(),
                              {chosen.sources().begin(), chosen.sources().end()},
                              {chosen.metric_kinds().begin(), chosen.metric_kinds().end()},
                              {chosen.splits().begin(), chosen.splits().end()},
                              {chosen.ops().begin(), chosen.ops().end()}});
  }
  return table;
}

const InViewTable& InViewTable::Embedded() {
  static const InViewTable table = Parse(std::string(EmbeddedFile(kFile)), kFile);
  return table;
}

std::vector<ConstantsInView> InViewTable::OfRows(const std::string& source,
                                                 const std::string& metric_kind) const {
  std::vector<ConstantsInView> chosen;
  for (const Entry& entry : entries_) {
    const bool has_kind = entry.metric_kinds.empty() || Has(entry.metric_kinds, metric_kind);
    if (entry.judged == kRows && has_kind && Has(entry.sources, source)) {
      chosen.push_back(entry.chosen);
    }
  }
  return chosen;
}

std::vector<ConstantsInView> InViewTable::OfKernels(const std::string& split,
                                                    const std::set<std::string>& sources,
                                                    const std::set<std::string>& ops) const {
  std::vector<ConstantsInView> chosen;
  for (const Entry& entry : entries_) {
    const bool has_op = entry.ops.empty() || HasSome(entry.ops, ops);
    const bool is_in_view = HasSome(entry.sources, sources) && Has(entry.splits, KindOf(split));
    if (entry.judged == kKernels && has_op && is_in_view) chosen.push_back(entry.chosen);
  }
  return chosen;
}

std::vector<ConstantsInView> InViewTable::OfCollectives(
    const std::string& split, const std::set<std::string>& sources) const {
  std::vector<ConstantsInView> chosen;
  for (const Entry& entry : entries_) {
    const bool is_in_view = HasSome(entry.sources, sources) && Has(entry.splits, KindOf(split));
    if (entry.judged == kCollectives && is_in_view) chosen.push_back(entry.chosen);
  }
  return chosen;
}

}  // namespace stagecraft
