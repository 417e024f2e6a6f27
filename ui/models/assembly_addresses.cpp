// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/assembly_addresses.h"

#include <QRegularExpression>

#include <algorithm>

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

// Each names the part that is meant as its first group.
const std::vector<QRegularExpression>& patterns() {
  static const std::vector<QRegularExpression> kPatterns = {
      QRegularExpression(uR"(^(\s*[0-9a-f]+:)\t)"_s),              // "    1120:" before an instruction
      QRegularExpression(uR"((?:^|\s)([0-9a-f]+) (?=<))"_s),       // "1120 <k+0x10>"
      QRegularExpression(uR"(<[^>]*(\+0x[0-9a-f]+)>)"_s),          // its "+0x10"
      QRegularExpression(uR"(\[rip([+-]0x[0-9a-f]+)\])"_s),        // "[rip+0x123]"
      QRegularExpression(uR"([$.]L[A-Za-z_]*?(\d+(?:_\d+)*))"_s),  // "$L__BB0_12", ".L_x_3"
      QRegularExpression(uR"(^\s*(/\*[0-9a-f]{4,}\*/))"_s),        // "/*0a10*/" of SASS
      QRegularExpression(uR"((/\* 0x[0-9a-f]+ \*/))"_s),           // and its encodings
      QRegularExpression(uR"(\b(?:BRA|BSSY|CALL|JMP|BRX|WARPSYNC|RET)\b.*?(0x[0-9a-f]+))"_s),
      QRegularExpression(uR"(^\S*\.(?:cpp|cu|h|cuh|c)(:\d+(?: \(discriminator \d+\))?)$)"_s),  // "source.cpp:12"
      QRegularExpression(uR"(^\s*\.loc\s+(\d+[\d\s]*))"_s),
  };
  return kPatterns;
}

// "nop", "data16 cs nop WORD PTR [rax+rax*1+0x0]", "xchg ax,ax": up to the next boundary.
bool isPadding(const QString& line) {
  static const QRegularExpression kPadding(
      uR"(^\s*(?:[0-9a-f]+:\s|/\*[0-9a-f]+\*/\s)?\s*(?:(?:data16|cs|ds)\s+)*(?:nop\b.*|NOP\s*;.*|xchg\s+ax,ax)$)"_s);
  return kPadding.match(line).hasMatch();
}

}  // namespace

std::vector<LineSpan> addressesIn(const QString& line) {
  if (isPadding(line)) {
    return {{0, line.size()}};
  }
  std::vector<LineSpan> found;
  for (const QRegularExpression& pattern : patterns()) {
    for (auto matches = pattern.globalMatch(line); matches.hasNext();) {
      const QRegularExpressionMatch match = matches.next();
      found.push_back({match.capturedStart(1), match.capturedLength(1)});
    }
  }
  std::sort(found.begin(), found.end(), [](const LineSpan& a, const LineSpan& b) { return a.begin < b.begin; });
  std::vector<LineSpan> apart;
  for (const LineSpan& span : found) {
    if (apart.empty() || span.begin >= apart.back().begin + apart.back().length) {
      apart.push_back(span);
    }
  }
  return apart;
}

}  // namespace swage::ui
