//! Questions before a write: what was shown when the answer came is what is sent.

use std::time::Instant;

use super::{Operation, unsent};
use crate::change::preview::{Preview, PreviewLine};
use crate::commands::gather::global::address;
use crate::commands::gather::reading::SourceReading;
use crate::error::Error;
use crate::hub::HubError;
use crate::render::escape;
use crate::ui::Ui;

pub(in crate::commands) struct WriteProposal<T> {
    /// What is shown of it, and what that was based on.
    pub preview: Preview,
    /// What is asked, if anything; or why it is refused once it was shown.
    pub question: Result<Option<String>, Error>,
    pub what: T,
}

impl Operation<'_> {
    /// Shows what a command is about to do, and asks where something is to be asked. After the answer
    /// it looks again: where anything is different, that is shown, and it is asked again.
    pub(in crate::commands) fn agree<T>(
        &mut self,
        look: &mut dyn FnMut(&mut SourceReading) -> Result<WriteProposal<T>, Error>,
    ) -> Result<T, Error> {
        let mut shown = look(self.reading)?;
        loop {
            show(&shown.preview, self.ui);
            let Some(question) = shown.question? else {
                return Ok(shown.what);
            };
            if !self.confirm(&question)? {
                return Ok(shown.what);
            }
            // Judged for the same moment, what differs was changed by someone.
            self.reading.forget();
            let now = look(self.reading)?;
            let differences = shown.preview.differences(&now.preview);
            if differences.is_empty() {
                now.question?;
                return Ok(now.what);
            }
            self.ui.warning(&format!(
                "this changed while you were asked, and {}:",
                self.reading.record.nothing("sent")
            ));
            for line in &differences {
                self.ui.note(&format!("  {}\n", escape::line(line)));
            }
            self.reading.now = self.reading.clock.now();
            shown = look(self.reading)?;
        }
    }

    /// Asks before something that a person could regret; not with `--yes`, and not for what is only
    /// shown. Says whether anyone was asked.
    fn confirm(&mut self, question: &str) -> Result<bool, Error> {
        if self.args.yes || self.args.is_dry() {
            return Ok(false);
        }
        let nothing = self.reading.record.nothing("sent");
        if let Some(why) = self.ui.why_not_asked() {
            return Err(Error::failed(format!("cannot prompt {question:?}: {why}"))
                .hint(format!("{nothing}; to confirm without a prompt, use --yes")));
        }
        let hub = self.reading.hub();
        let place = hub.as_deref().map(|hub| place(&hub.context, hub.url()));
        let question = match place {
            Some(place) => format!("{place}: {question}"),
            None => question.to_owned(),
        };
        let asked = Instant::now();
        let answer = self.ui.confirm(&question, hub.as_deref());
        self.since = self.since.and_then(|it| it.checked_add(asked.elapsed()));
        match answer {
            Ok(true) => Ok(true),
            Ok(false) => Err(Error::failed(format!("not confirmed: {nothing}"))),
            Err(HubError::Interrupted) => {
                self.ui.note("\n");
                Err(unsent(self.reading))
            }
            Err(error) => Err(error.into()),
        }
    }
}

fn show(preview: &Preview, ui: &mut Ui) {
    for said in preview.said() {
        match said {
            PreviewLine::Line(line) | PreviewLine::Progress(line) => ui.preview(line),
            PreviewLine::Status(text) => ui.status(text),
            PreviewLine::Warning(text) => ui.warning(text),
            PreviewLine::Picture { drawn, .. } => ui.picture(drawn),
        }
    }
}

/// Words of which many contexts' names consist: they do not tell one hub from another.
const COMMON: &str = "admin cluster context current default dev fleet hub k8s kind kubernetes \
    local main minikube my prod production staging system test user";

/// A hub by its context, and by its address where the context's name says little.
fn place(context: &str, url: &str) -> String {
    let address = address(url);
    if context.is_empty() {
        return format!("On {address}");
    }
    let words = context.split(|c: char| !c.is_ascii_alphanumeric());
    let says_little = words.filter(|word| !word.is_empty()).all(|word| {
        let is_number = word.chars().all(|c| c.is_ascii_digit());
        is_number || COMMON.split(' ').any(|it| it.eq_ignore_ascii_case(word))
    });
    if says_little {
        format!("In context {context} ({address})")
    } else {
        format!("In context {context}")
    }
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn a_hub_is_named_so_that_it_is_not_taken_for_another() {
        let url = "https://user:secret@10.0.0.1:6443/?token=secret";
        for (context, wanted) in [
            ("", "On https://10.0.0.1:6443"),
            ("default", "In context default (https://10.0.0.1:6443)"),
            ("hub", "In context hub (https://10.0.0.1:6443)"),
            (
                "kubernetes-admin@kubernetes",
                "In context kubernetes-admin@kubernetes (https://10.0.0.1:6443)",
            ),
            ("kind-2", "In context kind-2 (https://10.0.0.1:6443)"),
            ("prod-hub", "In context prod-hub (https://10.0.0.1:6443)"),
            ("contoso-hub", "In context contoso-hub"),
            ("fleet-westeurope", "In context fleet-westeurope"),
        ] {
            assert_eq!(place(context, url), wanted);
        }
        let rancher = place("", "https://rancher.example/k8s/clusters/c-1/");
        assert_eq!(rancher, "On https://rancher.example/k8s/clusters/c-1");
    }
}
