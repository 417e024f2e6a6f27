// SPDX-License-Identifier: Apache-2.0
#include "core/base/log.h"

#include <memory>
#include <mutex>
#include <utility>

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include "core/base/log_colors.h"

namespace swage::log {
namespace {

struct State {
  std::shared_ptr<spdlog::sinks::stderr_color_sink_mt> sink;
  std::shared_ptr<spdlog::logger> logger;
  std::mutex mutex;
  std::function<void(Level, std::string_view)> observer;
  Level level = Level::Info;

  State()
      : sink(std::make_shared<spdlog::sinks::stderr_color_sink_mt>()),
        logger(std::make_shared<spdlog::logger>("swage", sink)) {
    logger->set_pattern("%H:%M:%S.%e %^%l%$ %v");
    logger->set_level(spdlog::level::debug);
  }
};

State& state() {
  static State instance;
  return instance;
}

spdlog::level::level_enum toSpdlog(Level level) {
  switch (level) {
    case Level::Debug: return spdlog::level::debug;
    case Level::Info: return spdlog::level::info;
    case Level::Warn: return spdlog::level::warn;
    case Level::Error: return spdlog::level::err;
  }
  return spdlog::level::info;
}

}  // namespace

void write(Level messageLevel, std::string_view message) {
  State& self = state();
  std::function<void(Level, std::string_view)> observer;
  {
    const std::lock_guard lock(self.mutex);
    if (messageLevel < self.level) {
      return;
    }
    observer = self.observer;
  }
  self.logger->log(toSpdlog(messageLevel), spdlog::string_view_t(message.data(), message.size()));
  if (observer) {
    observer(messageLevel, message);
  }
}

void setLevel(Level newLevel) {
  const std::lock_guard lock(state().mutex);
  state().level = newLevel;
}

Level level() {
  const std::lock_guard lock(state().mutex);
  return state().level;
}

void setColors(bool used) {
  state().sink->set_color_mode(used ? spdlog::color_mode::always : spdlog::color_mode::never);
}

void setObserver(std::function<void(Level, std::string_view)> observer) {
  const std::lock_guard lock(state().mutex);
  state().observer = std::move(observer);
}

}  // namespace swage::log
