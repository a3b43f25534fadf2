// Points the loader at the driver of this build (unless the caller has chosen another) and runs the tests.
#include <gtest/gtest.h>

#include <cstdlib>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  // The old and the new name: loaders before 1.3.207 know only the first.
  setenv("VK_ICD_FILENAMES", PUMICE_MANIFEST, 0);
  setenv("VK_DRIVER_FILES", PUMICE_MANIFEST, 0);
  // What is tested is made, not found; and the user's files are not touched. Tests of the disk cache turn it on.
  setenv("PUMICE_CACHE", "0", 0);
  return RUN_ALL_TESTS();
}
