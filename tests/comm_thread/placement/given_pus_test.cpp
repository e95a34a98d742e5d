#include "comm_thread/placement/given_pus.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/comm_thread/placement/placement_support.h"

namespace weft::comm_thread {
namespace {

using Settings = std::map<std::string, std::string>;

/// A process on eight PUs, all permitted, the calling thread of which may run on `bound`.
PuFacts facts_of(Pus bound, const Settings& settings = {}) {
  PuFacts facts;
  facts.permitted = range(0, 7);
  facts.bound = std::move(bound);
  facts.variable = [settings](const char* name) {
    const auto found = settings.find(name);
    return found == settings.end() ? nullptr : found->second.c_str();
  };
  return facts;
}

/// The same, with OpenMP's places `all`, to the first of which the calling thread was bound.
PuFacts placed(const Pus& all, const Settings& settings) {
  PuFacts facts = facts_of({all.front()}, settings);
  facts.places = {all, {all.front()}};
  return facts;
}

/// The same, started by a launcher that may use `pus`.
PuFacts launched(PuFacts facts, const Pus& pus) {
  facts.find_launcher = [pus](std::span<const unsigned> own) {
    return pus.size() > own.size() ? LauncherMask{"mpirun", pus} : LauncherMask{};
  };
  return facts;
}

std::string text_of(const GivenPus& given) {
  std::string text;
  for (const PlacementFinding& finding : given.findings) text += finding.text + "\n";
  return text;
}

TEST_CASE("a process that nothing has narrowed has its whole mask, without a word") {
  const GivenPus given = given_pus(facts_of(range(0, 7)));
  CHECK(given.home == range(0, 7));
  CHECK(given.reach.empty());
  CHECK(given.findings.empty());
  CHECK(given_pus(facts_of({})).home.empty());
}

TEST_CASE("OpenMP's binding of the main thread is undone, and its variables are named") {
  const GivenPus given =
      given_pus(placed(range(0, 7), {{"OMP_PROC_BIND", "close"}, {"OMP_PLACES", "cores"}}));
  CHECK(given.home == range(0, 7));
  CHECK(given.findings.size() == 1);
  CHECK(given.findings.at(0).severity == FindingSeverity::repaired);
  CHECK(text_of(given).starts_with("OMP_PROC_BIND=close and OMP_PLACES=cores had bound the main"));
  CHECK(text_of(given_pus(placed(range(0, 7), {}))).starts_with("the OpenMP runtime had bound"));
}

TEST_CASE("places that were chosen are the home, and their variable keeps the threads there") {
  for (const Settings& settings :
       {Settings{{"OMP_PLACES", "{2},{3}"}}, Settings{{"OMP_PLACES", "cores(2)"}},
        Settings{{"GOMP_CPU_AFFINITY", "2 3"}}}) {
    const auto& [name, value] = *settings.begin();
    const GivenPus given = given_pus(launched(placed({2, 3}, settings), range(0, 7)));
    CHECK(given.home == Pus{2, 3});
    CHECK(given.reach.empty());
    CHECK(given.owner.name == name + "=" + value);
    CHECK(given.owner.way_out.find("unset") == 0);
  }
  const GivenPus single = given_pus(placed({2}, {{"OMP_PLACES", "{2}"}}));
  CHECK(single.home == Pus{2});
  CHECK(single.findings.empty());
  CHECK(single.owner.name == "OMP_PLACES={2}");
  const GivenPus many = given_pus(placed({2}, {{"OMP_PLACES", "{2}" + std::string(500, ' ')}}));
  CHECK(many.owner.name.size() < 60);
}

TEST_CASE("within the mask of taskset, OpenMP's binding is undone up to that mask") {
  const GivenPus given = given_pus(placed({4, 5}, {{"OMP_PROC_BIND", "true"}}));
  CHECK(given.home == Pus{4, 5});
  CHECK(given.reach.empty());
  CHECK(given.owner.name.find("taskset") != std::string::npos);
  CHECK(given.owner.way_out.find("--pin-beyond-mask") != std::string::npos);
}

TEST_CASE("a mask that the program has set itself since OpenMP bound its thread is kept") {
  PuFacts facts = facts_of({5}, {{"OMP_PROC_BIND", "true"}});
  facts.places = {range(0, 7), {0}};
  const GivenPus given = given_pus(facts);
  CHECK(given.home == Pus{5});
  CHECK(given.findings.empty());
}

TEST_CASE("threads stay within places also where the calling thread has its mask back") {
  PuFacts facts = facts_of(range(0, 7), {{"OMP_PLACES", "{1}"}});
  facts.places = {{1}, {1}};
  const GivenPus given = given_pus(facts);
  CHECK(given.home == Pus{1});
  CHECK(given.findings.empty());
  CHECK(given.owner.name == "OMP_PLACES={1}");
}

TEST_CASE("the processors of likwid-pin are the home, before and after it has bound the thread") {
  const Settings settings{{"LIKWID_PIN", "3,4,2"}, {"KMP_AFFINITY", "disabled"}};
  for (const Pus& bound : {Pus{2}, range(0, 7)}) {
    const GivenPus given = given_pus(launched(facts_of(bound, settings), range(0, 7)));
    CHECK(given.home == Pus{2, 3, 4});
    CHECK(given.reach.empty());
    CHECK(given.owner.name == "likwid-pin (LIKWID_PIN=3,4,2)");
    CHECK(given.findings.size() == (bound.size() == 1 ? 1U : 0U));
  }
  CHECK(given_pus(facts_of({2}, {{"LIKWID_PIN", "2"}})).home == Pus{2});
  // Words of another program, or of another machine.
  for (const std::string pins : {"", "x", ",", "3,", "2,9", "1,0"}) {
    CAPTURE(pins);
    CHECK(given_pus(facts_of({2}, {{"LIKWID_PIN", pins}})).home == Pus{2});
  }
}

TEST_CASE("likwid-pin and OpenMP at once are both undone") {
  const GivenPus given =
      given_pus(placed(range(0, 7), {{"OMP_PROC_BIND", "true"}, {"LIKWID_PIN", "1,0"}}));
  CHECK(given.home == Pus{0, 1});
}

TEST_CASE("a launcher's binding may be widened to what the launcher has itself") {
  const GivenPus given = given_pus(launched(facts_of({0}), {0, 1, 2}));
  CHECK(given.home == Pus{0});
  CHECK(given.reach == Pus{0, 1, 2});
  CHECK(given.owner.name == "the launcher");
  const GivenPus bound_by_both =
      given_pus(launched(placed({0}, {{"OMP_PROC_BIND", "true"}}), {0, 1, 2}));
  CHECK(bound_by_both.reach == Pus{0, 1, 2});
}

TEST_CASE("a mask of taskset or of a job is not left, and who may have set it is named") {
  CHECK(given_pus(facts_of({3})).reach.empty());
  CHECK(given_pus(launched(facts_of({3}), {3})).reach.empty());
  CHECK(given_pus(facts_of({3})).owner.name.find("taskset") != std::string::npos);
  const Settings slurm{{"SLURM_CPU_BIND", "quiet,mask_cpu:0x8"}};
  CHECK(given_pus(facts_of({3}, slurm)).owner.name ==
        "the mask of the job (SLURM_CPU_BIND=quiet,mask_cpu:0x8)");
  CHECK(given_pus(facts_of({3}, {{"KMP_AFFINITY", "compact"}}))
            .owner.name.find("KMP_AFFINITY=compact") != std::string::npos);
}

TEST_CASE("--pin-beyond-mask takes all that is permitted, and says so where that is more") {
  PuFacts facts = facts_of({3});
  facts.permitted = range(0, 5);
  facts.pins_beyond_mask = true;
  CHECK(given_pus(facts).home == range(0, 5));
  CHECK(text_of(given_pus(facts)).find("--pin-beyond-mask") == 0);
  facts.bound = range(0, 5);
  CHECK(given_pus(facts).findings.empty());
}

TEST_CASE("where nothing is pinned nothing is widened, and nothing is said to be pinned") {
  PuFacts facts = launched(facts_of({3}), range(0, 7));
  facts.pins = false;
  CHECK(given_pus(facts).reach.empty());
  facts = placed(range(0, 7), {{"OMP_PROC_BIND", "true"}});
  facts.pins = false;
  CHECK(given_pus(facts).home == range(0, 7));
  CHECK(text_of(given_pus(facts)).find("undone") == std::string::npos);
  CHECK(text_of(given_pus(facts)).find("OMP_PROC_BIND=true") == 0);
  facts = facts_of({3});
  facts.pins = false;
  CHECK(given_pus(facts).owner.way_out.find("--pin") == std::string::npos);
}

}  // namespace
}  // namespace weft::comm_thread
