use jiff::SignedDuration;

use super::{WaitCondition, WaitDecision, WaitStanding, decide, together};
use crate::diagnose::status::Status;
use crate::exit::Exit;
use crate::render::status::changes::tests as seen;
use crate::report::Verdict;
use crate::rollout::{ClusterState, GateFacts, GateState, StageProgress, StageState, TaskTime};

const VERDICTS: [Verdict; 13] = [
    Verdict::Initializing,
    Verdict::InitializationFailed,
    Verdict::NotStarted,
    Verdict::Progressing,
    Verdict::WaitingForTimer,
    Verdict::WaitingForApproval,
    Verdict::Stuck,
    Verdict::Stopping,
    Verdict::Stopped,
    Verdict::Succeeded,
    Verdict::Failed,
    Verdict::Deleting,
    Verdict::Unknown,
];

fn conditions(text: &str) -> Vec<WaitCondition> {
    text.split(',').map(|one| one.parse().unwrap()).collect()
}

fn task(stage: &str, when: TaskTime, request: Option<&str>, state: GateState) -> GateFacts {
    let kind = request.map_or("TimedWait", |_| "Approval");
    GateFacts {
        stage: stage.to_owned(),
        ..seen::task(when, kind, request, state)
    }
}

fn stage(name: &str, state: StageState, tasks: Vec<GateFacts>) -> StageProgress {
    let cluster = seen::cluster(&format!("{name}-1"), ClusterState::NotReached);
    seen::stage(name, state, vec![cluster], tasks)
}

/// A run of three stages: `dev` with a timed wait after it, `test` with an approval after it,
/// `prod` with one before and one after it.
fn run(verdict: Verdict, states: [StageState; 3], approvals: [GateState; 3]) -> Status {
    let [dev, test, prod] = states;
    let [after_test, before_prod, after_prod] = approvals;
    let timer = task("dev", TaskTime::After, None, GateState::NotReached);
    let tested = task("test", TaskTime::After, Some("r-after-test"), after_test);
    let opens = task("prod", TaskTime::Before, Some("r-before-prod"), before_prod);
    let ends = task("prod", TaskTime::After, Some("r-after-prod"), after_prod);
    let stages = vec![
        stage("dev", dev, vec![timer]),
        stage("test", test, vec![tested]),
        stage("prod", prod, vec![opens, ends]),
    ];
    let gates = stages.iter().flat_map(|stage| &stage.gates);
    let open = gates.filter(|gate| gate.state == GateState::Pending);
    let gates = open.cloned().collect();
    let mut status = Status {
        gates,
        ..seen::status(verdict, stages)
    };
    if let Some(run) = &mut status.run {
        run.begun = dev != StageState::NotReached;
    }
    status
}

/// The state that goes with a verdict: `dev` done, `test` under way, where the run has begun.
fn usual(verdict: Verdict) -> Status {
    use GateState::{NotReached as Ahead, Pending as Open};
    use StageState::{Done, NotReached as Pending, Stopped, Updating, WaitingAfter};

    let none = [Ahead; 3];
    match verdict {
        Verdict::Initializing | Verdict::Unknown => Status {
            run: None,
            ..run(verdict, [Pending; 3], none)
        },
        Verdict::InitializationFailed => {
            let mut status = run(verdict, [Pending; 3], none);
            if let Some(run) = &mut status.run {
                run.initialized = false;
            }
            status
        }
        Verdict::NotStarted => run(verdict, [Pending; 3], none),
        Verdict::WaitingForApproval => {
            run(verdict, [Done, WaitingAfter, Pending], [Open, Ahead, Ahead])
        }
        Verdict::Succeeded => run(verdict, [Done; 3], [GateState::Done; 3]),
        Verdict::Stopped => run(verdict, [Done, Stopped, Pending], none),
        _ => run(verdict, [Done, Updating, Pending], none),
    }
}

fn decided(status: &Status, condition: &str, keep_waiting: bool) -> WaitDecision {
    decide(status, &conditions(condition), keep_waiting)
}

/// One letter for a decision: `m`et, `o`ver, `i`mpossible, `w`ait, `u`nknown.
fn letter(decision: &WaitDecision) -> char {
    match decision {
        WaitDecision::Met(_) => 'm',
        WaitDecision::Over => 'o',
        WaitDecision::Impossible(_) => 'i',
        WaitDecision::Wait => 'w',
        WaitDecision::Unknown(..) => 'u',
    }
}

fn row(condition: &str, keep_waiting: bool) -> String {
    VERDICTS
        .iter()
        .map(|verdict| letter(&decided(&usual(*verdict), condition, keep_waiting)))
        .collect()
}

/// A script approves what it has waited for: what does not exist cannot be approved.
#[test]
fn a_request_that_is_missing_is_no_approval_to_give() {
    for (since, state, wanted) in [
        (Some(-90), GateState::Missing, 'o'),
        (Some(-30), GateState::Missing, 'm'),
        (None, GateState::Missing, 'o'),
        (Some(-90), GateState::Pending, 'm'),
    ] {
        let mut status = usual(Verdict::WaitingForApproval);
        let as_of = status.as_of;
        for gate in &mut status.gates {
            gate.state = state;
            gate.since = since.map(|since| as_of + SignedDuration::from_secs(since));
        }
        for condition in ["approval", "approval=test", "approval=test/after"] {
            let decision = decided(&status, condition, false);
            assert_eq!(letter(&decision), wanted, "{condition} {since:?} {state:?}");
        }
    }
}

#[test]
fn every_verdict_and_every_condition() {
    // Initializing, InitializationFailed, NotStarted; Progressing, WaitingForTimer,
    // WaitingForApproval, Stuck; Stopping, Stopped; Succeeded, Failed; Deleting, Unknown: at first
    // without, then with `--keep-waiting`, where that matters
    for (condition, wanted, kept) in [
        ("succeeded", "woo wwoo wo mo wo", "wow wwww ww mo wo"),
        ("initialized", "wom mmmm mm mm mo", "wom mmmm mm mm mo"),
        ("started", "woo mmmm mm mm mo", ""),
        ("stopped", "woo wwoo wm oo wo", "wow wwww wm oo wo"),
        ("approval", "woo wwmo wo oo wo", "wow wwmw ww oo wo"),
        ("approval=test", "woo wwmo wo mo wo", ""),
        ("approval=test/after", "woo wwmo wo mo wo", ""),
        ("approval=prod", "woo wwoo wo mo wo", ""),
        ("approval=prod/before", "woo wwoo wo mo wo", ""),
        ("stage=dev", "woo mmmm mm mm mo", ""),
        ("stage=test", "woo wwoo wo mo wo", "wow wwww ww mo wo"),
        ("stage=deletion", "woo wwoo wo oo wo", ""),
        ("stage=qa", "wuu uuuu uu uu uo", "wuu uuuu uu uu uo"),
        ("approval=dev", "wuu uuuu uu uu uo", ""),
        ("approval=test/before", "wuu uuuu uu uu uo", ""),
        // The first that is met, and all have to be known.
        ("succeeded,approval", "woo wwmo wo mo wo", ""),
        ("stopped,stage=dev", "woo mmmm mm mm mo", ""),
        ("succeeded,stage=qa", "wuu uuuu uu uu uo", ""),
    ] {
        let wanted = wanted.replace(' ', "");
        assert_eq!(row(condition, false), wanted, "{condition}");
        if !kept.is_empty() {
            assert_eq!(row(condition, true), kept.replace(' ', ""), "{condition}");
        }
    }
}

/// Of several runs, `w`aiting, `m`et, or ended with the code, which ends both kinds of wait and with
/// which code; `-` where it goes on.
#[test]
fn one_that_cannot_get_there_ends_the_wait_for_all_unless_it_is_kept_waiting() {
    for (runs, ends, keeps) in [
        ("w", "-", "-"),
        ("m", "0", "0"),
        ("4", "4", "4"),
        ("ww", "-", "-"),
        ("mw", "-", "-"),
        ("mm", "0", "0"),
        ("4w", "4", "-"),
        ("m4", "4", "4"),
        ("m4w", "4", "-"),
        // The most severe of those that have ended, whatever their order.
        ("48", "4", "4"),
        ("345678", "3", "3"),
        ("876543", "3", "3"),
        ("5w3", "3", "-"),
        ("7m4", "7", "7"),
        ("6m", "6", "6"),
        // One whose condition cannot be met any more may be well otherwise.
        ("0w", "-", "-"),
        ("0m", "0", "0"),
        ("08", "8", "8"),
    ] {
        let standings: Vec<_> = runs
            .chars()
            .map(|run| match run {
                'w' => WaitStanding::Waiting,
                'm' => WaitStanding::Met,
                code => {
                    let code = code.to_digit(10).and_then(|code| u8::try_from(code).ok());
                    let mut all = Exit::ALL.into_iter();
                    let exit = all.find(|exit| Some(exit.code()) == code);
                    WaitStanding::Ended(exit.unwrap())
                }
            })
            .collect();
        for (keep_waiting, wanted) in [(false, ends), (true, keeps)] {
            let exit = together(&standings, keep_waiting);
            let exit = exit.map_or("-".to_owned(), |exit| exit.code().to_string());
            assert_eq!(exit, wanted, "{runs}, kept waiting: {keep_waiting}");
        }
    }
}

#[test]
fn an_approval_is_the_one_that_is_named() {
    use GateState::{Done as Given, NotReached as Ahead, Pending as Open};
    use StageState::{Done, NotReached as Pending, Skipped, Updating, WaitingAfter, WaitingBefore};

    let decided = |verdict, (stages, approvals), condition: &str, keep_waiting| {
        let status = run(verdict, stages, approvals);
        letter(&decided(&status, condition, keep_waiting))
    };
    let before_prod = ([Done, Done, WaitingBefore], [Given, Open, Ahead]);
    let after_test = ([Done, WaitingAfter, Pending], [Open, Ahead, Ahead]);
    let after_prod = ([Done, Done, WaitingAfter], [Given, Given, Open]);
    for (at, condition, wanted) in [
        // Open now.
        (before_prod, "approval=prod/before", 'm'),
        (before_prod, "approval=prod", 'm'),
        // Another one is open: a person has to act.
        (before_prod, "approval=prod/after", 'o'),
        (after_test, "approval=prod/before", 'o'),
        // Given already.
        (before_prod, "approval=test", 'm'),
        (after_prod, "approval=prod/before", 'm'),
    ] {
        let decision = decided(Verdict::WaitingForApproval, at, condition, false);
        assert_eq!(decision, wanted, "{condition} {at:?}");
    }
    let in_prod = ([Done, Done, Updating], [Given, Given, Ahead]);
    let test_skipped = ([Done, Skipped, Updating], [Ahead, Given, Ahead]);
    let all_given = ([Done, Done, Updating], [Given; 3]);
    let all_skipped = ([Done, Skipped, Skipped], [Ahead; 3]);
    for (at, condition, wanted) in [
        // Only the first of a stage's two was given.
        (in_prod, "approval=prod", 'w'),
        (in_prod, "approval=prod/before", 'm'),
        // Skipped stages ask for nothing.
        (test_skipped, "approval=test", 'i'),
        (test_skipped, "approval=test,succeeded", 'w'),
        (test_skipped, "approval=test,approval", 'w'),
        // No approval is left at all.
        (all_given, "approval", 'i'),
        (all_skipped, "approval", 'i'),
    ] {
        let kept = if wanted == 'i' { 'w' } else { wanted };
        for (keep_waiting, wanted) in [(false, wanted), (true, kept)] {
            let decision = decided(Verdict::Progressing, at, condition, keep_waiting);
            assert_eq!(decision, wanted, "{condition} {at:?} {keep_waiting}");
        }
    }
}

/// An approval that was given and not taken yet asks nobody anything.
#[test]
fn an_approval_that_counts_is_not_open() {
    use GateState::{NotReached as Ahead, Pending as Open};
    use StageState::{Done, NotReached as Pending, WaitingAfter};

    let stages = [Done, WaitingAfter, Pending];
    let mut status = run(Verdict::Progressing, stages, [Open, Ahead, Ahead]);
    status.gates[0].state = GateState::Approved;
    for condition in ["approval", "approval=test"] {
        assert_eq!(decided(&status, condition, false), WaitDecision::Wait);
    }
    // The controller ignores it: someone has to approve once more.
    let mut status = run(Verdict::WaitingForApproval, stages, [Open, Ahead, Ahead]);
    status.gates[0].state = GateState::Ignored;
    let decision = decided(&status, "approval=test", false);
    assert_eq!(letter(&decision), 'm');
}

#[test]
fn a_stage_that_is_not_there_is_told_with_those_that_are() {
    let status = usual(Verdict::Progressing);
    let WaitDecision::Unknown(problem, hint) = decided(&status, "stage=prodd", false) else {
        panic!("it is there");
    };
    assert_eq!(problem, "ClusterStagedUpdateRun r has no stage \"prodd\"");
    assert_eq!(hint, "did you mean prod? existing stages: dev, test, prod");
    let WaitDecision::Unknown(problem, hint) = decided(&status, "approval=dev", false) else {
        panic!("it is there");
    };
    let no_gate = "stage dev of ClusterStagedUpdateRun r has no approval gate";
    assert_eq!(problem, no_gate);
    assert_eq!(hint, "existing gates: test/after, prod/before, prod/after");
}

#[test]
fn conditions_are_read_and_written_alike() {
    for text in "succeeded initialized started stopped approval stage=canary \
                 approval=canary approval=canary/before approval=canary/after"
        .split(' ')
    {
        let condition: WaitCondition = text.parse().unwrap();
        assert_eq!(condition.to_string(), text);
    }
    for text in ",done,stage,stage=,approval=,approval=a/b,succeeded=x,Succeeded".split(',') {
        assert!(text.parse::<WaitCondition>().is_err(), "{text}");
    }
}
