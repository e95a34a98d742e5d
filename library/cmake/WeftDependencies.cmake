# Finds the libraries that weft is built from. Sets WEFT_DEPENDENCIES, with which its sources are
# compiled, WEFT_LINKED, what a program links beside a static libweft, WEFT_HAS_CHOLMOD,
# WEFT_HAS_METIS, WEFT_HAS_HDF5, WEFT_HAS_OPENSHMEM and WEFT_MPI_IS_OPEN_MPI.

if(WEFT_MPI_AT_RUN_TIME)
    # In place of an MPI: the header of the loader, and no library.
    add_library(MPI::MPI_C INTERFACE IMPORTED)
    target_include_directories(MPI::MPI_C INTERFACE "${CMAKE_CURRENT_SOURCE_DIR}/library/loader/abi")
else()
    find_package(MPI REQUIRED COMPONENTS C)
endif()
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(fmt REQUIRED)
set(weft_fmt fmt::fmt)
if(WEFT_MPI_AT_RUN_TIME)
    set(weft_fmt fmt::fmt-header-only)  # its library would need the system's C++ library
endif()
find_package(nlohmann_json REQUIRED)
if(WEFT_BUILD_PROGRAM AND NOT WEFT_MPI_AT_RUN_TIME)
    find_package(CLI11 REQUIRED)
endif()
find_package(PkgConfig REQUIRED)
pkg_check_modules(hwloc REQUIRED IMPORTED_TARGET hwloc)
pkg_check_modules(isal REQUIRED IMPORTED_TARGET libisal)

# weft_header_library(NAME HEADER PACKAGE): an imported target weft_NAME for a library that is all
# in its headers.
function(weft_header_library name header package)
    find_path(WEFT_${name}_INCLUDE_DIR ${header})
    if(NOT WEFT_${name}_INCLUDE_DIR)
        message(FATAL_ERROR "${header} not found; on Debian: apt install ${package}")
    endif()
    add_library(weft_${name} INTERFACE IMPORTED)
    target_include_directories(weft_${name} SYSTEM INTERFACE "${WEFT_${name}_INCLUDE_DIR}")
endfunction()

weft_header_library(xxhash xxhash.h libxxhash-dev)

# weft_library(NAME HEADER LIBRARIES... SUFFIXES...): an imported target weft_NAME, if all of it is
# there; sets FOUND.
function(weft_library name header found)
    cmake_parse_arguments(PARSE_ARGV 3 ask "" "" "LIBRARIES;SUFFIXES")
    find_path(WEFT_${name}_INCLUDE_DIR ${header} PATH_SUFFIXES ${ask_SUFFIXES})
    set(is_there TRUE)
    if(NOT WEFT_${name}_INCLUDE_DIR)
        set(is_there FALSE)
    endif()
    set(files)
    foreach(library IN LISTS ask_LIBRARIES)
        find_library(WEFT_${name}_${library}_LIBRARY ${library})
        if(WEFT_${name}_${library}_LIBRARY)
            list(APPEND files "${WEFT_${name}_${library}_LIBRARY}")
        else()
            set(is_there FALSE)
        endif()
    endforeach()
    set(${found} ${is_there} PARENT_SCOPE)
    if(is_there)
        add_library(weft_${name} INTERFACE IMPORTED)
        target_include_directories(weft_${name} SYSTEM INTERFACE "${WEFT_${name}_INCLUDE_DIR}")
        target_link_libraries(weft_${name} INTERFACE ${files})
    endif()
endfunction()

set(WEFT_DEPENDENCIES
    MPI::MPI_C OpenMP::OpenMP_CXX Threads::Threads ZLIB::ZLIB ${weft_fmt} PkgConfig::hwloc PkgConfig::isal
    nlohmann_json::nlohmann_json weft_xxhash ${CMAKE_DL_LIBS})

set(WEFT_HAS_CHOLMOD FALSE)
if(WEFT_WITH_CHOLMOD)
    weft_library(cholmod cholmod.h WEFT_HAS_CHOLMOD
        LIBRARIES cholmod klu suitesparseconfig SUFFIXES suitesparse)
    if(NOT WEFT_HAS_CHOLMOD)
        message(FATAL_ERROR "CHOLMOD not found; on Debian: apt install libsuitesparse-dev, or "
            "-DWEFT_WITH_CHOLMOD=OFF to factor with Eigen")
    endif()
    list(APPEND WEFT_DEPENDENCIES weft_cholmod)
    message(STATUS "weft: factors with CHOLMOD: libweft may be passed on under the GPL only")
endif()
find_package(Eigen3 3.4 QUIET NO_MODULE)
if(NOT TARGET Eigen3::Eigen)
    message(FATAL_ERROR "Eigen 3.4 not found; on Debian: apt install libeigen3-dev")
endif()
list(APPEND WEFT_DEPENDENCIES Eigen3::Eigen)

set(WEFT_HAS_METIS FALSE)
if(WEFT_WITH_METIS)
    weft_library(metis metis.h WEFT_HAS_METIS LIBRARIES metis)
endif()
if(WEFT_HAS_METIS)
    list(APPEND WEFT_DEPENDENCIES weft_metis)
endif()

# The library without MPI: a parallel one belongs to one MPI, which need not be weft's.
set(WEFT_HAS_HDF5 FALSE)
if(WEFT_WITH_HDF5)
    find_path(WEFT_hdf5_INCLUDE_DIR hdf5.h PATH_SUFFIXES hdf5/serial)
    find_library(WEFT_hdf5_LIBRARY NAMES hdf5_serial hdf5 PATH_SUFFIXES hdf5/serial)
    if(WEFT_hdf5_INCLUDE_DIR AND WEFT_hdf5_LIBRARY)
        file(STRINGS "${WEFT_hdf5_INCLUDE_DIR}/H5pubconf.h" weft_hdf5_is_parallel
            REGEX "^#define H5_HAVE_PARALLEL 1")
        if(NOT weft_hdf5_is_parallel)
            set(WEFT_HAS_HDF5 TRUE)
            add_library(weft_hdf5 INTERFACE IMPORTED)
            target_include_directories(weft_hdf5 SYSTEM INTERFACE "${WEFT_hdf5_INCLUDE_DIR}")
            target_link_libraries(weft_hdf5 INTERFACE "${WEFT_hdf5_LIBRARY}")
            list(APPEND WEFT_DEPENDENCIES weft_hdf5)
        endif()
    endif()
endif()

# Which MPI it is decides what else there is. With MPI's common binary interface it may be any, which
# programs ask when they run.
include(CheckCSourceCompiles)
if(NOT WEFT_MPI_AT_RUN_TIME)
    set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
    check_c_source_compiles("
#include <mpi.h>
#if !defined(OPEN_MPI)
#error another MPI
#endif
int main(void) { return 0; }" WEFT_MPI_IS_OPEN_MPI)
    unset(CMAKE_REQUIRED_LIBRARIES)
endif()

set(WEFT_HAS_OPENSHMEM FALSE)
if(WEFT_WITH_OPENSHMEM AND WEFT_MPI_IS_OPEN_MPI)
    # Beside the MPI that has been found: a process cannot have two of them.
    set(folders)
    foreach(library IN LISTS MPI_C_LIBRARIES)
        if(IS_ABSOLUTE "${library}")
            get_filename_component(folder "${library}" DIRECTORY)
            list(APPEND folders "${folder}")
        endif()
    endforeach()
    find_library(WEFT_openshmem_LIBRARY oshmem HINTS ${folders})
    find_path(WEFT_openshmem_INCLUDE_DIR shmem.h HINTS ${MPI_C_INCLUDE_DIRS})
    if(WEFT_openshmem_LIBRARY AND WEFT_openshmem_INCLUDE_DIR)
        set(WEFT_HAS_OPENSHMEM TRUE)
        list(APPEND WEFT_DEPENDENCIES "${WEFT_openshmem_LIBRARY}")
    endif()
endif()

# Files, and packages that weftConfig.cmake finds again; no headers.
set(WEFT_LINKED
    MPI::MPI_C OpenMP::OpenMP_CXX Threads::Threads ZLIB::ZLIB ${weft_fmt} ${hwloc_LINK_LIBRARIES}
    ${isal_LINK_LIBRARIES} ${CMAKE_DL_LIBS})
foreach(name cholmod metis hdf5)
    if(TARGET weft_${name})
        get_target_property(files weft_${name} INTERFACE_LINK_LIBRARIES)
        list(APPEND WEFT_LINKED ${files})
    endif()
endforeach()
if(WEFT_HAS_OPENSHMEM)
    list(APPEND WEFT_LINKED "${WEFT_openshmem_LIBRARY}")
endif()

foreach(part METIS HDF5 OPENSHMEM)
    if(NOT WEFT_HAS_${part})
        message(STATUS "weft: built without ${part}")
    endif()
endforeach()
