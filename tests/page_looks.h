// The script with which page_looks_test looks at a page.
#pragma once

namespace stagecraft::bad_input {

// The body of a function for PageTest::RunInViews(). It returns
//   {width: of all that there is, in pixels; dark: whether the background is;
//    contrast: the least of any text, and `faintest`: that text;
//    charts: [{title, x, y: the labels of the axes; rows: how many; items: how many are drawn;
//              series: {name: how many of the items}; problems: sentences}]}
// A chart's problems are what a reader would see of it: texts that lie upon each other or outside
// of it, parts that are too small, labels without contrast, tips that are cut off.
inline constexpr const char* kLookAtPage = R"(
const parse = (text) => {
  if (text.startsWith('#')) {
    return [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16)).concat(
        [text.length > 7 ? parseInt(text.slice(7, 9), 16) / 255 : 1]);
  }
  const values = text.match(/[\d.]+/g).map(Number);
  return values.length < 4 ? [...values.slice(0, 3), 1] : values;
};
const over = (front, back) => [0, 1, 2].map(
    (i) => front[3] * front[i] + (1 - front[3]) * back[i]).concat([1]);
// Relative luminance and contrast as in the Web Content Accessibility Guidelines 2.1.
const luminance = (colour) => {
  const [r, g, b] = colour.slice(0, 3).map((value) => {
    const share = value / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
};
function backgroundOf(element) {
  const chain = [];
  for (let part = element; part; part = part.parentElement) chain.unshift(part);
  return chain.reduce((back, part) => over(
      parse(view.getComputedStyle(part).backgroundColor), back), [255, 255, 255, 1]);
}
// `style` is that of the element, or of what stands before its text.
function contrastOf(element, style, isBefore) {
  let alpha = 1;
  for (let part = element; part; part = part.parentElement) {
    alpha *= Number(view.getComputedStyle(part).opacity);
  }
  if (isBefore) alpha *= Number(style.opacity);
  const back = backgroundOf(element), colour = parse(style.color);
  return contrast(over([...colour.slice(0, 3), colour[3] * alpha], back), back);
}
function faintestText() {
  let least = 21, faintest = '';
  const note = (value, text) => {
    if (value < least) [least, faintest] = [value, text.trim().slice(0, 60)];
  };
  for (const element of page.body.querySelectorAll('*')) {
    if (['SCRIPT', 'STYLE', 'NOSCRIPT', 'OPTION'].includes(element.tagName)) continue;
    if (element.disabled || element.getClientRects().length === 0) continue;
    const own = [...element.childNodes].filter((node) => node.nodeType === 3);
    const text = own.map((node) => node.textContent).join('').trim();
    const style = view.getComputedStyle(element);
    if (text !== '') note(contrastOf(element, style, false), text);
    const before = view.getComputedStyle(element, '::before');
    if (!['none', 'normal'].includes(before.content)) {
      note(contrastOf(element, before, true), before.content);
    }
  }
  return [least, faintest];
}

const paper = backgroundOf(page.body);
const widthOf = (chart, text) => {
  chart.ctx.save();
  chart.ctx.font = '12px system-ui, sans-serif';
  const {width} = chart.ctx.measureText(text);
  chart.ctx.restore();
  return width;
};
// Ticks that have a text, with the middle and the extent of each along the axis.
function ticksOf(chart, name) {
  const scale = chart.scales[name];
  return scale.ticks.map((tick, i) => ({text: String(tick.label ?? ''), at: scale.getPixelForTick(i),
      size: name === 'x' ? widthOf(chart, String(tick.label ?? '')) : 11}))
      .filter((tick) => tick.text !== '');
}
function problemsOfAxis(chart, name, problems) {
  const ticks = ticksOf(chart, name).sort((a, b) => a.at - b.at), label = chart.scales[name].options.title;
  if (ticks.length < (name === 'x' || chart.spec.kind !== 'bars' ? 2 : 1)) problems.push(`${name} has too few ticks`);
  for (let i = 1; i < ticks.length; ++i) {
    if (ticks[i].at - ticks[i - 1].at < (ticks[i].size + ticks[i - 1].size) / 2) {
      problems.push(`${name}: ${ticks[i - 1].text} and ${ticks[i].text} overlap`);
    }
  }
  const room = name === 'x' ? chart.width : chart.height;
  if (label.display && widthOf(chart, label.text) > room) problems.push(`${name}: the label is cut`);
  if (label.display && contrast(parse(label.color), paper) < 4.5) problems.push(`${name}: faint label`);
  const tick = chart.scales[name].options.ticks.setContext(chart.scales[name].getContext(0));
  if (contrast(parse(tick.color), paper) < 4.5) problems.push(`${name}: faint ticks`);
}
function problemsOfTips(chart, problems) {
  const {spec, tooltip} = chart;
  chart.data.datasets.forEach((set, number) => {
    const every = Math.max(1, Math.floor(set.data.length / 5));
    for (let index = 0; index < set.data.length; index += every) {
      const {x, y} = chart.getDatasetMeta(number).data[index];
      tooltip.setActiveElements([{datasetIndex: number, index}], {x, y});
      chart.update('none');
      const lines = tooltip.body.flatMap((body) => body.lines);
      if (lines.join('').trim() === '') problems.push(`${spec.series[number].name} has an empty tip`);
      if (tooltip.width > chart.width) problems.push(`a tip is cut: ${lines[0]}`);
    }
  });
  tooltip.setActiveElements([], {x: 0, y: 0});
  chart.update('none');
}
function problemsOf(chart, figure) {
  const {spec, chartArea, legend} = chart, problems = [];
  const height = chartArea.bottom - chartArea.top, row = Number(figure.dataset.row);
  if (spec.kind === 'bars' && height < row * spec.rows.length - 2) problems.push('rows are squeezed');
  if (spec.kind === 'points' && height < 250) problems.push(`${height} pixels high`);
  if (chartArea.right - chartArea.left < 0.4 * chart.width) problems.push('labels leave no room');
  problemsOfAxis(chart, 'x', problems);
  problemsOfAxis(chart, 'y', problems);
  if (legend.legendItems.length === 0) problems.push('there is no legend');
  for (const item of legend.legendItems) {
    if (contrast(parse(item.fontColor), paper) < 4.5) problems.push(`faint in the legend: ${item.text}`);
  }
  for (const box of legend.legendHitBoxes) {
    if (box.left + box.width > chart.width + 1) problems.push('the legend is cut');
  }
  if (legend.bottom > chart.height + 1) problems.push('the legend is below the chart');
  for (const set of chart.data.datasets) {
    if (spec.kind !== 'bars' || !set.data.some((bar) => bar.text)) continue;
    if (contrast([0, 0, 0, 1], parse(set.backgroundColor)) < 4.5) problems.push(`faint in ${set.label}`);
  }
  problemsOfTips(chart, problems);
  return problems;
}

const [least, faintest] = faintestText();
return {
  width: page.documentElement.scrollWidth, dark: luminance(paper) < 0.2, contrast: least, faintest,
  charts: [...page.querySelectorAll('figure.chart')].map((figure) => {
    const chart = view.Chart.getChart(figure.querySelector('canvas')), {spec} = chart;
    const series = {};
    for (const set of chart.data.datasets) series[set.label] = (series[set.label] ?? 0) + set.data.length;
    return {title: figure.querySelector('figcaption').textContent, x: chart.scales.x.options.title.text,
            y: chart.scales.y.options.title.text, rows: (spec.rows ?? []).length,
            items: spec.items.length, series, problems: problemsOf(chart, figure)};
  }),
};
)";

}  // namespace stagecraft::bad_input
