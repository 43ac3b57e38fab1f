//! `crokeye rules`, `match` and `db` as a person and a program use them.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

struct Desk {
    folder: TempDir,
}

impl Desk {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        std::fs::write(self.file(name), text).unwrap();
        self.file(name)
    }

    fn output(&self, line: &str) -> Output {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("crokeye"));
        command.args(line.split_whitespace());
        command.env("CROKEYE_DB", self.file("desk.db")).env("USER", "tester").current_dir(self.folder.path());
        command.output().unwrap()
    }

    fn ok(&self, line: &str) -> String {
        let output = self.output(line);
        let (out, error) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr).into_owned());
        assert!(output.status.success(), "{line}: {error}{out}");
        out
    }

    fn json(&self, line: &str) -> Value {
        let text = self.ok(&format!("{line} --json"));
        serde_json::from_str(text.lines().next().unwrap()).unwrap_or_else(|error| panic!("{line}: {error}: {text}"))
    }

    fn fails(&self, line: &str, status: i32, words: &str) {
        let output = self.output(line);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{line}: {error}");
        assert!(error.contains(words), "{line}: {words:?} is not in {error:?}");
    }
}

const COUNT: &str = r#"{"schema":"crokeye.count/1","source":"p.jpg","status":"counted","error":null,
"discs":[{"id":1,"side":"a","colour":{"name":"black"},"value":15,"state":"flat","margin_mm":1.4}],
"sides":[{"side":"a","colour":"black","count":{"20":0,"15":2,"10":1,"5":0,"0":0},"set_aside":1,"total":60},
{"side":"b","colour":"natural","count":{"20":0,"15":1,"10":1,"5":1,"0":1},"set_aside":0,"total":30}],"review":[]}"#;

#[test]
fn a_match_is_played_corrected_undone_and_shown() {
    let desk = Desk::new();
    assert!(desk.ok("match new Ann Bob --rules nca").contains("Match 1"));
    let added = desk.ok("match add 1 --a 20:1,15:2,5:1 --b 15:3,10:2");
    assert!(added.contains("Ann 55") && added.contains("Bob 65") && added.contains("0-2"), "{added}");
    desk.ok("match add last --a 70 --b 45");
    desk.fails("match add 1 --a 62 --b 40", 1, "not a multiple of 5");
    desk.fails("match add 1 --a 15:9 --b 40", 1, "the rules allow 8");
    desk.fails("match add 1 --a 15:-1 --b 40", 1, "negative");
    desk.fails("match add 1 --a 40", 2, "--b SCORE");
    desk.ok("match correct 1 1 --b 50 --reason line");
    let game = desk.json("match show 1");
    assert_eq!(game["sides"][0]["points"], 4);
    assert_eq!(game["rounds"][0]["sides"][0]["entry"]["zones"]["15"], 2, "the side not named keeps its zones");
    assert_eq!(game["rounds"][0]["amendments"][0]["author"], "tester");
    desk.ok("match undo 1");
    assert_eq!(desk.json("match show 1")["sides"][0]["points"], 2);
    desk.ok("match redo 1");
    desk.ok("match void 1 2 --reason bumped");
    desk.fails("match void 1 2 --reason bumped", 1, "is void");
    let shown = desk.ok("match show 1 --log");
    for words in ["corrected: line", "void: bumped", "round_corrected", "undone", "redone"] {
        assert!(shown.contains(words), "{words:?} is not in {shown}");
    }
    let listed = desk.ok("match list");
    assert!(listed.contains("Ann v Bob") && listed.contains("open"), "{listed}");
}

#[test]
fn the_fourth_round_ends_the_match_and_undo_reaches_across() {
    let desk = Desk::new();
    desk.ok("match new Ann Bob");
    for _ in 0..3 {
        desk.ok("match add 1 --a 60 --b 40");
    }
    assert!(desk.ok("match add 1 --a 60 --b 40").contains("Ann won"));
    desk.fails("match add 1 --a 60 --b 40", 1, "the match is over");
    desk.fails("match finish 1", 1, "the match is over");
    assert!(desk.ok("match undo 1").contains("6-0"));
    desk.fails("match undo 1 --of 2", 1, "not the latest");
    assert!(desk.ok("match finish 1 --forfeit B --reason ill").contains("Ann won, by forfeit"));
}

#[test]
fn a_default_taken_where_the_rules_are_silent_is_said() {
    let desk = Desk::new();
    let made = desk.ok("match new Ann Bob --rules corre");
    assert!(made.contains("discs_singles = 12") && made.contains("--set"), "{made}");
    let chosen = desk.json("match new Ann Bob --rules corre --set discs_singles=8 --set end={target=50}");
    assert_eq!(chosen["rules"]["parameters"]["discs_singles"], 8);
    assert_eq!(chosen["rules"]["parameters"]["end"]["target"], 50);
    desk.fails("match new Ann Bob --set conversion=sum", 2, "match_points");
    desk.fails("match new Ann Bob --rules nhl", 2, "nca");
}

#[test]
fn formats_follow_from_the_names() {
    let desk = Desk::new();
    let game = desk.json("match new Ann/Al Bob/Ben --first B2");
    assert_eq!((&game["format"], &game["next_first"]["side"]), (&json!("doubles"), &json!("b")));
    assert_eq!(game["next_first"]["player"], 1);
    assert_eq!(desk.json("match new Ann/Al Bob")["format"], "two_versus_one");
    assert_eq!(desk.json("match new Ann Bob Cas --rules mayday-match")["format"], "cut_throat");
    desk.fails("match new Ann Bob/Ben", 2, "name the two first");
    desk.fails("match new Ann/Al/Ada Bob/Ben", 2, "no format");
    desk.fails("match new Ann/ Bob/Ben", 1, "without a name");
    let three = desk.ok("match add 3 --a 60 --b 50 --c 40");
    assert!(three.contains("2-1-0"), "{three}");
    desk.fails("match add 1 --a 60 --b 50 --c 40", 2, "no side C");
}

#[test]
fn a_count_is_proposed_with_its_evidence_and_accepted_once() {
    let desk = Desk::new();
    let count = desk.write("count.json", COUNT);
    let photo = desk.write("p.jpg", "these are the bytes of a photo");
    let (count, photo) = (count.display(), photo.display());
    desk.ok("match new Ann Bob --colours natural,black");
    let proposed = desk.ok(&format!("match propose 1 --count {count} --photo {photo}"));
    assert!(proposed.contains("A 30, B 60") && proposed.contains("match accept 1"), "{proposed}");
    desk.fails(&format!("match propose 1 --count {count} --photo {photo}"), 1, "already given");
    assert!(desk.ok("match accept 1 --a 35").contains("Ann 35"));
    desk.fails("match accept 1", 2, "no proposal is open");
    let game = desk.json("match show 1");
    let evidence = game["rounds"][0]["evidence"].as_array().unwrap();
    assert_eq!(evidence.len(), 2);
    assert_eq!((&evidence[0]["kind"], &evidence[0]["name"]), (&json!("photo"), &json!("p.jpg")));
    assert_eq!(game["rounds"][0]["source"]["by"], "camera");
    let discs = desk.ok("match export 1 --to discs-csv");
    assert!(discs.lines().nth(1).unwrap().contains("p.jpg,1,a,black,flat,15,,1.4"), "{discs}");
    assert!(desk.ok("db check").contains("2 document(s)"));
}

#[test]
fn a_count_that_asks_for_review_is_never_taken_by_itself() {
    let desk = Desk::new();
    let doubtful = COUNT.replace("\"review\":[]", r#""review":[{"disc":1,"reason":"0.1 mm from the 15 line"}]"#);
    let doubtful = desk.write("doubtful.json", &doubtful.replace("\"counted\"", "\"review\""));
    let many = desk.write("many.json", &COUNT.replace("\"15\":2", "\"15\":9").replace("\"total\":60", "\"total\":165"));
    let clear = desk.write("clear.json", COUNT);
    let blank = desk.write("blank.json", r#"{"schema":"crokeye.count/1","status":"no_board","error":null}"#);
    desk.ok("match new Ann Bob");
    let propose = |file: &PathBuf| format!("match propose 1 --accept --count {}", file.display());
    assert_eq!(desk.output(&propose(&doubtful)).status.code(), Some(1));
    assert_eq!(desk.output(&propose(&many)).status.code(), Some(1));
    let game = desk.json("match show 1");
    assert_eq!(game["rounds"], json!([]));
    assert_eq!(game["proposals"].as_array().unwrap().len(), 2);
    desk.fails("match accept 1", 2, "2 proposals are open");
    let many = game["proposals"][1]["number"].as_u64().unwrap();
    desk.fails(&format!("match accept 1 {many}"), 1, "the rules allow 8");
    desk.ok(&format!("match dismiss 1 {many} --reason stacked"));
    desk.ok("match accept 1");
    assert!(desk.ok(&propose(&clear)).contains("taken as round 2"));
    desk.fails(&propose(&blank), 2, "no_board");
}

#[test]
fn programs_get_an_answer_a_line() {
    use std::io::Write;
    use std::process::Stdio;
    let desk = Desk::new();
    desk.ok("match new Ann Bob");
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("crokeye"))
        .args(["match", "apply", "1", "--db"])
        .arg(desk.file("desk.db"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = [
        r#"{"command":"record","round":{"sides":[{"total":60},{"zones":{"15":2},"set_aside":1}]}}"#,
        r#"{"command":"record","round":{"sides":[{"total":61},{"total":40}]}}"#,
        r#"{"command":"dance"}"#,
        r#"{"command":"undo","of":2}"#,
    ];
    child.stdin.take().unwrap().write_all(lines.join("\n").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "one of them was refused");
    let answers: Vec<Value> =
        String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers[0], json!({"ok": true, "revision": 2}));
    assert_eq!(answers[1]["ok"], false);
    assert!(answers[1]["error"].as_str().unwrap().contains("61"));
    assert_eq!(answers[2]["ok"], false);
    assert_eq!(answers[3], json!({"ok": true, "revision": 3}));
}

#[test]
fn refusals_are_json_too_and_an_older_view_is_a_conflict() {
    let desk = Desk::new();
    desk.ok("match new Ann Bob");
    desk.ok("match add 1 --a 60 --b 40 --expect 1");
    let late = desk.output("match add 1 --a 60 --b 40 --expect 1 --json");
    assert_eq!(late.status.code(), Some(1));
    let answer: Value = serde_json::from_slice(&late.stdout).unwrap();
    assert_eq!((&answer["schema"], &answer["kind"]), (&json!("crokeye.error/1"), &json!("conflict")));
}

#[test]
fn matches_travel_between_databases_and_formats() {
    let desk = Desk::new();
    desk.ok("match new Ann Bob --event League");
    for _ in 0..4 {
        desk.ok("match add 1 --a 20:1,15:2 --b 45");
    }
    for (format, file) in [("cmn", "m.json"), ("reference", "m.xlsx"), ("scorekinole", "m.txt"), ("tourney", "t.json")]
    {
        desk.ok(&format!("match export 1 --to {format} -o {file}"));
        let dry = desk.ok(&format!("match import {file} --from {format} --dry-run"));
        assert!(dry.contains("Would read: Ann v Bob, 8-0 after 4 round(s)"), "{format}: {dry}");
    }
    desk.fails("match export 1 --to json -o m.json", 2, "exists already");
    desk.fails("match export 1 --to croki", 2, "croki.match_code");
    let body = desk.ok("match export 1 --to croki --ref croki.match_code=AB12");
    assert!(body.contains("\"match_code\": \"AB12\""), "{body}");
    assert!(desk.ok("match export 1 --to croki --explain").contains("names"));
    desk.ok("db export -o all.jsonl");
    desk.fails("match import all.jsonl --from json", 2, "here already");
    let other = Desk::new();
    let all = desk.file("all.jsonl");
    other.ok(&format!("match import {} --from json", all.display()));
    let (mut here, mut there) = (desk.json("match show 1"), other.json("match show 1"));
    assert_eq!(here, there);
    other.ok(&format!("match import {} --from cmn", desk.file("m.json").display()));
    (here, there) = (desk.json("match show 1"), other.json("match show 2"));
    assert_eq!(here["sides"][0]["points"], there["sides"][0]["points"]);
    assert_eq!(there["rounds"][0]["source"]["format"], "cmn");
    let stats = other.json("match stats --player ann");
    assert_eq!(stats["players"][0]["matches"]["won"], 2);
    assert_eq!(stats["players"][0]["points_per_round"], 2.0);
    assert_eq!(stats["players"][0]["zones"]["15"], 16);
    assert_eq!(stats["head_to_head"][0]["opponent"], "Bob");
}

#[test]
fn backups_are_made_and_damage_is_told() {
    let desk = Desk::new();
    desk.fails("db check", 2, "there is no database");
    desk.ok("match new Ann Bob");
    desk.ok("db backup copy.db");
    desk.fails("db backup copy.db", 2, "never overwrites");
    assert!(desk.ok("db check --db copy.db").contains("All is well"));
    // Random bytes in the middle of the file.
    let mut bytes = std::fs::read(desk.file("copy.db")).unwrap();
    let length = bytes.len();
    for (at, byte) in bytes[length / 2..length / 2 + 6_000].iter_mut().enumerate() {
        *byte = (at * 31 % 251) as u8;
    }
    std::fs::write(desk.file("copy.db"), bytes).unwrap();
    let output = desk.output("match list --db copy.db");
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stdout));
    let output = desk.output("db check --db copy.db");
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.code() == Some(1) && told.contains("FAULT: "), "{told}");
    desk.ok("db backup file:uri.db?mode=memory");
    assert!(desk.file("file:uri.db?mode=memory").exists());
}

#[test]
fn commands_that_need_a_match_make_no_database() {
    let desk = Desk::new();
    let lines = ["list", "show 1", "stats", "export 1 --to cmn", "undo 1", "add 1 --a 60 --b 40", "apply 1"];
    for line in lines {
        desk.fails(&format!("match {line}"), 2, "`crokeye match new` makes one");
    }
    desk.fails("db export", 2, "there is no database");
    assert_eq!(std::fs::read_dir(desk.folder.path()).unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn a_database_that_cannot_be_written_can_be_read() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    let desk = Desk::new();
    desk.ok("match new Ann Bob");
    desk.ok("match add 1 --a 60 --b 40");
    let folder = desk.folder.path();
    let mode = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(&desk.file("desk.db"), 0o444);
    mode(folder, 0o555);
    // Root writes everywhere: it gives up its rights for the proof. Nobody may start a program in root's own folders.
    let root = std::fs::write(desk.file("probe"), "").is_ok();
    let bin = std::env::temp_dir().join(format!("crokeye-read-only-{}", std::process::id()));
    if root {
        std::fs::remove_file(desk.file("probe")).unwrap();
        std::fs::copy(assert_cmd::cargo::cargo_bin!("crokeye"), &bin).unwrap();
        mode(&bin, 0o755);
    }
    let run = |line: &str| {
        let mut command = Command::new(if root {
            bin.as_path()
        } else {
            std::path::Path::new(assert_cmd::cargo::cargo_bin!("crokeye"))
        });
        command.args(line.split_whitespace()).env("CROKEYE_DB", desk.file("desk.db")).current_dir(folder);
        if root {
            command.uid(65534).gid(65534);
        }
        command.output().unwrap()
    };
    let readers =
        ["match list", "match show 1 --log", "match stats", "match export 1 --to json", "db check", "db export"];
    let read: Vec<Output> = readers.iter().map(|line| run(line)).collect();
    let written = run("match add 1 --a 60 --b 40");
    let left = std::fs::read_dir(folder).unwrap().count();
    mode(folder, 0o755);
    std::fs::remove_file(&bin).ok();
    for (line, output) in readers.iter().zip(read) {
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(!output.stdout.is_empty(), "{line}");
    }
    let told = String::from_utf8_lossy(&written.stderr);
    assert_eq!(written.status.code(), Some(2), "{told}");
    assert!(told.contains("cannot be written") && told.matches("desk.db").count() == 1, "{told}");
    assert_eq!(left, 1);
}

#[test]
fn rules_are_listed_shown_and_checked() {
    let desk = Desk::new();
    let all = desk.ok("rules");
    for name in ["nca", "wcc", "marquoir", "spruce", "corre", "hilinski", "mayday-100", "nk-nl", "first-to", "additive"]
    {
        assert!(all.contains(name), "{name} is not listed");
    }
    assert!(desk.ok("rules show hilinski").contains("not said"));
    assert_eq!(desk.json("rules show nca")["parameters"][0]["value"], "8");
    let house = "name = \"h\"\ntitle = \"H\"\nextends = \"nca\"\nsources = [\"us\"]\n[parameters]\n";
    let good = desk.write("good.toml", &format!("{house}discs_singles = {{ value = 12, source = \"us\" }}\n"));
    assert!(desk.ok(&format!("rules check {}", good.display())).contains("can be played"));
    desk.ok(&format!("match new Ann Bob --rules {}", good.display()));
    let bad = desk.write("bad.toml", &format!("{house}discs_singles = {{ value = \"many\", source = \"us\" }}\n"));
    desk.fails(&format!("rules check {}", bad.display()), 2, "discs_singles");
}

#[test]
fn a_counted_photo_becomes_a_round_and_what_is_no_board_does_not() {
    let desk = Desk::new();
    let sample =
        |name: &str| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("samples").join(name).display().to_string();
    let (empty, plates) = (sample("oak-empty.jpg"), sample("plates-no-board.jpg"));
    desk.ok("match new Ann Bob");
    desk.fails(&format!("count --match 7 {empty}"), 2, "there is no match 7");
    desk.fails(&format!("count --accept {empty}"), 2, "--match");
    let both = desk.output(&format!("count --json --match 1 --accept {plates} {empty}"));
    let told = String::from_utf8(both.stderr).unwrap();
    assert_eq!(both.status.code(), Some(1), "{told}");
    assert_eq!(String::from_utf8(both.stdout).unwrap().lines().count(), 2, "stdout holds counts alone");
    assert!(told.contains("plates-no-board.jpg: not taken"), "{told}");
    assert!(told.contains("oak-empty.jpg: taken as round 1 of match 1"), "{told}");
    let game = desk.json("match show 1");
    assert_eq!(game["rounds"][0]["sides"][0]["total"], 0);
    assert_eq!(game["rounds"][0]["evidence"].as_array().unwrap().len(), 2);
    assert_eq!(game["rounds"].as_array().unwrap().len(), 1);
    let again = desk.output(&format!("count --match 1 {empty}"));
    assert_eq!(again.status.code(), Some(1));
    assert!(String::from_utf8(again.stdout).unwrap().contains("already given for round 1"));
}
