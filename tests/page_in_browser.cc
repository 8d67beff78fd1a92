#include "tests/page_in_browser.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

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
  Write("probe.html",
        "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<pre id=\"found\"></pre>\n<iframe width=\"" +
            std::to_string(kPhoneWidth) + "\" height=\"700\" style=\"border: 0\" srcdoc=\"" +
            EscapeXml(ReadFile(Expand("$T/" + file))) + "\"></iframe>\n<script>" +
            "function found(page, view) {" + script + "}\n" +
            "window.addEventListener('load', () => {\n"
            "  const frame = document.querySelector('iframe');\n"
            "  const result = found(frame.contentDocument, frame.contentWindow);\n"
            "  frame.remove();\n"
            "  document.querySelector('pre').textContent = btoa(JSON.stringify(result));\n"
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
