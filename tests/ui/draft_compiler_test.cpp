// SPDX-License-Identifier: Apache-2.0
#include "ui/models/draft_compiler.h"

#include <gtest/gtest.h>

#include <QSignalSpy>

#include "tests/support/fake_compile_service.h"
#include "tests/support/wait_for.h"

namespace swage::ui {
namespace {

services::DraftSource draft(const std::string& source) {
  return {.project = "project", .parent = domain::CandidateId(3), .source = source};
}

domain::CompileOutcome failure() {
  return domain::CompileFailed{domain::CompileFailureReason::Error, "source.cpp:1:1: error: no"};
}

class DraftCompilerTest : public ::testing::Test {
 protected:
  testing::FakeCompileService service;
  DraftCompiler compiler{&service};
};

TEST_F(DraftCompilerTest, CompilesWhenTheKeysRest) {
  compiler.setDraft(draft("a"));
  compiler.setDraft(draft("ab"));
  EXPECT_TRUE(compiler.isPending());
  EXPECT_TRUE(service.drafts.empty());
  ASSERT_TRUE(testing::waitFor([this] { return !service.drafts.empty(); }));
  EXPECT_EQ(service.drafts, std::vector{draft("ab")});
  service.answer(failure());
  ASSERT_TRUE(compiler.outcome());
  EXPECT_FALSE(compiler.isPending());
}

TEST_F(DraftCompilerTest, AnAnswerToAnOlderTextIsNone) {
  compiler.setDraft(draft("a"));
  compiler.compileNow();
  compiler.setDraft(draft("b"));
  service.answer(failure());
  EXPECT_FALSE(compiler.outcome());
  compiler.compileNow();
  service.answerOlder(failure());
  EXPECT_FALSE(compiler.outcome());
  service.answer(failure());
  EXPECT_TRUE(compiler.outcome());
}

TEST_F(DraftCompilerTest, WhatIsKnownIsNotCompiledAgain) {
  compiler.setDraft(draft("a"));
  compiler.compileNow();
  service.answer(failure());
  const QSignalSpy changed(&compiler, &DraftCompiler::changed);
  compiler.setDraft(draft("a"));
  compiler.compileNow();
  EXPECT_EQ(service.drafts.size(), 1U);
  EXPECT_EQ(changed.count(), 0);
}

TEST_F(DraftCompilerTest, NothingIsHeardOfADraftThatIsGone) {
  compiler.setDraft(draft("a"));
  compiler.compileNow();
  compiler.clear();
  EXPECT_EQ(service.cancels, 1);
  service.answer(failure());
  EXPECT_FALSE(compiler.outcome());
  EXPECT_FALSE(compiler.hasDraft());
}

TEST_F(DraftCompilerTest, WithoutAServiceNothingIsCompiled) {
  DraftCompiler none(nullptr);
  none.setDraft(draft("a"));
  none.compileNow();
  none.clear();
  EXPECT_FALSE(none.isAvailable());
  EXPECT_FALSE(none.hasDraft());
}

}  // namespace
}  // namespace swage::ui
