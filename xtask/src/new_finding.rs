//! The files of a new finding, ready to be filled in.

use std::path::Path;

use anyhow::{Context as _, Result, bail};

/// Writes the rule and its explanation, and says what is left to do.
pub fn run(root: &Path, code: &str, name: &str, area: &str) -> Result<()> {
    let valid =
        code.len() == 5 && code.starts_with("FS") && code[2..].bytes().all(|b| b.is_ascii_digit());
    if !valid {
        bail!("{code:?} is not a code: FS and three digits");
    }
    let kebab = name
        .bytes()
        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    if !kebab || name.is_empty() {
        bail!("{name:?} is not a name: lower-case words joined by -");
    }
    let module = name.replace('-', "_");
    let rule = root.join(format!("src/diagnose/rules/{area}/{module}.rs"));
    let explanation = root.join(format!("docs/findings/{code}.md"));
    for path in [&rule, &explanation] {
        if path.exists() {
            bail!("{} exists", path.display());
        }
    }
    write(&rule, &RULE.replace("CODE", code).replace("NAME", name))?;
    write(
        &explanation,
        &EXPLANATION.replace("CODE", code).replace("NAME", name),
    )?;
    crate::report(&format!(
        "wrote {} and {}\nleft to do: add `{code} {module}` to the list in src/diagnose/rules/mod.rs, in the \
         order of the codes;\nfixtures tests/findings/{code}/fires-*.yaml and quiet-*.yaml (`cargo xtask fixture fold` writes a \
         bundle as one), one of them in tests/findings/examples.txt;\ncargo xtask gen",
        rule.display(),
        explanation.display()
    ));
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    std::fs::write(path, text).with_context(|| path.display().to_string())
}

const RULE: &str = "//! One line: the state seen.

use crate::diagnose::rules::prelude::*;

/// Why this is a state of its own, and the source of the rule.
pub const RULE: Rule = Rule::error(\"CODE\", \"NAME\", Whole(check));

fn check(_cx: &DiagnosisContext<'_>, _rule: &Rule) -> Vec<Finding> {
    Vec::new()
}
";

const EXPLANATION: &str = "# CODE: NAME

**One sentence.**

## What it means

## Why it happens

## How to confirm

## How to fix

## How to avoid it

## Example

One sentence.

```sh
kubectl fleet-stage explain CODE --example | kubectl fleet-stage diagnose -f -
```

## See also
";
