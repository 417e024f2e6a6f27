// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/export_target.h"

#include <QCheckBox>
#include <QDesktopServices>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QUrl>
#include <QVBoxLayout>

#include "ui/models/export_assistant.h"
#include "ui/models/format.h"
#include "ui/widgets/field_style.h"

using namespace Qt::StringLiterals;

namespace swage::ui {

ExportTarget::ExportTarget(ExportAssistant& assistant, QWidget* parent)
    : QWidget(parent),
      m_assistant(assistant),
      m_path(new QLineEdit),
      m_browse(new QPushButton(tr("&Browse…"))),
      m_state(new QLabel),
      m_replace(new QCheckBox(tr("&Replace what is there"))),
      m_openFolder(new QPushButton(tr("&Open Folder"))),
      m_write(new QPushButton(tr("&Export"))),
      m_close(new QPushButton(tr("Close"))) {
  name();
  layOut();
  connectParts();
  showTarget();
  showState();
}

void ExportTarget::name() {
  m_path->setObjectName(u"exportTarget"_s);
  m_path->setAccessibleName(tr("Where it is written"));
  m_browse->setObjectName(u"browseExport"_s);
  m_state->setObjectName(u"exportState"_s);
  m_state->setWordWrap(true);
  m_state->setTextFormat(Qt::PlainText);
  m_state->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_replace->setObjectName(u"replaceExport"_s);
  m_openFolder->setObjectName(u"openExportFolder"_s);
  m_openFolder->setMinimumWidth(m_openFolder->sizeHint().width() + 2 * fontMetrics().averageCharWidth());
  m_openFolder->setToolTip(tr("Show what was written in the file manager"));
  m_write->setObjectName(u"writeExport"_s);
  m_write->setDefault(true);
  m_close->setObjectName(u"closeExport"_s);
}

void ExportTarget::layOut() {
  auto* label = new QLabel(tr("&Write to"));
  label->setBuddy(m_path);
  auto* place = new QHBoxLayout;
  place->addWidget(label);
  place->addWidget(m_path, 1);
  place->addWidget(m_browse);
  auto* actions = new QHBoxLayout;
  actions->addWidget(m_state, 1);
  actions->addWidget(m_replace);
  actions->addWidget(m_openFolder);
  actions->addWidget(m_write);
  actions->addWidget(m_close);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addLayout(place);
  column->addLayout(actions);
}

void ExportTarget::connectParts() {
  connect(m_path, &QLineEdit::textEdited, &m_assistant, &ExportAssistant::setTarget);
  connect(m_browse, &QPushButton::clicked, this, &ExportTarget::browseRequested);
  connect(m_replace, &QCheckBox::toggled, &m_assistant, &ExportAssistant::setReplace);
  connect(m_openFolder, &QPushButton::clicked, this, &ExportTarget::openFolder);
  connect(m_write, &QPushButton::clicked, &m_assistant, &ExportAssistant::write);
  connect(m_close, &QPushButton::clicked, this, &ExportTarget::closeRequested);
  connect(&m_assistant, &ExportAssistant::targetChanged, this, &ExportTarget::showTarget);
  connect(&m_assistant, &ExportAssistant::stateChanged, this, &ExportTarget::showState);
}

void ExportTarget::setTheme(const Theme& theme) {
  m_theme = theme;
  m_path->setStyleSheet(fieldStyle(theme));
  showState();
}

void ExportTarget::showTarget() {
  if (m_path->text() != m_assistant.target()) {  // else the caret would jump
    m_path->setText(m_assistant.target());
  }
  m_replace->setChecked(m_assistant.mayReplace());
}

void ExportTarget::showState() {
  const bool isWritten = !m_assistant.written().isEmpty();
  const bool isInTheWay = m_assistant.isTargetOccupied() && m_assistant.files() && !isWritten;
  const bool isFolder = m_assistant.format() == services::ExportFormat::Project;
  QString text;
  if (m_assistant.isWriting()) {
    text = tr("Writing…");
  } else if (isWritten) {
    text = isFolder ? tr("%1 files exported to %2")
                          .arg(QString::number(m_assistant.files()->files.size()),
                               QFileInfo(m_assistant.written()).fileName())
                    : tr("Exported to %1").arg(QFileInfo(m_assistant.written()).fileName());
  } else if (isInTheWay) {
    text = isFolder ? tr("The folder exists and is not empty.") : tr("A file of that name exists.");
  }
  m_state->setText(text);
  const QColor color = isWritten ? m_theme.good : isInTheWay ? m_theme.caution : m_theme.mutedText;
  m_state->setStyleSheet(u"color:%1;"_s.arg(color.name()));
  m_replace->setVisible(isInTheWay);
  m_openFolder->setVisible(isWritten);
  m_write->setEnabled(m_assistant.canWrite());
}

void ExportTarget::openFolder() const {
  const QFileInfo written(m_assistant.written());
  QDesktopServices::openUrl(QUrl::fromLocalFile(written.isDir() ? written.filePath() : written.absolutePath()));
}

}  // namespace swage::ui
