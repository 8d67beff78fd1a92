#include "tools/validation/validation_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <stdexcept>

#include "tools/report/in_view.h"
#include "tools/validation/class_errors.h"
#include "tools/validation/row_cluster.h"
#include "tools/validation/row_facts.h"

namespace stagecraft {
namespace {

constexpr size_t kWorst = 10;
constexpr size_t kSourceWidth = 28;  // characters of a source, behind which are up to two marks

std::string Cell(const std::optional<double>& value, int digits = 1) {
  return value.has_value() ? fmt::format("{:.{}f}", *value, digits) : "-";
}

// The text cut to kSourceWidth bytes, but not inside of a character: the names of a few sources are
// not ASCII.
std::string Short(const std::string& text) {
  if (text.size() <= kSourceWidth) return text;
  size_t end = kSourceWidth - 2;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "..";
}

// The marks of a line: "*" if predictions rest on facts that were inferred from these rows, "+" if
// constants were chosen in view of them.
std::string Marks(const ErrorStats& stats) {
  std::string marks;
  if (stats.inferred_rows > 0) marks += '*';
  const bool counts = stats.counted > 0 && !stats.source.empty();
  if (counts && !InViewTable::Embedded().OfRows(stats.source, stats.metric_kind).empty()) {
    marks += '+';
  }
  return marks;
}

void PrintCells(const std::string& name, const std::string& kind,
                const std::vector<std::string>& cells, std::ostream& out) {
  out << fmt::format("{:<30} {:<21} {:>5} {:>5}", name, kind, cells[0], cells[1]);
  for (size_t i = 2; i < cells.size(); ++i) out << fmt::format(" {:>5}", cells[i]);
  out << '\n';
}

void PrintLine(const ErrorStats& stats, const std::string& name, std::ostream& out) {
  PrintCells(Short(name) + Marks(stats), stats.metric_kind,
             {fmt::format("{}", stats.rows), fmt::format("{}", stats.simulated), Cell(stats.mape),
              Cell(stats.mape_without), Cell(stats.median_ape), Cell(stats.p90_ape),
              Cell(stats.bias), Cell(stats.interval80_coverage), Cell(stats.spearman, 2),
              Cell(stats.regret), Cell(stats.constant_rate), Cell(stats.ridge)},
             out);
}

void PrintTable(const Validation& validation, std::ostream& out) {
  out << "errors in percent, over rows that count once (primary); rows: scored; sim: simulated;\n"
         "w/o: MAPE without the facts inferred from these very rows (*, below); in80: how often\n"
         "the 80 % prediction interval holds, in percent of the rows that have one; rank: rank\n"
         "correlation (Spearman); regr(et): how much worse the row predicted best is than the\n"
         "best one, both within groups of at least 4, median; const, ridge: MAPE of baselines;\n"
         "+: constants chosen with these rows in view (below)\n\n";
  PrintCells("source", "metric kind",
             {"rows", "sim", "MAPE", "w/o", "med", "p90", "bias", "in80", "rank", "regr", "const",
              "ridge"},
             out);
  for (const ErrorStats& stats : SummarizeBy(validation.rows, true, true)) {
    PrintLine(stats, stats.source, out);
  }
  out << '\n';
  for (const ErrorStats& stats : SummarizeBy(validation.rows, false, true)) {
    PrintLine(stats, "all sources", out);
  }
  for (ErrorStats& stats : SummarizeBy(validation.rows, false, false)) {
    stats.metric_kind = "all";
    PrintLine(stats, "all sources", out);
  }
}

void PrintClasses(const Validation& validation, std::ostream& out) {
  const std::vector<ClassErrors> classes = SummarizeClasses(validation.rows);
  if (classes.empty()) return;
  out << "\nerrors of times, rates as their inverse, in percent; level: what is left if "
         "one factor\nper table sets its level right\n";
  const auto print = [&](const std::string& name, const std::vector<std::string>& cells) {
    out << fmt::format("  {:<36}", name);
    for (const std::string& cell : cells) out << fmt::format(" {:>6}", cell);
    out << '\n';
  };
  for (const ClassErrors& errors : classes) {
    print(Name(errors.work), {"rows", "MAPE", "bias", "level", "in80"});
    int rows = 0;
    for (const TimeErrors& source : errors.sources) {
      rows += source.rows;
      print("  " + source.source,
            {fmt::format("{}", source.rows), Cell(source.mape), Cell(source.bias),
             Cell(source.mape_factored), Cell(source.interval80_coverage)});
    }
    const std::string count = fmt::format("{}", rows);
    print("  mean over tables", {"", Cell(errors.by_source), "", "", ""});
    print("  all rows", {count, Cell(errors.by_rows), "", "", Cell(errors.interval80_coverage)});
  }
}

// Prints for each source the facts that were inferred from it and, by kind of metric, the error if
// only these are left out.
void PrintInferred(const Validation& validation, std::ostream& out) {
  struct Line {
    std::string source;
    InferredFacts facts;
    std::vector<std::string> errors;
  };
  std::vector<Line> lines;
  for (const ErrorStats& stats : SummarizeBy(validation.rows, true, true)) {
    for (const InferredError& known : stats.inferred) {
      auto found = std::find_if(lines.begin(), lines.end(), [&](const Line& line) {
        return line.source == stats.source && line.facts == known.facts;
      });
      if (found == lines.end()) found = lines.insert(found, {stats.source, known.facts, {}});
      found->errors.push_back(fmt::format("{} {} ({} with it)", stats.metric_kind,
                                          Cell(known.mape_without), Cell(stats.mape)));
    }
  }
  if (lines.empty()) return;
  out << "\n* facts inferred from the very rows that they are scored on; MAPE without each one\n";
  for (const Line& line : lines) {
    out << fmt::format("  {}: {}\n    {}\n    {}\n", line.source, line.facts.words,
                       fmt::join(line.errors, ", "), line.facts.origin);
  }
}

void PrintInView(const Validation& validation, std::ostream& out) {
  std::vector<std::pair<ConstantsInView, std::vector<std::string>>> chosen;
  for (const ErrorStats& stats : SummarizeBy(validation.rows, true, true)) {
    if (stats.counted == 0) continue;
    for (const ConstantsInView& constants :
         InViewTable::Embedded().OfRows(stats.source, stats.metric_kind)) {
      const auto found = std::find_if(chosen.begin(), chosen.end(),
                                      [&](const auto& known) { return known.first == constants; });
      if (found == chosen.end()) {
        chosen.push_back({constants, {stats.source}});
      } else if (found->second.back() != stats.source) {
        found->second.push_back(stats.source);
      }
    }
  }
  if (chosen.empty()) return;
  out << "\n+ constants of the cost model that were chosen with some of these rows in view\n";
  for (const auto& [constants, sources] : chosen) {
    out << fmt::format("  {}\n    of {}\n", constants.InWords(), fmt::join(sources, "; "));
  }
}

void PrintWorst(const Validation& validation, std::ostream& out) {
  std::vector<const ValidatedRow*> rows;
  for (const ValidatedRow& row : validation.rows) {
    if (row.ape().has_value() && row.measured.is_primary) rows.push_back(&row);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const ValidatedRow* a, const ValidatedRow* b) {
    return *a->ape() > *b->ape();
  });
  if (rows.size() > kWorst) rows.resize(kWorst);
  if (rows.empty()) return;
  out << "\nworst rows\n";
  for (const ValidatedRow* row : rows) {
    out << fmt::format("  {:<34} {:<21} predicted {:.4g} {}, measured {:.4g}, error {:.1f} %\n",
                       row->measured.id, row->measured.metric_kind, *row->prediction.value,
                       Unit(row->measured.metric_kind), row->measured.value, *row->ape());
  }
}

void PrintMixtures(const std::vector<ValidatedRow>& rows, std::ostream& out) {
  if (rows.empty()) return;
  out << "\nmixtures of experts, which no mean counts\n";
  for (const ValidatedRow& row : rows) {
    const MeasuredRow& measured = row.measured;
    const std::string name = fmt::format("{:<34} {:<21}", measured.id, measured.metric_kind);
    if (!row.prediction.value.has_value()) {
      out << fmt::format("  {} not predicted: {}\n", name, row.prediction.reason);
      continue;
    }
    out << fmt::format("  {} predicted {:.4g} {}, measured {:.4g}, error {} %\n", name,
                       *row.prediction.value, Unit(measured.metric_kind), measured.value,
                       Cell(row.ape()));
  }
}

void PrintCounts(const std::map<std::string, int>& counts, const char* title, std::ostream& out) {
  if (counts.empty()) return;
  out << '\n' << title << '\n';
  std::vector<std::pair<std::string, int>> order(counts.begin(), counts.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& [reason, count] : order) out << fmt::format("  {:>5}  {}\n", count, reason);
}

}  // namespace

void PrintValidation(const Validation& validation, std::ostream& out) {
  PrintTable(validation, out);
  PrintClasses(validation, out);
  PrintInferred(validation, out);
  PrintInView(validation, out);
  PrintWorst(validation, out);
  PrintMixtures(validation.mixtures, out);
  PrintPasses(validation.passes, out);
  std::map<std::string, int> networks, reasons, apart;
  for (const ValidatedRow& row : validation.rows) {
    if (!row.prediction.value.has_value()) ++reasons[row.prediction.reason];
    for (const std::string& used : row.prediction.defaults_used) {
      if (used.starts_with(kAssumedNetwork)) ++networks[used.substr(kAssumedNetwork.size())];
    }
  }
  for (const MeasuredRow& row : validation.not_scored) {
    ++apart[row.why_not.empty() ? "no reason given" : row.why_not];
  }
  PrintCounts(networks, "rows whose source states no network, and what was assumed", out);
  PrintCounts(reasons, "scored rows that cannot be simulated (they count against coverage)", out);
  PrintCounts(apart, "rows that are not scored", out);
}

void RequireSound(const Validation& validation) {
  const ValidatedRow* first = nullptr;
  int count = 0;
  for (const std::vector<ValidatedRow>* rows : {&validation.rows, &validation.mixtures}) {
    for (const ValidatedRow& row : *rows) {
      if (!row.prediction.is_unsound) continue;
      if (count++ == 0) first = &row;
    }
  }
  if (first == nullptr) return;
  throw std::runtime_error(fmt::format(
      "{} row{} not simulated, which is an error in stagecraft or in the cost model, "
      "not in the file; the first is {}: {}",
      count, count == 1 ? " is" : "s are", first->measured.id, first->prediction.reason));
}

}  // namespace stagecraft
