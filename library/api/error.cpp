#include "library/include/weft/weft.hpp"

namespace weft {
inline namespace v0 {

Error::Error(ErrorCode code, const std::string& text) : std::runtime_error(text), code_(code) {}
Error::Error(const Error&) = default;
Error::~Error() = default;

}  // namespace v0
}  // namespace weft
