#include "tools/chart/html_page.h"

#include <fmt/core.h>

#include <cstddef>

#include "tools/chart/escape.h"

namespace stagecraft {
namespace {

constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --ink: #1d2126; --faint: #8a8f9855; --paper: #ffffff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e6ea; --paper: #15181c; } }
body { font: 14px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper);
       max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 0.5rem 0 1rem; }
th, td { padding: 0.15rem 0.7rem; text-align: right; border-bottom: 1px solid var(--faint); }
th:first-child, td:first-child { text-align: left; }
h1, h2, p { overflow-wrap: anywhere; }
.cards { max-width: 100%; }
.cards td { vertical-align: top; overflow-wrap: break-word; }
.cards :is(th, td) { text-align: left; }
.cards td:first-child { white-space: nowrap; }
@media (min-width: 40rem) {
  .cards.numbers :is(th, td):nth-child(n + 3), .cards.all :is(th, td):nth-child(2) {
    text-align: right;
  }
  .cards.numbers td:nth-child(n + 3) { white-space: nowrap; }
}
@media (max-width: 40rem) {
  table { display: block; max-width: 100%; overflow-x: auto; }
  th, td { padding: 0.15rem 0.4rem; font-size: 13px; }
  .cards, .cards tbody, .cards tr, .cards td { display: block; text-align: left; }
  .cards tr { padding: 0.4rem 0; border-bottom: 1px solid var(--faint); }
  .cards tr:first-child, .cards tr[hidden], .cards td:empty { display: none; }
  .cards td { padding: 0; border: 0; overflow-wrap: anywhere; }
  .cards td:first-child { white-space: normal; }
  .cards td::before { content: attr(data-name) ": "; opacity: 0.75; }
}
@media print {
  :root { color-scheme: light; --ink: #000000; --paper: #ffffff; }
  body { max-width: none; margin: 0; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  tr { break-inside: avoid; }
  h2 { break-after: avoid; }
}
)";

}  // namespace

std::string HtmlPage(const std::string& title, const std::string& body, const HtmlExtras& extras) {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline'\"/>\n<title>";
  html += EscapeXml(title) + "</title>\n<style>";
  html += kStyle + extras.style + "</style>\n</head>\n<body>\n" + body + extras.footer;
  if (!extras.script.empty()) {
    html += "<noscript><p>Charts need JavaScript; tables do not.</p></noscript>\n<script>" +
            extras.script + "</script>\n";
  }
  return html + "</body>\n</html>\n";
}

std::string HtmlRow(const std::vector<std::string>& cells, const char* tag) {
  std::string row = "<tr>";
  for (const std::string& cell : cells) row += fmt::format("<{0}>{1}</{0}>", tag, EscapeXml(cell));
  return row + "</tr>\n";
}

std::string HtmlCardRow(const std::vector<std::string>& names,
                        const std::vector<std::string>& cells) {
  std::string row = "<tr>";
  for (size_t i = 0; i < cells.size(); ++i) {
    row += fmt::format("<td data-name=\"{}\">{}</td>", EscapeXml(names[i]), EscapeXml(cells[i]));
  }
  return row + "</tr>\n";
}

std::string HtmlCards(const std::vector<std::string>& names,
                      const std::vector<std::vector<std::string>>& rows, CardCells cells) {
  const char* more = cells == CardCells::kText                ? ""
                     : cells == CardCells::kNumbersFromSecond ? " numbers all"
                                                              : " numbers";
  std::string table = fmt::format("<table class=\"cards{}\">\n<tbody>\n", more);
  table += HtmlRow(names, "th");
  for (const std::vector<std::string>& row : rows) table += HtmlCardRow(names, row);
  return table + "</tbody>\n</table>\n";
}

}  // namespace stagecraft
