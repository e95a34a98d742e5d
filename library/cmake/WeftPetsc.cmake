# The plug-in for PETSc, which PETSc loads by itself: libweft_petsc.so. PETSC_DIR and PETSC_ARCH, here
# or in the environment, say which PETSc; it has real numbers in double precision and weft's MPI.
if(NOT WEFT_WITH_PETSC)
    return()
endif()

set(PETSC_DIR "$ENV{PETSC_DIR}" CACHE PATH "Folder of PETSc")
set(PETSC_ARCH "$ENV{PETSC_ARCH}" CACHE STRING "Build of PETSc in PETSC_DIR, where it has several")
set(weft_petsc_folders "${PETSC_DIR}/${PETSC_ARCH}" "${PETSC_DIR}")
if(NOT PETSC_DIR)
    # As Debian names them.
    file(GLOB weft_petsc_folders
        "/usr/lib/petscdir/petsc[0-9].[0-9]*/${CMAKE_LIBRARY_ARCHITECTURE}-real"
        "/usr/lib/petscdir/petsc[0-9].[0-9]*/*-linux-gnu-real")
endif()
find_path(WEFT_petsc_INCLUDE_DIR petscconf.h PATHS ${weft_petsc_folders} PATH_SUFFIXES include
    NO_DEFAULT_PATH)
find_library(WEFT_petsc_LIBRARY NAMES petsc_real petsc PATHS ${weft_petsc_folders}
    PATH_SUFFIXES lib NO_DEFAULT_PATH)
if(NOT WEFT_petsc_INCLUDE_DIR OR NOT WEFT_petsc_LIBRARY)
    message(FATAL_ERROR "PETSc not found in ${weft_petsc_folders}; expected -DPETSC_DIR=FOLDER (and "
        "-DPETSC_ARCH=NAME) with include/petscconf.h and lib/libpetsc.so; on Debian: "
        "apt install libpetsc-real-dev")
endif()
foreach(kind COMPLEX REAL_SINGLE REAL___FLOAT128)
    file(STRINGS "${WEFT_petsc_INCLUDE_DIR}/petscconf.h" weft_petsc_is_other
        REGEX "^#define PETSC_USE_${kind} ")
    if(weft_petsc_is_other)
        message(FATAL_ERROR "PETSc: found a build with PETSC_USE_${kind} in "
            "${WEFT_petsc_INCLUDE_DIR}; expected real numbers in double precision")
    endif()
endforeach()
set(weft_petsc_includes "${WEFT_petsc_INCLUDE_DIR}")
# Headers that all builds share.
if(EXISTS "${PETSC_DIR}/include/petsc.h")
    list(APPEND weft_petsc_includes "${PETSC_DIR}/include")
endif()

# A PETSc that was configured without a C++ compiler does not know what one calls these.
set(weft_petsc_definitions)
file(STRINGS "${WEFT_petsc_INCLUDE_DIR}/petscconf.h" weft_petsc_knows_cpp REGEX "_NAME_CXX ")
if(NOT weft_petsc_knows_cpp)
    set(weft_petsc_definitions PETSC_FUNCTION_NAME_CXX=__func__ PETSC_CXX_RESTRICT=__restrict)
endif()

# SLEPc, with the same PETSc: SLEPC_DIR, or that of Debian.
if(WEFT_WITH_SLEPC)
    set(SLEPC_DIR "$ENV{SLEPC_DIR}" CACHE PATH "Folder of SLEPc")
    set(weft_slepc_folders "${SLEPC_DIR}/${PETSC_ARCH}" "${SLEPC_DIR}")
    if(NOT SLEPC_DIR)
        file(GLOB weft_slepc_folders
            "/usr/lib/slepcdir/slepc[0-9].[0-9]*/${CMAKE_LIBRARY_ARCHITECTURE}-real")
    endif()
    find_path(WEFT_slepc_INCLUDE_DIR slepcconf.h PATHS ${weft_slepc_folders}
        PATH_SUFFIXES include NO_DEFAULT_PATH)
    find_library(WEFT_slepc_LIBRARY NAMES slepc_real slepc PATHS ${weft_slepc_folders}
        PATH_SUFFIXES lib NO_DEFAULT_PATH)
    if(NOT WEFT_slepc_INCLUDE_DIR OR NOT WEFT_slepc_LIBRARY)
        message(FATAL_ERROR "SLEPc not found in ${weft_slepc_folders}; expected -DSLEPC_DIR=FOLDER "
            "with include/slepcconf.h and lib/libslepc.so; on Debian: apt install libslepc-real3.18-dev")
    endif()
    set(weft_slepc_includes "${WEFT_slepc_INCLUDE_DIR}")
    if(EXISTS "${SLEPC_DIR}/include/slepc.h")
        list(APPEND weft_slepc_includes "${SLEPC_DIR}/include")
    endif()
endif()

# weft_petsc_plug_in(NAME INCLUDES LIBRARIES SOURCES): a library that PETSc loads.
function(weft_petsc_plug_in name includes libraries sources)
    add_library(${name} MODULE ${sources})
    target_include_directories(${name} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
    target_include_directories(${name} SYSTEM PRIVATE ${weft_petsc_includes} ${includes})
    target_compile_definitions(${name} PRIVATE ${weft_petsc_definitions})
    target_compile_options(${name} PRIVATE -Wall -Wextra -Wshadow -Wconversion -Wold-style-cast
        $<$<BOOL:${WEFT_WARNINGS_AS_ERRORS}>:-Werror>)
    # A program has loaded the library already, and then this is the same.
    target_link_libraries(${name} PRIVATE weft::weft "${WEFT_petsc_LIBRARY}" ${libraries})
    set_target_properties(${name} PROPERTIES INSTALL_RPATH "$ORIGIN")
    install(TARGETS ${name} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT petsc)
endfunction()

file(GLOB weft_petsc_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/library/petsc/*.cpp")
set(weft_slepc_sources ${weft_petsc_sources})
list(FILTER weft_petsc_sources EXCLUDE REGEX "/(slepc_plug_in|weft_eps)\\.cpp$")
weft_petsc_plug_in(weft_petsc "" "" "${weft_petsc_sources}")
if(WEFT_WITH_SLEPC)
    weft_petsc_plug_in(weft_slepc
        "${weft_slepc_includes}" "${WEFT_slepc_LIBRARY}" "${weft_slepc_sources}")
endif()
