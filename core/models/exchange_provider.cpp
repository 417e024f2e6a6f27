// SPDX-License-Identifier: Apache-2.0
#include "core/models/exchange_provider.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/fd.h"
#include "core/base/files.h"
#include "core/models/clean_text.h"
#include "core/models/wire_format.h"

namespace swage::models {
namespace {

namespace fs = std::filesystem;

struct FoundReply {
  std::optional<std::string> text;  // no value: there is none yet
  bool isTooLarge = false;
};

FoundReply readReply(const fs::path& file) {
  const Fd opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat facts {};
  if (!opened.isOpen() || ::fstat(opened.get(), &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size == 0) {
    return {};
  }
  if (facts.st_size > static_cast<off_t>(ReplyCollector::kMaxText)) {
    return {std::nullopt, true};
  }
  std::string text(static_cast<std::size_t>(facts.st_size), '\0');
  const ssize_t count = ::read(opened.get(), text.data(), text.size());
  return count == static_cast<ssize_t>(text.size()) ? FoundReply{std::move(text)} : FoundReply{};
}

}  // namespace

ExchangeProvider::ExchangeProvider(fs::path folder, std::chrono::milliseconds look, QObject* parent)
    : ChatProvider(parent), m_folder(std::move(folder)) {
  m_timer.setInterval(look);
  connect(&m_timer, &QTimer::timeout, this, &ExchangeProvider::look);
}

fs::path ExchangeProvider::fileOf(std::uint64_t call, const char* what) const {
  return m_folder / fmt::format("{:03}-{}.md", call, what);
}

fs::path ExchangeProvider::promptFile(std::uint64_t call) const {
  return fileOf(call, "prompt");
}

fs::path ExchangeProvider::replyFile(std::uint64_t call) const {
  return fileOf(call, "reply");
}

std::uint64_t ExchangeProvider::firstFree() const {
  std::uint64_t number = 1;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(m_folder, ignored)) {
    const std::string name = entry.path().filename().string();
    constexpr std::size_t kMostDigits = 9;
    const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
    if (digits > 0 && digits <= kMostDigits) {
      number = std::max<std::uint64_t>(number, std::stoul(name.substr(0, digits)) + 1);
    }
  }
  return number;
}

std::uint64_t ExchangeProvider::ask(const ChatRequest& request) {
  std::error_code failure;
  fs::create_directories(m_folder, failure);
  m_next = m_next == 0 ? firstFree() : m_next + 1;
  const std::uint64_t call = m_next;
  m_calls.emplace(call, Call{.requestBytes = byteCount(request)});
  const Result<> written =
      failure
          ? Result<>(Error(ErrorKind::Io, fmt::format("cannot create '{}': {}", m_folder.string(), failure.message())))
          : writeFileAtomically(promptFile(call), promptText(request));
  if (!written) {
    finishLater(call, {.kind = FailureKind::BadRequest,
                       .message = written.error().message(),
                       .hint = "name a folder that can be written to"});
    return call;
  }
  m_timer.start();
  return call;
}

void ExchangeProvider::cancel(std::uint64_t call) {
  finishLater(call, *cancelledOutcome().failure());
}

void ExchangeProvider::finishLater(std::uint64_t call, ChatFailure failure) {
  QTimer::singleShot(0, this, [this, call, failure = std::move(failure)] { finish(call, failure); });
}

void ExchangeProvider::look() {
  std::vector<std::uint64_t> calls;
  for (const auto& [call, ignored] : m_calls) {
    calls.push_back(call);
  }
  for (const std::uint64_t number : calls) {
    const auto found = m_calls.find(number);
    if (found == m_calls.end()) {
      continue;
    }
    FoundReply reply = readReply(replyFile(number));
    if (reply.isTooLarge) {
      finish(number, ChatFailure{.kind = FailureKind::TooLarge, .message = "the file with the reply is too large"});
    } else if (reply.text && reply.text == found->second.seen) {
      const TokenUsage usage{.input = estimatedTokens(found->second.requestBytes),
                             .output = estimatedTokens(reply.text->size()),
                             .isEstimated = true};
      finish(number, ChatReply{.text = cleanText(*reply.text, ReplyCollector::kMaxText),
                               .model = "exchange",
                               .id = fmt::format("{:03}", number),
                               .usage = usage});
    } else {
      found->second.seen = std::move(reply.text);
    }
  }
}

void ExchangeProvider::finish(std::uint64_t call, std::variant<ChatReply, ChatFailure> result) {
  const auto found = m_calls.find(call);
  if (found == m_calls.end()) {
    return;
  }
  ChatOutcome outcome{std::move(result)};
  outcome.usage = outcome.reply() != nullptr ? outcome.reply()->usage : TokenUsage();
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - found->second.begun).count();
  outcome.attempts = 1;
  m_calls.erase(found);
  if (m_calls.empty()) {
    m_timer.stop();
  }
  std::error_code ignored;
  fs::rename(promptFile(call), fileOf(call, "prompt.done"), ignored);
  Q_EMIT ended(call, outcome);
}

std::string promptText(const ChatRequest& request) {
  std::string text = request.system + "\n";
  for (const Message& message : request.messages) {
    text +=
        fmt::format("\n---- {} ----\n\n{}\n", message.role == Role::User ? "question" : "your answer", message.text);
  }
  return text;
}

}  // namespace swage::models
