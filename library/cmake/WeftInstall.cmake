# What `cmake --install` puts into the prefix: headers, library, program, CMake package, weft.pc.
set(weft_cmake_folder "${CMAKE_INSTALL_LIBDIR}/cmake/weft")

install(TARGETS weft EXPORT weft_targets
    LIBRARY COMPONENT library NAMELINK_COMPONENT development
    ARCHIVE COMPONENT development)
install(DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}/library/include/weft"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development FILES_MATCHING PATTERN "*.h*")
install(EXPORT weft_targets FILE weftTargets.cmake NAMESPACE weft::
    DESTINATION "${weft_cmake_folder}" COMPONENT development)

# weftConfig.cmake names the MPI compiler, also one that was given without its folder.
find_program(weft_mpi_compiler NAMES "${MPI_C_COMPILER}" NO_CACHE)
configure_package_config_file(
    "${CMAKE_CURRENT_SOURCE_DIR}/library/cmake/weftConfig.cmake.in"
    "${CMAKE_CURRENT_BINARY_DIR}/weftConfig.cmake"
    INSTALL_DESTINATION "${weft_cmake_folder}")
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/weftConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
install(FILES
    "${CMAKE_CURRENT_BINARY_DIR}/weftConfig.cmake"
    "${CMAKE_CURRENT_BINARY_DIR}/weftConfigVersion.cmake"
    DESTINATION "${weft_cmake_folder}" COMPONENT development)

# The flags of MPI are written out: the name of its own .pc file differs from system to system.
set(weft_pc_mpi_cflags)
foreach(folder IN LISTS MPI_C_INCLUDE_DIRS)
    string(APPEND weft_pc_mpi_cflags " -I${folder}")
endforeach()
# Such as MPI_ABI of MPICH's mpicc_abi, which decides the types of mpi.h.
foreach(definition IN LISTS MPI_C_COMPILE_DEFINITIONS)
    string(APPEND weft_pc_mpi_cflags " -D${definition}")
endforeach()
set(weft_pc_libs ${MPI_C_LIBRARIES})
if(NOT BUILD_SHARED_LIBS)
    # The packages of WEFT_LINKED as files.
    set(weft_pc_files ${WEFT_LINKED})
    list(FILTER weft_pc_files EXCLUDE REGEX "::")
    list(TRANSFORM weft_pc_files REPLACE "^([^/-].*)$" "-l\\1")
    list(APPEND weft_pc_libs ${OpenMP_CXX_LIBRARIES} ${ZLIB_LIBRARIES} -lfmt ${weft_pc_files}
        -lstdc++ -lm)
endif()
string(REPLACE ";" " " weft_pc_libs "${weft_pc_libs}")
file(RELATIVE_PATH weft_prefix_from_pc "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file("${CMAKE_CURRENT_SOURCE_DIR}/library/cmake/weft.pc.in"
    "${CMAKE_CURRENT_BINARY_DIR}/weft.pc" @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/weft.pc"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT library)
