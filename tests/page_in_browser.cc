#include "tests/page_in_browser.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>
#include <vector>

#include "costmodel/proto_file.h"
#include "tests/command_output.h"
#include "tools/chart/escape.h"

namespace stagecraft::bad_input {
namespace {

// Decodes base64.
std::string Decoded(const std::string& text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string decoded;
  unsigned bits = 0;
  int count = 0;
  for (const char c : text) {
    const size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) break;
    bits = bits << 6 | static_cast<unsigned>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    decoded += static_cast<char>(bits >> count & 0xff);
  }
  return decoded;
}

}  // namespace

std::string FindBrowser() {
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
    const std::string command = std::string("command -v ") + name + " >/dev/null";
    if (std::system(command.c_str()) == 0) return name;
  }
  return "";
}

void PageTest::SetUp() {
  FolderTest::SetUp();
  browser_ = FindBrowser();
  if (browser_.empty()) GTEST_SKIP() << "no Chromium is installed";
}

nlohmann::json PageTest::RunInPage(const std::string& file, const std::string& script) const {
  nlohmann::json found = RunInViews(file, script, {PageView{}});
  return found.is_array() ? found.at(0) : found;
}

nlohmann::json PageTest::RunInViews(const std::string& file, const std::string& script,
                                    const std::vector<PageView>& views) const {
  const std::string page = EscapeXml(ReadFile(Expand("$T/" + file)));
  std::string probe = "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<pre id=\"found\"></pre>\n";
  for (const PageView& view : views) {
    // A page within a page has the colours of the place that it is in.
    probe +=
        std::string("<iframe width=\"") + std::to_string(view.width) +
        "\" height=\"700\" style=\"border: 0; color-scheme: " + (view.is_dark ? "dark" : "light") +
        "\" srcdoc=\"" + page + "\"></iframe>\n";
  }
  Write("probe.html", probe + "<script>function found(page, view) {" + script + "}\n" +
                          "window.addEventListener('load', () => {\n"
                          "  const frames = [...document.querySelectorAll('iframe')];\n"
                          "  const results = frames.map(\n"
                          "      (frame) => found(frame.contentDocument, frame.contentWindow));\n"
                          "  for (const frame of frames) frame.remove();\n"
                          "  const text = unescape(encodeURIComponent(JSON.stringify(results)));\n"
                          "  document.querySelector('pre').textContent = btoa(text);\n"
                          "});\n</script>\n");
  const std::string dom = OutputOf(
      Expand("HOME=$T timeout 120 " + browser_ +
             " --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run"
             " --user-data-dir=$T/profile --virtual-time-budget=20000 --dump-dom"
             " file://$T/probe.html 2>$T/browser.log"));
  const size_t begin = dom.find("<pre id=\"found\">") + 16, end = dom.find("</pre>");
  return nlohmann::json::parse(Decoded(dom.substr(begin, end - begin)), nullptr,
                               /*allow_exceptions=*/false);
}

}  // namespace stagecraft::bad_input
