/tmp/speed/tests/model/target/debug/deps/model-42a52c0e057897a0.d: lib.rs atomic.rs ../../src/runtime/counters/mod.rs ../../src/runtime/counters/nodes.rs ../../src/runtime/counters/topn.rs ../../src/runtime/counters/values.rs ../../src/raw/gcov/site.rs

/tmp/speed/tests/model/target/debug/deps/libmodel-42a52c0e057897a0.rlib: lib.rs atomic.rs ../../src/runtime/counters/mod.rs ../../src/runtime/counters/nodes.rs ../../src/runtime/counters/topn.rs ../../src/runtime/counters/values.rs ../../src/raw/gcov/site.rs

/tmp/speed/tests/model/target/debug/deps/libmodel-42a52c0e057897a0.rmeta: lib.rs atomic.rs ../../src/runtime/counters/mod.rs ../../src/runtime/counters/nodes.rs ../../src/runtime/counters/topn.rs ../../src/runtime/counters/values.rs ../../src/raw/gcov/site.rs

lib.rs:
atomic.rs:
../../src/runtime/counters/mod.rs:
../../src/runtime/counters/nodes.rs:
../../src/runtime/counters/topn.rs:
../../src/runtime/counters/values.rs:
../../src/raw/gcov/site.rs:
