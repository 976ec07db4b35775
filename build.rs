//! Packs the examples of the findings' pages: `explain CODE --example` prints them without the repository.
//! Compiles what looks at the streams before Rust does.

use std::io::Write as _;
use std::path::Path;
use std::{env, fs, io};

/// Which fixtures are examples, beside them.
const LIST: &str = "tests/findings/examples.txt";
const FIRST: &str = "src/closed.c";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={LIST}");
    let mut all = Vec::new();
    for path in fs::read_to_string(LIST)?.lines() {
        if path.is_empty() || path.starts_with('#') {
            continue;
        }
        let file = format!("tests/findings/{path}");
        let code = path.split('/').next().unwrap_or_default();
        let file = Path::new(&file);
        for read in test_fixtures::files(file)? {
            println!("cargo::rerun-if-changed={}", read.display());
        }
        let text = test_fixtures::read(file)?;
        // `src/diagnose/examples.rs` reads this.
        writeln!(all, "{code} {}", text.len())?;
        all.extend(text.bytes());
    }
    let folder = env::var_os("OUT_DIR").unwrap_or_default();
    let file = fs::File::create(Path::new(&folder).join("examples.gz"))?;
    let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::best());
    packed.write_all(&all)?;
    packed.finish()?;
    look_first()
}

/// Only the program is linked with it.
fn look_first() -> io::Result<()> {
    println!("cargo::rerun-if-changed={FIRST}");
    if env::var_os("CARGO_CFG_UNIX").is_none() {
        return Ok(());
    }
    let objects = cc::Build::new().file(FIRST).try_compile_intermediates();
    for object in objects.map_err(io::Error::other)? {
        println!("cargo::rustc-link-arg-bins={}", object.display());
    }
    Ok(())
}
