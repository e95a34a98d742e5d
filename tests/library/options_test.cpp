#include <map>
#include <string>

#include <catch2/catch.hpp>

#include "library/include/weft/weft.hpp"

namespace weft::tests {
namespace {

TEST_CASE("options as a text, as JSON and from code are the same") {
  const Options code{{"method", "cg"}, {"max_iterations", "50"}, {"tolerance", "1e-10"}};
  CHECK(Options::parse("--method cg --max-iterations 50 tolerance=1e-10").all() == code.all());
  CHECK(Options::parse("method=cg --max-iterations=50 --tolerance=1e-10").all() == code.all());
  const auto json =
      Options::from_json(R"({"method": "cg", "max-iterations": 50, "tolerance": 1e-10})");
  CHECK(json.all() == code.all());
  CHECK(code.find("--max-iterations") == "50");
  CHECK_FALSE(code.find("mode").has_value());
  CHECK(Options().set("tolerance", 1e-10).find("tolerance") == "1e-10");
}

TEST_CASE("a preconditioner's own settings are part of its word") {
  CHECK(Options::parse("preconditioner=schwarz:overlap=2,subdomains=4").find("preconditioner") ==
        "schwarz:overlap=2,subdomains=4");
}

TEST_CASE("texts that are no options are errors") {
  CHECK_THROWS_AS(Options::parse("method cg"), Error);
  CHECK_THROWS_AS(Options::parse("--method"), Error);
  CHECK_THROWS_AS(Options::from_json("[1]"), Error);
  CHECK_THROWS_AS(Options::from_json("{\"method\": [1]}"), Error);
}

TEST_CASE("the library names its version and those of its dependencies") {
  CHECK(version() == WEFT_VERSION);
  CHECK(WEFT_VERSION_AT_LEAST(0, 2, 0));
  for (const Dependency& each : dependencies()) {
    INFO(each.name);
    CHECK_FALSE(each.version.empty());
    CHECK_FALSE(each.licence.empty());
  }
}

TEST_CASE("the options of a solver are listed with their values, defaults and help") {
  bool has_method = false;
  for (const OptionHelp& each : solver_options()) {
    INFO(each.name);
    CHECK_FALSE(each.help.empty());
    CHECK(each.name != "partition");  // of a matrix
    if (each.name == "method") {
      has_method = true;
      CHECK(each.standard == "cg");
      CHECK(each.limits.find("gmres") != std::string::npos);
    }
    if (each.name == "max-iterations") CHECK(each.values == "INT");
  }
  CHECK(has_method);
}

TEST_CASE("the options of a search for eigenvalues have helps and defaults") {
  std::map<std::string, OptionHelp> helps;
  for (const OptionHelp& each : eigenvalue_options()) {
    CHECK_FALSE(each.help.empty());
    helps[each.name] = each;
  }
  CHECK(helps.at("count").standard == "1");
  CHECK(helps.at("which").standard == "smallest");
  CHECK(helps.contains("preconditioner"));
  CHECK_FALSE(helps.contains("restart"));
}

}  // namespace
}  // namespace weft::tests
