// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/help_page.h"

#include <QComboBox>
#include <QCoreApplication>
#include <QEvent>
#include <QFile>
#include <QHBoxLayout>
#include <QTextBrowser>
#include <QTextFrame>
#include <QTextTable>
#include <QToolButton>
#include <QVBoxLayout>

#include "core/base/assert.h"
#include "core/domain/filter.h"
#include "ui/models/format.h"
#include "ui/widgets/icons.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

QString tr(const char* text) {
  return QCoreApplication::translate("help", text);
}

QString keyTable(domain::FilterVocabulary vocabulary) {
  QString table = tr("| Key | Meaning |\n|---|---|\n");
  for (const domain::FilterKey& key : vocabulary) {
    QString meaning = toQString(key.meaning);
    if (!key.choices.empty()) {
      QStringList choices;
      for (const std::string_view choice : key.choices) {
        choices.push_back(u"`"_s % toQString(choice) % u"`"_s);
      }
      meaning += u": "_s % choices.join(u", "_s);
    }
    table += u"| `"_s % toQString(key.name) % u"` | "_s % meaning % u" |\n"_s;
  }
  return table;
}

// Lines under the rows instead of boxes, with room around the words.
void styleTables(QTextDocument& document, const QColor& line) {
  for (QTextFrame* frame : document.rootFrame()->childFrames()) {
    auto* table = qobject_cast<QTextTable*>(frame);
    if (table == nullptr) {
      continue;
    }
    QTextTableFormat format = table->format();
    format.setTopMargin(8);
    format.setBottomMargin(8);
    format.setCellPadding(4);
    format.setCellSpacing(0);
    format.setBorderCollapse(true);
    format.setBorder(1);
    format.setBorderBrush(line);
    format.setBorderStyle(QTextFrameFormat::BorderStyle_Solid);
    format.setWidth(QTextLength(QTextLength::PercentageLength, 100));
    table->setFormat(format);
  }
}

}  // namespace

const std::vector<HelpTopic>& helpTopics() {
  static const std::vector<HelpTopic> topics = {{u"start"_s, tr("Getting started")},
                                                {u"filter"_s, tr("Filters")},
                                                {u"cells"_s, tr("Cells of the archive")},
                                                {u"keyboard"_s, tr("Keyboard shortcuts")},
                                                {u"command-line"_s, tr("Command line")}};
  return topics;
}

HelpPage::HelpPage(QWidget* parent)
    : QWidget(parent), m_topics(new QComboBox), m_back(new QToolButton), m_text(new QTextBrowser) {
  setObjectName(u"helpPage"_s);
  setFocusProxy(m_text);
  m_topics->setObjectName(u"helpTopic"_s);
  m_topics->setAccessibleName(tr("Topic"));
  for (const HelpTopic& topic : helpTopics()) {
    m_topics->addItem(topic.title, topic.id);
  }
  m_back->setObjectName(u"helpBack"_s);
  m_back->setText(tr("Back"));
  m_back->setToolTip(tr("Show the topic that was shown before"));
  m_back->setAutoRaise(true);
  m_back->setEnabled(false);
  m_text->setObjectName(u"helpText"_s);
  m_text->setAccessibleName(tr("Help"));
  m_text->setOpenLinks(false);
  m_text->setFrameShape(QFrame::NoFrame);
  m_text->document()->setDocumentMargin(fontMetrics().height());
  auto* row = new QHBoxLayout;
  row->setContentsMargins(6, 6, 6, 6);
  row->addWidget(m_topics, 1);
  row->addWidget(m_back);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(row);
  column->addWidget(m_text, 1);
  connect(m_topics, &QComboBox::activated, this, [this] { showTopic(topic()); });
  connect(m_text, &QTextBrowser::anchorClicked, this, &HelpPage::follow);
  connect(m_back, &QToolButton::clicked, this, &HelpPage::goBack);
  showTopic(helpTopics().front().id);
}

QString HelpPage::topic() const {
  return m_topics->currentData().toString();
}

void HelpPage::showTopic(const QString& id) {
  if (m_past.empty() || m_past.back() != id) {
    m_past.push_back(id);
  }
  show(id);
}

void HelpPage::goBack() {
  if (m_past.size() > 1) {
    m_past.pop_back();
    show(m_past.back());
  }
}

void HelpPage::show(const QString& id) {
  const int index = m_topics->findData(id);
  SWAGE_ASSERT(index >= 0);
  m_topics->setCurrentIndex(index);
  m_back->setEnabled(m_past.size() > 1);
  m_text->setMarkdown(markdownOf(id));
  styleTables(*m_text->document(), palette().color(QPalette::Mid));
}

void HelpPage::follow(const QUrl& link) {
  if (link.scheme() == "help"_L1 && m_topics->findData(link.path()) >= 0) {
    showTopic(link.path());
  }
}

// Links and lines have the colours of the palette that they were made with.
void HelpPage::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) {
    show(topic());
  }
}

QString HelpPage::markdownOf(const QString& id) const {
  initResources();
  QFile file(u":/help/"_s % id % u".md"_s);
  SWAGE_ASSERT(file.open(QIODevice::ReadOnly));
  QString text = QString::fromUtf8(file.readAll());
  text.replace("{{candidate keys}}"_L1, keyTable(domain::candidateFilterKeys()));
  text.replace("{{run keys}}"_L1, keyTable(domain::runFilterKeys()));
  text.replace("{{shortcuts}}"_L1, m_shortcuts ? m_shortcuts() : QString());
  return text;
}

}  // namespace swage::ui
