/tmp/speed/tests/model/target/debug/deps/threads-af1593afc81dbb5f.d: threads.rs

/tmp/speed/tests/model/target/debug/deps/threads-af1593afc81dbb5f: threads.rs

threads.rs:
