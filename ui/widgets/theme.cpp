// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/theme.h"

#include <QApplication>
#include <QPainter>
#include <QProxyStyle>
#include <QStyleOption>

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

Theme makeLight() {
  Theme theme;
  theme.window = 0xF3F4F6;
  theme.base = 0xFFFFFF;
  theme.alternateBase = 0xF7F8FA;
  theme.text = 0x1B1F24;
  theme.mutedText = 0x57606A;
  theme.disabledText = 0x7F8790;
  theme.border = 0xCDD3DA;
  theme.button = 0xFAFBFC;
  theme.accent = 0x0B5FC4;
  theme.accentText = 0xFFFFFF;
  theme.good = 0x0F6B36;
  theme.bad = 0xA1161B;
  theme.caution = 0x7A4B00;
  theme.emptyOutline = 0xC3C9D1;
  theme.unavailable = 0xDDE1E6;
  theme.unavailableHatch = 0x9AA2AC;
  theme.failed = 0xF6ECE9;
  theme.failedCross = 0xB07A6C;
  theme.infoBanner = 0xDCEEFF;
  theme.infoBannerText = 0x0A3069;
  theme.warningBanner = 0xFFF1C9;
  theme.warningBannerText = 0x5C3B00;
  theme.errorBanner = 0xFFE0DF;
  theme.errorBannerText = 0x7A1012;
  theme.chartLine = 0x0B5FC4;
  theme.chartBaseline = 0x57606A;
  theme.chartGrid = 0xE3E6EA;
  theme.chartPinned = 0xB35A00;
  theme.chartBar = 0x5B93D6;
  theme.diffOld = 0xFDF0E1;
  theme.diffOldToken = 0xF8D2A5;
  theme.diffNew = 0xE4F0FD;
  theme.diffNewToken = 0xB5D6F8;
  theme.diffFiller = 0xEEF0F3;
  theme.caretLine = 0xEEF4FC;
  theme.linkedLine = 0xFFF4D6;
  theme.keyword = 0x0A3FA0;
  theme.deviceKeyword = 0x8A3B00;
  theme.comment = 0x57606A;
  theme.string = 0x0F6B36;
  theme.number = 0x6A1B9A;
  theme.preprocessor = 0x7A2F8F;
  return theme;
}

Theme makeDark() {
  Theme theme;
  theme.dark = true;
  theme.window = 0x1E2127;
  theme.base = 0x15181C;
  theme.alternateBase = 0x1A1D22;
  theme.text = 0xE6E8EB;
  theme.mutedText = 0xA3ACB6;
  theme.disabledText = 0x7A838D;
  theme.border = 0x3A4049;
  theme.button = 0x2A2F37;
  theme.accent = 0x5AA2FF;
  theme.accentText = 0x07121F;
  theme.good = 0x7FD99A;
  theme.bad = 0xFF9A94;
  theme.caution = 0xF0C674;
  theme.emptyOutline = 0x444B55;
  theme.unavailable = 0x23272D;
  theme.unavailableHatch = 0x4A515B;
  theme.failed = 0x2C2220;
  theme.failedCross = 0xA0705F;
  theme.infoBanner = 0x12304F;
  theme.infoBannerText = 0xCFE6FF;
  theme.warningBanner = 0x463300;
  theme.warningBannerText = 0xFFE7AE;
  theme.errorBanner = 0x55181B;
  theme.errorBannerText = 0xFFD7D5;
  theme.chartLine = 0x5AA2FF;
  theme.chartBaseline = 0xA3ACB6;
  theme.chartGrid = 0x2C3138;
  theme.chartPinned = 0xFFB27A;
  theme.chartBar = 0x3F79BF;
  theme.diffOld = 0x33261A;
  theme.diffOldToken = 0x5C3E1E;
  theme.diffNew = 0x182A3D;
  theme.diffNewToken = 0x1F4770;
  theme.diffFiller = 0x1B1F25;
  theme.caretLine = 0x1D2530;
  theme.linkedLine = 0x332C16;
  theme.keyword = 0x79B8FF;
  theme.deviceKeyword = 0xFFB27A;
  theme.comment = 0x98A2AD;
  theme.string = 0x8EDDA0;
  theme.number = 0xE3B5F5;
  theme.preprocessor = 0xD2A8FF;
  return theme;
}

// Fusion with more air in tables, and with check boxes that show on a dark window: Fusion derives their outline from
// the window's colour, made darker.
class SwageStyle final : public QProxyStyle {
 public:
  SwageStyle() : QProxyStyle(u"Fusion"_s) {}

  int pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const override {
    constexpr int kItemMargin = 7;
    return metric == PM_FocusFrameHMargin ? kItemMargin : QProxyStyle::pixelMetric(metric, option, widget);
  }

  void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget) const override {
    QProxyStyle::drawPrimitive(element, option, painter, widget);
    if (element == PE_IndicatorCheckBox) {
      QColor outline = option->palette.color(QPalette::WindowText);
      outline.setAlphaF(0.55F);
      painter->save();
      painter->setPen(outline);
      painter->setBrush(Qt::NoBrush);
      painter->drawRect(option->rect.adjusted(0, 0, -1, -1));
      painter->restore();
    }
  }
};

// What Fusion draws too heavily or not at all. Sizes are in em-like points of the style, colours from the theme.
QString styleSheet(const Theme& theme) {
  return u"QToolTip{color:%1;background:%2;border:1px solid %3;padding:4px;}"
         "QMainWindow::separator{background:%4;width:5px;height:5px;}"
         "QMainWindow::separator:hover{background:%5;}"
         "QDockWidget::title{background:%4;padding:5px 8px;text-align:left;}"
         "QDockWidget{font-weight:600;}"
         "QDockWidget>QWidget{font-weight:400;}"
         "QToolBar{border:none;border-bottom:1px solid %3;padding:4px 6px;spacing:6px;background:%4;}"
         "QStatusBar{border-top:1px solid %3;}"
         "QStatusBar::item{border:none;}"
         "QHeaderView::section{background:%4;color:%6;border:none;border-right:1px solid %3;"
         "border-bottom:1px solid %3;padding:6px 6px 4px 6px;}"
         "QHeaderView::up-arrow,QHeaderView::down-arrow{subcontrol-origin:border;subcontrol-position:top center;"
         "width:9px;height:6px;}"
         "QTableView{border:none;gridline-color:%3;}"
         "QProgressBar{border:1px solid %3;border-radius:3px;background:%2;text-align:center;}"
         "QProgressBar::chunk{background:%5;border-radius:2px;}"_s.arg(theme.text.name(), theme.base.name(),
                                                                       theme.border.name(), theme.window.name(),
                                                                       theme.accent.name(), theme.mutedText.name());
}

}  // namespace

QString name(ThemeChoice choice) {
  switch (choice) {
    case ThemeChoice::System: return u"system"_s;
    case ThemeChoice::Light: return u"light"_s;
    case ThemeChoice::Dark: return u"dark"_s;
  }
  return {};
}

std::optional<ThemeChoice> parseThemeChoice(const QString& text) {
  for (const ThemeChoice choice : {ThemeChoice::System, ThemeChoice::Light, ThemeChoice::Dark}) {
    if (text == name(choice)) {
      return choice;
    }
  }
  return std::nullopt;
}

const Theme& Theme::light() {
  static const Theme theme = makeLight();
  return theme;
}

const Theme& Theme::darkTheme() {
  static const Theme theme = makeDark();
  return theme;
}

QPalette Theme::palette() const {
  QPalette palette;
  palette.setColor(QPalette::Window, window);
  palette.setColor(QPalette::WindowText, text);
  palette.setColor(QPalette::Base, base);
  palette.setColor(QPalette::AlternateBase, alternateBase);
  palette.setColor(QPalette::Text, text);
  palette.setColor(QPalette::PlaceholderText, mutedText);
  palette.setColor(QPalette::Button, button);
  palette.setColor(QPalette::ButtonText, text);
  palette.setColor(QPalette::BrightText, errorBannerText);
  palette.setColor(QPalette::ToolTipBase, base);
  palette.setColor(QPalette::ToolTipText, text);
  palette.setColor(QPalette::Link, accent);
  palette.setColor(QPalette::Highlight, accent);
  palette.setColor(QPalette::HighlightedText, accentText);
  palette.setColor(QPalette::Light, dark ? button.lighter(130) : QColor(Qt::white));
  palette.setColor(QPalette::Midlight, dark ? button.lighter(115) : window);
  palette.setColor(QPalette::Mid, border);
  palette.setColor(QPalette::Dark, dark ? QColor(0x0B0D10) : QColor(0x9199A1));
  palette.setColor(QPalette::Shadow, dark ? QColor(Qt::black) : QColor(0x6A727C));
  for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
    palette.setColor(QPalette::Disabled, role, disabledText);
  }
  palette.setColor(QPalette::Disabled, QPalette::Highlight, border);
  palette.setColor(QPalette::Disabled, QPalette::HighlightedText, disabledText);
  return palette;
}

void applyTheme(QApplication& application, const Theme& theme) {
  if (!application.property("swageStyle").toBool()) {
    application.setProperty("swageStyle", true);
    QApplication::setStyle(new SwageStyle);
  }
  QApplication::setPalette(theme.palette());
  application.setStyleSheet(styleSheet(theme));
}

}  // namespace swage::ui
