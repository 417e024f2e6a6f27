// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/actions.h"

#include <QCoreApplication>

#include "ui/widgets/icons.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

QAction* make(QObject* owner, const QString& name, const char* text, const QKeySequence& shortcut, const char* tip) {
  auto* action = new QAction(QCoreApplication::translate("actions", text), owner);
  action->setObjectName(name);
  action->setShortcut(shortcut);
  QString hint = QCoreApplication::translate("actions", tip);
  action->setStatusTip(hint);
  if (!shortcut.isEmpty()) {
    hint += u" ("_s % shortcut.toString(QKeySequence::NativeText) % u")"_s;
  }
  action->setToolTip(hint);
  return action;
}

}  // namespace

Actions::Actions(QObject* owner)
    : openTask(make(owner, u"openTask"_s, "&Open Task…", QKeySequence::Open, "Choose a Python file to optimise")),
      openBundle(make(owner, u"openBundle"_s, "Open &Bundle…", {}, "Choose a folder with an imported task")),
      openProject(make(owner, u"openProject"_s, "Open &Project…", QKeySequence(u"Ctrl+Shift+O"_s),
                       "Choose the folder whose record is shown and written")),
      quickOpen(make(owner, u"quickOpen"_s, "&Go To…", QKeySequence(u"Ctrl+P"_s),
                     "Find a candidate by its number, a cell, a run, a task or a page by its name")),
      exportKernel(make(owner, u"exportKernel"_s, "&Export Kernel…", QKeySequence(u"Ctrl+E"_s),
                        "Check the selected kernel and write it as files of your own")),
      newWindow(make(owner, u"newWindow"_s, "&New Window", QKeySequence(u"Ctrl+Shift+N"_s),
                     "Open another window on the task and the project of this one")),
      closeWindow(make(owner, u"closeWindow"_s, "&Close Window", QKeySequence(u"Ctrl+Shift+W"_s),
                       "Close this window; others stay open")),
      quit(make(owner, u"quit"_s, "&Quit", QKeySequence(u"Ctrl+Q"_s), "Leave Swage: close all of its windows")),
      start(make(owner, u"start"_s, "&Start", QKeySequence(u"F5"_s), "Start a search over the chosen task")),
      pause(make(owner, u"pause"_s, "&Pause", QKeySequence(u"F6"_s), "Pause after the evaluation in progress")),
      stop(make(owner, u"stop"_s, "S&top", QKeySequence(u"Shift+F5"_s),
                "Stop after the evaluation in progress; the record stays resumable")),
      stopNow(make(owner, u"stopNow"_s, "Stop &Now", {},
                   "Stop at once: what is being evaluated counts as not evaluated; the record stays resumable")),
      resumeRecorded(make(owner, u"resumeRecorded"_s, "&Resume This Run", QKeySequence(u"Ctrl+F5"_s),
                          "Go on with the run that is shown")),
      followBest(make(owner, u"followBest"_s, "Show the &Best Kernel", QKeySequence(u"Ctrl+B"_s),
                      "Show the best kernel of all cells and follow it")),
      findInKernel(make(owner, u"findInKernel"_s, "&Find in Kernel…", {}, "Search the source that is shown")),
      commandPalette(make(owner, u"commandPalette"_s, "&Command Palette…", QKeySequence(u"Ctrl+Shift+P"_s),
                          "Find any command by a part of its name")),
      settings(make(owner, u"settings"_s, "&Settings…", QKeySequence(u"Ctrl+,"_s), "Everything that can be set")),
      fullScreen(make(owner, u"fullScreen"_s, "&Full Screen", QKeySequence(u"F11"_s),
                      "Give the window the whole screen, or take it back")),
      help(make(owner, u"help"_s, "&Help", QKeySequence(u"F1"_s), "Explain the part of the window that has the focus")),
      playDemo(make(owner, u"playDemo"_s, "Play the &Demo", {},
                    "Replay a recorded search in a window of its own; needs no GPU, compiler or Python")),
      about(make(owner, u"about"_s, "&About Swage", {}, "Version and licence")) {
  pause->setCheckable(true);
  fullScreen->setCheckable(true);
  quit->setMenuRole(QAction::QuitRole);
  about->setMenuRole(QAction::AboutRole);
}

void Actions::setTheme(const Theme& theme) const {
  openTask->setIcon(themedIcon(u"open"_s, theme));
  exportKernel->setIcon(themedIcon(u"export"_s, theme));
  start->setIcon(themedIcon(u"start"_s, theme.good, theme.disabledText));
  pause->setIcon(themedIcon(u"pause"_s, theme));
  stop->setIcon(themedIcon(u"stop"_s, theme.bad, theme.disabledText));
}

}  // namespace swage::ui
