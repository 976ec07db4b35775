//! What a rule is: its data, and how it finds what it is about.

use crate::diagnose::subjects::affected::AffectedObject;
use crate::diagnose::subjects::context::DiagnosisContext;
use crate::kubefleet::Concept;
use crate::kubefleet::messages::Cause;
use crate::problems::Problem;
use crate::report::{FaultOrigin, Finding, Severity, Subject};
use crate::rollout::{Gate, Rollout};

/// A state that a person would treat differently from every other one.
#[derive(Debug)]
pub struct Rule {
    /// `FSnnn`, stable for ever; retired codes are never used again.
    pub code: &'static str,
    /// The state seen, in kebab-case.
    pub name: &'static str,
    /// How much it matters, where the rule does not say otherwise.
    pub severity: Severity,
    /// What the rule reads besides the run itself.
    pub reads: &'static [Concept],
    /// Codes of findings that may explain this one.
    pub caused_by: &'static [&'static str],
    /// Whose fault it is, where the rule does not say otherwise; `None` where it is unknown, or where
    /// it holds no cluster.
    pub fault: Option<FaultOrigin>,
    pub(in crate::diagnose) check: RuleSearch,
}

/// How a rule finds what it is about. The rule is passed to itself, for [`Rule::finding`].
#[derive(Debug)]
pub enum RuleSearch {
    /// In everything that was collected.
    Whole(fn(&DiagnosisContext<'_>, &Rule) -> Vec<Finding>),
    /// The same, where there is one at most.
    One(fn(&DiagnosisContext<'_>, &Rule) -> Option<Finding>),
    /// In an object that the rule owns (see `claims`), and the clusters that have its problem.
    Object(fn(&AffectedObject<'_, '_>, Finding) -> Finding),
    /// In the run, whatever became of it.
    Run(fn(&DiagnosisContext<'_>, &Rule, &Rollout<'_>) -> Vec<Finding>),
    /// In a run that is neither over nor being deleted.
    Live(fn(&DiagnosisContext<'_>, &Rule, &Rollout<'_>) -> Vec<Finding>),
    /// At one of the approvals that such a run waits for.
    Approval(fn(&DiagnosisContext<'_>, &Rule, &Gate<'_>) -> Option<Finding>),
    /// In one of the causes that the text of a failed run names.
    NamedCause(fn(&DiagnosisContext<'_>, &Rule, &Cause) -> Option<Finding>),
    /// The same, where it is told as every refusal is, and whether it has been fixed since.
    Refusal(fn(&DiagnosisContext<'_>, &Cause) -> Option<(Problem, bool)>),
}

/// What was found; else what is found elsewhere.
pub fn found_or<I: IntoIterator<Item = Finding>>(
    found: Vec<Finding>,
    elsewhere: impl FnOnce() -> I,
) -> Vec<Finding> {
    if found.is_empty() {
        elsewhere().into_iter().collect()
    } else {
        found
    }
}

impl Rule {
    const fn new(
        severity: Severity,
        code: &'static str,
        name: &'static str,
        check: RuleSearch,
    ) -> Self {
        Self {
            code,
            name,
            severity,
            reads: &[],
            caused_by: &[],
            fault: None,
            check,
        }
    }

    pub(in crate::diagnose) const fn error(
        code: &'static str,
        name: &'static str,
        check: RuleSearch,
    ) -> Self {
        Self::new(Severity::Error, code, name, check)
    }

    pub(in crate::diagnose) const fn warning(
        code: &'static str,
        name: &'static str,
        check: RuleSearch,
    ) -> Self {
        Self::new(Severity::Warning, code, name, check)
    }

    pub(in crate::diagnose) const fn info(
        code: &'static str,
        name: &'static str,
        check: RuleSearch,
    ) -> Self {
        Self::new(Severity::Info, code, name, check)
    }

    /// What the controller refuses: the finding is told in one way, with a new run.
    pub(in crate::diagnose) const fn refusal(
        code: &'static str,
        name: &'static str,
        check: fn(&DiagnosisContext<'_>, &Cause) -> Option<(Problem, bool)>,
    ) -> Self {
        Self::error(code, name, RuleSearch::Refusal(check))
    }

    /// What keeps content from being in place on a member cluster.
    pub(in crate::diagnose) const fn on_member(
        code: &'static str,
        name: &'static str,
        check: fn(&DiagnosisContext<'_>, &Rule) -> Vec<Finding>,
    ) -> Self {
        Self::of_content(code, name, RuleSearch::Whole(check))
    }

    /// The same at an object that the rule owns.
    pub(in crate::diagnose) const fn on_object(
        code: &'static str,
        name: &'static str,
        check: fn(&AffectedObject<'_, '_>, Finding) -> Finding,
    ) -> Self {
        Self::of_content(code, name, RuleSearch::Object(check))
    }

    const fn of_content(code: &'static str, name: &'static str, check: RuleSearch) -> Self {
        Self::error(code, name, check)
            .reads(&[Concept::Binding, Concept::Work])
            .caused_by(&["FS518"])
    }

    pub(in crate::diagnose) const fn reads(mut self, concepts: &'static [Concept]) -> Self {
        self.reads = concepts;
        self
    }

    pub(in crate::diagnose) const fn caused_by(mut self, codes: &'static [&'static str]) -> Self {
        self.caused_by = codes;
        self
    }

    /// What was rolled out is at fault: the content, or an override of it.
    pub(in crate::diagnose) const fn content(mut self) -> Self {
        self.fault = Some(FaultOrigin::Content);
        self
    }

    /// The hub, a member cluster, or what runs there is at fault.
    pub(in crate::diagnose) const fn environment(mut self) -> Self {
        self.fault = Some(FaultOrigin::Environment);
        self
    }

    /// Somebody decided it, or has to decide.
    pub(in crate::diagnose) const fn person(mut self) -> Self {
        self.fault = Some(FaultOrigin::Person);
        self
    }

    /// A finding of this rule, with the rule's severity.
    pub fn finding(&self, subject: impl Into<Subject>, message: impl Into<String>) -> Finding {
        Finding {
            code: self.code.to_owned(),
            name: self.name.to_owned(),
            severity: self.severity,
            fault: self.fault,
            root_cause: false,
            caused_by: Vec::new(),
            subject: subject.into(),
            stage: None,
            clusters: Vec::new(),
            message: message.into(),
            evidence: Vec::new(),
            remedies: Vec::new(),
            docs: crate::diagnose::docs_url(self.code),
        }
    }

    pub fn told(&self, problem: Problem) -> Finding {
        let finding = self.finding(problem.subject.clone(), &problem.message);
        problem.told_in(finding)
    }
}
