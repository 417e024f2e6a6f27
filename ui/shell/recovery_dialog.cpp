// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/recovery_dialog.h"

#include <QApplication>
#include <QClipboard>
#include <QDialogButtonBox>
#include <QFontDatabase>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/models/format.h"

using namespace Qt::StringLiterals;

namespace swage::ui {

RecoveryDialog::RecoveryDialog(const Content& content, QWidget* parent)
    : QDialog(parent), m_content(content), m_verdict(new QLabel), m_check(nullptr) {
  setObjectName(u"recoveryDialog"_s);
  setWindowTitle(tr("Swage did not end cleanly"));
  auto* text = new QLabel(
      tr("Swage ended unexpectedly. Everything that was recorded is kept, and a search that was running can be "
         "resumed. The windows have not been restored yet."));
  text->setWordWrap(true);
  auto* note = new QPlainTextEdit(content.note.isEmpty() ? tr("There is no crash report.") : content.note);
  note->setObjectName(u"crashNote"_s);
  note->setAccessibleName(tr("Report"));
  note->setReadOnly(true);
  note->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  note->setLineWrapMode(QPlainTextEdit::NoWrap);
  m_verdict->setObjectName(u"recordVerdict"_s);
  m_verdict->setWordWrap(true);
  auto* buttons = new QDialogButtonBox;
  auto* restore = buttons->addButton(tr("&Restore Last Session"), QDialogButtonBox::AcceptRole);
  restore->setObjectName(u"restoreSession"_s);
  buttons->addButton(tr("&Start Afresh"), QDialogButtonBox::RejectRole)->setObjectName(u"startAfresh"_s);
  auto* copy = buttons->addButton(tr("&Copy Report"), QDialogButtonBox::ActionRole);
  copy->setObjectName(u"copyCrashNote"_s);
  m_check = buttons->addButton(tr("Check the &Record"), QDialogButtonBox::ActionRole);
  m_check->setObjectName(u"checkRecord"_s);
  m_check->setEnabled(content.check != nullptr && !content.project.empty());
  auto* column = new QVBoxLayout(this);
  column->addWidget(text);
  column->addWidget(note, 1);
  column->addWidget(m_verdict);
  column->addWidget(buttons);
  resize(fontMetrics().averageCharWidth() * 100, fontMetrics().height() * 26);
  connect(buttons, &QDialogButtonBox::accepted, this, &RecoveryDialog::restoreRequested);
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(copy, &QPushButton::clicked, this, [note] { QApplication::clipboard()->setText(note->toPlainText()); });
  connect(m_check, &QPushButton::clicked, this, &RecoveryDialog::checkRecord);
  if (content.check != nullptr) {
    connect(content.check, &services::RecordCheckService::finished, this, &RecoveryDialog::showVerdict);
  }
}

void RecoveryDialog::checkRecord() {
  m_check->setEnabled(false);
  m_verdict->setText(tr("Reading the record of %1…").arg(toQString(m_content.project.string())));
  m_content.check->start(m_content.project);
}

void RecoveryDialog::showVerdict(const Result<>& verdict) {
  m_check->setEnabled(true);
  m_verdict->setText(verdict ? tr("The record is intact.")
                             : toQString(verdict.error().message() + "\n" + verdict.error().hint()));
}

}  // namespace swage::ui
