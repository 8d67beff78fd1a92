#include "tools/chart/row_filter.h"

#include <fmt/core.h>

#include "tools/chart/chart_page.h"

namespace stagecraft {
namespace {

constexpr const char* kFilterStyle = R"(
.now { position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; align-items: center;
       gap: 0.2rem 1rem; padding: 0.4rem 0; background: var(--paper); }
.chosen { margin: 0; overflow-wrap: anywhere; }
select { font: inherit; max-width: 100%; }
.entry { font: inherit; color: inherit; text-align: left; overflow-wrap: anywhere; padding: 0;
         border: 0; background: none; }
.entry:enabled { cursor: pointer; text-decoration: underline dotted; text-underline-offset: 3px; }
.entry[aria-pressed="true"] { font-weight: bold; text-decoration: underline; }
.all { font: inherit; color: inherit; background: none; cursor: pointer; padding: 0.2rem 0.7rem; border: 1px solid var(--faint); border-radius: 4px; }
.all:disabled { opacity: 0.5; }
.bar { min-width: 6rem; }
.bar i { display: block; height: 0.7rem; background: #4e8fd0; }
.origin { display: block; opacity: 0.7; font-size: 11px; overflow-wrap: anywhere; }
@media (min-width: 40rem) { .wide td:nth-child(n + 2) { white-space: nowrap; } }
@media (min-width: 40rem) {
  .list :is(th, td):nth-child(n + 2):nth-child(-n + 5) { text-align: right; }
  .list td:last-child { white-space: normal; min-width: 12rem; }
}
@media (min-width: 64rem) {
  .split { display: grid; grid-template-columns: minmax(0, 32rem) minmax(0, 1fr); gap: 2rem; }
  .beside { position: sticky; top: 0; align-self: start; }
  .now { position: static; }
  th { white-space: nowrap; }
}
@media (max-width: 64rem) {
  .beside { display: contents; }
}
@media (max-width: 40rem) {
  th, td { padding: 0.15rem 0.2rem; font-size: 12px; }
  td:first-child { min-width: 6.5rem; }
  .list td, .list td:first-child { display: inline; font-size: 12px; }
  .list td:not(:last-child)::after { content: "; "; }
  .bar { min-width: 1.5rem; }
  .origin { display: none; }
}
)";

// Numbers are rounded as RowFilterWords() rounds them.
constexpr const char* kFilterScript = R"(
function signed(value) { return (value < 0 ? '' : '+') + value.toFixed(1); }

function inWords(ratios) {
  if (ratios.length === 0) return 'no rows';
  const mean = (of) => ratios.reduce((sum, ratio) => sum + of(ratio), 0) / ratios.length;
  const sorted = [...ratios].sort((a, b) => a - b), middle = (sorted.length - 1) / 2;
  const median = (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
  const mape = (factor) => 100 * mean((ratio) => Math.abs(factor * ratio - 1));
  return `${ratios.length} ${ratios.length === 1 ? 'row' : 'rows'}: MAPE ${mape(1).toFixed(1)} %, ` +
      `bias ${signed(100 * (mean((ratio) => ratio) - 1))} %, ` +
      `level ${mape(1 / median).toFixed(1)} %`;
}

function makeFilter(part) {
  const said = part.querySelector('.chosen'), all = part.querySelector('.all');
  const entries = [...part.querySelectorAll('.entry')];
  const rows = [...part.querySelectorAll('.row')].map((line) => ({
    line, fits: true, ratio: Number(line.dataset.ratio),
    groups: new Set(line.dataset.groups.split(' ')),
  }));
  const colours = part.querySelector('.colours');
  const chart = Chart.getChart(part.querySelector('canvas'));
  const isPoint = (point) => point.row !== undefined;
  const points = chart.data.datasets.flatMap((set) => set.data).filter(isPoint);
  const lines = chart.data.datasets.filter((set) => set.data.length > 0 && !set.data.some(isPoint));
  const lineSeries = chart.spec.series.filter((series) => series.style !== 'points');
  const chosen = new Map();  // the entry of each table

  // Gives the rows of each group of the chosen grouping a colour, and draws those that are shown.
  function draw() {
    const groups = entries.filter((entry) => entry.dataset.by === colours.value);
    const series = groups.map(
        (entry, colour) => ({name: entry.textContent, colour, style: 'points'}));
    const sets = series.map(pointSet);
    groups.forEach((entry, number) => {
      sets[number].data = points.filter((point) => {
        const row = rows[point.row];
        return row.fits && row.groups.has(entry.dataset.group);
      });
    });
    chart.spec.series = [...series, ...lineSeries];
    chart.data.datasets = [...sets, ...lines];
    chart.options.plugins.legend.display = chart.spec.series.length <= shownSeries;
    chart.update('none');
  }

  function show() {
    let listed = 0;
    for (const row of rows) {
      row.fits = [...chosen.values()].every((entry) => row.groups.has(entry.dataset.group));
      row.line.hidden = !row.fits || listed >= listedRows;
      if (row.fits) ++listed;
    }
    draw();
    for (const entry of entries) {
      entry.setAttribute('aria-pressed', chosen.get(entry.dataset.by) === entry);
    }
    const names = [...chosen.values()].map((entry) => `${entry.dataset.by} ${entry.textContent}`);
    said.textContent = inWords(rows.filter((row) => row.fits).map((row) => row.ratio)) +
        (names.length === 0 ? '' : ` (${names.join('; ')})`);
    all.disabled = names.length === 0;
  }

  for (const entry of entries) {
    entry.disabled = false;
    entry.addEventListener('click', () => {
      const by = entry.dataset.by;
      if (chosen.get(by) === entry) chosen.delete(by); else chosen.set(by, entry);
      show();
    });
  }
  all.addEventListener('click', () => { chosen.clear(); show(); });
  colours.disabled = false;
  colours.addEventListener('change', draw);
}

for (const part of document.querySelectorAll('.filtered')) makeFilter(part);
)";

}  // namespace

HtmlExtras RowFilter() {
  HtmlExtras extras = Charts();
  extras.style += kFilterStyle;
  extras.script += fmt::format("const listedRows = {};", kListedRows) + kFilterScript;
  return extras;
}

std::string RowFilterWords(int rows, double mape, double bias, double level) {
  return fmt::format("{} {}: MAPE {:.1f} %, bias {:+.1f} %, level {:.1f} %", rows,
                     rows == 1 ? "row" : "rows", mape, bias, level);
}

}  // namespace stagecraft
