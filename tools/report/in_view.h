// InViewTable: constants that were chosen while the figures were looked at by which they
// are judged. Such figures are no prediction of the unseen, and reports say so.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace stagecraft {

struct ConstantsInView {
  std::string constants;  // "the host's time per launch, 75 us"
  std::string how;
  std::string origin;

  // "constants: how (origin)".
  std::string InWords() const;
  friend bool operator==(const ConstantsInView&, const ConstantsInView&) = default;
};

// Immutable; safe from any thread.
class InViewTable {
 public:
  // data/in_view.textproto in the binary, read at the first call.
  static const InViewTable& Embedded();
  // Reads an InViewTableProto in text format. Throws InputError, `name` first.
  static InViewTable Parse(const std::string& text, const std::string& name);

  // Constants that were chosen in view of measured rows of this source and metric.
  std::vector<ConstantsInView> OfRows(const std::string& source,
                                      const std::string& metric_kind) const;
  // Constants that were chosen in view of samples of these sources and ops, for a split that is
  // written as --split takes it.
  std::vector<ConstantsInView> OfKernels(const std::string& split,
                                         const std::set<std::string>& sources,
                                         const std::set<std::string>& ops) const;
  std::vector<ConstantsInView> OfCollectives(const std::string& split,
                                             const std::set<std::string>& sources) const;

 private:
  struct Entry {
    ConstantsInView chosen;
    std::string judged;
    std::vector<std::string> sources, metric_kinds, splits, ops;
  };

  std::vector<Entry> entries_;
};

// A sentence for a report: what such constants mean for the figures of a split.
std::string InViewNote(const ConstantsInView& chosen);

}  // namespace stagecraft
