// SPDX-License-Identifier: Apache-2.0
#include "core/store/annotations.h"

#include "tests/core/store/samples.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::store {
namespace {

using domain::Annotation;
using domain::AnnotationEdit;
using domain::CandidateId;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;

class AnnotationsTest : public ::testing::Test {
 protected:
  AnnotationsTest() {
    for (int i = 0; i < 3; ++i) {
      m_ids.push_back(m_record.addCandidate(testing::sampleCandidate(m_run, i)).value());
    }
  }

  AnnotationEdit apply(const AnnotationEdit& edit) {
    return Annotations::open(m_directory.path()).value().apply(edit).value();
  }
  Annotation annotationOf(CandidateId id) const {
    return m_record.candidates(std::span(&id, 1)).value().front().annotation;
  }

  testing::TempDir m_directory;
  Record m_record = testing::openForWriting(m_directory.path());  // as a search does, with the project's lock
  domain::RunId m_run = m_record.createRun(testing::sampleRun()).value();
  std::vector<CandidateId> m_ids;
};

TEST_F(AnnotationsTest, AreThereBesideARunThatWrites) {
  EXPECT_EQ(annotationOf(m_ids[0]), Annotation());
  apply({.pin = {m_ids[0]}, .tag = {{m_ids[0], "to read"}, {m_ids[0], "fast"}}, .note = {{m_ids[0], "why?\nso."}}});
  EXPECT_EQ(annotationOf(m_ids[0]), (Annotation{true, false, {"fast", "to read"}, "why?\nso."}));
  EXPECT_EQ(annotationOf(m_ids[1]), Annotation());
  EXPECT_THAT(m_record.addCandidate(testing::sampleCandidate(m_run, 9)), IsOk());
}

TEST_F(AnnotationsTest, TheInverseUndoesWhatReallyChanged) {
  apply({.pin = {m_ids[0]}, .tag = {{m_ids[1], "fast"}}, .note = {{m_ids[2], "old"}}});
  const AnnotationEdit edit = {.pin = {m_ids[0], m_ids[1]},
                               .trash = m_ids,
                               .tag = {{m_ids[0], "fast"}, {m_ids[1], "FAST"}},
                               .note = {{m_ids[2], "new"}, {m_ids[1], ""}}};
  const AnnotationEdit undo = apply(edit);
  EXPECT_EQ(undo,
            (AnnotationEdit{
                .unpin = {m_ids[1]}, .restore = m_ids, .untag = {{m_ids[0], "fast"}}, .note = {{m_ids[2], "old"}}}));
  apply(undo);
  EXPECT_EQ(annotationOf(m_ids[0]), (Annotation{true, false, {}, ""}));
  EXPECT_EQ(annotationOf(m_ids[1]), (Annotation{false, false, {"fast"}, ""}));
  EXPECT_EQ(annotationOf(m_ids[2]), (Annotation{false, false, {}, "old"}));
}

TEST_F(AnnotationsTest, ANoteGoesWhenItIsEmptyAndUntaggingIgnoresCase) {
  apply({.tag = {{m_ids[0], "Fast"}}, .note = {{m_ids[0], "x"}}});
  apply({.untag = {{m_ids[0], "fast"}, {m_ids[0], "other"}}, .note = {{m_ids[0], ""}}});
  EXPECT_EQ(annotationOf(m_ids[0]), Annotation());
}

TEST_F(AnnotationsTest, TheTrashIsLeftOutUntilItIsAskedFor) {
  apply({.trash = {m_ids[1]}});
  EXPECT_EQ(m_record.candidateCount({.run = m_run}).value(), 2);
  const auto filter = domain::parseFilter("trashed", domain::candidateFilterKeys()).value();
  const auto trashed = m_record.candidates({.run = m_run, .filter = filter}).value();
  ASSERT_EQ(trashed.size(), 1U);
  EXPECT_EQ(trashed.front().id, m_ids[1]);
  EXPECT_TRUE(trashed.front().annotation.trashed);
  EXPECT_THAT(m_record.candidate(m_ids[1]), IsOk());
  apply({.restore = {m_ids[1]}});
  EXPECT_EQ(m_record.candidateCount({.run = m_run}).value(), 3);
}

TEST_F(AnnotationsTest, OneUnknownCandidateKeepsTheWholeEditOut) {
  const auto result = Annotations::open(m_directory.path()).value().apply({.pin = {m_ids[0], CandidateId(999)}});
  EXPECT_THAT(result, IsError(ErrorKind::Storage, HasSubstr("annotations")));
  EXPECT_EQ(annotationOf(m_ids[0]), Annotation());
}

TEST_F(AnnotationsTest, NeedARecord) {
  const testing::TempDir empty;
  EXPECT_THAT(Annotations::open(empty.path()), IsError(ErrorKind::NotFound, HasSubstr("no record")));
  EXPECT_FALSE(std::filesystem::exists(empty / "runs.sqlite"));
}

}  // namespace
}  // namespace swage::store
