//! The binary as a user calls it: every case under `tests/cmd/`, and the examples of the help.

#[test]
fn commands_say_what_their_cases_expect() {
    trycmd::TestCases::new()
        .env("NO_COLOR", "1")
        .env("COLUMNS", "80")
        .case("tests/cmd/*.md")
        .run();
}
