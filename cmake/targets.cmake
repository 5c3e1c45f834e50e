# How Wharf's own targets are compiled, and what its library layers share.

# C++20 without extensions. Warnings are errors in our own build only: a project
# that adds Wharf as a subdirectory may have a compiler we have never seen.
function(wharf_configure_target target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  if(NOT PROJECT_IS_TOP_LEVEL)
    return()
  endif()

  set(warnings -Wall -Wextra -Wconversion -Wshadow -Werror)
  if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    # Checks the WHARF_GUARDED_BY family; g++ has no such analysis. And
    # libstdc++ 12 calls, in stable_sort, what it deprecates itself.
    list(APPEND warnings -Wthread-safety -Wno-deprecated-declarations)
  elseif(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # All wrong about std::string in g++ 12 (GCC's bugs 105651 and 105329).
    list(APPEND warnings -Wno-restrict -Wno-array-bounds
         -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
  target_compile_options(${target} PRIVATE ${warnings})
endfunction()

# One layer of the library: wharf_NAME, known to users as wharf::NAME, from the
# src/ and include/ of the current folder. No other folder's headers are
# reachable but by linking it, which is what keeps the layers apart.
function(wharf_add_layer name)
  file(GLOB sources CONFIGURE_DEPENDS src/*.cpp)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS include/*.hpp)
  add_library(wharf_${name} STATIC ${sources})
  add_library(wharf::${name} ALIAS wharf_${name})
  wharf_configure_target(wharf_${name})
  target_sources(wharf_${name} PUBLIC FILE_SET HEADERS BASE_DIRS include
                                      FILES ${headers})
  # Adds the target all_verify_interface_header_sets, which is in no default
  # build: it compiles each header alone.
  set_target_properties(wharf_${name} PROPERTIES EXPORT_NAME ${name}
                                                 VERIFY_INTERFACE_HEADER_SETS ON)
endfunction()
