// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/dialogs.h"

#include <QCoreApplication>
#include <QFileDialog>
#include <QFileInfo>
#include <QInputDialog>
#include <QMessageBox>

#include "ui/widgets/icons.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

QString tr(const char* text) {
  return QCoreApplication::translate("dialogs", text);
}

QFileDialog* makeDialog(QWidget* parent, const QString& title, const Dialogs::Answer& chosen) {
  auto* dialog = new QFileDialog(parent, title);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  QObject::connect(dialog, &QFileDialog::fileSelected, parent, chosen);
  return dialog;
}

}  // namespace

void RealDialogs::chooseTaskFile(QWidget* parent, const Answer& chosen) {
  QFileDialog* dialog = makeDialog(parent, tr("Open a task"), chosen);
  dialog->setFileMode(QFileDialog::ExistingFile);
  dialog->setNameFilter(tr("KernelBench or module file (*.py)"));
  dialog->open();
}

void RealDialogs::chooseTaskBundle(QWidget* parent, const Answer& chosen) {
  QFileDialog* dialog = makeDialog(parent, tr("Open an imported task"), chosen);
  dialog->setFileMode(QFileDialog::Directory);
  dialog->open();
}

void RealDialogs::chooseTaskFolder(QWidget* parent, const Answer& chosen) {
  QFileDialog* dialog = makeDialog(parent, tr("Add a folder of tasks"), chosen);
  dialog->setFileMode(QFileDialog::Directory);
  dialog->open();
}

void RealDialogs::chooseProject(QWidget* parent, const QString& current, const Answer& chosen) {
  QFileDialog* dialog = makeDialog(parent, tr("Open or create a project folder"), chosen);
  dialog->setFileMode(QFileDialog::Directory);
  dialog->setDirectory(current);
  dialog->open();
}

void RealDialogs::chooseExportFile(QWidget* parent, const QString& suggestion, const Answer& chosen) {
  const QString suffix = QFileInfo(suggestion).suffix();
  const bool isKernel = suffix == "py"_L1;
  QFileDialog* dialog = makeDialog(parent, isKernel ? tr("Export the kernel") : tr("Save a file"), chosen);
  dialog->setAcceptMode(QFileDialog::AcceptSave);
  dialog->setDefaultSuffix(suffix);
  dialog->setNameFilter(isKernel ? tr("Python file (*.py)") : tr("%1 file (*.%2)").arg(suffix.toUpper(), suffix));
  dialog->selectFile(suggestion);
  dialog->open();
}

void RealDialogs::chooseExportFolder(QWidget* parent, const QString& suggestion, const Answer& chosen) {
  // Whoever writes asks about replacing; and a folder that is to be made is no file yet.
  QFileDialog* dialog = makeDialog(parent, tr("Export the kernel into a folder"), chosen);
  dialog->setFileMode(QFileDialog::AnyFile);
  dialog->setAcceptMode(QFileDialog::AcceptSave);
  dialog->setOption(QFileDialog::ShowDirsOnly);
  dialog->setOption(QFileDialog::DontConfirmOverwrite);
  dialog->setDirectory(QFileInfo(suggestion).absolutePath());
  dialog->selectFile(QFileInfo(suggestion).fileName());
  dialog->open();
}

void RealDialogs::chooseFile(QWidget* parent, const QString& title, const QString& current, const Answer& chosen) {
  QFileDialog* dialog = makeDialog(parent, title, chosen);
  dialog->setFileMode(QFileDialog::ExistingFile);
  dialog->setDirectory(QFileInfo(current).absolutePath());
  dialog->open();
}

void RealDialogs::chooseFolder(QWidget* parent, const QString& title, const QString& current, const Answer& chosen) {
  QFileDialog* dialog = makeDialog(parent, title, chosen);
  dialog->setFileMode(QFileDialog::Directory);
  dialog->setDirectory(current);
  dialog->open();
}

void RealDialogs::askText(QWidget* parent, const QString& title, const QString& question, const Answer& answered) {
  auto* dialog = new QInputDialog(parent);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(title);
  dialog->setLabelText(question);
  QObject::connect(dialog, &QInputDialog::textValueSelected, parent, answered);
  dialog->open();
}

void RealDialogs::showAbout(QWidget* parent) {
  auto* box = new QMessageBox(parent);
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->setWindowTitle(tr("About Swage"));
  box->setIconPixmap(applicationIcon().pixmap(64));
  box->setText(u"<b>Swage %1</b>"_s.arg(QCoreApplication::applicationVersion()));
  box->setInformativeText(
      tr("Turns a PyTorch module into the fastest verified kernel it can find on the devices of "
         "this machine.\n\nThis window is licensed under GPL-3.0-or-later, everything else under "
         "Apache-2.0. An exported kernel belongs to you."));
  box->open();
}

}  // namespace swage::ui
