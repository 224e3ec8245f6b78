# Installs the library, its headers and the package files that find_package(rehmc) reads.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(REHMC_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/rehmc)
set(REHMC_PACKAGE_FILES ${PROJECT_BINARY_DIR}/package)

install(TARGETS rehmc EXPORT rehmc_targets FILE_SET HEADERS)
install(EXPORT rehmc_targets NAMESPACE rehmc:: FILE rehmcTargets.cmake
        DESTINATION ${REHMC_PACKAGE_DIR})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/rehmcConfig.cmake.in
                              ${REHMC_PACKAGE_FILES}/rehmcConfig.cmake
                              INSTALL_DESTINATION ${REHMC_PACKAGE_DIR})
# Before 1.0 a new minor version may break its users.
write_basic_package_version_file(${REHMC_PACKAGE_FILES}/rehmcConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${REHMC_PACKAGE_FILES}/rehmcConfig.cmake
              ${REHMC_PACKAGE_FILES}/rehmcConfigVersion.cmake ${CMAKE_CURRENT_LIST_DIR}/Autodiff.cmake
        DESTINATION ${REHMC_PACKAGE_DIR})

# Differentiates densities by Stan Math, if its user has that: a header apart from the library's own.
install(FILES ${PROJECT_SOURCE_DIR}/autodiff/rehmc/model/autodiff.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/rehmc/model)
