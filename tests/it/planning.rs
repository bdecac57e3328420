//! `assize plan`, `assize escalate` and `assize audit --gate-risk` as a user runs them.

use std::fmt::Write as _;

use serde_json::Value;

use crate::cli_support::{Desk, Run};

/// Three answers an item; every seventh item is answered wrongly, every fifth once of three. Two of three items are labelled.
fn pilot(n: usize) -> String {
    let mut text = "item,verdict,repeat,label,group,price\n".to_owned();
    for item in 0..n {
        let good = item % 2 == 0;
        for repeat in 1..=3 {
            let errs = item % 17 == 0 || (item % 5 == 0 && repeat == 2);
            let verdict = if good == errs { "reject" } else { "accept" };
            let label = if item % 3 == 2 { String::new() } else { u8::from(good).to_string() };
            writeln!(text, "i{item},{verdict},{repeat},{label},g{},0.01", item / 2).unwrap();
        }
    }
    text
}

const LIMITS: &str = "[limits]\naccuracy = { min = 0.75 }\nflip_rate = { max = 0.3 }\n";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("pilot.csv", &pilot(90));
    desk.write("limits.toml", LIMITS);
    desk
}

fn json(run: &Run) -> Value {
    assert_eq!(run.status, 0, "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn a_plan_says_how_many_items_and_fits_a_terminal() {
    let desk = desk();
    let run = desk.run(&["plan", "pilot.csv", "--gate", "limits.toml", "--out", "plan.html"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stdout.contains("are shown to be kept with 80 % power by"), "{}", run.stdout);
    assert!(run.stdout.contains("Accuracy ≥ 75 %") && run.stdout.contains("as the log’s prices say"), "{}", run.stdout);
    let page = desk.read("plan.html");
    assert!(
        page.contains("<svg") && page.contains("How often the gate decides") && !page.contains("://"),
        "a page without requests"
    );
    let narrow = crate::cli_support::assize(["plan", "pilot.csv", "--gate", "limits.toml"])
        .env("COLUMNS", "80")
        .current_dir(desk.path())
        .output()
        .unwrap();
    let narrow = Run::from(narrow);
    for line in narrow.stdout.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn a_plan_as_json_carries_costs_scenarios_and_the_simulated_gate() {
    let plan = json(&desk().run(&[
        "plan",
        "pilot.csv",
        "--gate",
        "limits.toml",
        "--json",
        "--power",
        "0.9",
        "--cost-label",
        "2",
    ]));
    assert_eq!(plan["schema"], "assize.plan/1");
    assert_eq!((plan["power"].as_f64(), plan["costs"]["label"].as_f64()), (Some(0.9), Some(2.0)));
    assert!((plan["costs"]["call"].as_f64().unwrap() - 0.01).abs() < 1e-12);
    assert_eq!(plan["chosen"].as_array().unwrap().len(), 3);
    assert!(plan["chosen"][0]["simulated"]["power"].as_f64().unwrap() > 0.8);
    assert_eq!(plan["pilot"]["n_items"], 90);
}

#[test]
fn a_plan_from_assumptions_needs_no_log() {
    let desk = Desk::new();
    let plan = json(&desk.run(&["plan", "--assume", "far=0.05, frr=0.1, items per group=1", "--json"]));
    assert_eq!(plan["pilot"]["is_assumed"], true);
    let far = plan["alone"].as_array().unwrap().iter().find(|alone| alone["measure"] == "false_accept_rate").unwrap();
    assert!((300..500).contains(&far["n_items"][0].as_u64().unwrap()), "{far}");
    let refused = |text: &str, said: &str| {
        let run = desk.run(&["plan", "--assume", text]);
        assert_eq!(run.status, 3, "{}", run.stdout);
        assert!(run.stderr.contains(said), "{}", run.stderr);
    };
    refused("acuracy=0.9", "did you mean `accuracy`?");
    refused("far", "is no assumption");
    refused("far=x", "is no number");
    refused("far=1.5", "must be a share");
    refused("far=0.1, far=0.2", "stated twice");
    assert_eq!(desk.run(&["plan"]).status, 3);
    assert_eq!(desk.run(&["plan", "fit.csv", "--power", "2"]).status, 3);
}

#[test]
fn a_plan_is_not_written_over_its_pilot() {
    let desk = desk();
    let run = desk.run(&["plan", "pilot.csv", "--out", "pilot.csv"]);
    assert_eq!(run.status, 3);
    assert!(run.stderr.contains("would be written over"), "{}", run.stderr);
}

#[test]
fn escalated_items_can_be_labelled_and_fed_back() {
    let desk = desk();
    let run = desk.run(&["escalate", "pilot.csv", "--top", "5", "--random", "4", "--csv"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stderr.contains("no random sample"), "{}", run.stderr);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines[0], "item,dimension,group,label,old_label,purpose,picked,score,why,changes");
    assert_eq!(lines.iter().filter(|line| line.contains(",ranked,") && line.contains(",label,ranked")).count(), 5);
    assert_eq!(lines.iter().filter(|line| line.contains(",random,")).count(), 4);
    // Half of the rows get a label; the empty ones count as unlabelled.
    let mut filled = String::new();
    for (idx, line) in lines.iter().enumerate() {
        let mut fields: Vec<&str> = line.splitn(5, ',').collect();
        if idx > 0 && idx % 2 == 1 {
            fields[3] = "1";
        }
        writeln!(filled, "{}", fields.join(",")).unwrap();
    }
    desk.write("labels.csv", &filled);
    let audit =
        desk.run(&["audit", "pilot.csv", "--columns", "labels={file=labels.csv, item=item, label=label}", "--json"]);
    let audit: Value = serde_json::from_str(&audit.stdout).unwrap();
    assert_eq!(audit["data"]["n_labelled"].as_u64().unwrap(), (lines.len() as u64) / 2);
}

#[test]
fn escalation_is_read_on_a_terminal_and_by_programs() {
    let desk = desk();
    let run = desk.run(&["escalate", "pilot.csv", "--top", "3"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(
        run.stdout.contains("To label, the most telling first") && run.stdout.contains("Where labels go"),
        "{}",
        run.stdout
    );
    let found = json(&desk.run(&["escalate", "pilot.csv", "--top", "3", "--json"]));
    assert_eq!(found["schema"], "assize.escalation/1");
    assert_eq!(found["n_unlabelled"], 30);
}

#[test]
fn the_risk_of_a_gate_is_measured_when_asked_for() {
    let desk = desk();
    let run = desk.run(&["audit", "pilot.csv", "--gate", "limits.toml", "--gate-risk", "--json"]);
    let audit: Value = serde_json::from_str(&run.stdout).unwrap();
    let risk = &audit["judges"][0]["gate_risk"];
    assert!(risk["n_redraws"].as_u64().unwrap() >= 100, "{risk}");
    assert!(audit["source"]["options"].as_array().unwrap().iter().any(|option| option == "--gate-risk"));
    let plain = desk.run(&["audit", "pilot.csv", "--gate", "limits.toml", "--json"]);
    let plain: Value = serde_json::from_str(&plain.stdout).unwrap();
    assert!(plain["judges"][0].get("gate_risk").is_none());
    assert!(plain["config"].get("gate_risk").is_none());
}
