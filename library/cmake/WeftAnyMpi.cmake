# The Python package in one module that holds the whole library and the loader of an MPI library, for
# tools/wheel.

find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter Development.Module)
find_package(pybind11 2.10 REQUIRED)
set(weft_loader_sources
    library/loader/library_choice.cpp
    library/loader/opened_library.cpp
    library/loader/single_calls.cpp
    library/loader/translated_calls.cpp)
pybind11_add_module(weft_python MODULE
    library/python/bindings.cpp library/python/loaded_mpi.cpp ${weft_loader_sources}
    $<TARGET_OBJECTS:weft_objects>)
target_include_directories(weft_python PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/library/include")
target_link_libraries(weft_python PRIVATE weft_objects)
# Its own C++ library, whose newest names few systems have yet, and no names for others.
target_link_options(weft_python PRIVATE
    -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL)
set_target_properties(weft_python PROPERTIES OUTPUT_NAME _weft)
install(TARGETS weft_python LIBRARY DESTINATION weft)
install(DIRECTORY library/python/weft/ DESTINATION weft
    FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
