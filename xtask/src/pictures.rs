//! The pictures of the README: what the program answers about bundles of this repository, as SVG.

use std::path::Path;

use anstyle_svg::{Term, WIN10_CONSOLE};
use anyhow::{Context as _, Result, anyhow, bail};
use jiff::Timestamp;
use kubectl_fleet_stage::bundle::{self, Input};
use kubectl_fleet_stage::diagnose::status::Status;
use kubectl_fleet_stage::inventory::{Inventory, Walk};
use kubectl_fleet_stage::kubefleet::{Kind, ObjectRef};
use kubectl_fleet_stage::render::RenderLook;
use kubectl_fleet_stage::render::invocation::Invocation;
use kubectl_fleet_stage::render::status::watched;
use kubectl_fleet_stage::render::style::TextPaint;
use kubectl_fleet_stage::ui::UiEnvironment;

#[allow(clippy::unwrap_used)] // tests use the same
#[path = "../../tests/calls/mod.rs"]
mod calls;

const COLUMNS: usize = 80;
const RUN: &str = "example-run";
/// A run half way through a fleet.
const MOVING: &str = "examples/cluster/large-fleet.yaml";
/// A run that a member cluster blocks.
const STUCK: &str = "tests/findings/FS901/fires-not-found.yaml";
/// The part of the page that is shown: its columns and lines, in pixels.
const PAGE: [usize; 2] = [1040, 760];

/// The pictures, each with its path.
pub fn files(root: &Path) -> Result<[(&'static str, String); 3]> {
    Ok([
        (
            "docs/pictures/status.svg",
            terminal("status -w", &status(root)?),
        ),
        (
            "docs/pictures/diagnose.svg",
            terminal("diagnose", &diagnose(root, &["--color", "always"])?),
        ),
        (
            "docs/pictures/page.svg",
            page(&diagnose(root, &["-o", "html"])?)?,
        ),
    ])
}

/// What the renderer draws too dark for its own background, and what is drawn instead.
const BRIGHTER: [(&str, &str); 3] = [
    ("#0037DA", "#3B78FF"),
    ("#C50F1F", "#E74856"),
    ("opacity: 0.4", "opacity: 0.65"),
];

/// A terminal after a command about the run. It brings its background, for light and dark pages.
fn terminal(command: &str, answer: &str) -> String {
    let (verb, flags) = command.split_once(' ').unwrap_or((command, ""));
    let call = format!("$ kubectl fleet-stage {verb} {RUN} {flags}");
    let call = TextPaint::new(true).bold(call.trim_end());
    let term = Term::new().palette(WIN10_CONSOLE);
    let mut svg = term.render_svg(&format!("{call}\n{}", answer.trim_end()));
    for (dark, bright) in BRIGHTER {
        svg = svg.replace(dark, bright);
    }
    svg.trim_end().to_owned() + "\n"
}

/// What `status --watch` draws at the moment of the bundle.
fn status(root: &Path) -> Result<String> {
    let mut bundle = bundle::read(vec![Input::Path(root.join(MOVING))])?;
    let now = bundle.collected_at.or(bundle.newest_timestamp());
    let now = now.with_context(|| format!("{MOVING} has no time"))?;
    let mut walk = Walk::new(ObjectRef {
        kind: Kind::ClusterStagedUpdateRun,
        namespace: String::new(),
        name: RUN.to_owned(),
    });
    walk.drive(&mut bundle);
    let look = RenderLook {
        width: COLUMNS,
        paint: TextPaint::new(true),
        invocation: Invocation::default(),
        verbose: false,
    };
    let inventory = Inventory::new(walk, now, bundle.hub.clone());
    Ok(watched(&Status::with_ends(&inventory), &look))
}

/// What `diagnose` prints about the run that is stuck.
fn diagnose(root: &Path, flags: &[&str]) -> Result<String> {
    let file = crate::fixture::whole(root, &root.join(STUCK))?;
    let file = file
        .to_str()
        .with_context(|| format!("{} is no text", file.display()))?;
    let words = [
        &[
            "kubectl-fleet_stage",
            "diagnose",
            RUN,
            "--exit-zero",
            "-f",
            file,
        ],
        flags,
    ];
    let environment = UiEnvironment {
        columns: Some(COLUMNS),
        called_as: "kubectl-fleet_stage".to_owned(),
        ..UiEnvironment::default()
    };
    let words = words.concat().into_iter().map(Into::into);
    let (exit, answer, said) = calls::call(words, None, environment, || Timestamp::UNIX_EPOCH);
    if exit != 0 {
        bail!("diagnose exits with {exit}: {said}");
    }
    Ok(answer)
}

/// The top of a page, in the colors that the reader prefers. Within SVG, HTML must be XML.
fn page(html: &str) -> Result<String> {
    let between = |from: &str, to: &str| {
        let (_, rest) = html.split_once(from)?;
        Some(rest.split_once(to)?.0)
    };
    let part = |from: &str, to: &str| {
        between(from, to).ok_or_else(|| anyhow!("the page has no {from} … {to}"))
    };
    let (style, body) = (part("<style>", "</style>")?, part("<body>", "</body>")?);
    let body = body
        .replace("<svg ", "<svg xmlns=\"http://www.w3.org/2000/svg\" ")
        .replace(" open>", " open=\"\">");
    let [width, height] = PAGE;
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\">\n\
         <style><![CDATA[{style}]]></style>\n\
         <foreignObject width=\"{width}\" height=\"{height}\">\n\
         <body xmlns=\"http://www.w3.org/1999/xhtml\" style=\"height: {height}px; overflow: hidden\">\
         {body}</body>\n</foreignObject>\n</svg>\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::{files, terminal};

    #[test]
    fn text_is_escaped() {
        let svg = terminal("status", "\u{1b}[31m<script>&\u{1b}[0m");
        assert!(
            svg.contains("&lt;script>&amp;") || svg.contains("&lt;script&gt;&amp;"),
            "{svg}"
        );
    }

    #[test]
    fn pictures_show_what_they_are_for() {
        let files = files(&crate::root()).unwrap();
        for (file, shown) in files.iter().zip(["&gt;&gt;", "FS901", "image-not-pulled"]) {
            let (path, text) = file;
            assert!(text.contains(shown), "{path} does not show {shown}");
            assert!(
                text.starts_with("<svg ") && text.ends_with("</svg>\n"),
                "{path}"
            );
        }
    }
}
