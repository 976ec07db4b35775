//! What each command may do: enough with exactly the permissions of its table, and clear about each
//! one that is taken away.

use std::collections::BTreeMap;

use kubectl_fleet_stage::commands::about::permissions::{self, Permission, PermissionNeed};
use kubectl_fleet_stage::kubefleet::Scope;
use serde_json::{Value, json};
use test_hub::waiting;

use crate::harness::{Harness, Ran, until_late};
use crate::scene::{ALL, Scene, both, one_gate};

/// What each command is called on.
struct Names<'n> {
    /// A run that waits.
    run: &'n str,
    /// A run that is stopped.
    stopped: &'n str,
    /// A run that failed.
    failed: &'n str,
    /// A run that does not exist.
    new: &'n str,
    /// Its placement, as a word.
    placement: &'n str,
    /// Its strategy.
    strategy: &'n str,
    /// The moment for which everything is judged.
    now: &'n str,
}

/// Whether nothing ends a command but the time: both follow the run in the same way.
fn waits(command: &str) -> bool {
    matches!(command, "status --watch" | "wait")
}

/// How each command is called on a run and its placement: words in capitals stand for names.
fn call<'s>(command: &'s str, names: &Names<'s>) -> Vec<&'s str> {
    let line = match command {
        "approvals" => "approvals",
        // The server checks what is not done: each permission is missed all the same.
        "approve" | "delete" | "stop" => "COMMAND RUN --dry-run=server",
        "resume" => "resume STOPPED --dry-run=server",
        "retry" => "retry FAILED --dry-run=server",
        "init" | "run" => "COMMAND NEW --dry-run=server --placement PLACEMENT --strategy STRATEGY",
        "rollback" => "rollback RUN --to=0 --active=stop --name NEW --dry-run=server",
        "clusters" | "history" | "render" | "snapshots" => "COMMAND PLACEMENT -o json",
        "trace" => "trace configmap/app --member member-1 -o json",
        "collect" => "collect RUN",
        "diagnose" => "diagnose RUN -o json --now NOW",
        "list" | "strategies" => "COMMAND -o json",
        "plan" => "plan --placement PLACEMENT --strategy NAME -o json",
        "status" => "status RUN -o json",
        waiting if waits(waiting) => "wait RUN --for=succeeded --keep-waiting",
        other => panic!("how is {other} called?"),
    };
    let word = |word: &'static str| match word {
        "COMMAND" => command,
        "RUN" => names.run,
        "STOPPED" => names.stopped,
        "FAILED" => names.failed,
        "NEW" => names.new,
        "PLACEMENT" => names.placement,
        "STRATEGY" => names.strategy,
        // A scene's placement and strategy have one name.
        "NAME" => names.placement.rsplit('/').next().unwrap_or_default(),
        "NOW" => names.now,
        word => word,
    };
    line.split(' ').map(word).collect()
}

/// The first user of these tests: others have users of their own.
const FIRST: usize = 128;

/// Users with some permissions each.
struct Users {
    hub: &'static Harness,
    next: usize,
    /// A review of the last permission that was given, by user.
    given: BTreeMap<String, Permission>,
}

impl Users {
    /// A user who may do this and nothing else.
    fn with(&mut self, scope: &Scope, permissions: &[Permission]) -> String {
        let user = format!("user-{:03}", self.next);
        self.next += 1;
        let rules: Vec<_> = permissions
            .iter()
            .map(|permission| {
                let kind = scope.kind(permission.concept);
                json!({
                    "apiGroups": [kind.group()],
                    "resources": [permission.verb.resource(kind)],
                    "verbs": [permission.verb.as_str()],
                })
            })
            .collect();
        self.hub.create(&json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": user}, "rules": rules,
        }));
        self.hub.create(&json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": {"name": user},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": user},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
        }));
        if let Some(last) = permissions.last() {
            self.given.insert(user.clone(), *last);
        }
        user
    }

    /// Waits until the hub knows what it was told: it learns of roles a moment later.
    fn settle(&self, scope: &Scope) {
        for (user, permission) in &self.given {
            let kind = scope.kind(permission.concept);
            let review = json!({
                "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
                "metadata": {},
                "spec": {"user": user, "resourceAttributes": {
                    "verb": permission.verb.as_str(), "group": kind.group(), "resource": kind.plural(),
                    "subresource": permission.verb.resource(kind).split_once('/').map_or("", |(_, sub)| sub),
                }},
            });
            let may = || self.hub.create(&review)["status"]["allowed"] == true;
            waiting::until_so(|| format!("{user} may"), may);
        }
    }
}

fn scope_of(scene: &Scene) -> Scope {
    Scope::of_namespace(if scene.namespaced {
        &scene.namespace
    } else {
        ""
    })
}

/// Whether a command that waits came as far as it could.
fn has_read(ran: &Ran) -> bool {
    !ran.err.contains("no answer within")
}

fn plugin(
    scene: &Scene,
    kubeconfig: &std::path::Path,
    command: &str,
    (run, now): (&str, &str),
    has_read: impl Fn(&Ran) -> bool,
) -> Ran {
    let placement = scene.placement_word();
    let new = format!("{run}-new");
    let stopped = format!("{run}-stopped");
    let failed = format!("{run}-failed");
    let names = Names {
        run,
        stopped: &stopped,
        failed: &failed,
        new: &new,
        placement: &placement,
        strategy: &scene.name,
        now,
    };
    let mut arguments = call(command, &names);
    // The namespace of an object that is looked for has nothing to do with the scope.
    if scene.namespaced || command == "trace" {
        arguments.extend(["-n", &scene.namespace]);
    }
    let ran = |more: &[&str]| {
        let words = [&arguments[..], more].concat();
        scene.hub.plugin_as(kubeconfig, &words)
    };
    if !waits(command) {
        return ran(&[]);
    }
    until_late(|limit| ran(&[limit]), has_read).0
}

/// Sets the scene: a run that waits for an approval, and beside it one that is stopped and one that
/// failed, as [`plugin`] names them.
fn a_run_that_waits(scene: &Scene) -> String {
    let stages = one_gate();
    scene.set(&stages, &ALL);
    let run = format!("{}-run", scene.name);
    scene.run_to_gate(&run);
    let stopped = format!("{run}-stopped");
    scene.run(&stopped, "Stop");
    scene.until_run(&stopped, "Progressing", "False", "UpdateRunStopped");
    // Its strategy came too late.
    let failed = format!("{run}-failed");
    let late = format!("{}-late", scene.name);
    scene.run_of(&failed, "Run", &json!({"stagedRolloutStrategyName": late}));
    scene.until_run(&failed, "Initialized", "False", "");
    scene.strategy_named(&late, &stages);
    run
}

/// A command, and who runs it.
struct Asked {
    command: &'static str,
    /// Who has every permission of its table.
    whole: String,
    /// Who lacks one of them.
    without: Vec<(Permission, String)>,
}

/// What all commands are called with.
struct Calls<'c> {
    scene: &'c Scene,
    run: &'c str,
    now: &'c str,
}

impl Calls<'_> {
    fn ran(&self, user: &std::path::Path, command: &str, has_read: impl Fn(&Ran) -> bool) -> Ran {
        plugin(self.scene, user, command, (self.run, self.now), has_read)
    }

    /// Runs a command as each of its users. Says what was not as it should be.
    fn check(&self, asked: &Asked) -> Vec<String> {
        let Asked { command, whole, .. } = asked;
        let admin = self.ran(&self.scene.hub.kubeconfig, command, has_read);
        let green = self.ran(&self.scene.hub.kubeconfig_of(whole), command, has_read);
        assert_eq!(green.code, admin.code, "{command}: {}", green.err);
        if permissions::ALL
            .iter()
            .any(|needs| needs.command == *command && needs.role != permissions::Role::Viewer)
        {
            assert_eq!(admin.code, 0, "{command}: {}{}", admin.out, admin.err);
        }
        if *command == "diagnose" {
            let report = green.json();
            assert_eq!(report["notChecked"], json!([]), "{command}");
            // The commands lead to the hub as the user who asked.
            let own = |ran: &Ran, kubeconfig: &std::path::Path| {
                ran.out
                    .replace(&kubeconfig.display().to_string(), "KUBECONFIG")
            };
            let of_admin = own(&admin, &self.scene.hub.kubeconfig);
            let of_user = own(&green, &self.scene.hub.kubeconfig_of(whole));
            assert_eq!(of_user, of_admin);
        }
        let wrong = |(missing, user): &(Permission, String)| {
            let kind = scope_of(self.scene).kind(missing.concept);
            let is_told = |ran: &Ran| {
                let said = format!("{}{}", ran.out, ran.err);
                let is_forbidden = said.contains("forbidden");
                match missing.need {
                    PermissionNeed::Required => {
                        let named = [kind.plural(), kind.name()];
                        ran.code == 7 && is_forbidden && named.iter().any(|it| said.contains(it))
                    }
                    PermissionNeed::Useful => {
                        let told = is_forbidden && said.contains(kind.name());
                        ran.code == admin.code || (ran.code == 7 && told)
                    }
                }
            };
            let user = self.scene.hub.kubeconfig_of(user);
            let ran = self.ran(&user, command, is_told);
            let what = format!("{command} without {} {kind}", missing.verb.as_str());
            (!is_told(&ran)).then(|| format!("{what}: {} {}{}", ran.code, ran.out, ran.err))
        };
        // What waits does so to its time limit: a few are asked beside each other.
        let several = if waits(command) {
            3
        } else {
            asked.without.len().max(1)
        };
        let wrong = &wrong;
        std::thread::scope(|scope| {
            let parts = asked.without.chunks(several);
            let parts = parts
                .map(|part| scope.spawn(move || part.iter().filter_map(wrong).collect::<Vec<_>>()));
            let parts: Vec<_> = parts.collect();
            let wrong = parts.into_iter().map(|part| part.join().unwrap());
            wrong.flatten().collect()
        })
    }
}

#[test]
fn every_command_needs_what_its_table_says() {
    let scenes = both("rights");
    if scenes.iter().any(|scene| !scene.hub.has_our_users()) {
        return;
    }
    let mut first = FIRST;
    for scene in scenes {
        let run = a_run_that_waits(&scene);
        let scope = scope_of(&scene);
        let mut users = Users {
            hub: scene.hub,
            next: first,
            given: BTreeMap::new(),
        };
        let plan: Vec<_> = permissions::ALL
            .iter()
            .map(|needs| {
                let all: Vec<_> = needs.permissions().collect();
                let whole = users.with(&scope, &all);
                // One scope is enough to see each permission missed.
                let without = needs
                    .permissions()
                    .filter(|_| !scene.namespaced)
                    .map(|missing| {
                        let rest: Vec<_> =
                            all.iter().filter(|one| **one != missing).copied().collect();
                        (missing, users.with(&scope, &rest))
                    })
                    .collect();
                Asked {
                    command: needs.command,
                    whole,
                    without,
                }
            })
            .collect();
        users.settle(&scope);
        let able: BTreeMap<_, _> = plan
            .iter()
            .map(|asked| (asked.command, asked.whole.clone()))
            .collect();
        // One moment for all reports. Nothing is done, so that all can be asked at once.
        let now = jiff::Timestamp::now().to_string();
        let calls = Calls {
            scene: &scene,
            run: &run,
            now: &now,
        };
        let wrong: Vec<_> = std::thread::scope(|scope| {
            let asked: Vec<_> = plan
                .iter()
                .map(|asked| scope.spawn(|| calls.check(asked)))
                .collect();
            let wrong = asked.into_iter().map(|asked| asked.join().unwrap());
            wrong.flatten().collect()
        });
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        // What is done is allowed as what is only checked.
        for (command, more) in [
            ("stop", &[][..]),
            ("resume", &[]),
            ("approve", &["--yes"]),
            ("delete", &["--yes"]),
        ] {
            let mut words = vec![command, run.as_str()];
            words.extend(more);
            if scene.namespaced {
                words.extend(["-n", &scene.namespace]);
            }
            let user = &able[command];
            let ran = scene.hub.plugin_as(&scene.hub.kubeconfig_of(user), &words);
            assert_eq!(ran.code, 0, "{command} as {user}: {}{}", ran.out, ran.err);
        }
        first = users.next;
    }
}

/// A Role of one namespace, without the ClusterRole that goes with it: every command does what it is
/// for, and says what it could not see.
#[test]
fn a_role_of_one_namespace_is_enough_for_it() {
    let Some(scene) = both("rights-role")
        .into_iter()
        .find(|scene| scene.namespaced)
    else {
        return;
    };
    if !scene.hub.has_our_users() {
        return;
    }
    let run = a_run_that_waits(&scene);
    let now = jiff::Timestamp::now().to_string();
    for (role, user) in permissions::Role::ALL
        .into_iter()
        .zip(["user-121", "user-122", "user-123"])
    {
        let manifest = permissions::manifest::in_namespace(role, Some(&scene.namespace));
        let manifest: Value = serde_saphyr::from_str(&manifest).unwrap();
        scene.hub.create(&manifest);
        scene.hub.create(&json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
            "metadata": {"name": user, "namespace": scene.namespace},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io", "kind": "Role",
                "name": manifest["metadata"]["name"],
            },
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
        }));
        let kubeconfig = scene.hub.kubeconfig_of(user);
        let lacks = ["doctor", "--rbac", role.as_str(), "-n", &scene.namespace];
        // The hub learns of roles a moment later.
        let said = waiting::until(
            || format!("{user} may read runs"),
            || {
                let ran = scene.hub.plugin_as(&kubeconfig, &lacks);
                assert_eq!(ran.code, 7, "{}", ran.err);
                (!ran.err.contains("stagedupdateruns")).then_some(ran.err)
            },
        );
        assert!(said.contains("you lack: list memberclusters"), "{said}");
        let check = |command: &str| {
            let called = (run.as_str(), now.as_str());
            let admin = plugin(&scene, &scene.hub.kubeconfig, command, called, has_read);
            let ran = plugin(&scene, &kubeconfig, command, called, has_read);
            let said = format!("{}{}", ran.out, ran.err);
            let told = ["MemberCluster", "Work", "memberclusters"]
                .iter()
                .any(|kind| said.contains(kind));
            assert!(
                ran.code == admin.code || (ran.code == 7 && told),
                "{command}: {} instead of {}: {said}",
                ran.code,
                admin.code
            );
            if command == "diagnose" {
                let report = ran.json();
                let gaps = report["notChecked"].as_array().unwrap();
                let kinds: Vec<_> = gaps.iter().map(|gap| &gap["what"]).collect();
                assert!(kinds.contains(&&json!("MemberCluster")), "{report:#}");
            }
        };
        std::thread::scope(|scope| {
            let check = &check;
            for needs in permissions::ALL.iter().filter(|needs| needs.role == role) {
                let command = needs.command;
                scope.spawn(move || check(command));
            }
        });
    }
}

#[test]
fn doctor_knows_who_may_what() {
    let Some(hub) = Harness::get() else { return };
    if !hub.has_our_users() {
        return;
    }
    let admin = hub.plugin(&["doctor", "-o", "json"]);
    let doctor = admin.json();
    assert_eq!(admin.code, 0, "{doctor:#}");
    let schemas = crate::published::Schemas::published();
    assert_eq!(schemas.wrong("doctor", &doctor), [""; 0]);
    for command in doctor["permissions"].as_array().unwrap() {
        assert_eq!(command["works"], true, "{command}");
        assert_eq!(command["missing"], json!([]), "{command}");
    }
    let nobody = hub.plugin_as(&hub.kubeconfig_of("user-127"), &["doctor", "-o", "json"]);
    assert_eq!(nobody.code, 7, "{}", nobody.out);
    for command in nobody.json()["permissions"].as_array().unwrap() {
        assert_eq!(command["works"], false, "{command}");
    }
}

/// What `doctor --rbac` prints is a role that the hub takes, and that is enough.
#[test]
fn the_printed_role_is_enough() {
    let Some(hub) = Harness::get() else { return };
    if !hub.has_our_users() {
        return;
    }
    let role = hub.plugin(&["doctor", "--rbac", "viewer"]).out;
    let role: Value = serde_saphyr::from_str(&role).unwrap();
    hub.create(&role);
    hub.create(&json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": "viewer-126"},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
            "name": role["metadata"]["name"],
        },
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "user-126"}],
    }));
    // The hub learns of roles a moment later.
    waiting::until_so(
        || "the role is enough".to_owned(),
        || {
            let kubeconfig = hub.kubeconfig_of("user-126");
            hub.plugin_as(&kubeconfig, &["doctor", "-o", "json"]).code == 0
        },
    );
}
