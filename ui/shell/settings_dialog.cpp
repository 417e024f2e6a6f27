// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/settings_dialog.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <limits>

#include "ui/models/setting_catalogue.h"
#include "ui/models/settings_store.h"
#include "ui/shell/dialogs.h"
#include "ui/shell/endpoints_editor.h"
#include "ui/shell/shortcuts_editor.h"
#include "ui/widgets/editing_finished.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

QString hintText(const SettingInfo& setting, const QVariant& value) {
  const QString text =
      setting.atNextStart ? SettingsDialog::tr("%1. Takes effect at the next start.").arg(setting.hint) : setting.hint;
  const bool warns = !setting.warning.isEmpty() && value.toString() == setting.warnedOf;
  return warns ? QString(u"<b>"_s % setting.warning.toHtmlEscaped() % u".</b> "_s % text.toHtmlEscaped()) : text;
}

}  // namespace

SettingsDialog::SettingsDialog(SettingsStore& settings, Shortcuts& shortcuts, Dialogs& dialogs, QWidget* parent,
                               services::EndpointService* endpoints)
    : QDialog(parent),
      m_settings(settings),
      m_dialogs(dialogs),
      m_endpoints(endpoints),
      m_search(new QLineEdit),
      m_sections(new QListWidget),
      m_pages(new QStackedWidget),
      m_file(new QLabel),
      m_shortcuts(new ShortcutsEditor(shortcuts)) {
  setObjectName(u"settingsDialog"_s);
  setWindowTitle(tr("Settings"));
  m_search->setObjectName(u"settingsSearch"_s);
  m_search->setPlaceholderText(tr("Search the settings"));
  m_search->setAccessibleName(tr("Search the settings"));
  m_search->setClearButtonEnabled(true);
  m_sections->setObjectName(u"settingsSections"_s);
  m_sections->setAccessibleName(tr("Sections"));
  for (const SettingSection& section : settingCatalogue()) {
    addPage(section.id, section.title, makeSection(section));
  }
  addPage(u"shortcuts"_s, tr("Shortcuts"), m_shortcuts);
  m_sections->setFixedWidth(m_sections->sizeHintForColumn(0) + m_sections->fontMetrics().averageCharWidth() * 6);
  m_file->setObjectName(u"settingsFile"_s);
  m_file->setForegroundRole(QPalette::PlaceholderText);
  m_file->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  m_file->setText(settings.file());
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  auto* grid = new QGridLayout(this);
  grid->addWidget(m_search, 0, 0, 1, 2);
  grid->addWidget(m_sections, 1, 0);
  grid->addWidget(m_pages, 1, 1);
  grid->addWidget(m_file, 2, 0, 1, 2);
  grid->addWidget(buttons, 3, 0, 1, 2);
  grid->setColumnStretch(1, 1);
  resize(fontMetrics().averageCharWidth() * 130, fontMetrics().height() * 38);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::close);
  connect(m_search, &QLineEdit::textChanged, this, &SettingsDialog::applySearch);
  connect(m_sections, &QListWidget::currentRowChanged, m_pages, &QStackedWidget::setCurrentIndex);
  m_sections->setCurrentRow(0);
}

void SettingsDialog::addPage(const QString& id, const QString& title, QWidget* page) {
  auto* item = new QListWidgetItem(title, m_sections);
  item->setData(Qt::UserRole, id);
  m_pages->addWidget(page);
}

void SettingsDialog::showSection(const QString& id) {
  m_search->clear();
  for (int row = 0; row < m_sections->count(); ++row) {
    if (m_sections->item(row)->data(Qt::UserRole).toString() == id) {
      m_sections->setCurrentRow(row);
    }
  }
}

QWidget* SettingsDialog::makeSection(const SettingSection& section) {
  auto* content = new QWidget;
  auto* grid = new QGridLayout(content);
  grid->setColumnStretch(1, 1);
  const bool listsEndpoints = section.id == u"swarm"_s && m_endpoints != nullptr;
  if (listsEndpoints) {
    addEndpoints(*grid);
  }
  for (const SettingInfo& setting : section.settings) {
    if (!listsEndpoints || setting.key != u"swarm.models"_s) {  // the list says who takes part
      addRow(*grid, setting);
    }
  }
  grid->setRowStretch(grid->rowCount(), 1);
  auto* scroll = new QScrollArea;
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setWidget(content);
  return scroll;
}

void SettingsDialog::addEndpoints(QGridLayout& grid) {
  auto* editor = new EndpointsEditor(*m_endpoints, m_settings, m_dialogs);
  grid.addWidget(editor, 0, 0, 1, 2);
  m_rows.push_back({.section = m_sections->count(),
                    .words = tr("language models endpoints key address price provider"),
                    .widgets = {editor}});
}

void SettingsDialog::addRow(QGridLayout& grid, const SettingInfo& setting) {
  const int row = grid.rowCount();
  QWidget* editor = makeEditor(setting);
  editor->setObjectName(setting.key);
  editor->setAccessibleName(setting.title);
  auto* title = new QLabel(setting.title);
  title->setBuddy(editor);
  auto* hint = new QLabel;
  const auto tell = [this, hint, setting] { hint->setText(hintText(setting, m_settings.value(setting.key))); };
  tell();
  connect(&m_settings, &SettingsStore::changed, hint, tell);
  hint->setObjectName(u"hint_"_s % setting.key);
  hint->setWordWrap(true);
  hint->setForegroundRole(QPalette::PlaceholderText);
  hint->setContentsMargins(0, 0, 0, hint->fontMetrics().height() / 2);
  grid.addWidget(title, row, 0, Qt::AlignRight | Qt::AlignVCenter);
  QWidget* cell = editor;
  if (setting.names != SettingInfo::Names::Nothing) {
    cell = new QWidget;
    auto* line = new QHBoxLayout(cell);
    line->setContentsMargins(0, 0, 0, 0);
    line->addWidget(editor, 1);
    line->addWidget(makeBrowse(setting, qobject_cast<QLineEdit*>(editor)));
  }
  grid.addWidget(cell, row, 1);
  grid.addWidget(hint, row + 1, 1);
  m_rows.push_back({.section = m_sections->count(),
                    .words = QString(setting.title % u" "_s % setting.hint % u" "_s % setting.key),
                    .widgets = cell == editor ? std::vector<QWidget*>{title, editor, hint}
                                              : std::vector<QWidget*>{title, cell, editor, hint}});
}

QWidget* SettingsDialog::makeEditor(const SettingInfo& setting) {
  const QString key = setting.key;
  const QVariant value = m_settings.value(key);
  if (setting.standard.typeId() == QMetaType::Bool) {
    auto* box = new QCheckBox;
    box->setChecked(value.toBool());
    connect(box, &QCheckBox::toggled, this, [this, key](bool on) { m_settings.set(key, on); });
    connect(&m_settings, &SettingsStore::changed, box,
            [this, box, key] { box->setChecked(m_settings.value(key).toBool()); });
    return box;
  }
  if (setting.standard.typeId() == QMetaType::Int) {
    auto* number = new QSpinBox;
    number->setRange(setting.least, setting.most);
    number->setSpecialValueText(setting.atZero);
    number->setValue(value.toInt());
    connect(number, &QSpinBox::valueChanged, this, [this, key](int one) { m_settings.set(key, one); });
    return number;
  }
  if (!setting.choices.isEmpty()) {
    auto* choice = new QComboBox;
    choice->addItems(setting.choices);
    choice->setCurrentText(value.toString());
    connect(choice, &QComboBox::textActivated, this, [this, key](const QString& text) { m_settings.set(key, text); });
    connect(&m_settings, &SettingsStore::changed, choice,
            [this, choice, key] { choice->setCurrentText(m_settings.value(key).toString()); });
    return choice;
  }
  return makeTextField(setting);
}

QWidget* SettingsDialog::makeTextField(const SettingInfo& setting) {
  const QString key = setting.key;
  auto* field = new QLineEdit(m_settings.value(key).toString());
  field->setPlaceholderText(setting.standard.toString());
  whenEditingFinished(field, this,
                      [field, key](SettingsDialog* self) { self->m_settings.set(key, field->text().trimmed()); });
  return field;
}

// Beside a field that names a file or a folder.
QWidget* SettingsDialog::makeBrowse(const SettingInfo& setting, QLineEdit* field) {
  auto* browse = new QPushButton(tr("Browse…"));
  browse->setObjectName(u"browse_"_s % setting.key);
  browse->setAccessibleName(tr("Browse: %1").arg(setting.title));
  browse->setAutoDefault(false);
  connect(browse, &QPushButton::clicked, this,
          [this, field, key = setting.key, title = setting.title, names = setting.names] {
            const auto take = [this, field, key](const QString& path) {
              field->setText(path);
              m_settings.set(key, path);
            };
            if (names == SettingInfo::Names::Folder) {
              m_dialogs.chooseFolder(this, title, field->text(), take);
            } else {
              m_dialogs.chooseFile(this, title, field->text(), take);
            }
          });
  return browse;
}

void SettingsDialog::applySearch(const QString& text) {
  const QString wanted = text.trimmed();
  std::vector<bool> found(static_cast<std::size_t>(m_sections->count()), wanted.isEmpty());
  for (const Row& row : m_rows) {
    const bool matches = row.words.contains(wanted, Qt::CaseInsensitive);
    found[static_cast<std::size_t>(row.section)] = found[static_cast<std::size_t>(row.section)] || matches;
    for (QWidget* widget : row.widgets) {
      widget->setVisible(matches);
    }
  }
  found.back() = m_shortcuts->filter(wanted) > 0;
  int first = -1;
  for (int i = 0; i < m_sections->count(); ++i) {
    m_sections->item(i)->setHidden(!found[static_cast<std::size_t>(i)]);
    first = first < 0 && found[static_cast<std::size_t>(i)] ? i : first;
  }
  if (m_sections->currentRow() < 0 || m_sections->currentItem()->isHidden()) {
    m_sections->setCurrentRow(first);
  }
}

}  // namespace swage::ui
