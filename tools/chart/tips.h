// Tips(): the script and the styles that show what the mark of a chart stands for beside the
// pointer or the finger that is on it.
//
// A chart is a <div class="chart"> with one SVG and a <div class="tip" hidden>. The text of a tip
// is the <title> of a mark, which the browser shows by itself where scripts do not run. The
// attribute data-tip of a mark says where the pointer finds it:
//   (none)   next to its middle
//   "line"   beside a vertical line
//   "span"   anywhere above or below it
//   "area"   within it
// Lines and points come before spans and areas.
#pragma once

#include "tools/chart/html_page.h"

namespace stagecraft {

// The script begins with 'use strict' and defines makeTips(chart, marks, isShown): `marks` are
// elements of the chart, of which those have tips for which isShown(mark) is true.
HtmlExtras Tips();

}  // namespace stagecraft
