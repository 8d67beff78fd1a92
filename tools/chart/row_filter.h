// RowFilter: the script and the styles of pages on which entries of tables choose the rows that a
// scatter chart and a list show.
//
// The script works on each <section class="filtered"> of the page by itself, which has
//   <div class="now">            stays in view on narrow screens; holds the next two:
//   <p class="chosen">           what is shown, in words; rewritten at each choice
//   <button class="all">         shows all rows again
//   <figure class="chart">       a PointsChart, whose points have a row: an index into the list
//   <select class="colours">     the data-by of entries, whose groups give points their colours
//   <button class="entry" data-by="GPU type" data-group="3">NAME</button>
//                                of these, at most one for each data-by is chosen; a row is shown
//                                if it belongs to all that are
//   <tr class="row" data-groups="0 3 7" data-ratio="1.25">
//                                of <table class="list">: the groups of each row, and predicted
//                                over measured
// Buttons are disabled without the script. Of the list it shows at most kListedRows.
#pragma once

#include "tools/chart/html_page.h"

namespace stagecraft {

// How many rows of a list are shown at once.
inline constexpr int kListedRows = 20;

HtmlExtras RowFilter();

// Returns the words of <p class="chosen"> for these rows: "3 rows: MAPE 15.0 %, bias -5.0 %, level
// 4.3 %". Errors are in percent.
std::string RowFilterWords(int rows, double mape, double bias, double level);

}  // namespace stagecraft
