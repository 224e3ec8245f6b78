// A shared library that is not a model's.
extern "C" int stranger() { return 1; }
