#include "library/loader/translated_calls.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <span>
#include <type_traits>
#include <vector>

#include "library/loader/all_calls.h"
#include "library/loader/foreign_handles.h"

namespace weft::loader {
namespace {

/// An argument of the common interface, as the library takes it. What is not changed:
template <class Library, class Type>
struct Argument {
  using Foreign = Type;
  Type value;
  Foreign get() { return value; }
};

template <class Library, class Type>
  requires is_handle<Type>
struct Argument<Library, Type> {
  using Foreign = typename Library::Handle;
  Type value;
  Foreign get() { return loader::Foreign<Library>::from_common(value); }
};

/// A handle that the call may change: written back when the call has returned.
template <class Library, class Type>
  requires is_handle<Type>
struct Argument<Library, Type*> {
  using Foreign = typename Library::Handle*;

  explicit Argument(Type* common)
      : value(common), handle(loader::Foreign<Library>::from_common(*common)) {}
  ~Argument() { *value = loader::Foreign<Library>::template to_common<Type>(handle); }
  Argument(const Argument&) = delete;
  Argument& operator=(const Argument&) = delete;
  Foreign get() { return &handle; }

  Type* value;
  typename Library::Handle handle;
};

template <class Library, class Type>
  requires is_handle<Type>
struct Argument<Library, const Type*> {
  using Foreign = const typename Library::Handle*;
};

/// What is sent, or MPI_IN_PLACE.
template <class Library>
struct Argument<Library, const void*> {
  using Foreign = const void*;
  const void* value;
  Foreign get() {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    return value == MPI_IN_PLACE ? reinterpret_cast<const void*>(Library::in_place) : value;
  }
};

/// Weft asks for the status where messages are looked for, and nowhere else.
template <class Library>
struct Argument<Library, MPI_Status*> {
  using Foreign = typename Library::Status*;
  MPI_Status* value;
  Foreign get() { return loader::Foreign<Library>::no_status(); }
};

template <class Library>
struct Argument<Library, const MPI_Status*> {
  using Foreign = const typename Library::Status*;
};

template <class Library>
struct Argument<Library, MPI_Comm_delete_attr_function*> {
  using Foreign = int (*)(typename Library::Handle, int, void*, void*);
};

template <class Library>
struct Argument<Library, MPI_Comm_copy_attr_function*> {
  using Foreign = int (*)(typename Library::Handle, int, void*, void*, void*, int*);
};

/// False for types that say too little; functions that have such arguments are written below.
template <class Argument>
concept Known = requires(Argument argument) { argument.get(); };

/// The library's function for the variable that `call` points to.
template <class Library, auto call>
struct Through;

template <class Library, class Result, class... Arguments, Result (**call)(Arguments...)>
struct Through<Library, call> {
  using Function = Result(typename Argument<Library, Arguments>::Foreign...);

  static inline Function* function = nullptr;
  static constexpr bool is_known = (Known<Argument<Library, Arguments>> && ...);

  static Result run(Arguments... arguments) {
    return function(Argument<Library, Arguments>{arguments}.get()...);
  }
};

template <class Library, auto call>
constexpr auto& function_of = Through<Library, call>::function;

// Functions whose arguments say more than their types.

constexpr std::array common_levels{MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                                   MPI_THREAD_MULTIPLE};

/// Both libraries count the levels of threads from 0.
void to_common_level(int* level) {
  *level = common_levels[static_cast<std::size_t>(std::clamp(*level, 0, 3))];
}

template <class Library>
int init_thread(int* count, char*** arguments, int wanted, int* provided) {
  const auto level = std::ranges::find(common_levels, wanted) - common_levels.begin();
  const int code =
      function_of<Library, &MPI_Init_thread>(count, arguments, static_cast<int>(level), provided);
  to_common_level(provided);
  return code;
}

template <class Library>
int query_thread(int* level) {
  const int code = function_of<Library, &MPI_Query_thread>(level);
  to_common_level(level);
  return code;
}

template <class Library>
int copy_nothing(typename Library::Handle /*of*/, int /*key*/, void* /*state*/, void* /*value*/,
                 void* /*copy*/, int* is_copied) {
  *is_copied = 0;
  return MPI_SUCCESS;
}

/// What an attribute's end calls.
struct AttributeEnd {
  MPI_Comm_delete_attr_function* function;
  void* state;
};

template <class Library>
int end_attribute(typename Library::Handle of, int key, void* value, void* state) {
  const auto* const end = static_cast<const AttributeEnd*>(state);
  return end->function(Foreign<Library>::template to_common<MPI_Comm>(of), key, value, end->state);
}

/// Nothing is copied. The key lives as long as the process.
template <class Library>
int comm_create_keyval(MPI_Comm_copy_attr_function* /*copy*/, MPI_Comm_delete_attr_function* end,
                       int* key, void* state) {
  return function_of<Library, &MPI_Comm_create_keyval>(
      &copy_nothing<Library>, &end_attribute<Library>, key, new AttributeEnd{end, state});
}

template <class Library>
int comm_get_attr(MPI_Comm of, int key, void* value, int* is_set) {
  return function_of<Library, &MPI_Comm_get_attr>(
      Foreign<Library>::from_common(of), key == MPI_TAG_UB ? Library::largest_tag_key : key, value,
      is_set);
}

template <class Library>
int comm_split_type(MPI_Comm of, int /*shared*/, int key, MPI_Info info, MPI_Comm* made) {
  return function_of<Library, &MPI_Comm_split_type>(
      Foreign<Library>::from_common(of), Library::shared_type, key,
      Foreign<Library>::from_common(info), Argument<Library, MPI_Comm*>(made).get());
}

/// Weft asks for MPI_WIN_MODEL alone.
template <class Library>
int win_get_attr(MPI_Win window, int /*model*/, void* value, int* is_set) {
  static int unified = MPI_WIN_UNIFIED;
  static int separate = MPI_WIN_SEPARATE;
  const int* found = nullptr;
  const int code = function_of<Library, &MPI_Win_get_attr>(Foreign<Library>::from_common(window),
                                                           Library::window_model_key,
                                                           static_cast<void*>(&found), is_set);
  if (code == MPI_SUCCESS && *is_set)
    *static_cast<int**>(value) = *found == Library::unified_windows ? &unified : &separate;
  return code;
}

template <class Library>
int win_lock_all(int assertion, MPI_Win window) {
  return function_of<Library, &MPI_Win_lock_all>(
      assertion == MPI_MODE_NOCHECK ? Library::no_check : assertion,
      Foreign<Library>::from_common(window));
}

template <class Library>
int iprobe(int source, int tag, MPI_Comm of, int* is_there, MPI_Status* /*status*/) {
  using Those = Foreign<Library>;
  return function_of<Library, &MPI_Iprobe>(Those::source(source), Those::tag(tag),
                                           Those::from_common(of), is_there, Those::no_status());
}

template <class Library>
int improbe(int source, int tag, MPI_Comm of, int* is_there, MPI_Message* message,
            MPI_Status* status) {
  using Those = Foreign<Library>;
  typename Library::Status found{};
  const int code = function_of<Library, &MPI_Improbe>(
      Those::source(source), Those::tag(tag), Those::from_common(of), is_there,
      Argument<Library, MPI_Message*>(message).get(), &found);
  if (code != MPI_SUCCESS || !*is_there || status == MPI_STATUS_IGNORE) return code;
  status->MPI_SOURCE = found.source;
  status->MPI_TAG = found.tag;
  status->MPI_ERROR = found.error;
  std::ranges::copy(Library::rest(found), std::begin(status->MPI_internal));
  return code;
}

template <class Library>
int get_elements_x(const MPI_Status* status, MPI_Datatype type, MPI_Count* count) {
  std::array<int, 3> rest{};
  std::copy_n(std::begin(status->MPI_internal), rest.size(), rest.begin());
  typename Library::Status foreign = Library::with_rest(rest);
  foreign.source = status->MPI_SOURCE;
  foreign.tag = status->MPI_TAG;
  foreign.error = status->MPI_ERROR;
  return function_of<Library, &MPI_Get_elements_x>(&foreign, Foreign<Library>::from_common(type),
                                                   count);
}

/// Several requests of the library, in memory that each thread keeps: written back at the end.
template <class Library>
class Requests {
 public:
  Requests(int count, MPI_Request* common) : common_(common, static_cast<std::size_t>(count)) {
    kept().resize(std::max(kept().size(), common_.size()));
    std::ranges::transform(common_, kept().begin(),
                           [](MPI_Request each) { return Foreign<Library>::from_common(each); });
  }
  ~Requests() {
    std::transform(
        kept().begin(), kept().begin() + std::ssize(common_), common_.begin(),
        [](auto each) { return Foreign<Library>::template to_common<MPI_Request>(each); });
  }
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;
  typename Library::Handle* get() { return kept().data(); }

 private:
  static std::vector<typename Library::Handle>& kept() {
    thread_local std::vector<typename Library::Handle> all;
    return all;
  }

  std::span<MPI_Request> common_;
};

template <class Library>
int startall(int count, MPI_Request* requests) {
  return function_of<Library, &MPI_Startall>(count, Requests<Library>(count, requests).get());
}

template <class Library>
int testall(int count, MPI_Request* requests, int* are_complete, MPI_Status* /*statuses*/) {
  return function_of<Library, &MPI_Testall>(count, Requests<Library>(count, requests).get(),
                                            are_complete, Foreign<Library>::no_status());
}

template <class Library>
int testsome(int count, MPI_Request* requests, int* completed_count, int* completed,
             MPI_Status* /*statuses*/) {
  return function_of<Library, &MPI_Testsome>(count, Requests<Library>(count, requests).get(),
                                             completed_count, completed,
                                             Foreign<Library>::no_status());
}

template <class Library>
int waitall(int count, MPI_Request* requests, MPI_Status* /*statuses*/) {
  return function_of<Library, &MPI_Waitall>(count, Requests<Library>(count, requests).get(),
                                            Foreign<Library>::no_status());
}

template <class Library>
int type_create_struct(int count, const int* lengths, const MPI_Aint* offsets,
                       const MPI_Datatype* types, MPI_Datatype* made) {
  std::vector<typename Library::Handle> foreign(static_cast<std::size_t>(count));
  std::transform(types, types + count, foreign.begin(),
                 [](MPI_Datatype each) { return Foreign<Library>::from_common(each); });
  return function_of<Library, &MPI_Type_create_struct>(
      count, lengths, offsets, foreign.data(), Argument<Library, MPI_Datatype*>(made).get());
}

// How libraries are taken into use.

/// Names the first function that a library lacks.
struct Missing {
  template <auto call>
  void visit(const char* function) {
    if (name.empty() && !dlsym(library, function)) name = function;
  }

  void* library;
  std::string name;
};

struct CommonCalls {
  template <auto call>
  void visit(const char* function) {
    *call = reinterpret_cast<std::remove_pointer_t<decltype(call)>>(dlsym(library, function));
  }

  void* library;
};

template <class Library>
struct TranslatedCalls {
  template <auto call>
  void visit(const char* function) {
    using Those = Through<Library, call>;
    Those::function = reinterpret_cast<typename Those::Function*>(dlsym(library, function));
    if constexpr (Those::is_known) *call = &Those::run;
  }

  void* library;
};

template <class Calls>
std::string use_calls(void* library) {
  Missing missing{library, {}};
  visit_all_calls(missing);
  if (!missing.name.empty()) return missing.name;
  Calls calls{library};
  visit_all_calls(calls);
  return {};
}

template <class Library>
std::string use_translated_calls(void* library) {
  std::string missing = use_calls<TranslatedCalls<Library>>(library);
  if (!missing.empty()) return missing;
  MPI_Init_thread = init_thread<Library>;
  MPI_Query_thread = query_thread<Library>;
  MPI_Comm_create_keyval = comm_create_keyval<Library>;
  MPI_Comm_get_attr = comm_get_attr<Library>;
  MPI_Comm_split_type = comm_split_type<Library>;
  MPI_Win_get_attr = win_get_attr<Library>;
  MPI_Win_lock_all = win_lock_all<Library>;
  MPI_Iprobe = iprobe<Library>;
  MPI_Improbe = improbe<Library>;
  MPI_Get_elements_x = get_elements_x<Library>;
  MPI_Startall = startall<Library>;
  MPI_Testall = testall<Library>;
  MPI_Testsome = testsome<Library>;
  MPI_Waitall = waitall<Library>;
  MPI_Type_create_struct = type_create_struct<Library>;
  // What it is called by tells which file it is in.
  MPI_Get_library_version = function_of<Library, &MPI_Get_library_version>;
  PMPI_Get_library_version = function_of<Library, &PMPI_Get_library_version>;
  return {};
}

template <class Library>
MPI_Comm communicator_of(std::uintptr_t handle) {
  return Foreign<Library>::template to_common<MPI_Comm>(Library::handle(handle));
}

}  // namespace

std::string use_common_calls(void* library) { return use_calls<CommonCalls>(library); }

std::string use_mpich_calls(void* library) {
  for (const auto& each : Mpich::handles)
    Foreign<Mpich>::know(each.common, static_cast<int>(each.foreign));
  return use_translated_calls<Mpich>(library);
}

std::string use_open_mpi_calls(void* library) {
  // A program that is linked with the library may have the variables itself (copy relocations), and
  // the library uses those then.
  constexpr auto function = "MPI_Get_library_version";
  const bool is_of_program = dlsym(RTLD_DEFAULT, function) == dlsym(library, function);
  void* const scope = is_of_program ? RTLD_DEFAULT : library;
  for (const auto& each : OpenMpi::handles) {
    void* const address = dlsym(scope, each.foreign);
    if (!address) return each.foreign;
    Foreign<OpenMpi>::know(each.common, address);
  }
  return use_translated_calls<OpenMpi>(library);
}

MPI_Comm communicator_of_mpich(std::uintptr_t handle) { return communicator_of<Mpich>(handle); }
MPI_Comm communicator_of_open_mpi(std::uintptr_t handle) {
  return communicator_of<OpenMpi>(handle);
}

}  // namespace weft::loader
