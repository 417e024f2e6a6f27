// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/settings_control.h"

#include <QWidget>

#include "ui/editor/diff_pane.h"
#include "ui/editor/kernel_view.h"
#include "ui/models/format.h"
#include "ui/shell/desktop_notifier.h"
#include "ui/shell/run_bar.h"
#include "ui/shell/settings_dialog.h"
#include "ui/shell/shortcuts.h"
#include "ui/shell/theme_controller.h"

using namespace Qt::StringLiterals;

namespace swage::ui {

SettingsControl::SettingsControl(SettingsStore& settings, const WindowServices& services, const WindowOptions& options,
                                 QWidget& window)
    : QObject(&window),
      m_settings(settings),
      m_theme(services.theme),
      m_dialogs(services.dialogs),
      m_endpoints(services.endpoints),
      m_options(options),
      m_window(window),
      m_shortcuts(new Shortcuts(window, settings, this)) {
  connect(&settings, &SettingsStore::changed, this, [this](const QString& key) {
    if (key.startsWith("theme."_L1)) {
      applyTheme();
    } else if (key.startsWith("editor."_L1)) {
      applyEditorStyle();
    }
  });
  connect(&m_theme, &ThemeController::choiceMade, this, [this] {
    // Both are read first: the first that is set is applied, and the controller then says what is set of the other.
    const QString choice = name(m_theme.choice());
    const QString map = name(m_theme.theme().heat);
    m_settings.set(u"theme.color_map"_s, map);
    m_settings.set(u"theme.choice"_s, choice);
  });
  applyTheme();
  applyEditorStyle();
  if (options.themeOfThisStart) {
    m_theme.choose(*options.themeOfThisStart);
  }
}

void SettingsControl::applyTheme() {
  m_theme.setColorMap(parseColorMap(m_settings.value(u"theme.color_map"_s).toString()).value_or(ColorMap::Viridis));
  m_theme.choose(parseThemeChoice(m_settings.value(u"theme.choice"_s).toString()).value_or(ThemeChoice::System));
}

// Pages make all their editors when they are made.
void SettingsControl::applyEditorStyle() {
  const EditorStyle style{.family = m_settings.value(u"editor.font"_s).toString(),
                          .points = m_settings.value(u"editor.font_size"_s).toInt(),
                          .tabWidth = m_settings.value(u"editor.tab_width"_s).toInt(),
                          .wrapLines = m_settings.value(u"editor.wrap_lines"_s).toBool(),
                          .lineNumbers = m_settings.value(u"editor.line_numbers"_s).toBool(),
                          .caretLine = m_settings.value(u"editor.caret_line"_s).toBool()};
  for (KernelView* view : m_window.findChildren<KernelView*>()) {
    view->setStyle(style);
  }
  for (DiffPane* pane : m_window.findChildren<DiffPane*>()) {
    pane->setStyle(style);
  }
}

// What the command line gives holds; what it leaves open comes from the settings.
void SettingsControl::applyTo(RunBar& bar) const {
  services::RunSpec spec = m_options.spec;
  const services::RunSpec untouched;
  if (spec.target == untouched.target) {
    spec.target = m_settings.value(u"search.target"_s).toString().toStdString();
  }
  if (spec.timeBudgetSeconds == untouched.timeBudgetSeconds) {
    spec.timeBudgetSeconds =
        parseDuration(m_settings.value(u"search.time_budget"_s).toString()).value_or(untouched.timeBudgetSeconds);
  }
  if (spec.seed == services::kDrawnSeed) {
    spec.seed = static_cast<std::uint64_t>(m_settings.value(u"search.seed"_s).toInt());
  }
  spec.compileBaselines = spec.compileBaselines && m_settings.value(u"search.compile_baselines"_s).toBool();
  bar.setSettings(spec);
}

void SettingsControl::applyTo(DesktopNotifier& notifier) {
  const auto apply = [this, &notifier] { notifier.setEnabled(m_settings.value(u"general.notifications"_s).toBool()); };
  connect(&m_settings, &SettingsStore::changed, &notifier, apply);
  apply();
}

void SettingsControl::showDialog(const QString& section) {
  auto* dialog = m_window.findChild<SettingsDialog*>();
  if (dialog == nullptr) {
    dialog = new SettingsDialog(m_settings, *m_shortcuts, m_dialogs, &m_window, m_endpoints);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
  }
  dialog->showSection(section);
  dialog->show();
  dialog->raise();
}

std::optional<services::Notice> SettingsControl::complaint() const {
  if (const auto& error = m_settings.loadError()) {
    return services::Notice{services::Notice::Severity::Error, error->message(), error->hint()};
  }
  if (m_settings.unknownKeys().isEmpty()) {
    return std::nullopt;
  }
  return services::Notice{services::Notice::Severity::Warning,
                          tr("Unknown settings: %1").arg(m_settings.unknownKeys().join(u", "_s)).toStdString(),
                          m_settings.file().toStdString()};
}

}  // namespace swage::ui
