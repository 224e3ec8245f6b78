// A shared library that is not a model.
extern "C" int stranger() { return 1; }
