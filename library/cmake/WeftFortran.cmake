# The Fortran module `weft` and its library weft_fortran, with -DWEFT_BUILD_FORTRAN=ON.
if(NOT WEFT_BUILD_FORTRAN)
    return()
endif()

enable_language(Fortran)
find_package(MPI REQUIRED COMPONENTS Fortran)
if(NOT MPI_Fortran_HAVE_F08_MODULE)
    message(FATAL_ERROR "MPI: found no module mpi_f08 that ${CMAKE_Fortran_COMPILER} reads; expected "
        "one (-DMPI_Fortran_COMPILER=..., of the same MPI as MPI_C_COMPILER)")
endif()
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)

set(weft_fortran_source "${CMAKE_CURRENT_BINARY_DIR}/generated/weft_fortran.f90")
set(weft_fortran_header "${CMAKE_CURRENT_SOURCE_DIR}/library/include/weft/weft.h")
set(weft_fortran_maker "${CMAKE_CURRENT_SOURCE_DIR}/library/fortran/make_module")
add_custom_command(OUTPUT "${weft_fortran_source}"
    COMMAND Python3::Interpreter "${weft_fortran_maker}" "${weft_fortran_header}"
        "${weft_fortran_source}"
    DEPENDS "${weft_fortran_maker}" "${weft_fortran_header}"
    COMMENT "Writing the Fortran module" VERBATIM)
add_library(weft_fortran "${weft_fortran_source}" library/fortran/fortran_communicator.cpp)
target_include_directories(weft_fortran PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
target_link_libraries(weft_fortran PUBLIC weft::weft MPI::MPI_Fortran)
set(weft_modules "${CMAKE_CURRENT_BINARY_DIR}/fortran_modules")
set_target_properties(weft_fortran PROPERTIES
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    EXPORT_NAME fortran
    LINKER_LANGUAGE Fortran
    Fortran_MODULE_DIRECTORY "${weft_modules}"
    INSTALL_RPATH "$ORIGIN")
target_include_directories(weft_fortran PUBLIC
    $<BUILD_INTERFACE:${weft_modules}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/weft/fortran>)

install(TARGETS weft_fortran EXPORT weft_fortran_targets
    LIBRARY COMPONENT library NAMELINK_COMPONENT development
    ARCHIVE COMPONENT development)
install(FILES "${weft_modules}/weft.mod"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/weft/fortran" COMPONENT development)
install(EXPORT weft_fortran_targets FILE weftFortranTargets.cmake NAMESPACE weft::
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/weft" COMPONENT development)
find_program(weft_mpi_fortran_compiler NAMES "${MPI_Fortran_COMPILER}" NO_CACHE)
