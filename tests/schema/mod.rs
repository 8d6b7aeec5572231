//! Checks JSON against a schema, by Python's `jsonschema`.
#![allow(dead_code, reason = "every test uses some of it")]

use std::path::Path;

use crate::harness::{Workshop, python_with, succeed};

/// Checks a text against the schema in a file. Skips that where Python cannot.
pub fn validate(shop: &Workshop, text: &[u8], schema: &Path) {
    let Some(python) = python_with("jsonschema") else { return };
    shop.write("instance.json", text);
    let script = "import json, jsonschema, sys\n\
                  instance, schema = [json.load(open(name)) for name in sys.argv[1:]]\n\
                  jsonschema.validate(instance, schema)";
    let mut python = shop.command(python);
    succeed(python.args(["-c", script, "instance.json"]).arg(schema));
}
