"""Runs the module or the program for WASI in wasmtime, and writes what it has counted into a dump:

    cargo build --target wasm32-wasip1 --bin wasi
    python3 run.py target/wasm32-wasip1/debug/wasi.wasm wasm.csraw
    countersink convert wasm.csraw --binary target/wasm32-wasip1/debug/wasi.wasm --to lcov -o wasm.info
"""

import sys

from wasmtime import Linker, Module, Store, WasiConfig

path, dump = sys.argv[1:]
wasi = WasiConfig()
wasi.argv = [path, dump]
wasi.inherit_stdout()
wasi.preopen_dir(".", ".")
store = Store()
store.set_wasi(wasi)
linker = Linker(store.engine)
linker.define_wasi()
exports = linker.instantiate(store, Module.from_file(store.engine, path)).exports(store)
if "_start" in exports:
    exports["_start"](store)
else:
    print("checksum", exports["checksum"](store, 100))
    length = exports["countersink_dump"](store)
    place = exports["countersink_dump_place"](store)
    with open(dump, "wb") as file:
        file.write(exports["memory"].read(store, place, place + length))
