#include "tools/measure/median_run.h"

#include <algorithm>
#include <vector>

namespace weft::tools {

Json median_run(int repetitions, const std::function<Json()>& run) {
  std::vector<Json> runs;
  for (int repetition = 0; repetition < repetitions; ++repetition) runs.push_back(run());
  std::sort(runs.begin(), runs.end(),
            [](const Json& a, const Json& b) { return a["seconds"] < b["seconds"]; });
  return runs[runs.size() / 2];
}

}  // namespace weft::tools
