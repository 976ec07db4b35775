//! The schemas as they are published, to compare outputs with.

use std::collections::BTreeMap;
use std::path::Path;

use jsonschema::Validator;
use serde_json::Value;

/// The schemas as they are published.
pub struct Schemas(pub BTreeMap<String, Validator>);

impl Schemas {
    /// Reads them.
    pub fn published() -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/schemas");
        let mut schemas = BTreeMap::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            let Some(name) = name.strip_suffix(".schema.json") else {
                continue;
            };
            let mut schema = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            close(&mut schema);
            let schema = jsonschema::validator_for(&schema).unwrap();
            schemas.insert(name.to_owned(), schema);
        }
        Self(schemas)
    }

    /// What of a document is not as its schema says.
    pub fn wrong(&self, name: &str, document: &Value) -> Vec<String> {
        let schema = self
            .0
            .get(name)
            .unwrap_or_else(|| panic!("{name} has no schema"));
        let errors = schema.iter_errors(document);
        errors
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect()
    }
}

/// Lets a schema allow only what it names: a field that it does not describe is a mistake here,
/// whereas a reader must take it.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if fields.contains_key("properties") {
                fields.insert("additionalProperties".into(), Value::Bool(false));
            }
            fields.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

/// What of the documents of a bundle that are ours is not as its schema says.
#[allow(dead_code)] // the end-to-end tests collect
pub fn wrong_in_bundle(text: &str) -> Vec<String> {
    let schemas = Schemas::published();
    let mut wrong = Vec::new();
    for document in text.split("\n---\n") {
        let kind = document
            .lines()
            .find_map(|line| line.strip_prefix("kind: "));
        let name = match kind {
            Some("Bundle") => "bundle",
            Some("MemberObjects") => "member-objects",
            Some("ControllerLog") => "controller-log",
            _ => continue,
        };
        let document: Value = serde_saphyr::from_str(document.trim_start_matches("---")).unwrap();
        let found = schemas.wrong(name, &document);
        wrong.extend(found.into_iter().map(|text| format!("{name}{text}")));
    }
    wrong
}
