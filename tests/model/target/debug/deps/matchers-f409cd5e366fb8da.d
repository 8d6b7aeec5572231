/tmp/speed/tests/model/target/debug/deps/matchers-f409cd5e366fb8da.d: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/matchers-0.2.0/src/lib.rs

/tmp/speed/tests/model/target/debug/deps/libmatchers-f409cd5e366fb8da.rlib: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/matchers-0.2.0/src/lib.rs

/tmp/speed/tests/model/target/debug/deps/libmatchers-f409cd5e366fb8da.rmeta: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/matchers-0.2.0/src/lib.rs

/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/matchers-0.2.0/src/lib.rs:
