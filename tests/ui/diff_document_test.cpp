// SPDX-License-Identifier: Apache-2.0
#include "ui/models/diff_document.h"

#include <gtest/gtest.h>

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

class DiffDocumentTest : public ::testing::Test {
 protected:
  DiffDocumentTest() { EXPECT_TRUE(m_document.setTexts({m_old, m_new})); }

  DiffText m_old{u"old"_s, u"a\n"_s};
  DiffText m_new{u"new"_s, u"b\n"_s};
  DiffDocument m_document;
};

TEST_F(DiffDocumentTest, TakesEditsBackOneByOne) {
  m_document.replace(0, u"a1\n"_s);
  m_document.replace(1, u"b1\n"_s);
  m_document.replace(0, u"a2\n"_s);
  EXPECT_EQ(m_document.undo(), 0);
  EXPECT_EQ(m_document.text(0), u"a1\n"_s);
  EXPECT_EQ(m_document.undo(), 1);
  EXPECT_FALSE(m_document.isEdited(1));
  EXPECT_TRUE(m_document.isEdited(0));
  EXPECT_EQ(m_document.undo(), 0);
  EXPECT_EQ(m_document.undo(), std::nullopt);
  EXPECT_FALSE(m_document.isEdited(0));
}

TEST_F(DiffDocumentTest, TheSameTextsAgainAreNothingNew) {
  m_document.replace(0, u"a1\n"_s);
  EXPECT_FALSE(m_document.setTexts({m_old, m_new}));
  EXPECT_EQ(m_document.text(0), u"a1\n"_s);
}

TEST_F(DiffDocumentTest, EditsGoWithTheirTextToAnotherPlace) {
  m_document.replace(0, u"a1\n"_s);
  EXPECT_TRUE(m_document.setTexts({m_new, {u"base"_s, u"c\n"_s}, m_old}));
  EXPECT_EQ(m_document.text(2), u"a1\n"_s);
  EXPECT_EQ(m_document.undo(), 2);
  EXPECT_EQ(m_document.text(2), u"a\n"_s);
}

TEST_F(DiffDocumentTest, EditsOfATextThatIsGoneAreForgotten) {
  m_document.replace(0, u"a1\n"_s);
  EXPECT_TRUE(m_document.setTexts({m_new}));
  EXPECT_EQ(m_document.undo(), std::nullopt);
  EXPECT_TRUE(m_document.setTexts({m_old}));
  EXPECT_EQ(m_document.text(0), u"a\n"_s);
}

}  // namespace
}  // namespace swage::ui
