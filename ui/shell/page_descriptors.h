// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "ui/shell/page_descriptor.h"

// What each page is called, where it stands in the three layouts and which keys lead to it.
namespace swage::ui {

[[nodiscard]] PageDescriptor describeTasks();
[[nodiscard]] PageDescriptor describePatterns();
[[nodiscard]] PageDescriptor describeRuns();
[[nodiscard]] PageDescriptor describeArchive();
[[nodiscard]] PageDescriptor describeAgents();
[[nodiscard]] PageDescriptor describeSwarm();
[[nodiscard]] PageDescriptor describeCompare();
[[nodiscard]] PageDescriptor describeBenchmark();
[[nodiscard]] PageDescriptor describeDoctor();
[[nodiscard]] PageDescriptor describeHelp();
[[nodiscard]] PageDescriptor describeKernel();
[[nodiscard]] PageDescriptor describeProfile();
[[nodiscard]] PageDescriptor describeProgress();
[[nodiscard]] PageDescriptor describeLineage();
[[nodiscard]] PageDescriptor describeCandidates();
[[nodiscard]] PageDescriptor describeWelcome();
[[nodiscard]] std::vector<PageDescriptor> describePages();  // all of them

}  // namespace swage::ui
