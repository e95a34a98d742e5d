# Compiles what most sources include once for all of them. For the test only: elsewhere a source
# compiles with what it includes itself, as Bazel's strict build does.
cmake_language(DEFER CALL target_precompile_headers weft_objects PRIVATE
    <algorithm> <atomic> <chrono> <cmath> <filesystem> <functional> <memory> <numeric> <optional>
    <span> <sstream> <string> <thread> <utility> <vector> <fmt/format.h>)
