/tmp/speed/tests/model/target/debug/deps/pin_project_lite-cbb58810d6920bf6.d: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/pin-project-lite-0.2.17/src/lib.rs

/tmp/speed/tests/model/target/debug/deps/libpin_project_lite-cbb58810d6920bf6.rlib: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/pin-project-lite-0.2.17/src/lib.rs

/tmp/speed/tests/model/target/debug/deps/libpin_project_lite-cbb58810d6920bf6.rmeta: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/pin-project-lite-0.2.17/src/lib.rs

/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/pin-project-lite-0.2.17/src/lib.rs:
