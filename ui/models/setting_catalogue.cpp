// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/setting_catalogue.h"

#include <QCoreApplication>

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

QString tr(const char* text) {
  return QCoreApplication::translate("settings", text);
}

SettingSection general() {
  return {u"general"_s,
          tr("General"),
          {{u"general.restore_session"_s,
            tr("Restore last session"),
            tr("Open the windows of the last session again, each with its layout, project, run and candidate"),
            true,
            {}},
           {u"general.notifications"_s,
            tr("Notify the desktop"),
            tr("When a search has ended or failed, or a GPU is lost, while the window is not in front"),
            true,
            {}}}};
}

SettingSection search() {
  return {u"search"_s,
          tr("Search"),
          {{u"search.target"_s,
            tr("Target"),
            tr("Where kernels run, when a task is opened"),
            u"auto"_s,
            {u"auto"_s, u"cpu"_s, u"cuda"_s}},
           {u"search.time_budget"_s, tr("Time budget"), tr("For example 90 s, 5 min or 1h30m"), u"60 s"_s, {}},
           {.key = u"search.devices"_s,
            .title = tr("GPUs"),
            .hint = tr(
                "Numbers or UUIDs of the GPUs to search on, for example 0,1, as `swage devices` shows them; empty: the "
                "first. Several have to be of the same model"),
            .standard = QString(),
            .atNextStart = true},
           {.key = u"search.sandbox"_s,
            .title = tr("Sandbox"),
            .hint = tr("What keeps compilers from files and network. auto: bubblewrap (bwrap), or Landlock where it "
                       "cannot be used; none: nothing, for machines that have neither"),
            .standard = u"auto"_s,
            .choices = {u"auto"_s, u"bwrap"_s, u"landlock"_s, u"none"_s},
            .atNextStart = true,
            .warnedOf = u"none"_s,
            .warning = tr("Kernels are compiled without a sandbox")},
           {u"search.seed"_s,
            tr("Seed"),
            tr("For the search and its test inputs. The same seed proposes the same candidates, unless measured times "
               "differ. 0: a random seed for each run"),
            0,
            {}},
           {u"search.compile_baselines"_s,
            tr("Measure torch.compile"),
            tr("As a baseline beside eager PyTorch; takes some seconds more"),
            true,
            {}}}};
}

SettingSection swarm() {
  return {
      u"swarm"_s,
      tr("Language models"),
      {{.key = u"swarm.models"_s,
        .title = tr("Take part"),
        .hint = tr("Names of the models below that write kernels in a search, with commas between them; empty: none"),
        .standard = QString(),
        .choices = {}},
       {.key = u"swarm.by_hand"_s,
        .title = tr("Answer prompts by hand"),
        .hint = tr("A search also writes prompts for you, and takes your replies in the window or from the folder "
                   "“exchange” of the project"),
        .standard = false,
        .choices = {}},
       {.key = u"swarm.budget_cents"_s,
        .title = tr("Cost limit"),
        .hint = tr("Of all models in one search, in US cents"),
        .standard = 0,
        .choices = {},
        .atZero = tr("no limit")},
       {.key = u"swarm.budget_tokens"_s,
        .title = tr("Token limit"),
        .hint = tr("Of all models in one search"),
        .standard = 0,
        .choices = {},
        .atZero = tr("no limit")},
       {.key = u"swarm.embeddings"_s,
        .title = tr("Embedding model"),
        .hint = tr("Ranks the results of a pattern search; it is sent the search text and the beginning of each "
                   "result. A name from the list below; empty: none"),
        .standard = QString(),
        .choices = {}}}};
}

SettingSection theme() {
  return {u"theme"_s,
          tr("Theme"),
          {{u"theme.choice"_s,
            tr("Theme"),
            tr("“system” follows the desktop"),
            u"system"_s,
            {u"system"_s, u"light"_s, u"dark"_s}},
           {u"theme.color_map"_s,
            tr("Colours of the map"),
            tr("All can be told apart with colour blindness"),
            u"viridis"_s,
            {u"viridis"_s, u"cividis"_s, u"diverging"_s}}}};
}

SettingSection editor() {
  constexpr int kMostPoints = 72;
  constexpr int kMostTab = 16;
  return {u"editor"_s,
          tr("Editor"),
          {{.key = u"editor.font"_s,
            .title = tr("Font"),
            .hint = tr("Its family, for example DejaVu Sans Mono; empty: the desktop's font for code"),
            .standard = QString(),
            .choices = {}},
           {.key = u"editor.font_size"_s,
            .title = tr("Size"),
            .hint = tr("In points"),
            .standard = 0,
            .choices = {},
            .most = kMostPoints,
            .atZero = tr("system")},
           {.key = u"editor.tab_width"_s,
            .title = tr("Tab width"),
            .hint = tr("In columns; Tab inserts spaces"),
            .standard = 2,
            .choices = {},
            .least = 1,
            .most = kMostTab},
           {.key = u"editor.wrap_lines"_s,
            .title = tr("Wrap long lines"),
            .hint = tr("Not in comparisons, where lines stand beside each other"),
            .standard = false,
            .choices = {}},
           {.key = u"editor.line_numbers"_s,
            .title = tr("Show line numbers"),
            .hint = tr("To the left of sources and listings"),
            .standard = true,
            .choices = {}},
           {.key = u"editor.caret_line"_s,
            .title = tr("Highlight current line"),
            .hint = tr("In sources and listings"),
            .standard = true,
            .choices = {}}}};
}

SettingSection locations() {
  return {u"locations"_s,
          tr("Locations"),
          {{.key = u"locations.data"_s,
            .title = tr("Data folder"),
            .hint = tr("Where projects are kept; empty: $XDG_DATA_HOME/swage"),
            .standard = QString(),
            .atNextStart = true,
            .names = SettingInfo::Names::Folder},
           {.key = u"locations.python"_s,
            .title = tr("Python"),
            .hint = tr("The interpreter of the environment that has PyTorch; empty: the one Swage finds"),
            .standard = QString(),
            .atNextStart = true,
            .names = SettingInfo::Names::File},
           {.key = u"locations.cutlass"_s,
            .title = tr("CUTLASS"),
            .hint = tr("A CUTLASS checkout that pattern search also looks in; empty: none"),
            .standard = QString(),
            .atNextStart = true,
            .names = SettingInfo::Names::Folder}}};
}

}  // namespace

const std::vector<SettingSection>& settingCatalogue() {
  static const std::vector<SettingSection> catalogue = {general(), search(), swarm(), editor(), theme(), locations()};
  return catalogue;
}

const SettingInfo* findSetting(const QString& key) {
  for (const SettingSection& section : settingCatalogue()) {
    for (const SettingInfo& setting : section.settings) {
      if (setting.key == key) {
        return &setting;
      }
    }
  }
  return nullptr;
}

}  // namespace swage::ui
