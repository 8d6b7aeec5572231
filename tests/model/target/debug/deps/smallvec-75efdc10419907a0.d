/tmp/speed/tests/model/target/debug/deps/smallvec-75efdc10419907a0.d: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/smallvec-1.16.5/src/lib.rs

/tmp/speed/tests/model/target/debug/deps/libsmallvec-75efdc10419907a0.rlib: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/smallvec-1.16.5/src/lib.rs

/tmp/speed/tests/model/target/debug/deps/libsmallvec-75efdc10419907a0.rmeta: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/smallvec-1.16.5/src/lib.rs

/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/smallvec-1.16.5/src/lib.rs:
