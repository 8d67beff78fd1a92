// InViewTable: the constants that were chosen by looking at the very measurements on which they are
// judged. Errors on such measurements do not show how well unseen ones are predicted, and reports
// say so.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace stagecraft {

struct ConstantsInView {
  std::string constants;  // "the host's time per launch, 75 us"
  std::string how;        // how they were chosen
  std::string origin;     // where that is documented

  // Returns "constants: how (origin)".
  std::string InWords() const;
  friend bool operator==(const ConstantsInView&, const ConstantsInView&) = default;
};

// Immutable; safe from any thread.
class InViewTable {
 public:
  // The table in the binary, data/in_view.textproto, which the first call reads.
  static const InViewTable& Embedded();
  // Reads an InViewTableProto in text format. Throws InputError that begins with `name`.
  static InViewTable Parse(const std::string& text, const std::string& name);

  // The constants that were chosen in view of measured rows of this source and metric.
  std::vector<ConstantsInView> OfRows(const std::string& source,
                                      const std::string& metric_kind) const;
  // The constants that were chosen in view of errors with this split, written as for --split, on
  // samples of any of these sources (and, for kernels, of any of these ops).
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

// Returns a sentence for reports: what such constants mean for the errors with a split.
std::string InViewNote(const ConstantsInView& chosen);

}  // namespace stagecraft
