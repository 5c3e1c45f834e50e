# `cmake --install` and what find_package(wharf) reads. In a project that adds
# Wharf as a subdirectory, what to install is that project's decision.
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/wharf)

install(
  TARGETS wharf_runtime wharf_arbiters wharf_wharf
  EXPORT wharf_targets
  FILE_SET HEADERS)
install(
  EXPORT wharf_targets
  NAMESPACE wharf::
  FILE wharfTargets.cmake
  DESTINATION ${package_dir})

# Adapters need packages of their own, so each is a component with targets of
# its own: who asks for none needs none of these.
if(TARGET wharf_asio)
  install(
    TARGETS wharf_asio
    EXPORT wharf_asio_targets
    FILE_SET HEADERS)
  install(
    EXPORT wharf_asio_targets
    NAMESPACE wharf::
    FILE wharf_asioTargets.cmake
    DESTINATION ${package_dir})
endif()

configure_package_config_file(cmake/wharfConfig.cmake.in wharfConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
# Below 1.0 a minor version may change the interface.
write_basic_package_version_file(wharfConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/wharfConfig.cmake
              ${PROJECT_BINARY_DIR}/wharfConfigVersion.cmake
        DESTINATION ${package_dir})
