use std::path::PathBuf;

use proptest::prelude::*;

use super::{CredentialSource, Credentials, HubError, bearer};

fn get(credentials: &Credentials, refused: Option<u64>) -> Result<String, HubError> {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let current = runtime.block_on(credentials.get(refused))?;
    let header = current
        .header
        .as_ref()
        .map(|header| header.to_str().unwrap().to_owned());
    Ok(format!("{} {}", current.number, header.unwrap_or_default()))
}

#[test]
fn a_file_is_trimmed_wins_and_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    std::fs::write(&path, "  one\n").unwrap();
    let file =
        |path: PathBuf, otherwise| Credentials::new(CredentialSource::File { path, otherwise });
    let credentials = file(path.clone(), Some(bearer("other").unwrap()));
    assert_eq!(get(&credentials, None).unwrap(), "1 Bearer one");
    std::fs::write(&path, "two").unwrap();
    assert_eq!(get(&credentials, None).unwrap(), "1 Bearer one");
    assert_eq!(get(&credentials, Some(1)).unwrap(), "2 Bearer two");
    // What can be read no more counts as it was.
    std::fs::remove_file(&path).unwrap();
    assert_eq!(get(&credentials, Some(2)).unwrap(), "3 Bearer two");
    let missing = file(path.clone(), Some(bearer("other").unwrap()));
    assert_eq!(get(&missing, None).unwrap(), "1 Bearer other");
    let error = get(&file(path.clone(), None), None).unwrap_err();
    assert!(error.to_string().contains("cannot be read"), "{error}");
    std::fs::write(&path, " \n").unwrap();
    let error = get(&file(path.clone(), None), None).unwrap_err();
    assert!(error.to_string().contains("is empty"), "{error}");
    std::fs::write(&path, "S3CR3T\nS3CR3T").unwrap();
    let error = get(&file(path, None), None).unwrap_err();
    assert!(!error.to_string().contains("S3CR3T"), "{error}");
}

#[test]
fn a_header_is_never_shown() {
    let header = bearer("S3CR3T").unwrap();
    assert!(!format!("{header:?}").contains("S3CR3T"));
    let credentials = Credentials::new(CredentialSource::Header(header));
    assert!(!format!("{credentials:?}").contains("S3CR3T"));
}

proptest! {
    #[test]
    fn no_token_is_a_panic(token in any::<String>()) {
        if let Err(why) = bearer(&token) {
            prop_assert!(token.len() < 4 || !why.contains(&token));
        }
    }
}
