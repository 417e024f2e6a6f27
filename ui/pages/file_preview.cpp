// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/file_preview.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QTabBar>
#include <QVBoxLayout>

#include <algorithm>

#include "ui/editor/kernel_view.h"
#include "ui/models/format.h"
#include "ui/widgets/empty_state.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using services::ExportFile;

CodeLanguage languageOf(const std::string& name) {
  for (const domain::LanguageFacts& facts : domain::languages()) {
    if (name.ends_with(facts.sourceSuffix)) {
      return codeLanguage(facts.lexer);
    }
  }
  const std::pair<const char*, CodeLanguage> endings[] = {
      {".py", CodeLanguage::Python}, {".json", CodeLanguage::Json}, {".md", CodeLanguage::Markdown}};
  for (const auto& [ending, language] : endings) {
    if (name.ends_with(ending)) {
      return language;
    }
  }
  return CodeLanguage::Plain;
}

bool haveSameNames(const std::vector<ExportFile>& a, const std::vector<ExportFile>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const ExportFile& left, const ExportFile& right) { return left.name == right.name; });
}

QString sizeText(const ExportFile& file) {
  const auto lines = std::count(file.content.begin(), file.content.end(), '\n');
  constexpr std::size_t kKiB = 1024;
  const QString size = file.content.size() < kKiB
                           ? FilePreview::tr("%1 bytes").arg(file.content.size())
                           : FilePreview::tr("%1 KiB").arg(static_cast<double>(file.content.size()) / kKiB, 0, 'f', 1);
  return (lines == 1 ? FilePreview::tr("1 line, %1") : FilePreview::tr("%1 lines, %2").arg(formatCount(lines), u"%1"_s))
      .arg(size);
}

}  // namespace

FilePreview::FilePreview(QWidget* parent)
    : QWidget(parent),
      m_tabs(new QTabBar),
      m_size(new QLabel),
      m_copy(new QPushButton(tr("&Copy"))),
      m_view(new KernelView(CodeLanguage::Python)),
      m_viewOrEmpty(new EmptyState(m_view, tr("Preparing the files…"))) {
  m_tabs->setObjectName(u"exportFiles"_s);
  m_tabs->setAccessibleName(tr("Files that would be written"));
  m_tabs->setExpanding(false);
  m_tabs->setDrawBase(false);
  m_tabs->setUsesScrollButtons(true);
  m_size->setObjectName(u"exportFileSize"_s);
  m_size->setForegroundRole(QPalette::PlaceholderText);
  m_copy->setObjectName(u"copyExportFile"_s);
  m_copy->setToolTip(tr("Copy the shown file to the clipboard"));
  m_view->setObjectName(u"exportPreview"_s);
  m_view->setAccessibleName(tr("Preview of the file"));
  auto* row = new QHBoxLayout;
  row->addWidget(m_tabs, 1);
  row->addWidget(m_size);
  row->addWidget(m_copy);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addLayout(row);
  column->addWidget(m_viewOrEmpty, 1);
  connect(m_tabs, &QTabBar::currentChanged, this, &FilePreview::show);
  connect(m_copy, &QPushButton::clicked, this, &FilePreview::copy);
  setSentence(tr("Preparing the files…"));
}

void FilePreview::setTheme(const Theme& theme) {
  m_theme = theme;
  m_view->setTheme(theme);
}

void FilePreview::setFiles(std::vector<ExportFile> files) {
  const bool stays = haveSameNames(files, m_files) && m_tabs->count() == static_cast<int>(files.size());
  m_files = std::move(files);
  if (!stays) {
    const QSignalBlocker quiet(m_tabs);
    while (m_tabs->count() > 0) {
      m_tabs->removeTab(0);
    }
    for (const ExportFile& file : m_files) {
      m_tabs->addTab(toQString(file.name));
    }
  }
  m_viewOrEmpty->setEmpty(m_files.empty());
  m_copy->setEnabled(!m_files.empty());
  show(m_tabs->currentIndex());
}

void FilePreview::setSentence(const QString& sentence) {
  m_viewOrEmpty->setSentence(sentence);
  m_viewOrEmpty->setEmpty(true);
  m_copy->setEnabled(false);
  m_size->clear();
}

void FilePreview::show(int index) {
  if (index < 0 || index >= static_cast<int>(m_files.size())) {
    return;
  }
  const ExportFile& file = m_files[static_cast<std::size_t>(index)];
  m_view->setLanguage(languageOf(file.name));
  m_view->setTheme(m_theme);
  m_view->setText(toQString(file.content));
  m_size->setText(sizeText(file));
}

void FilePreview::copy() const {
  QApplication::clipboard()->setText(shownText());
}

QString FilePreview::shownText() const {
  const int index = m_tabs->currentIndex();
  return index < 0 || index >= static_cast<int>(m_files.size())
             ? QString()
             : toQString(m_files[static_cast<std::size_t>(index)].content);
}

}  // namespace swage::ui
