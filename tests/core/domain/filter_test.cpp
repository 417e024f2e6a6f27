// SPDX-License-Identifier: Apache-2.0
#include "core/domain/filter.h"

#include <gmock/gmock.h>

#include <fmt/format.h>

#include "core/domain/cell.h"

namespace swage::domain {
namespace {

using ::testing::HasSubstr;

std::string printed(const FilterValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    return *text;
  }
  const auto& range = std::get<FilterRange>(value);
  return fmt::format("{}{:g} {:g}{}", range.lowIsIn ? '[' : '(', range.low, range.high, range.highIsIn ? ']' : ')');
}

// "-key{value|value}" for each term.
std::string parsed(std::string_view text, FilterVocabulary keys = candidateFilterKeys()) {
  const auto filter = parseFilter(text, keys);
  if (!filter) {
    return fmt::format("{}+{}: {}", filter.error().position, filter.error().length, filter.error().message);
  }
  std::string result;
  for (const FilterTerm& term : filter->terms) {
    std::vector<std::string> values;
    for (const FilterValue& value : term.values) {
      values.push_back(printed(value));
    }
    result += fmt::format("{}{}{}{{{}}}", result.empty() ? "" : " ", term.negated ? "-" : "", term.key,
                          fmt::join(values, "|"));
  }
  return result;
}

TEST(Filter, NothingIsAnEmptyFilter) {
  EXPECT_EQ(parsed(""), "");
  EXPECT_EQ(parsed("  \t "), "");
}

TEST(Filter, TermsWordsFlagsAndNegation) {
  EXPECT_EQ(parsed("status:correct -operator:human pinned -trashed softmax -\"bank conflict\""),
            "status{correct} -operator{human} pinned{} -trashed{} {softmax} -{bank conflict}");
  EXPECT_EQ(parsed("status!=correct -status!=wrong"), "-status{correct} status{wrong}");
}

TEST(Filter, CommasSeparateAlternativesAndQuotesKeepThemTogether) {
  EXPECT_EQ(parsed("status:wrong,crashed tag:\"a, b\",c one,two"), "status{wrong|crashed} tag{a, b|c} {one|two}");
  EXPECT_EQ(parsed(R"(note:"say \"so\" \\")"), R"(note{say "so" \})");
  EXPECT_EQ(parsed("\"pinned\" pinned,wide"), "{pinned} {pinned|wide}");
}

TEST(Filter, WordsOfSeveralPartsNeedNoQuotes) {
  EXPECT_EQ(parsed("status:compile-error,timed_out,\"Launch Error\" Operator:pattern-swap"),
            "status{compile error|timed out|launch error} operator{pattern swap}");
}

TEST(Filter, AnOperatorMayBeAnyProposersName) {
  EXPECT_EQ(parsed("operator:my-model_4.5,human"), "operator{my model 4.5|human}");
  EXPECT_EQ(parsed("operator:\"code\""), "operator{code}") << "near to another one, but quoted";
  EXPECT_THAT(parsed("operator:4"), HasSubstr("'4' is no operator"));
}

TEST(Filter, NumbersReachAsFarAsTheirLastDigit) {
  EXPECT_EQ(parsed("speedup:1.5 speedup:2 error:1.2e-6"),
            "speedup{[1.45 1.55)} speedup{[1.5 2.5)} error{[1.15e-06 1.25e-06)}");
  EXPECT_EQ(parsed("speedup>1.5 speedup<=2 speedup>=1,3 error<1e-6"),
            "speedup{(1.5 inf]} speedup{[-inf 2]} speedup{[1 inf]|[3 inf]} error{[-inf 1e-06)}");
}

TEST(Filter, WholeNumbersAndRanges) {
  EXPECT_EQ(parsed("island:2,3 id:100..200 run:r7 registers<64"),
            "island{[2 2]|[3 3]} id{[100 200]} run{[7 7]} registers{[-inf 64)}");
}

TEST(Filter, TimesAndDurationsHaveUnits) {
  EXPECT_EQ(parsed("time<30us time:1.2ms time:20us..30µs found<=1h30m"),
            "time{[-inf 30000)} time{[1.15e+06 1.25e+06)} time{[20000 30000]} found{[-inf 5400]}");
}

TEST(Filter, CellsMayNameOnlySomeAxes) {
  EXPECT_EQ(parsed("cell:A2B1C0"), fmt::format("cell{{[{0} {0}]}}", Cell::parse("A2B1C0")->index()));
  const auto some = parseFilter("cell:a3c1", candidateFilterKeys());
  ASSERT_TRUE(some);
  ASSERT_EQ(some->terms.front().values.size(), 3U);
  for (const FilterValue& value : some->terms.front().values) {
    const Cell cell = Cell::fromIndex(static_cast<int>(std::get<FilterRange>(value).low));
    EXPECT_EQ(cell.movement, DataMovement::Pipelined);
    EXPECT_EQ(cell.decomposition, Decomposition::OneLaunch);
  }
}

TEST(Filter, ErrorsSayWhereAndWhatIsAllowed) {
  EXPECT_EQ(parsed("pinned spedup>2"), "7+6: there is no key 'spedup'; did you mean 'speedup'?");
  EXPECT_THAT(parsed("colour:red"), HasSubstr("0+6: there is no key 'colour'; write status, speedup, time"));
  EXPECT_EQ(parsed("operator:humman"), "9+6: 'humman' is no operator; did you mean 'human'?");
  EXPECT_EQ(parsed("status:corect"), "7+6: 'corect' is no status; did you mean 'correct'?");
  EXPECT_THAT(parsed("status:fine"), HasSubstr("write pending, not evaluated, duplicate, rejected, compile error"));
  EXPECT_EQ(parsed("status<correct"), "0+7: 'status' has no order; write status:");
  EXPECT_EQ(parsed("a pinned:yes"), "2+7: 'pinned' stands alone, without ':'");
  EXPECT_EQ(parsed("speedup>fast"), "8+4: 'fast' is not a number, such as 1.5 or 1e-6");
  EXPECT_EQ(parsed("time<30"), "5+2: '30' is not a time with its unit, such as 30us or 1.2ms");
  EXPECT_EQ(parsed("found<later"), "6+5: 'later' is not a duration, such as 90s or 5min");
  EXPECT_EQ(parsed("island:1.5"), "7+3: '1.5' is not a whole number, or two of them as 10..20");
  EXPECT_EQ(parsed("id:20..10"), "3+6: '20..10' is not a whole number, or two of them as 10..20");
  EXPECT_EQ(parsed("cell:A4"), "5+2: 'A4' is no cell; write A0 to A3, B0 to B2, C0 to C2, such as A2B1C0");
  EXPECT_EQ(parsed("cell:A1A2"), "5+4: 'A1A2' is no cell; write A0 to A3, B0 to B2, C0 to C2, such as A2B1C0");
  EXPECT_EQ(parsed("status:"), "7+1: a value is missing here");
  EXPECT_EQ(parsed("island:1,"), "9+1: a value is missing here");
  EXPECT_EQ(parsed("-"), "1+1: a value is missing here");
  EXPECT_EQ(parsed("tag:\"open"), "4+5: the quote that begins here does not end");
  EXPECT_EQ(parsed("tag:\"\""), "4+2: there is nothing between the quotes");
}

TEST(Filter, RunsHaveKeysOfTheirOwn) {
  EXPECT_EQ(parsed("task:softmax device:H200 status:finished evaluations>100 run:3", runFilterKeys()),
            "task{softmax} device{H200} status{finished} evaluations{(100 inf]} run{[3 3]}");
  EXPECT_EQ(parsed("status:stopped", runFilterKeys()), "status{stopped}");
  EXPECT_EQ(parsed("status:interrupted", runFilterKeys()), "status{interrupted}") << "as it was called once";
  EXPECT_THAT(parsed("status:ended", runFilterKeys()), ::testing::Not(HasSubstr("interrupted")));
  EXPECT_THAT(parsed("island:1", runFilterKeys()), HasSubstr("there is no key 'island'"));
}

TEST(Filter, AUsageErrorPointsAtThePlace) {
  const std::string text = "pinned spedup>2";
  const Error error = usageError(parseFilter(text, candidateFilterKeys()).error(), text);
  EXPECT_EQ(error.kind(), ErrorKind::Usage);
  EXPECT_EQ(error.hint(), "it is here:\n  pinned spedup>2\n         ^^^^^^");
}

TEST(Filter, RangesKnowTheirEnds) {
  const FilterRange range{1.0, 2.0, false, true};
  EXPECT_FALSE(range.contains(1.0));
  EXPECT_TRUE(range.contains(1.5));
  EXPECT_TRUE(range.contains(2.0));
  EXPECT_FALSE(range.contains(2.1));
}

TEST(Filter, TextIsFoundInAnyCase) {
  EXPECT_TRUE(containsText("Illegal Memory access", "memory"));
  EXPECT_FALSE(containsText("Illegal", "legally"));
}

TEST(Filter, NoTextMakesItFail) {
  // Every prefix and every single-character change of a text with all of the language either parses or says where.
  const std::string text = R"(status:correct,wrong -time<1.5us "a \" b" cell:A2B1C0 found:1h..2h x,y pinned id!=3)";
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (const char c : {'"', ',', ':', '-', '<', ' ', '\\', '\xC2', '.'}) {
      std::string changed = text;
      changed[i] = c;
      for (const std::string& tried : {changed, changed.substr(0, i + 1)}) {
        const auto filter = parseFilter(tried, candidateFilterKeys());
        if (!filter) {
          EXPECT_LE(filter.error().position, tried.size()) << tried;
          EXPECT_GT(filter.error().length, 0U) << tried;
          EXPECT_FALSE(filter.error().message.empty()) << tried;
        }
      }
    }
  }
}

}  // namespace
}  // namespace swage::domain
