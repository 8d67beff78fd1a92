#include "tools/chart/tips.h"

namespace stagecraft {
namespace {

constexpr const char* kTipStyle = R"(
.chart { position: relative; }
.chart svg { margin: 0; }
.near { stroke: var(--ink); stroke-width: 2; }
.tip { position: absolute; z-index: 2; max-width: 18rem; padding: 0.3rem 0.6rem;
       white-space: pre-line; overflow-wrap: anywhere; pointer-events: none; font-size: 12px;
       color: var(--ink); background: var(--paper); border: 1px solid var(--ink);
       border-radius: 4px; }
@media print { .tip { display: none; } }
)";

constexpr const char* kTipScript = R"(
'use strict';
const reach = 16;      // pixels from a mark within which the pointer finds it
const lineReach = 6;   // pixels from a line

function makeTips(chart, marks, isShown) {
  const svg = chart.querySelector('svg'), tip = chart.querySelector('.tip');
  const places = marks.map((mark) => {
    const title = mark.querySelector('title'), box = mark.getBBox();
    const text = title === null ? '' : title.textContent;
    if (title !== null) title.remove();  // the browser would show it beside the tip
    return {mark, text, box, kind: mark.dataset.tip,
            x: box.x + box.width / 2, y: box.y + box.height / 2};
  });
  let near = null;

  // All in pixels of the page, from the corner of the drawing.
  function nearest(event) {
    const frame = svg.getBoundingClientRect(), scale = frame.width / svg.viewBox.baseVal.width;
    const x = event.clientX - frame.left, y = event.clientY - frame.top;
    let found = null, least = reach * reach;
    for (const place of places) {
      if (!isShown(place.mark) || place.kind === 'span' || place.kind === 'area') continue;
      const isLine = place.kind === 'line';
      const across = place.x * scale - x, down = isLine ? 0 : place.y * scale - y;
      const distance = across * across + down * down;
      if (distance > least || (isLine && distance > lineReach * lineReach)) continue;
      found = {place, x: place.x * scale, y: isLine ? y : place.y * scale};
      least = distance;
    }
    if (found !== null) return found;
    for (const place of places) {
      if (!isShown(place.mark) || (place.kind !== 'span' && place.kind !== 'area')) continue;
      const box = place.box;
      if (x < box.x * scale || x > (box.x + box.width) * scale) continue;
      if (place.kind === 'span' || (y >= box.y * scale && y <= (box.y + box.height) * scale)) {
        return {place, x, y};
      }
    }
    return null;
  }
  function point(found) {
    if (near) near.classList.remove('near');
    near = found && found.place.mark;
    tip.hidden = !found;
    if (!found) return;
    near.classList.add('near');
    tip.textContent = found.place.text;
    const room = chart.clientWidth - tip.offsetWidth;
    tip.style.left = `${Math.max(0, Math.min(found.x + 10, room))}px`;
    tip.style.top = `${found.y + 10}px`;
  }
  svg.addEventListener('pointermove', (event) => point(nearest(event)));
  svg.addEventListener('pointerdown', (event) => point(nearest(event)));
  svg.addEventListener('pointerleave', (event) => {
    if (event.pointerType === 'mouse') point(null);  // a finger leaves when it is lifted
  });
}
)";

}  // namespace

HtmlExtras Tips() { return {kTipStyle, kTipScript}; }

}  // namespace stagecraft
