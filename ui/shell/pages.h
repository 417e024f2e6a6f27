// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace swage::ui {

struct Actions;
struct WindowOptions;
struct WindowServices;
class BenchmarkPage;
class CandidatesPage;
class ComparePage;
class DockLayout;
class DoctorPage;
class HelpPage;
class KernelPage;
class PatternsPage;
class ProfilePage;
class RunsPage;
class ProjectSession;
class SwarmPage;
class TasksPage;
class WelcomePage;

// Those that the window itself has to do with.
struct Pages {
  TasksPage* tasks = nullptr;
  CandidatesPage* candidates = nullptr;
  KernelPage* kernel = nullptr;
  ComparePage* compare = nullptr;    // null: nobody knows common ancestors
  ProfilePage* profile = nullptr;    // null: nobody makes profiles
  PatternsPage* patterns = nullptr;  // null: there is no catalogue
  RunsPage* runs = nullptr;
  BenchmarkPage* benchmark = nullptr;  // null: nobody reads results
  DoctorPage* doctor = nullptr;        // null: nobody looks
  SwarmPage* swarm = nullptr;          // null: nobody knows pairs
  HelpPage* help = nullptr;
  WelcomePage* welcome = nullptr;
};

// Makes every page of the window, docks it, and joins those that lead to one another.
[[nodiscard]] Pages addPages(DockLayout& docks, ProjectSession& session, const WindowServices& services,
                             const WindowOptions& options, const Actions& actions);

}  // namespace swage::ui
