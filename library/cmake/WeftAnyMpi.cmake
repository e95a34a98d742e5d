# The Python package in one module that holds the whole library and the loader of an MPI library, for
# tools/wheel; and the same for programs in C, libweft_any_mpi.so.

find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter Development.Module)
find_package(pybind11 2.10 REQUIRED)
set(weft_loader_sources
    library/loader/library_choice.cpp
    library/loader/opened_library.cpp
    library/loader/single_calls.cpp
    library/loader/translated_calls.cpp)
pybind11_add_module(weft_python MODULE
    library/python/bindings.cpp library/python/loaded_mpi.cpp
    library/any_mpi/any_mpi_of_program.cpp ${weft_loader_sources}
    $<TARGET_OBJECTS:weft_objects>)
target_include_directories(weft_python PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/library/include")
target_link_libraries(weft_python PRIVATE weft_objects)
# Its own C++ library, whose newest names few systems have yet, and no names for others. Exceptions
# are unwound by the system's libgcc_s: a static one would call _dl_find_object of glibc 2.35.
target_link_options(weft_python PRIVATE
    -static-libstdc++ -shared-libgcc -Wl,--exclude-libs,ALL)
set_target_properties(weft_python PROPERTIES OUTPUT_NAME _weft)
install(TARGETS weft_python LIBRARY DESTINATION weft)
install(DIRECTORY library/python/weft/ DESTINATION weft
    FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)

# Programs in C compile with the mpi.h of their own MPI.
add_library(weft_any_mpi SHARED
    library/any_mpi/any_mpi_of_program.cpp ${weft_loader_sources} $<TARGET_OBJECTS:weft_objects>)
target_link_libraries(weft_any_mpi PRIVATE weft_objects)
target_link_options(weft_any_mpi PRIVATE -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL
    "-Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/library/cmake/exported_c_names"
    -Wl,--no-undefined)
set_target_properties(weft_any_mpi PROPERTIES
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
install(TARGETS weft_any_mpi LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT c_library)
install(FILES library/include/weft/weft.h library/include/weft/version.h
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/weft" COMPONENT c_library)
