// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ui/models/cell_view.h"
#include "ui/models/color_map.h"
#include "ui/widgets/badge.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/theme.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr double kReadable = 4.5;

class EveryTheme : public ::testing::TestWithParam<const Theme*> {};

TEST_P(EveryTheme, TextIsReadableOnWhatItStandsOn) {
  const Theme& theme = *GetParam();
  const std::pair<QColor, QColor> pairs[] = {
      {theme.text, theme.window},
      {theme.text, theme.base},
      {theme.text, theme.alternateBase},
      {theme.text, theme.button},
      {theme.mutedText, theme.window},
      {theme.mutedText, theme.base},
      {theme.mutedText, theme.alternateBase},
      {theme.mutedText, theme.failed},
      {theme.accentText, theme.accent},
      {theme.good, theme.base},
      {theme.good, theme.alternateBase},
      {theme.good, theme.window},
      {theme.bad, theme.alternateBase},
      {theme.caution, theme.alternateBase},
      {theme.infoBannerText, theme.infoBanner},
      {theme.warningBannerText, theme.warningBanner},
      {theme.errorBannerText, theme.errorBanner},
      {theme.keyword, theme.caretLine},
      {theme.deviceKeyword, theme.caretLine},
      {theme.comment, theme.caretLine},
      {theme.string, theme.caretLine},
      {theme.number, theme.caretLine},
      {theme.preprocessor, theme.caretLine},
      {theme.text, theme.linkedLine},
      {theme.keyword, theme.linkedLine},
      {theme.deviceKeyword, theme.linkedLine},
      {theme.comment, theme.linkedLine},
      {theme.string, theme.linkedLine},
      {theme.number, theme.linkedLine},
      {theme.preprocessor, theme.linkedLine},
      {theme.chartPinned, theme.base},
      {theme.text, theme.diffOldToken},
      {theme.text, theme.diffNewToken},
      {theme.comment, theme.diffOld},
      {theme.comment, theme.diffNew},
      {theme.keyword, theme.diffOld},
      {theme.keyword, theme.diffNew},
  };
  int index = 0;
  for (const auto& [text, background] : pairs) {
    EXPECT_GE(contrastRatio(text, background), kReadable) << "pair " << index;
    ++index;
  }
}

TEST_P(EveryTheme, MarksAndFocusStandOutFromTheirSurroundings) {
  const Theme& theme = *GetParam();
  constexpr double kVisible = 3.0;
  EXPECT_GE(contrastRatio(theme.accent, theme.base), kVisible);
  EXPECT_GE(contrastRatio(theme.chartLine, theme.base), kVisible);
  EXPECT_GE(contrastRatio(theme.chartBaseline, theme.base), kVisible);
  EXPECT_GE(contrastRatio(theme.failedCross, theme.failed), kVisible);
  EXPECT_GE(contrastRatio(theme.chartBar, theme.base), kVisible);
}

INSTANTIATE_TEST_SUITE_P(Themes, EveryTheme, ::testing::Values(&Theme::light(), &Theme::darkTheme()),
                         [](const auto& tested) { return tested.param->dark ? "Dark" : "Light"; });

TEST(ColorMap, ValuesAreReadableOnEveryColour) {
  for (const ColorMap map : {ColorMap::Viridis, ColorMap::Cividis, ColorMap::Diverging}) {
    for (int i = 0; i <= 100; ++i) {
      const QColor color = mapColor(map, i / 100.0);
      EXPECT_GE(contrastRatio(readableOn(color), color), kReadable);
    }
  }
}

TEST(ColorMap, GrowsLighterWithTheSpeedup) {
  for (const ColorMap map : {ColorMap::Viridis, ColorMap::Cividis}) {
    for (int i = 1; i <= 20; ++i) {
      EXPECT_GT(contrastRatio(mapColor(map, i / 20.0), Qt::black),
                contrastRatio(mapColor(map, (i - 1) / 20.0), Qt::black));
    }
  }
}

// Blue and orange of the same distance to the middle must not be told apart by red and green alone.
TEST(ColorMap, TheDivergingOneIsLightestInTheMiddleAndEndsInBlueAndOrange) {
  for (int i = 1; i <= 5; ++i) {
    const double below = contrastRatio(mapColor(ColorMap::Diverging, 0.5 - i / 10.0), Qt::black);
    const double above = contrastRatio(mapColor(ColorMap::Diverging, 0.5 + i / 10.0), Qt::black);
    EXPECT_LT(below, contrastRatio(mapColor(ColorMap::Diverging, 0.5 - (i - 1) / 10.0), Qt::black));
    EXPECT_LT(above, contrastRatio(mapColor(ColorMap::Diverging, 0.5 + (i - 1) / 10.0), Qt::black));
  }
  EXPECT_GT(mapColor(ColorMap::Diverging, 0.0).blue(), mapColor(ColorMap::Diverging, 0.0).red() + 60);
  EXPECT_GT(mapColor(ColorMap::Diverging, 1.0).red(), mapColor(ColorMap::Diverging, 1.0).blue() + 60);
}

TEST(Icons, TakeTheColourOfTheTheme) {
  const QImage image = themedIcon(u"stop"_s, QColor(200, 10, 30), Qt::gray).pixmap(24).toImage();
  EXPECT_EQ(image.pixelColor(image.rect().center()), QColor(200, 10, 30));
}

TEST(Badge, EveryStatusWordHasATone) {
  EXPECT_EQ(toneOfStatus(u"correct"_s), Badge::Tone::Good);
  EXPECT_EQ(toneOfStatus(u"duplicate"_s), Badge::Tone::Caution);
  EXPECT_EQ(toneOfStatus(u"crashed"_s), Badge::Tone::Bad);
  EXPECT_EQ(toneOfStatus(u"pending"_s), Badge::Tone::Neutral);
}

TEST(ThemeChoice, NamesAreReadBack) {
  for (const ThemeChoice choice : {ThemeChoice::System, ThemeChoice::Light, ThemeChoice::Dark}) {
    EXPECT_EQ(parseThemeChoice(name(choice)), choice);
  }
  EXPECT_EQ(parseThemeChoice(u"mauve"_s), std::nullopt);
}

}  // namespace
}  // namespace swage::ui
