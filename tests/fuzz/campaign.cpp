// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/campaign.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/files.h"

namespace swage::fuzz {
namespace {

using domain::Json;

constexpr std::size_t kSlice = 24;  // cases for one child: enough that its worker's start does not count
constexpr std::chrono::minutes kSilence{10};
constexpr std::chrono::seconds kBetweenProgress{10};
constexpr std::size_t kKeptErrors = 3000;

toolchain::Environment ownEnvironment() {
  toolchain::Environment environment;
  for (char** entry = ::environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (const std::size_t equals = text.find('='); equals != std::string_view::npos) {
      environment.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  return environment;
}

// The end of what a child wrote to its standard error.
std::string lastErrors(int file) {
  const off_t size = ::lseek(file, 0, SEEK_END);
  const off_t begin = std::max<off_t>(0, size - static_cast<off_t>(kKeptErrors));
  std::string text(static_cast<std::size_t>(size - begin), '\0');
  const ssize_t got = ::pread(file, text.data(), text.size(), begin);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

std::string describeEnd(int status) {
  return WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status))
                             : fmt::format("exit code {}", WEXITSTATUS(status));
}

std::string fileNameFor(const std::string& item, const std::string& kind) {
  std::string name = std::filesystem::path(item).stem().string() + "-" + kind + ".json";
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

}  // namespace

std::string Tally::text() const {
  std::string text = fmt::format("{} graphs, {} candidates, {} of them run against PyTorch\n", graphs, candidates, run);
  std::uint64_t count = 0;
  for (const auto& [reason, times] : refused) {
    count += times;
  }
  text += fmt::format("PyTorch refused {} graphs\n", count);
  for (const auto& [reason, times] : refused) {
    text += fmt::format("  {:6} {}\n", times, reason);
  }
  text += fmt::format("a few roundings beyond the contract: {} candidates\n", inexact);
  text += failures.empty() ? "no failures\n" : "failures:\n";
  for (const auto& [kind, items] : failures) {
    constexpr std::size_t kShown = 12;
    const std::vector<std::string> shown(items.begin(),
                                         items.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, items.size())));
    text += fmt::format("  {:6} {}: {}{}\n", items.size(), kind, fmt::join(shown, ", "),
                        items.size() > kShown ? ", …" : "");
  }
  return text;
}

Campaign::Campaign(CampaignOptions options) : m_options(std::move(options)), m_nextSeed(m_options.seed) {}

Result<Tally> Campaign::run() {
  SWAGE_TRY(fill());
  while (!m_jobs.empty()) {
    wait();
    SWAGE_TRY(fill());
    showProgress();
  }
  m_tally.next = m_nextSeed;
  return m_tally;
}

std::vector<std::string> Campaign::nextItems() {
  std::vector<std::string> items;
  if (!m_again.empty()) {
    items = std::move(m_again.front());
    m_again.pop_front();
    return items;
  }
  const auto spent = std::chrono::duration<double>(Clock::now() - m_start).count();
  if (m_options.minutes > 0.0 && spent > 60.0 * m_options.minutes) {
    return items;
  }
  if (!m_options.items.empty()) {
    for (; items.size() < kSlice && m_nextItem < m_options.items.size(); ++m_nextItem) {
      items.push_back(m_options.items[m_nextItem]);
    }
    return items;
  }
  for (; items.size() < kSlice && m_nextSeed < m_options.seed + m_options.count; ++m_nextSeed) {
    items.push_back(std::to_string(m_nextSeed));
  }
  return items;
}

Result<> Campaign::fill() {
  while (m_jobs.size() < static_cast<std::size_t>(m_options.jobs)) {
    std::vector<std::string> items = nextItems();
    if (items.empty()) {
      return {};
    }
    SWAGE_TRY_ASSIGN(Job job, startJob(std::move(items)));
    m_jobs.push_back(std::move(job));
  }
  return {};
}

Result<Campaign::Job> Campaign::startJob(std::vector<std::string> items) const {
  SWAGE_TRY_ASSIGN(toolchain::Pipe pipe, toolchain::openPipe());
  Fd errors(::memfd_create("swage-fuzz", MFD_CLOEXEC));
  std::vector<std::string> command = m_options.childCommand;
  command.push_back(fmt::format("{}", fmt::join(items, ",")));
  toolchain::ProcessLimits limits;
  limits.fileBytes = std::int64_t{1} << 40;
  SWAGE_TRY_ASSIGN(toolchain::LimitedChild child,
                   toolchain::LimitedChild::start(command, ownEnvironment(), {-1, pipe.write.get(), errors.get()},
                                                  limits, toolchain::LimitedChild::CpuLimit::None));
  return Job{std::move(child), std::move(pipe.read), std::move(errors), std::move(items), {}, {}, Clock::now()};
}

void Campaign::wait() {
  std::vector<pollfd> waiting;
  waiting.reserve(m_jobs.size());
  for (const Job& job : m_jobs) {
    waiting.push_back({job.output.get(), POLLIN, 0});
  }
  ::poll(waiting.data(), waiting.size(), 1000);
  for (std::size_t i = m_jobs.size(); i-- > 0;) {
    const bool hung = Clock::now() - m_jobs[i].heard > kSilence;
    const bool ended = waiting[i].revents != 0 && !read(m_jobs[i]);
    if (ended || hung) {
      handleEnd(m_jobs[i], hung);
      m_jobs.erase(m_jobs.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

bool Campaign::read(Job& job) {
  std::array<char, 65536> bytes{};
  const ssize_t got = ::read(job.output.get(), bytes.data(), bytes.size());
  if (got <= 0) {
    return false;
  }
  job.heard = Clock::now();
  job.buffer.append(bytes.data(), static_cast<std::size_t>(got));
  for (std::size_t end = job.buffer.find('\n'); end != std::string::npos; end = job.buffer.find('\n')) {
    handleLine(job, job.buffer.substr(0, end));
    job.buffer.erase(0, end + 1);
  }
  return true;
}

void Campaign::handleLine(Job& job, const std::string& line) {
  const auto json = domain::parseJson(line);
  if (!json || !json->is_object()) {
    return;
  }
  if (json->contains("begin")) {
    job.begun = json->value("begin", "");
    return;
  }
  const std::string item = json->value("end", "");
  job.begun.clear();
  job.open.erase(std::remove(job.open.begin(), job.open.end(), item), job.open.end());
  m_tally.candidates += json->value("candidates", std::uint64_t{0});
  m_tally.run += json->value("run", std::uint64_t{0});
  if (const std::string refusal = json->value("refusal", ""); !refusal.empty()) {
    ++m_tally.refused[refusal.substr(0, 110)];
  }
  std::vector<Finding> findings;
  for (const Json& finding : json->value("findings", Json::array())) {
    findings.push_back(findingFromJson(finding));
  }
  take(item, std::move(findings));
}

void Campaign::take(const std::string& item, std::vector<Finding> findings) {
  ++m_tally.graphs;
  std::vector<Finding> failures;
  for (const Finding& finding : findings) {
    if (finding.kind == kInexact) {
      ++m_tally.inexact;
      continue;
    }
    failures.push_back(finding);
    std::vector<std::string>& items = m_tally.failures[finding.kind];
    if (items.empty() || items.back() != item) {
      items.push_back(item);
    }
  }
  if (!failures.empty()) {
    keep(item, failures);
  }
  if (!findings.empty()) {
    m_findings[item] = std::move(findings);
  }
}

void Campaign::keep(const std::string& item, const std::vector<Finding>& failures) const {
  if (m_options.corpus.empty()) {
    return;
  }
  auto found = findCase(item);
  if (!found) {
    return;
  }
  found->why = failures.front().kind + ": " + failures.front().detail;
  for (const Finding& failure : failures) {
    if (!failure.genome.regions.empty()) {
      found->genomes.push_back(failure.genome);
    }
  }
  std::error_code ignored;
  std::filesystem::create_directories(m_options.corpus, ignored);
  const std::filesystem::path file = m_options.corpus / fileNameFor(item, failures.front().kind);
  if (const auto written = writeFileAtomically(file, toJson(*found).dump(1) + "\n"); !written) {
    fmt::print(stderr, "swage-fuzz: {}\n", written.error().message());
  }
}

void Campaign::handleEnd(Job& job, bool hung) {
  const int status = job.child.killAndReap();
  if (job.open.empty()) {
    return;
  }
  const std::string how = hung ? std::string("no answer") : describeEnd(status) + "\n" + lastErrors(job.errors.get());
  // Between the cases it was compiling them all, which a second try would do again.
  const std::vector<std::string> lost = job.begun.empty() ? job.open : std::vector<std::string>{job.begun};
  for (const std::string& item : lost) {
    take(item, {{hung ? "hangs" : "crash in synthesis", how, {}}});
    job.open.erase(std::remove(job.open.begin(), job.open.end(), item), job.open.end());
  }
  if (!job.open.empty()) {
    m_again.push_back(std::move(job.open));
  }
}

void Campaign::showProgress() {
  if (m_options.quiet || Clock::now() - m_shown < kBetweenProgress) {
    return;
  }
  m_shown = Clock::now();
  std::size_t failures = 0;
  for (const auto& [kind, items] : m_tally.failures) {
    failures += items.size();
  }
  const auto seconds = std::chrono::duration<double>(m_shown - m_start).count();
  fmt::print(stderr, "{} graphs in {:.0f} s ({:.1f}/s), {} failures, next seed {}\n", m_tally.graphs, seconds,
             static_cast<double>(m_tally.graphs) / seconds, failures, m_nextSeed);
}

}  // namespace swage::fuzz
