# Beside library and program: the Python module, man pages, completion for bash, Debian packages.

if(WEFT_BUILD_PYTHON)
    find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter Development.Module)
    find_package(pybind11 2.10 REQUIRED)
    pybind11_add_module(weft_python MODULE
        library/python/bindings.cpp library/python/linked_mpi.cpp)
    set_target_properties(weft_python PROPERTIES OUTPUT_NAME _weft)
    target_link_libraries(weft_python PRIVATE weft::weft)
    set(WEFT_PYTHON_DIR "lib/python3/dist-packages" CACHE STRING
        "Folder of Python packages, in the prefix or absolute")
    set_target_properties(weft_python PROPERTIES
        INSTALL_RPATH "$ORIGIN/../../../../${CMAKE_INSTALL_LIBDIR}")
    install(TARGETS weft_python LIBRARY DESTINATION "${WEFT_PYTHON_DIR}/weft" COMPONENT python)
    install(DIRECTORY library/python/weft/ DESTINATION "${WEFT_PYTHON_DIR}/weft" COMPONENT python
        FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
endif()

if(WEFT_BUILD_PROGRAM)
    install(FILES library/cmake/completion.bash
        DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME weft
        COMPONENT program)
    find_program(WEFT_HELP2MAN help2man)
    if(WEFT_HELP2MAN AND NOT CMAKE_CROSSCOMPILING)
        set(weft_pages "${CMAKE_CURRENT_BINARY_DIR}/man")
        set(weft_make_pages "${CMAKE_CURRENT_SOURCE_DIR}/library/cmake/make_man_pages")
        add_custom_command(OUTPUT "${weft_pages}/weft.1"
            COMMAND "${weft_make_pages}" $<TARGET_FILE:weft_program> "${weft_pages}"
            DEPENDS weft_program "${weft_make_pages}"
            COMMENT "Writing the man pages" VERBATIM)
        add_custom_target(weft_man ALL DEPENDS "${weft_pages}/weft.1")
        install(DIRECTORY "${weft_pages}/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1"
            COMPONENT program FILES_MATCHING PATTERN "*.1")
    else()
        message(STATUS "weft: built without man pages; on Debian: apt install help2man")
    endif()
endif()

# `cpack` in the build folder: weft (program and shared library), libweft-dev and, with
# WEFT_BUILD_PYTHON, python3-weft.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME weft)
set(CPACK_PACKAGE_VENDOR weft)
set(CPACK_PACKAGE_CONTACT "the maintainers of weft <weft@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE "${CMAKE_CURRENT_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_COMPONENTS_ALL library development)
if(WEFT_BUILD_PROGRAM)
    list(APPEND CPACK_COMPONENTS_ALL program)
endif()
if(WEFT_BUILD_PYTHON)
    list(APPEND CPACK_COMPONENTS_ALL python)
endif()
if(WEFT_WITH_PETSC)
    list(APPEND CPACK_COMPONENTS_ALL petsc)
endif()
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION math)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${CMAKE_CURRENT_BINARY_DIR}")
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
if(WEFT_MPI_IS_OPEN_MPI)
    set(weft_mpi_development libopenmpi-dev)
else()
    set(weft_mpi_development libmpich-dev)
endif()
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME weft)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libweft-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "weft (= ${PROJECT_VERSION}), ${weft_mpi_development}")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_PETSC_PACKAGE_NAME libweft-petsc)
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-weft)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
    "weft (= ${PROJECT_VERSION}), python3, python3-numpy, python3-scipy")

include(CPack)
cpack_add_component_group(runtime DESCRIPTION "Program and shared library")
cpack_add_component_group(development DESCRIPTION "Headers, CMake package and weft.pc")
cpack_add_component_group(python DESCRIPTION "Python package")
cpack_add_component_group(petsc DESCRIPTION "Plug-in for PETSc")
cpack_add_component(library GROUP runtime)
cpack_add_component(petsc GROUP petsc)
cpack_add_component(program GROUP runtime)
cpack_add_component(development GROUP development)
cpack_add_component(python GROUP python)
