//! How a placement applies its resources on member clusters.

use super::tolerant::model;

model! {
    /// `spec.strategy.applyStrategy` of a placement, as also recorded by runs, bindings and Works.
    pub struct ApplyStrategy {
        /// `ClientSideApply` (default), `ServerSideApply` or `ReportDiff`.
        pub kind: String = "type",
        /// `PartialComparison` (default) or `FullComparison`.
        pub comparison: String = "comparisonOption",
        /// `Always` (default) or `IfNotDrifted`.
        pub when_to_apply: String = "whenToApply",
        /// `Always` (default), `IfNoDiff` or `Never`.
        pub when_to_take_over: String = "whenToTakeOver",
        /// Whether objects with other owners are applied; default no.
        pub allow_co_ownership: bool = "allowCoOwnership",
        /// Settings of server-side apply.
        pub server_side: Option<Box<ServerSideApply>> = "serverSideApplyConfig",
    }

    /// `serverSideApplyConfig`.
    pub struct ServerSideApply {
        /// Whether conflicts are overridden; default no.
        pub force: bool = "force",
    }
}

impl ApplyStrategy {
    /// The strategy with KubeFleet's defaults in the empty fields, so that two can be compared. KubeFleet compares
    /// all fields, also those that mean nothing for the type.
    /// Source: pkg/utils/defaulter; updaterun/validation.go:validate.
    #[must_use]
    pub fn with_defaults(&self) -> Self {
        fn or(value: &str, default: &str) -> String {
            if value.is_empty() { default } else { value }.to_owned()
        }
        let kind = or(&self.kind, "ClientSideApply");
        Self {
            comparison: or(&self.comparison, "PartialComparison"),
            when_to_apply: or(&self.when_to_apply, "Always"),
            when_to_take_over: or(&self.when_to_take_over, "Always"),
            allow_co_ownership: self.allow_co_ownership,
            server_side: match &self.server_side {
                None if kind == "ServerSideApply" => Some(Box::default()),
                config => config.clone(),
            },
            kind,
        }
    }

    /// Whether KubeFleet may become an owner of objects that exist.
    pub fn takes_over(&self) -> bool {
        self.when_to_take_over != "Never"
    }

    /// Whether objects are only compared, and taken over from nobody: then no other owner is in the way.
    /// Source: workapplier/process.go:reportDiffOnlyIfApplicable.
    pub fn owns_nothing(&self) -> bool {
        self.is_report_diff() && !self.takes_over()
    }

    /// The fields in which `other` differs, as `field: ours -> theirs`, defaults filled in.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        type ValueOf<'f> = &'f dyn Fn(&ApplyStrategy) -> String;
        let (ours, theirs) = (self.with_defaults(), other.with_defaults());
        let is_same_type = ours.kind == theirs.kind;
        let force = |it: &Self| match &it.server_side {
            Some(config) => config.force.to_string(),
            None if is_same_type => "absent".to_owned(),
            None => false.to_string(),
        };
        let fields: [(&str, ValueOf<'_>); 6] = [
            ("type", &|it| it.kind.clone()),
            ("comparisonOption", &|it| it.comparison.clone()),
            ("whenToApply", &|it| it.when_to_apply.clone()),
            ("whenToTakeOver", &|it| it.when_to_take_over.clone()),
            ("allowCoOwnership", &|it| it.allow_co_ownership.to_string()),
            ("serverSideApplyConfig.force", &force),
        ];
        let fields = fields.iter();
        let fields = fields.map(|(field, value)| (field, value(&ours), value(&theirs)));
        fields
            .filter(|(_, ours, theirs)| ours != theirs)
            .map(|(field, ours, theirs)| format!("{field}: {ours} -> {theirs}"))
            .collect()
    }

    /// Whether two come to the same, defaults filled in, or are both absent.
    pub fn are_alike(one: Option<&Self>, other: Option<&Self>) -> bool {
        let mut both = one.zip(other).into_iter();
        one.is_some() == other.is_some() && both.all(|(a, b)| a.differences(b).is_empty())
    }

    /// Whether fields that another manager owns on a member cluster make an object fail.
    pub fn keeps_others_fields(&self) -> bool {
        let forces = self.server_side.as_ref().is_some_and(|it| it.force);
        self.kind == "ServerSideApply" && !forces
    }

    /// Whether the placement only reports differences and applies nothing.
    pub fn is_report_diff(&self) -> bool {
        self.kind == "ReportDiff"
    }
}
