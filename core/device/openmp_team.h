// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <span>
#include <vector>

namespace swage::device {

// The OpenMP threads of the thread that made this, which PyTorch computes with. Between parallel regions they look for
// work for some milliseconds before they sleep, on processors that a cell's threads are to have: pause() takes them
// off. One at a time in a process, and used by the thread that made it.
class OpenMpTeam {
 public:
  OpenMpTeam() = default;
  ~OpenMpTeam() { resume(); }
  OpenMpTeam(const OpenMpTeam&) = delete;
  OpenMpTeam& operator=(const OpenMpTeam&) = delete;

  // Afterwards all threads are awake, each on a processor of its own among those that the first one is `allowed`, as
  // far as there are enough. Nothing keeps them there.
  void spread(const cpu_set_t& allowed);
  // Where spread() left them, the first one first; -1: not known.
  [[nodiscard]] std::span<const int> processors() const { return m_processors; }

  // Until resume() all but the first one stand still, wherever they are; those are meant that spread() found. Meanwhile
  // nobody may begin a parallel region: it would wait for them for ever. `isAwaited`: they do so when this returns, which
  // takes long where other processes have the processors; else soon.
  void pause(bool isAwaited = true);
  // Those that looked for work go on with that.
  void resume();
  [[nodiscard]] bool isPaused() const { return m_isPaused; }

 private:
  std::vector<pid_t> m_threads;  // without the first one
  std::vector<int> m_processors;
  bool m_isPaused = false;
};

}  // namespace swage::device
