'use strict';
// Draws the charts of a page with Chart.js. A chart is a figure of class "chart" with a canvas and
// with a script of type application/json that says what it shows (chart_page.h writes both):
//   kind     "bars": horizontal bars on rows; "points": points and lines
//   title    of the chart
//   x, y     axes: {label, log, min, max}; a bar chart has no limits and no ticks on y but its rows
//   rows     of a bar chart: their names, from the top
//   series   [{name, colour, style}]; style: "bar", "limit", "points", "line", "steps", "area",
//            "dashed", "dotted" or "mark"
//   items    of bars: [row, series, begin, end, text, tip]; of points: [series, x, y, tip, row]
//   grouped  whether the series of a row lie below each other; otherwise bars are where they are
//   apart    whether a gap divides bars that touch
//   zooms    whether a part of the horizontal axis can be chosen
// Colours are indices into the page's palette; a text or a tip may be missing.

const palette = ['#4e8fd0', '#e08a1e', '#46a35e', '#d9534f', '#9673c9',
                 '#a9745b', '#d66fb0', '#8a8f98', '#a8a52a', '#2aa5b0'];
const pointStyles = ['circle', 'rect', 'triangle', 'rectRot', 'cross', 'star'];
const shownSeries = 14;    // of a legend
const printedWidth = 680;  // pixels on a sheet of paper
const tipDigits = 5, tickDigits = 9;
const leastWithGaps = 4;  // pixels
const leastBar = 1.5;     // pixels: shorter bars are drawn as long, so that they can be seen
const leastPlot = 260;    // pixels, of the height of a chart of points without what is around it
const letterWidth = 7;    // pixels, about, of the letters of axes and tips
const theme = {ink: '', faint: '', paper: ''};

function readTheme() {
  const style = getComputedStyle(document.documentElement);
  for (const name of Object.keys(theme)) theme[name] = style.getPropertyValue(`--${name}`).trim();
}

const colourOf = (series) => palette[series.colour % palette.length];

// Writes a number with so many digits, in groups of three; very large and small ones have an exponent.
function inDigits(value, digits) {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e9 || size < 1e-4)) {
    return String(Number(value.toPrecision(digits)).toExponential()).replace('e+', 'e');
  }
  const [whole, rest] = String(Number(value.toPrecision(digits))).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return rest === undefined ? grouped : `${grouped}.${rest}`;
}

// Breaks lines that are too long for the chart at spaces; what goes on is indented.
function wrapped(lines, width) {
  const most = Math.max(20, Math.floor(width / letterWidth) - 4);
  return lines.flatMap((line) => {
    const parts = [];
    for (const word of line.split(' ')) {
      const last = parts.length - 1;
      if (last >= 0 && parts[last].length + 1 + word.length <= most) parts[last] += ` ${word}`;
      else parts.push(last < 0 ? word : `  ${word}`);
    }
    return parts;
  });
}

function tipOf(spec, raw) {
  if (raw.tip) return raw.tip.split('\n');
  const name = spec.series[raw.series].name;
  if (spec.kind === 'points') {
    return [name, `${spec.x.label}: ${inDigits(raw.x, tipDigits)}`, `${spec.y.label}: ${inDigits(raw.y, tipDigits)}`];
  }
  const bounds = Array.isArray(raw.x) ? raw.x : [0, raw.x];
  const what = `${spec.rows[raw.y]}: ${name}${raw.text ? ` ${raw.text}` : ''}`;
  if (!spec.zooms) return [what, `${inDigits(bounds[1] - bounds[0], tipDigits)} (${spec.x.label})`];
  return [what, `${inDigits(bounds[0], tipDigits)} to ${inDigits(bounds[1], tipDigits)}, ` +
                `${inDigits(bounds[1] - bounds[0], tipDigits)} long (${spec.x.label})`];
}

// The least distance of labelled ticks on axes that label every one, in pixels.
const leastBetween = {x: 60, y: 20};

function scaleOf(axis, direction) {
  const scale = {
    type: axis.log ? 'logarithmic' : 'linear', position: direction === 'x' ? 'bottom' : 'left',
    title: {display: true, text: axis.label, color: () => theme.ink},
    ticks: {color: () => theme.ink, maxRotation: 0, autoSkipPadding: 12, includeBounds: false},
    grid: {color: () => theme.faint, borderColor: () => theme.faint},
  };
  if (axis.min !== undefined) scale.min = axis.min;
  if (axis.max !== undefined) scale.max = axis.max;
  let lastPlace;
  scale.ticks.callback = function(value, index) {
    if (!axis.log) return inDigits(value, tickDigits);
    // An axis of less than a decade needs every tick that has room for its label.
    if (this.max < 10 * this.min) {
      const length = direction === 'x' ? this.chart.width : this.chart.height;
      const place = 0.8 * length * Math.log(value / this.min) / Math.log(this.max / this.min);
      if (index > 0 && place - lastPlace < leastBetween[direction]) return '';
      lastPlace = place;
      return inDigits(value, 3);
    }
    const first = Number(value.toExponential().split('e')[0]);
    return [1, 2, 5].includes(first) ? inDigits(value, tickDigits) : '';
  };
  return scale;
}

// The vertical axis of a bar chart: a tick for every row, or for every few of them.
function rowScale(spec, rowHeight) {
  const count = spec.rows.length, step = Math.ceil(14 / rowHeight);
  return {
    type: 'linear', reverse: true, min: -0.5, max: count - 0.5, offset: false,
    title: {display: spec.y.label !== '', text: spec.y.label, color: () => theme.ink},
    ticks: {color: () => theme.ink, autoSkip: false, callback: (value) => spec.rows[value]},
    grid: {display: false, borderColor: () => theme.faint},
    afterBuildTicks: (axis) => {
      axis.ticks = [];
      for (let row = 0; row < count; row += step) axis.ticks.push({value: row});
    },
  };
}

// The gaps beside a bar; one that is narrow would vanish between them.
function gapsOf({raw, chart}) {
  const {min, max, width} = chart.scales.x;
  if (raw === undefined || (raw.x[1] - raw.x[0]) / (max - min) * width < leastWithGaps) return 0;
  return {left: 0.5, right: 0.5};
}

function barSet(spec, series, number, rowHeight) {
  const set = {label: series.name, data: [], backgroundColor: colourOf(series)};
  if (series.style === 'limit') {
    return {...set, type: 'scatter', pointStyle: 'line', rotation: 90, hitRadius: 4,
            radius: 0.45 * rowHeight, hoverRadius: 0.45 * rowHeight, borderWidth: 2,
            borderColor: () => theme.ink, order: -1};
  }
  const beside = spec.series.filter((other) => other.style === 'bar').length;
  const thickness = Math.max(1, 0.85 * rowHeight);
  if (!spec.apart) set.minBarLength = leastBar;
  if (spec.grouped) return {...set, barThickness: thickness / beside};
  const hasGaps = spec.apart && rowHeight > 6;
  return {...set, grouped: false, maxBarThickness: thickness, order: number,
          borderColor: () => theme.paper, borderWidth: hasGaps ? gapsOf : 0,
          borderSkipped: false};
}

function pointSet(series) {
  const colour = colourOf(series), style = series.style;
  const shape = pointStyles[Math.floor(series.colour / palette.length) % pointStyles.length];
  const set = {label: series.name, data: [], borderColor: colour, backgroundColor: colour,
               pointStyle: shape, pointRadius: 3, hitRadius: 6, borderWidth: 1, normalized: true};
  if (style === 'points') return set;
  // Points of lines have shapes, too, so that lines upon each other can be told apart.
  const line = {...set, showLine: true, pointRadius: 3.5, borderWidth: 2, fill: false,
                pointStyle: pointStyles[series.colour % 4]};
  const thin = {...line, borderColor: () => theme.ink, borderWidth: 1, pointStyle: 'line',
                pointRadius: 0, order: -1};
  if (style === 'steps') return {...line, stepped: 'before'};
  if (style === 'area') {
    return {...line, stepped: 'before', backgroundColor: colour + '99', fill: 'origin',
            pointRadius: 0, pointStyle: 'rect', hitRadius: 12, borderWidth: 0};
  }
  if (style === 'mark') return {...set, pointRadius: 5, order: -1, clip: false};
  if (style === 'dashed') return {...thin, borderDash: [6, 4]};
  if (style === 'dotted') return {...thin, borderDash: [1, 4]};
  return line;
}

function setsOf(spec, rowHeight) {
  const isBars = spec.kind === 'bars';
  const sets = spec.series.map((series, number) =>
      isBars ? barSet(spec, series, number, rowHeight) : pointSet(series));
  for (const item of spec.items) {
    if (isBars) {
      const [row, series, begin, end, text, tip] = item;
      const x = spec.series[series].style === 'limit' ? end : [begin, end];
      sets[series].data.push({x, y: row, series, text, tip});
    } else {
      const [series, x, y, tip, row] = item;
      sets[series].data.push({x, y, series, tip, row});
    }
  }
  return sets;
}

// Writes the texts of bars into those that have room for them, and draws the lines of marks.
const marksAndTexts = {
  id: 'marksAndTexts',
  beforeDatasetsDraw(chart) {
    const {ctx, chartArea, spec} = chart;
    if (spec.kind !== 'points') return;
    ctx.save();
    ctx.lineWidth = 1;
    ctx.globalAlpha = 0.6;
    spec.series.forEach((series, number) => {
      if (series.style !== 'mark' || !chart.isDatasetVisible(number)) return;
      ctx.strokeStyle = colourOf(series);
      for (const point of chart.getDatasetMeta(number).data) {
        if (point.x < chartArea.left || point.x > chartArea.right) continue;
        ctx.beginPath();
        ctx.moveTo(point.x, chartArea.top);
        ctx.lineTo(point.x, chartArea.bottom);
        ctx.stroke();
      }
    });
    ctx.restore();
  },
  afterDatasetsDraw(chart) {
    const {ctx, chartArea, spec} = chart;
    if (spec.kind !== 'bars') return;
    ctx.save();
    ctx.font = '11px system-ui, sans-serif';
    ctx.textAlign = 'center';
    ctx.textBaseline = 'middle';
    ctx.fillStyle = '#000000';
    chart.data.datasets.forEach((set, number) => {
      if (!chart.isDatasetVisible(number)) return;
      const bars = chart.getDatasetMeta(number).data;
      for (let i = 0; i < bars.length; ++i) {
        const text = set.data[i].text;
        if (!text || bars[i].height < 12) continue;
        const left = Math.max(Math.min(bars[i].base, bars[i].x), chartArea.left);
        const right = Math.min(Math.max(bars[i].base, bars[i].x), chartArea.right);
        if (right - left < 6 + 6 * text.length) continue;
        ctx.fillText(text, (left + right) / 2, bars[i].y);
      }
    });
    ctx.restore();
  },
};

function configOf(spec, rowHeight) {
  const isBars = spec.kind === 'bars';
  return {
    type: isBars ? 'bar' : 'scatter',
    data: {datasets: setsOf(spec, rowHeight)},
    plugins: [marksAndTexts],
    options: {
      animation: false, responsive: true, maintainAspectRatio: false, indexAxis: isBars ? 'y' : 'x',
      font: {size: 12},
      layout: {padding: {right: 12}},
      interaction: {mode: 'part'},
      scales: {
        x: {...scaleOf(spec.x, 'x'), beginAtZero: isBars && !spec.zooms},
        y: isBars ? rowScale(spec, rowHeight) : scaleOf(spec.y, 'y'),
      },
      plugins: {
        legend: {
          display: spec.series.length <= shownSeries, position: 'bottom',
          labels: {color: () => theme.ink, usePointStyle: true, boxHeight: 8, padding: 10},
        },
        tooltip: {
          displayColors: false, backgroundColor: '#000000e6',
          borderColor: '#8a8f98', borderWidth: 1,
          callbacks: {title: () => '', label: (item) => wrapped(tipOf(spec, item.raw), item.chart.width)},
        },
      },
    },
  };
}

// Buttons and dragging choose a part of the horizontal axis.
function makeZoom(chart, figure) {
  const axis = chart.scales.x, whole = {min: axis.min, max: axis.max};
  chart.options.scales.x.min = whole.min;
  chart.options.scales.x.max = whole.max;
  function show(min, max) {
    const length = Math.min(max - min, whole.max - whole.min);
    const begin = Math.min(Math.max(min, whole.min), whole.max - length);
    Object.assign(chart.options.scales.x, {min: begin, max: begin + length});
    chart.update('none');
  }
  function change(factor, shift) {
    const length = axis.max - axis.min, middle = (axis.max + axis.min) / 2 + shift * length;
    show(middle - length * factor / 2, middle + length * factor / 2);
  }
  const actions = {in: () => change(0.5, 0), out: () => change(2, 0), whole: () => show(whole.min, whole.max),
                   left: () => change(1, -0.5), right: () => change(1, 0.5)};
  for (const button of figure.querySelectorAll('[data-zoom]')) {
    button.addEventListener('click', actions[button.dataset.zoom]);
  }
  const canvas = chart.canvas, plot = canvas.parentNode, band = document.createElement('div');
  band.className = 'band';
  band.hidden = true;
  plot.append(band);
  let start = null;
  const placeOf = (event) => event.clientX - canvas.getBoundingClientRect().left;
  canvas.addEventListener('pointerdown', (event) => {
    if (event.pointerType !== 'mouse' || event.button !== 0) return;
    const area = chart.chartArea, y = event.clientY - canvas.getBoundingClientRect().top;
    if (y <= area.bottom) start = placeOf(event);
  });
  window.addEventListener('pointermove', (event) => {
    if (start === null) return;
    const end = placeOf(event);
    band.hidden = Math.abs(end - start) < 4;
    band.style.left = `${Math.min(start, end)}px`;
    band.style.width = `${Math.abs(end - start)}px`;
    band.style.height = `${chart.chartArea.bottom}px`;
  });
  window.addEventListener('pointerup', (event) => {
    if (start === null) return;
    const ends = [start, placeOf(event)].sort((a, b) => a - b);
    start = null;
    band.hidden = true;
    if (ends[1] - ends[0] >= 4) show(...ends.map((end) => axis.getValueForPixel(end)));
  });
  canvas.addEventListener('dblclick', actions.whole);
}

// What a pointer is on: a mark or a bar or, anywhere above an area, the part of it that begins before.
Chart.Interaction.modes.part = (chart, event, options, isFinal) => {
  const found = Chart.Interaction.modes.nearest(chart, event, {intersect: true}, isFinal);
  if (found.length > 0) return found;
  const sets = chart.data.datasets;
  for (let set = 0; set < sets.length; ++set) {
    if (chart.spec.series[set].style !== 'area' || !chart.isDatasetVisible(set)) continue;
    const points = chart.getDatasetMeta(set).data;
    const next = points.findIndex((point) => point.x > event.x);
    const index = next < 0 ? points.length - 1 : next - 1;
    if (index >= 0) return [{element: points[index], datasetIndex: set, index}];
  }
  return [];
};

// The items of a chart as comma-separated values.
function tableOf(spec) {
  const quoted = (cell) => `"${String(cell === undefined ? '' : cell).replaceAll('"', '""')}"`;
  const isBars = spec.kind === 'bars';
  const head = isBars ? [spec.y.label || 'row', 'series', `begin: ${spec.x.label}`,
                         `end: ${spec.x.label}`, 'text', 'remark']
                      : ['series', spec.x.label, spec.y.label, 'remark'];
  const lines = spec.items.map((item) => isBars
      ? [spec.rows[item[0]], spec.series[item[1]].name, item[2], item[3], item[4], item[5]]
      : [spec.series[item[0]].name, item[1], item[2], item[3]]);
  return [head, ...lines].map((line) => line.map(quoted).join(',')).join('\r\n') + '\r\n';
}

function saveTable(spec) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([tableOf(spec)], {type: 'text/csv'}));
  link.download = `${spec.title.replace(/[^A-Za-z0-9]+/g, '-').toLowerCase()}.csv`;
  link.click();
  URL.revokeObjectURL(link.href);
}

// Makes the figure as high as its rows need beside the axis and the legend, which take more lines on
// narrow screens; a chart of points keeps a part that is high enough to be read.
function fitHeight(chart, figure) {
  const plot = chart.canvas.parentNode;
  // If a chart was far too low, only the next pass knows how high its axis and its legend are.
  for (let pass = 0; pass < 3; ++pass) {
    const missing = missingHeight(chart, figure);
    if (Math.abs(missing) < 1) return;
    plot.style.height = `${Math.round(plot.clientHeight + missing)}px`;
    chart.resize();
  }
}

// How many pixels a chart is too low.
function missingHeight({spec, chartArea}, figure) {
  const height = chartArea.bottom - chartArea.top;
  if (spec.kind !== 'bars') return Math.max(leastPlot - height, 0);
  const rows = Number(figure.dataset.row) * spec.rows.length;
  return Math.max(rows, letterWidth * spec.y.label.length) - height;
}

function draw(figure) {
  const spec = JSON.parse(figure.querySelector('script').textContent);
  const canvas = figure.querySelector('canvas');
  const rowHeight = Number(figure.dataset.row || 0);
  const config = configOf(spec, rowHeight);
  // The chart is drawn while it is made, when plugins already need to know what it shows.
  config.plugins.push({id: 'spec', beforeInit: (made) => { made.spec = spec; }});
  const chart = new Chart(canvas, config);
  fitHeight(chart, figure);
  if (spec.zooms) makeZoom(chart, figure);
  figure.querySelector('.save').addEventListener('click', () => saveTable(spec));
  figure.querySelector('.tools').hidden = false;
  return chart;
}

readTheme();
const figures = [...document.querySelectorAll('figure.chart')];
const charts = figures.map(draw);

function drawAgain() {
  readTheme();
  for (const chart of charts) chart.update('none');
}
window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAgain);
let widthOfWindow = window.innerWidth;
window.addEventListener('resize', () => {
  if (window.innerWidth === widthOfWindow) return;
  widthOfWindow = window.innerWidth;
  // The delay lets charts take their new widths first.
  window.setTimeout(() => charts.forEach((chart, number) => fitHeight(chart, figures[number])), 100);
});
window.addEventListener('beforeprint', () => {
  document.documentElement.classList.add('printed');
  readTheme();
  for (const chart of charts) {
    chart.options.devicePixelRatio = 2;
    const width = Math.min(printedWidth, chart.width);
    chart.resize(width, chart.height);
    chart.resize(width, chart.height + missingHeight(chart, figures[charts.indexOf(chart)]));
    chart.update('none');
  }
});
window.addEventListener('afterprint', () => {
  document.documentElement.classList.remove('printed');
  readTheme();
  for (const chart of charts) {
    delete chart.options.devicePixelRatio;
    chart.resize();
    chart.update('none');
  }
});
