// Runs the module, and writes what it has counted into a dump:
//
//     cargo build --lib && node run.mjs target/wasm32-unknown-unknown/debug/wasm.wasm wasm.csraw
//     countersink convert wasm.csraw --binary target/wasm32-unknown-unknown/debug/wasm.wasm --to lcov -o wasm.info
import { readFileSync, writeFileSync } from "node:fs";

const [module, dump] = process.argv.slice(2);
const { instance } = await WebAssembly.instantiate(readFileSync(module));
const { checksum, countersink_dump, countersink_dump_place, memory } = instance.exports;
console.log(`checksum ${checksum(100)}`);
const length = countersink_dump();
writeFileSync(dump, new Uint8Array(memory.buffer, countersink_dump_place(), length));
