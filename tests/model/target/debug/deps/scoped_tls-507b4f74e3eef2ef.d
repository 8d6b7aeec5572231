/tmp/speed/tests/model/target/debug/deps/scoped_tls-507b4f74e3eef2ef.d: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/scoped-tls-1.0.1/src/lib.rs

/tmp/speed/tests/model/target/debug/deps/libscoped_tls-507b4f74e3eef2ef.rlib: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/scoped-tls-1.0.1/src/lib.rs

/tmp/speed/tests/model/target/debug/deps/libscoped_tls-507b4f74e3eef2ef.rmeta: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/scoped-tls-1.0.1/src/lib.rs

/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/scoped-tls-1.0.1/src/lib.rs:
