// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/exchange_dialog.h"

#include <QClipboard>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFile>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSplitter>
#include <QVBoxLayout>

#include <algorithm>
#include <chrono>

#include "ui/editor/kernel_view.h"
#include "ui/models/answer.h"
#include "ui/models/format.h"
#include "ui/shell/dialogs.h"
#include "ui/widgets/empty_state.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using services::ReplyCheck;
using services::WaitingPrompt;

constexpr std::chrono::milliseconds kRest{300};  // of the keys, before a reply is read
constexpr qint64 kMostBytes = qint64{2} << 20U;

QPushButton* makeButton(const QString& text, const QString& name) {
  auto* button = new QPushButton(text);
  button->setObjectName(name);
  button->setAutoDefault(false);
  return button;
}

}  // namespace

ExchangeDialog::ExchangeDialog(services::SwarmService& swarm, Dialogs& dialogs, QWidget* parent)
    : QDialog(parent),
      m_swarm(swarm),
      m_dialogs(dialogs),
      m_which(new QComboBox),
      m_prompt(new KernelView(KernelView::Language::Markdown)),
      m_reply(new KernelView(KernelView::Language::Markdown)),
      m_copy(makeButton(tr("Copy Prompt"), u"exchangeCopy"_s)),
      m_send(makeButton(tr("Send Reply"), u"exchangeSend"_s)),
      m_result(new QLabel) {
  setObjectName(u"exchangeDialog"_s);
  setWindowTitle(tr("Answer by Hand"));
  m_result->setObjectName(u"exchangeResult"_s);
  m_result->setWordWrap(true);
  m_result->setMinimumHeight(fontMetrics().height() * 2);
  m_result->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  m_result->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  auto* texts = new QSplitter;
  texts->setObjectName(u"exchangeTexts"_s);
  texts->setChildrenCollapsible(false);
  texts->addWidget(makePrompt());
  texts->addWidget(makeReply());
  auto* content = new QWidget;
  auto* inner = new QVBoxLayout(content);
  inner->setContentsMargins(0, 0, 0, 0);
  inner->addWidget(texts, 1);
  inner->addWidget(m_result);
  m_empty = new EmptyState(content, tr("No prompt waits. The next one appears here while the search goes on."));
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  buttons->addButton(m_send, QDialogButtonBox::ActionRole);
  auto* column = new QVBoxLayout(this);
  column->addWidget(m_empty, 1);
  column->addWidget(buttons);
  m_rest.setSingleShot(true);
  m_rest.setInterval(kRest);
  connect(&m_rest, &QTimer::timeout, this, &ExchangeDialog::check);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::close);
  connect(m_send, &QPushButton::clicked, this, &ExchangeDialog::send);
  connect(m_reply, &KernelView::edited, this, &ExchangeDialog::edited);
  connect(&swarm, &services::SwarmService::changed, this,
          [this](const services::SwarmSnapshot& report) { setWaiting(report->waiting); });
  m_send->setEnabled(false);
  resize(fontMetrics().averageCharWidth() * 150, fontMetrics().height() * 42);
}

QWidget* ExchangeDialog::makePrompt() {
  m_which->setObjectName(u"exchangeWhich"_s);
  m_which->setAccessibleName(tr("Prompt to answer"));
  m_prompt->setObjectName(u"exchangePrompt"_s);
  m_prompt->setTitle(tr("Prompt"));
  auto* side = new QWidget;
  auto* line = new QHBoxLayout;
  line->addWidget(m_which, 1);
  line->addWidget(m_copy);
  auto* column = new QVBoxLayout(side);
  column->setContentsMargins(0, 0, 0, 0);
  column->addLayout(line);
  column->addWidget(m_prompt, 1);
  connect(m_which, &QComboBox::currentIndexChanged, this, &ExchangeDialog::choose);
  connect(m_copy, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(m_prompt->text()); });
  return side;
}

QWidget* ExchangeDialog::makeReply() {
  m_reply->setObjectName(u"exchangeReply"_s);
  m_reply->setTitle(tr("Reply"));
  m_reply->setEditing(KernelView::Editing::Now);
  auto* pasted = makeButton(tr("Paste"), u"exchangePaste"_s);
  auto* open = makeButton(tr("Open File…"), u"exchangeOpen"_s);
  auto* side = new QWidget;
  auto* line = new QHBoxLayout;
  line->addWidget(new QLabel(tr("Your reply")), 1);
  line->addWidget(pasted);
  line->addWidget(open);
  auto* column = new QVBoxLayout(side);
  column->setContentsMargins(fontMetrics().height() / 2, 0, 0, 0);
  column->addLayout(line);
  column->addWidget(m_reply, 1);
  connect(pasted, &QPushButton::clicked, this, &ExchangeDialog::paste);
  connect(open, &QPushButton::clicked, this, &ExchangeDialog::openFile);
  return side;
}

void ExchangeDialog::setTheme(const Theme& theme) {
  m_prompt->setTheme(theme);
  m_reply->setTheme(theme);
}

const WaitingPrompt* ExchangeDialog::current() const {
  const auto index = static_cast<std::size_t>(m_which->currentIndex());
  return m_which->currentIndex() < 0 || index >= m_waiting.size() ? nullptr : &m_waiting[index];
}

void ExchangeDialog::setWaiting(const std::vector<WaitingPrompt>& waiting) {
  if (waiting == m_waiting) {
    return;
  }
  const std::optional<WaitingPrompt> before = current() != nullptr ? std::optional(*current()) : std::nullopt;
  m_waiting = waiting;
  const auto same = std::find(m_waiting.begin(), m_waiting.end(), before.value_or(WaitingPrompt()));
  {
    const QSignalBlocker quiet(m_which);
    m_which->clear();
    for (const WaitingPrompt& one : m_waiting) {
      m_which->addItem(toQString(one.prompt.filename().string()));
    }
    m_which->setCurrentIndex(same != m_waiting.end() ? static_cast<int>(same - m_waiting.begin())
                                                     : std::min(0, m_which->count() - 1));
  }
  m_empty->setEmpty(m_waiting.empty());
  if (same == m_waiting.end()) {
    choose();
  }
}

void ExchangeDialog::choose() {
  const WaitingPrompt* prompt = current();
  m_reply->setText({});
  m_reply->setEditing(KernelView::Editing::Now);
  m_result->clear();
  m_send->setEnabled(false);
  if (prompt == nullptr) {
    m_prompt->setText({});
    return;
  }
  const Result<std::string> text = m_swarm.promptText(*prompt);
  m_prompt->setText(text ? toQString(*text) : QString());
  m_result->setText(text ? tr("Copy the prompt, and paste a reply in the form that it asks for.")
                         : toQString(asSentence(text.error().message())));
}

void ExchangeDialog::paste() {
  m_reply->setText(QGuiApplication::clipboard()->text());
  edited();
}

void ExchangeDialog::openFile() {
  m_dialogs.chooseFile(this, tr("Open a Reply"), {}, [this](const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) {
      m_result->setText(tr("“%1” cannot be read: %2.").arg(path, file.errorString()));
      return;
    }
    m_reply->setText(QString::fromUtf8(file.read(kMostBytes)));
    edited();
  });
}

void ExchangeDialog::edited() {
  ++m_question;
  m_send->setEnabled(false);
  m_rest.start();
}

void ExchangeDialog::check() {
  const QString text = m_reply->text();
  if (text.trimmed().isEmpty()) {
    m_result->clear();
    return;
  }
  whenAnswered(m_swarm.checkReply(text.toStdString()), this,
               [this, question = m_question](const Result<ReplyCheck>& checked) {
                 if (question == m_question) {
                   showCheck(checked);
                 }
               });
}

void ExchangeDialog::showCheck(const Result<ReplyCheck>& checked) {
  m_send->setEnabled(checked.has_value() && current() != nullptr);
  if (!checked) {
    m_result->setText(tr("Cannot be read: %1").arg(toQString(checked.error().message())));
    return;
  }
  QStringList kernels;
  for (const std::string& kernel : checked->kernels) {
    kernels.push_back(toQString(kernel));
  }
  const QString intent = toQString(checked->intent);
  m_result->setText(tr("Readable: %1 lines of source; launches %2.%3")
                        .arg(formatCount(checked->sourceLines),
                             kernels.isEmpty() ? tr("no kernel") : kernels.join(u", "_s),
                             intent.isEmpty() ? QString() : tr(" Intent: %1").arg(intent)));
}

void ExchangeDialog::send() {
  const WaitingPrompt* prompt = current();
  if (prompt == nullptr) {
    return;
  }
  const Result<> sent = m_swarm.sendReply(*prompt, m_reply->text().toStdString());
  m_send->setEnabled(false);
  m_result->setText(sent ? tr("Sent; the search takes it within a second.")
                         : toQString(asSentence(sent.error().message())));
}

}  // namespace swage::ui
