use owo_colors::Style;
use proptest::prelude::*;
use unicode_width::UnicodeWidthStr;

use super::{Cell, Column, Table, TableStyle, cut_end, cut_middle};
use crate::render::style::TextPaint;

const PLAIN: TableStyle = TableStyle {
    width: None,
    paint: TextPaint::new(false),
    headers: true,
};

fn runs() -> Table {
    let mut table = Table::new([
        Column::shrinking("NAME", 8),
        Column::new("VERDICT"),
        Column::number("CLUSTERS"),
    ]);
    table.row([
        "checkout-v2.14-hotfix-7f9c".into(),
        "Stuck".into(),
        "7/1000".into(),
    ]);
    table.row(["a".into(), Cell::default(), "1/2".into()]);
    table
}

#[test]
fn columns_stand_below_their_titles() {
    assert_eq!(
        runs().draw(&PLAIN),
        "NAME                        VERDICT  CLUSTERS\n\
         checkout-v2.14-hotfix-7f9c  Stuck      7/1000\n\
         a                           -             1/2\n"
    );
    let headers = false;
    assert_eq!(
        runs().draw(&TableStyle { headers, ..PLAIN }),
        "checkout-v2.14-hotfix-7f9c  Stuck  7/1000\n\
         a                           -         1/2\n"
    );
    assert_eq!(Table::new([Column::new("X")]).draw(&PLAIN), "");
}

#[test]
fn names_are_shortened_in_their_middle() {
    let width = Some(36);
    assert_eq!(
        runs().draw(&TableStyle { width, ..PLAIN }),
        "NAME               VERDICT  CLUSTERS\n\
         checkout-v…x-7f9c  Stuck      7/1000\n\
         a                  -             1/2\n"
    );
}

fn long_names() -> Table {
    let mut table = Table::new([
        Column::name("NAME"),
        Column::shrinking("PLACEMENT", 9).spare(1),
        Column::new("VERDICT"),
        Column::new("SNAP").spare(0),
        Column::new("AGE").spare(2),
    ]);
    let names = ["checkout-v2.14-hotfix-7f9c", "checkout-placement"];
    table.row([names[0], names[1], "WaitingForApproval", "12", "21m"].map(Cell::from));
    table
}

#[test]
fn a_name_is_never_cut_and_columns_go_instead() {
    for (width, titles) in [
        (81, "NAME PLACEMENT VERDICT SNAP AGE"),
        (75, "NAME PLACEMENT VERDICT AGE"),
        (60, "NAME VERDICT SNAP AGE"),
        (55, "NAME VERDICT AGE"),
        (46, "NAME VERDICT"),
        (30, "NAME V…"),
        (10, "NAME"),
    ] {
        let width = Some(width);
        let text = long_names().draw(&TableStyle { width, ..PLAIN });
        let first = text.lines().next().unwrap_or_default();
        let shown: Vec<_> = first.split_whitespace().collect();
        assert_eq!(shown.join(" "), titles, "{text}");
        assert!(text.contains("checkout-v2.14-hotfix-7f9c"), "{text}");
    }
}

#[test]
fn sentences_wrap_below_themselves() {
    let mut table = Table::new([
        Column::name("CLUSTER"),
        Column::wrapping("WHY", 20),
        Column::new("AGENT"),
    ]);
    table.row(["member-1", "the placement names it", "reports"].map(Cell::from));
    let why = "the policy matches it, and the scheduler gives no reason";
    table.row(["member-2", why, "reports"].map(Cell::from));
    table.line(Cell::from("a line"));
    table.row(["member-3", "", "reports"].map(Cell::from));
    let width = Some(46);
    assert_eq!(
        table.draw(&TableStyle { width, ..PLAIN }),
        "CLUSTER   WHY                         AGENT\n\
         member-1  the placement names it      reports\n\
         member-2  the policy matches it, and  reports\n\
         \u{20}         the scheduler gives no\n\
         \u{20}         reason\n\
         a line\n\
         member-3  -                           reports\n"
    );
}

#[test]
fn a_row_never_becomes_two() {
    let width = Some(20);
    let text = runs().draw(&TableStyle { width, ..PLAIN });
    assert_eq!(text.lines().count(), 3, "{text}");
    assert!(text.lines().all(|line| line.width() <= 20), "{text}");
}

#[test]
fn lines_and_indents_stand_between_rows() {
    let mut table = Table::new([Column::shrinking("RUN", 4), Column::new("TOOK")]);
    table.row(["x-1".into(), "3m".into()]);
    table.row([Cell::from("canary").indented(2), "1m".into()]);
    table.line(Cell::from("approved by\nalice\u{1b}").indented(4));
    assert_eq!(
        table.draw(&PLAIN),
        "RUN       TOOK\n\
         x-1       3m\n\
         \u{20} canary  1m\n\
         \u{20}   approved by alice\\u{1b}\n"
    );
}

#[test]
fn paint_takes_no_room() {
    let mut table = Table::new([Column::new("A"), Column::new("B")]);
    table.row([Cell::styled("x", Style::new().red()), "y".into()]);
    let sheet = TableStyle {
        paint: TextPaint::new(true),
        headers: false,
        ..PLAIN
    };
    assert_eq!(table.draw(&sheet), "\u{1b}[31mx\u{1b}[0m  y\n");
}

#[test]
fn wide_characters_are_cut_whole() {
    assert_eq!(cut_end("日本語", 5), "日本…");
    assert_eq!(cut_end("日本語", 4), "日…");
    assert_eq!(cut_middle("日本語日本語", 8), "日本…語");
    assert_eq!(cut_middle("abc", 1), "…");
    assert_eq!(cut_middle("abc", 0), "");
    // The second character makes the first one wide.
    assert_eq!(cut_end("*\u{fe0f}abc", 2), "*…");
}

proptest! {
    #[test]
    fn no_row_is_too_wide(
        rows in prop::collection::vec(prop::collection::vec("[\\PC\n]{0,40}", 3), 1..6),
        width in 5usize..120,
    ) {
        let mut table = Table::new([
            Column::shrinking("NAME", 6),
            Column::new("STATE"),
            Column::shrinking("LONGER TITLE", 3),
        ]);
        let count = rows.len();
        for row in rows {
            table.row(row.into_iter().map(Cell::from));
        }
        let text = table.draw(&TableStyle { width: Some(width), ..PLAIN });
        prop_assert_eq!(text.lines().count(), count + 1);
        for line in text.lines() {
            prop_assert!(line.width() <= width, "{line:?} is wider than {width}");
        }
    }
}
