//! The list of components, as CycloneDX 1.6 has it.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::checksums::sha256;
use crate::components::Component;
use crate::product::{HOMEPAGE, LICENCE, NAME, SHORT, Target};

/// The list for a program: what it is linked from (`required`), and what only ran in the compiler
/// (`excluded`). `time` is in RFC 3339.
pub fn write(
    components: &[Component],
    target: Target,
    program: &[u8],
    time: &str,
) -> Result<String> {
    let (own, others): (Vec<_>, Vec<_>) = components.iter().partition(|one| one.name == NAME);
    let version = &own
        .first()
        .context("the program is no component of itself")?
        .version;
    let mut bom = json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": time,
            "lifecycles": [{"phase": "build"}],
            "tools": {"components": [{"type": "application", "name": "cargo xtask release"}]},
            "component": {
                "type": "application",
                "bom-ref": reference(NAME, version),
                "name": NAME,
                "version": version,
                "description": SHORT,
                "licenses": [{"expression": LICENCE}],
                "purl": reference(NAME, version),
                "hashes": [{"alg": "SHA-256", "content": sha256(program)}],
                "externalReferences": [{"type": "vcs", "url": HOMEPAGE}],
                "properties": [{"name": "cdx:rustc:target", "value": target.triple}],
            },
        },
        "components": others.iter().map(|one| component(one)).collect::<Vec<_>>(),
        "dependencies": components.iter().map(|one| {
            let uses = one.uses.iter().map(|&at| &components[at]);
            json!({
                "ref": reference(&one.name, &one.version),
                "dependsOn": uses.map(|one| reference(&one.name, &one.version)).collect::<Vec<_>>(),
            })
        }).collect::<Vec<_>>(),
    });
    // A number of its own for each list, and the same one for the same list.
    bom["serialNumber"] = Value::from(format!("urn:uuid:{}", uuid(&bom.to_string())));
    let text = serde_json::to_string_pretty(&bom)?;
    Ok(text + "\n")
}

fn component(one: &Component) -> Value {
    let mut value = json!({
        "type": "library",
        "bom-ref": reference(&one.name, &one.version),
        "name": one.name,
        "version": one.version,
        "scope": if one.only_builds { "excluded" } else { "required" },
        "purl": reference(&one.name, &one.version),
    });
    if let Some(description) = &one.description {
        value["description"] = Value::from(description.as_str());
    }
    if let Some(licence) = &one.licence {
        value["licenses"] = json!([{"expression": licence}]);
    }
    if let Some(sum) = &one.checksum {
        value["hashes"] = json!([{"alg": "SHA-256", "content": sum}]);
    }
    if let Some(repository) = &one.repository {
        value["externalReferences"] = json!([{"type": "vcs", "url": repository}]);
    }
    value
}

/// A package URL. The program itself is no package of a registry.
fn reference(name: &str, version: &str) -> String {
    if name == NAME {
        let place = HOMEPAGE.trim_start_matches("https://github.com/");
        return format!("pkg:github/{place}@v{version}");
    }
    format!("pkg:cargo/{name}@{}", version.replace('+', "%2B"))
}

/// A UUID of version 8, made of a sum of the text.
fn uuid(text: &str) -> String {
    let sum = sha256(text.as_bytes());
    format!(
        "{}-{}-8{}-a{}-{}",
        &sum[..8],
        &sum[8..12],
        &sum[12..15],
        &sum[15..18],
        &sum[18..30]
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::components::tests::small;

    fn bom() -> Value {
        let target = Target::find("x86_64-unknown-linux-gnu").unwrap();
        let text = write(&small(), target, b"abc", "2026-01-02T03:04:05Z").unwrap();
        let again = write(&small(), target, b"abc", "2026-01-02T03:04:05Z").unwrap();
        assert_eq!(text, again);
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn it_says_what_is_in_the_program_and_what_only_built_it() {
        let bom = bom();
        let scopes: Vec<_> = bom["components"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| {
                (
                    one["name"].as_str().unwrap(),
                    one["scope"].as_str().unwrap(),
                )
            })
            .collect();
        assert_eq!(
            scopes,
            [
                ("library", "required"),
                ("parser", "excluded"),
                ("shown", "excluded")
            ]
        );
        assert_eq!(bom["components"][0]["hashes"][0]["content"], "00ff");
        assert_eq!(
            bom["components"][0]["licenses"][0]["expression"],
            "MIT OR Apache-2.0"
        );
        assert_eq!(
            bom["metadata"]["component"]["hashes"][0]["content"],
            sha256(b"abc")
        );
    }

    #[test]
    fn every_reference_leads_to_a_component() {
        let bom = bom();
        let mut known = vec![bom["metadata"]["component"]["bom-ref"].clone()];
        let components = bom["components"].as_array().unwrap();
        known.extend(components.iter().map(|one| one["bom-ref"].clone()));
        for dependency in bom["dependencies"].as_array().unwrap() {
            assert!(known.contains(&dependency["ref"]), "{dependency}");
            for used in dependency["dependsOn"].as_array().unwrap() {
                assert!(known.contains(used), "{used}");
            }
        }
        assert_eq!(
            reference("toml", "1.0.0+spec"),
            "pkg:cargo/toml@1.0.0%2Bspec"
        );
    }
}
