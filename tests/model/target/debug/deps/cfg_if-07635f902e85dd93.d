/tmp/speed/tests/model/target/debug/deps/cfg_if-07635f902e85dd93.d: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/cfg-if-1.0.5/src/lib.rs

/tmp/speed/tests/model/target/debug/deps/libcfg_if-07635f902e85dd93.rlib: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/cfg-if-1.0.5/src/lib.rs

/tmp/speed/tests/model/target/debug/deps/libcfg_if-07635f902e85dd93.rmeta: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/cfg-if-1.0.5/src/lib.rs

/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/cfg-if-1.0.5/src/lib.rs:
