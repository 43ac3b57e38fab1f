//! Exports and imports: round trips where the format allows, and what foreign files really look like.

use crokeye::score::event::{Context, Finish, Player, RoundEntry, Setup, SideInfo, Source};
use crokeye::score::export::{Exported, Target, explain, export};
use crokeye::score::game::Status;
use crokeye::score::import::{ImportError, Origin, Plan, Stamp, read};
use crokeye::score::rules::RuleSet;
use crokeye::score::standing::How;
use crokeye::score::{Command, Format, Match, Party, Record, Seat};
use jiff::Timestamp;
use serde_json::{Value, json};
use uuid::Uuid;

struct Played {
    id: Uuid,
    game: Match,
    log: Vec<Record>,
}

impl Played {
    fn new(rules: &str, format: Format, names: &[&[&str]], refs: &[(&str, &str)]) -> Self {
        let set = RuleSet::builtin(rules).unwrap();
        let (rules, defaults_taken) = set.settle().unwrap();
        let side = |names: &&[&str]| SideInfo {
            players: names.iter().map(|name| Player::named(name)).collect(),
            colour: None,
        };
        let setup = Setup {
            rules_name: set.name,
            rules,
            defaults_taken,
            choices: Vec::new(),
            format,
            sides: names.iter().map(side).collect(),
            first: Seat(0),
            context: Context {
                played_at: Some("2026-11-30T19:30:00Z".parse().unwrap()),
                event: Some("Tuesday league".to_owned()),
                refs: refs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
                extra: Default::default(),
            },
        };
        let mut played = Self { id: Uuid::from_u128(7), game: one(&setup), log: Vec::new() };
        played.log.push(record(1, Match::decide(None, &Command::Create(Box::new(setup))).unwrap().remove(0)));
        played
    }

    fn run(&mut self, command: &Command) -> &mut Self {
        for event in Match::decide(Some(&self.game), command).unwrap() {
            let record = record(self.log.len() as u64 + 1, event);
            let mut state = Some(self.game.clone());
            Match::apply(&mut state, &record);
            self.game = state.unwrap();
            self.log.push(record);
        }
        self
    }

    fn round(&mut self, sides: &[&str]) -> &mut Self {
        self.run(&Command::Record {
            round: RoundEntry {
                sides: sides.iter().map(|side| side.parse().unwrap()).collect(),
                first: None,
                last: None,
                source: Source::Person,
                evidence: Vec::new(),
            },
        })
    }

    fn exported(&self) -> Exported<'_> {
        Exported { id: self.id, game: &self.game, log: &self.log, counts: &[] }
    }

    fn export(&self, target: Target) -> Vec<u8> {
        export(target, &[self.exported()]).unwrap()
    }

    fn json(&self, target: Target) -> Value {
        serde_json::from_slice(&self.export(target)).unwrap()
    }
}

fn one(setup: &Setup) -> Match {
    let event = Match::decide(None, &Command::Create(Box::new(setup.clone()))).unwrap().remove(0);
    Match::replay(&[record(1, event)]).unwrap()
}

fn record(revision: u64, event: crokeye::score::Event) -> Record {
    Record { revision, at: "2026-11-30T20:00:00Z".parse().unwrap(), author: "ann".to_owned(), event }
}

fn singles() -> Played {
    let mut played = Played::new("nca", Format::Singles, &[&["Ann"], &["Bob"]], &[]);
    played
        .round(&["20:1 15:2 5:1", "15:3 10:2"])
        .round(&["70 20s:2", "45 20s:0"])
        .round(&["40 20s:1", "40 20s:1"])
        .round(&["aside:3 10:1", "15:1"]);
    played
}

fn import(origin: Origin, bytes: &[u8]) -> Vec<Plan> {
    read(origin, bytes, "nca", Stamp { at: Timestamp::UNIX_EPOCH, author: "test" }).unwrap()
}

fn refused(origin: Origin, text: &str) -> String {
    let stamp = Stamp { at: Timestamp::UNIX_EPOCH, author: "test" };
    read(origin, text.as_bytes(), "nca", stamp).unwrap_err().to_string()
}

/// What must survive in any format that holds rounds: names, points and 20s of each round, the result.
#[derive(Debug, PartialEq)]
struct Gist {
    names: Vec<String>,
    points: Vec<[u32; 3]>,
    twenties: Vec<Option<u32>>,
    winner: Option<Party>,
}

fn gist(game: &Match) -> Gist {
    Gist {
        names: game.format().parties().iter().map(|party| game.name(*party)).collect(),
        points: game.counted().map(|(_, round)| game.points_of(round)).collect(),
        twenties: game.counted().flat_map(|(_, round)| round.sides.iter().map(|side| side.twenties())).collect(),
        winner: if let Status::Over { winner, .. } = game.status() { winner } else { None },
    }
}

#[test]
fn cmn_comes_back_round_for_round_with_zones_and_both_shooters() {
    let played = singles();
    let plans = import(Origin::Cmn, &played.export(Target::Cmn));
    assert_eq!(gist(&plans[0].game), gist(&played.game));
    for (old, new) in played.game.rounds().iter().zip(plans[0].game.rounds()) {
        assert_eq!((&old.sides, old.first, old.last), (&new.sides, new.first, new.last));
    }
    assert_eq!(plans[0].game.played_at(), played.game.played_at());
    assert_eq!(plans[0].game.setup().rules_name, "nca");
    assert!(plans[0].notes.is_empty(), "{:?}", plans[0].notes);
}

#[test]
fn cmn_says_who_shot_first_where_others_say_hammer_for_the_last() {
    let value = singles().json(Target::Cmn);
    let games = value["match"]["games"].as_array().unwrap();
    // Ann (0) starts round 1, so Bob has the last shot; CMN's hammer is the one who shot first.
    assert_eq!(games[0]["hammer"], 0);
    assert_eq!(games[0]["crokeye"]["last_shot"], 1);
    assert_eq!(games[1]["hammer"], 1);
    assert_eq!(value["match"]["date"], "2026-11-30T19:30:00Z");
    assert_eq!(games[0]["scores"], json!([55, 65]));
    assert_eq!(games[2]["winner"], Value::Null);
    assert_eq!(value["match"]["winner"], 0);
    assert_eq!(value["cmn"], "1.0");
}

#[test]
fn several_matches_make_a_cmn_batch_and_come_back() {
    let (a, b) = (singles(), singles());
    let bytes = export(Target::Cmn, &[a.exported(), b.exported()]).unwrap();
    let value: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(value["batch"], true);
    assert_eq!(import(Origin::Cmn, &bytes).len(), 2);
}

#[test]
fn cmn_scores_that_do_not_fit_their_twenties_are_kept_as_stated_and_marked() {
    // The notation's own kind of example: two 20s beside a score of 20.
    let file = json!({
        "cmn": "1.0", "id": "x", "unknown": {"field": 1},
        "match": {
            "date": "2026-02-11T19:30:00Z", "format": "singles", "mood": "good",
            "teams": [{"players": [{"name": "Jo", "cid": "CRK-1"}]}, {"players": [{"name": "Mo"}]}],
            "gameFormat": {"type": "fixed", "count": 2},
            "games": [
                {"winner": 0, "hammer": 1, "scores": [20, 5], "twenties": [2, 0]},
                {"winner": null, "scores": null},
            ],
            "winner": 0,
        },
        "event": {"name": "League", "venue": "Hall"},
    });
    let plans = import(Origin::Cmn, file.to_string().as_bytes());
    let game = &plans[0].game;
    assert_eq!(game.standing().points[..2], [3, 1]);
    assert_eq!(game.rounds()[0].sides[0].total(), Some(20));
    assert_eq!(game.rounds()[0].sides[0].twenties(), Some(2));
    assert_eq!(game.rounds()[0].odd.len(), 1);
    assert_eq!(game.format().party_at(game.rounds()[0].first), Party::B);
    assert_eq!(game.setup().sides[0].players[0].cid.as_deref(), Some("CRK-1"));
    assert_eq!(game.setup().context.extra["cmn.event"]["venue"], "Hall");
    assert!(plans[0].notes.iter().any(|note| note.contains("no count gives")));
}

#[test]
fn a_cmn_match_that_goes_on_after_its_end_keeps_all_its_games() {
    // First to 5 that runs to five game wins: at 2 points a win it is over after three.
    let winners = [0, 0, 1, 0, 1, 1, 0, 0];
    let file = json!({
        "cmn": "1.0", "id": "x",
        "match": {
            "date": "2026-03-08T14:00:00Z", "format": "doubles",
            "teams": [{"players": [{"name": "A"}, {"name": "B"}]}, {"players": [{"name": "C"}, {"name": "D"}]}],
            "gameFormat": {"type": "first_to", "target": 5},
            "games": winners.iter().map(|winner| json!({"winner": winner, "twenties": [1, 0]})).collect::<Vec<_>>(),
            "winner": 0,
        },
    });
    let plans = import(Origin::Cmn, file.to_string().as_bytes());
    assert_eq!(plans[0].game.standing().counted, 8);
    assert_eq!(plans[0].game.standing().points[..2], [10, 6]);
    assert!(plans[0].notes[0].contains("first to 5"), "{:?}", plans[0].notes);
}

#[test]
fn a_stated_winner_that_the_games_do_not_give_is_noted() {
    let file = json!({
        "cmn": "1.0", "id": "x",
        "match": {
            "date": "2026-03-08T14:00:00Z", "format": "singles",
            "teams": [{"players": [{"name": "A"}]}, {"players": [{"name": "C"}]}],
            "games": [{"winner": 0}], "winner": 1,
        },
    });
    let plans = import(Origin::Cmn, file.to_string().as_bytes());
    assert!(plans[0].notes[0].contains("states B"), "{:?}", plans[0].notes);
    assert_eq!(plans[0].game.setup().context.extra["stated_winner"], 1);
}

#[test]
fn cmn_without_its_required_fields_is_refused_by_name() {
    assert!(refused(Origin::Cmn, "{").contains("CMN"));
    assert!(refused(Origin::Cmn, "{}").contains("cmn"));
    assert!(refused(Origin::Cmn, r#"{"cmn":"2.0"}"#).contains("2.0"));
    assert!(refused(Origin::Cmn, r#"{"cmn":"1.0","match":{}}"#).contains("match.date"));
    let teams = r#""teams":[{"players":[{"name":"A"}]},{"players":[{"name":"B"}]}]"#;
    let bad = format!(
        r#"{{"cmn":"1.0","match":{{"date":"2026-01-01T00:00:00Z","format":"singles",{teams},"games":[{{"winner":3}}]}}}}"#
    );
    assert!(refused(Origin::Cmn, &bad).contains("game 1: winner is 3"), "{}", refused(Origin::Cmn, &bad));
}

#[test]
fn croki_takes_raw_points_and_waits_until_all_sets_are_in() {
    let refs = [("croki.match_code", "MD55"), ("croki.source", "table-cam-4")];
    let mut played = Played::new("nk-nl", Format::Doubles, &[&["A", "B"], &["C", "D"]], &refs);
    played.round(&["30 20s:1", "25 20s:0"]);
    let value = played.json(Target::Croki);
    assert_eq!(value["sets"].as_array().unwrap().len(), 4);
    assert_eq!(value["sets"][0], json!({"pa": 30, "pb": 25, "ta": 1, "tb": 0}));
    assert_eq!(value["sets"][1], json!({"pa": null, "pb": null, "ta": 0, "tb": 0}));
    assert_eq!(value["complete"], false);
    assert_eq!(value["match_code"], "MD55");
    assert_eq!(value["source"], "table-cam-4");
    played.round(&["30", "25"]).round(&["25", "30"]).round(&["25", "30"]);
    assert_eq!(played.json(Target::Croki)["complete"], false, "a shoot-out is due");
    played.run(&Command::Finish { finish: Finish::ShootOut { winner: Party::B }, reason: None });
    let missing = export(Target::Croki, &[played.exported()]).unwrap_err();
    assert!(missing.to_string().contains("croki.team_b"), "{missing}");
}

#[test]
fn croki_asks_how_the_match_is_called_there() {
    let missing = export(Target::Croki, &[singles().exported()]).unwrap_err();
    assert!(missing.to_string().contains("croki.match_code"), "{missing}");
    let by_table =
        Played::new("nca", Format::Singles, &[&["A"], &["B"]], &[("croki.table", "7"), ("croki.round", "3")]);
    let value = by_table.json(Target::Croki);
    assert_eq!((&value["table"], &value["round"]), (&json!(7), &json!(3)));
    assert!(value.get("match_code").is_none());
}

#[test]
fn croki_lists_are_read_with_shoot_outs_and_totals_of_any_kind() {
    let list = json!({"ok": true, "matches": [
        {"match_code": "MD55", "match_id": 55, "team_a": {"id": 12, "name": "Gliders"}, "team_b": {"id": 27, "name": "Flicks"},
         "sets": [{"pa": 21, "pb": 20, "ta": 1, "tb": 0}, {"pa": 21, "pb": 20}, {"pa": 21, "pb": 20, "ta": 1, "tb": 1},
                  {"pa": 5, "pb": 80, "ta": 0, "tb": 0}]},
        {"match_code": "X6JR", "team_a": {"id": 12, "name": "Gliders"}, "team_b": {"id": 27, "name": "Flicks"},
         "sets": [{"pa": 30, "pb": 24}, {"pa": 20, "pb": 26}, {"pa": 31, "pb": 25}, {"pa": 22, "pb": 28}],
         "shootout_winner": 12},
        {"match_code": "BYE1", "team_a": {"id": 1, "name": "Lonely"}, "team_b": null, "sets": null},
    ]});
    let plans = import(Origin::Croki, list.to_string().as_bytes());
    assert_eq!(plans.len(), 2);
    assert_eq!(plans[0].game.standing().points[..2], [6, 2]);
    assert_eq!(plans[0].game.standing().totals[..2], [68, 140]);
    let status = plans[1].game.status();
    assert_eq!(status, Status::Over { winner: Some(Party::A), how: How::ShootOut });
    // And back: the body is the one their laptop takes.
    let exported = Exported { id: Uuid::nil(), game: &plans[1].game, log: &plans[1].log, counts: &[] };
    let body: Value = serde_json::from_slice(&export(Target::Croki, &[exported]).unwrap()).unwrap();
    assert_eq!(body["match_code"], "X6JR");
    assert_eq!(body["shootout_winner"], 12);
    assert_eq!(body["complete"], true);
    assert_eq!(body["sets"][2], json!({"pa": 31, "pb": 25, "ta": 0, "tb": 0}));
}

#[test]
fn scorekinole_text_goes_there_and_back() {
    let played = singles();
    let text = String::from_utf8(played.export(Target::Scorekinole)).unwrap();
    assert_eq!(text, "RR R1\nAnn,Bob,5,3\n0,2,1,0\n2,0,2,0\n1,1,1,1\n2,0,3,0\n");
    let plans = import(Origin::Scorekinole, text.as_bytes());
    assert_eq!(gist(&plans[0].game), gist(&played.game));
    assert_eq!(plans[0].game.setup().context.refs["scorekinole.round"], "1");
}

#[test]
fn scorekinole_partners_headers_and_standings_are_understood() {
    let text = "\u{feff}SS R2\r\nA / B,C / D,2,6\r\n0,2,0,1\r\n\r\n0,2,0,0\r\n2,0,1,1\r\n0,2,0,0\r\n\r\n[Final]\r\nSemi\r\nE / F,G / H,5,1\r\nE / F,40,3\r\n";
    let plans = import(Origin::Scorekinole, text.as_bytes());
    assert_eq!(plans.len(), 2);
    assert_eq!(plans[0].game.format(), Format::Doubles);
    assert_eq!(plans[0].game.standing().points[..2], [2, 6]);
    assert_eq!(plans[0].game.setup().context.refs["scorekinole.system"], "SS");
    // Without rounds only the stated result is there.
    assert_eq!(plans[1].game.status(), Status::Over { winner: Some(Party::A), how: How::Stated });
    assert!(refused(Origin::Scorekinole, "1,2,3,4").contains("line 1"));
    assert!(refused(Origin::Scorekinole, "A,B,x,4").contains("\"x\""));
    assert!(refused(Origin::Scorekinole, "A,B,1,2,3").contains("5 fields"));
    assert!(refused(Origin::Scorekinole, "").contains("no line"));
}

#[test]
fn a_name_that_scorekinole_cannot_quote_is_refused() {
    let mut played = Played::new("nca", Format::Singles, &[&["Ann, the first"], &["Bob"]], &[]);
    played.run(&Command::Finish { finish: Finish::AsItStands, reason: None });
    let refused = export(Target::Scorekinole, &[played.exported()]).unwrap_err();
    assert!(refused.to_string().contains("comma"), "{refused}");
}

#[test]
fn the_reference_sheet_has_two_rows_a_player_and_comes_back() {
    let mut played = singles();
    played.game = with_ref(&played.log, "reference.division", "Open");
    let bytes = played.export(Target::Reference);
    let rows = sheet(&bytes);
    assert_eq!(rows.len(), 5);
    assert_eq!(rows[0][10..16], ["Player", "Opponent", "First/Hammer", "Comment", "Pts/20s", "Total"]);
    // Ann shot first in round 1, so the hammer there is Bob's.
    assert_eq!(rows[1][10..20], ["Ann", "Bob", "First", "", "Pts", "5", "0", "2", "1", "2"]);
    assert_eq!(rows[2][10..20], ["Ann", "Bob", "First", "", "20s", "7", "1", "2", "1", "3"]);
    assert_eq!(rows[3][10..20], ["Bob", "Ann", "Hammer", "", "Pts", "3", "2", "0", "1", "0"]);
    assert_eq!(rows[1][2..5], ["Tuesday league", "Open", "Singles"]);
    let plans = import(Origin::Reference, &bytes);
    assert_eq!(gist(&plans[0].game), gist(&played.game));
    let game = &plans[0].game;
    assert_eq!(game.played_at().strftime("%Y-%m-%d").to_string(), "2026-11-30");
    assert_eq!(game.setup().context.refs["reference.division"], "Open");
    let first: Vec<Party> = game.rounds().iter().map(|round| game.format().party_at(round.first)).collect();
    assert_eq!(first, [Party::A, Party::B, Party::A, Party::B]);
    assert!(plans[0].notes.is_empty(), "{:?}", plans[0].notes);
}

#[test]
fn two_matches_of_one_pair_in_one_sheet_stay_apart() {
    let (a, b) = (singles(), singles());
    let bytes = export(Target::Reference, &[a.exported(), b.exported()]).unwrap();
    let plans = import(Origin::Reference, &bytes);
    assert_eq!(plans.len(), 2);
    assert!(plans.iter().all(|plan| gist(&plan.game) == gist(&a.game)));
}

fn with_ref(log: &[Record], key: &str, value: &str) -> Match {
    let mut log = log.to_vec();
    if let crokeye::score::Event::MatchCreated(setup) = &mut log[0].event {
        setup.context.refs.insert(key.to_owned(), value.to_owned());
    }
    Match::replay(&log).unwrap()
}

fn sheet(bytes: &[u8]) -> Vec<Vec<String>> {
    use calamine::{Reader, Xlsx};
    let mut book: Xlsx<_> = Xlsx::new(std::io::Cursor::new(bytes)).unwrap();
    let range = book.worksheet_range("Matches").unwrap();
    range.rows().map(|row| row.iter().map(ToString::to_string).collect()).collect()
}

#[test]
fn a_tourney_backup_goes_there_and_back() {
    let played = singles();
    let value = played.json(Target::Tourney);
    assert_eq!(value["players"][0], json!({"id": 1, "name": "Ann", "present": true}));
    assert_eq!(value["games"][0]["p1points"], 5);
    assert_eq!(value["games"][0]["p1twenties"], 7);
    assert_eq!(value["games"][0]["gameRounds"][2], json!({"p1points": 1, "p2points": 1}));
    let plans = import(Origin::Tourney, value.to_string().as_bytes());
    // Which round the 20s fell in is not in a backup.
    let without_twenties = |game: &Match| Gist { twenties: Vec::new(), ..gist(game) };
    assert_eq!(without_twenties(&plans[0].game), without_twenties(&played.game));
    assert_eq!(plans[0].game.setup().context.extra["tourney.twenties"], json!([7, 1]));
}

#[test]
fn byes_of_a_tourney_are_passed_over_and_strangers_refused() {
    let players = r#""players":[{"id":1,"name":"Ann"},{"id":2,"name":"Bob"}]"#;
    let bye = format!(r#"{{{players},"games":[{{"id":1,"stage":"seed","round":1,"n":1,"p1id":1}}]}}"#);
    assert!(import(Origin::Tourney, bye.as_bytes()).is_empty());
    let stranger = format!(r#"{{{players},"games":[{{"id":1,"stage":"seed","round":1,"n":1,"p1id":1,"p2id":9}}]}}"#);
    assert!(refused(Origin::Tourney, &stranger).contains("player 9"));
}

#[test]
fn our_own_json_brings_back_every_step_and_believes_nothing() {
    let mut played = singles();
    let reason = "disc on the line".to_owned();
    let sides = Some(vec!["55".parse().unwrap(), "50".parse().unwrap()]);
    played
        .run(&Command::Correct { round: 1, sides, first: None, last: None, reason: reason.clone() })
        .run(&Command::Void { round: 4, reason })
        .run(&Command::Undo { of: None })
        .run(&Command::Redo)
        .round(&["60", "20"]);
    let bytes = played.export(Target::Json);
    let plans = import(Origin::Json, &bytes);
    assert_eq!(plans[0].log, played.log);
    assert_eq!(plans[0].game, played.game);
    assert_eq!(plans[0].id, Some(played.id));
    assert!(explain(Target::Json, &played.game).is_empty());
    // A forged total: the event no longer follows from the rules.
    let forged = String::from_utf8(bytes.clone()).unwrap().replace("\"total\":70", "\"total\":72");
    assert_ne!(forged.as_bytes(), bytes);
    assert!(refused(Origin::Json, &forged).contains("not a multiple of 5"));
    let cut = String::from_utf8(bytes).unwrap().replace("\"revision\":3,", "\"revision\":4,");
    assert!(refused(Origin::Json, &cut).contains("event"), "{}", refused(Origin::Json, &cut));
}

#[test]
fn the_csv_of_rounds_has_a_line_a_side_and_marks_void_rounds() {
    let mut played = singles();
    played.run(&Command::Void { round: 2, reason: "board bumped, \"again\"".to_owned() });
    let text = String::from_utf8(played.export(Target::RoundsCsv)).unwrap();
    let mut csv = csv::Reader::from_reader(text.as_bytes());
    let header = csv.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = csv.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 8);
    let cell = |row: usize, name: &str| rows[row][header.iter().position(|title| title == name).unwrap()].to_owned();
    assert_eq!(
        (cell(0, "name"), cell(0, "total"), cell(0, "in_15"), cell(0, "points")),
        ("Ann".into(), "55".into(), "2".into(), "0".into())
    );
    assert_eq!(
        (cell(0, "shot_first"), cell(0, "shot_last"), cell(1, "shot_last")),
        ("yes".into(), "no".into(), "yes".into())
    );
    assert_eq!((cell(2, "counts"), cell(2, "void_reason")), ("no".into(), "board bumped, \"again\"".into()));
    assert_eq!((cell(6, "set_aside"), cell(6, "twenties")), ("3".into(), "3".into()));
}

#[test]
fn the_csv_of_discs_copies_what_was_counted() {
    let mut played = Played::new("nca", Format::Singles, &[&["Ann"], &["Bob"]], &[]);
    played.round(&["15:1", "0"]);
    let evidence = crokeye::score::event::Evidence {
        sha256: "ab".repeat(32),
        kind: "count".to_owned(),
        media_type: "application/json".to_owned(),
        name: None,
    };
    played.run(&Command::Attach { round: 1, evidence });
    let count = json!({"schema": "crokeye.count/1", "source": "p.jpg", "discs": [
        {"id": 1, "side": "a", "colour": {"name": "black"}, "base_mm": [34.2, -80.1], "base_px": [701.2, 620.4],
         "state": "flat", "value": 15, "line": "15", "margin_mm": 1.4, "margin_sigma_mm": 0.25, "close": false, "confidence": 0.99},
    ]});
    let counts = [("ab".repeat(32), count.to_string().into_bytes())];
    let exported = Exported { counts: &counts, ..played.exported() };
    let text = String::from_utf8(export(Target::DiscsCsv, &[exported]).unwrap()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(
        lines[1].ends_with("p.jpg,1,a,black,flat,15,15,1.4,0.25,false,0.99,34.2,-80.1,701.2,620.4"),
        "{}",
        lines[1]
    );
}

#[test]
fn three_sides_fit_no_format_made_for_two_and_that_is_said() {
    let mut played = Played::new("mayday-match", Format::CutThroat, &[&["A"], &["B"], &["C"]], &[]);
    played.round(&["60", "50", "40"]);
    played.run(&Command::Finish { finish: Finish::AsItStands, reason: None });
    for target in [Target::Cmn, Target::Croki, Target::Scorekinole, Target::Reference, Target::Tourney] {
        let refused = export(target, &[played.exported()]).unwrap_err();
        assert!(refused.to_string().contains("3 sides"), "{refused}");
    }
    let losses = explain(Target::Cmn, &played.game);
    assert!(losses.iter().any(|loss| loss.contains("three sides")), "{losses:?}");
    assert_eq!(import(Origin::Json, &played.export(Target::Json))[0].game, played.game);
}

#[test]
fn what_a_format_cannot_hold_is_listed() {
    let mut played = singles();
    played.run(&Command::Void { round: 2, reason: "bumped".to_owned() });
    let says = |target: Target, words: &str| {
        let losses = explain(target, &played.game);
        assert!(losses.iter().any(|loss| loss.contains(words)), "{}: {words:?} not in {losses:?}", target.name());
    };
    says(Target::Cmn, "void round");
    says(Target::Cmn, "hammer");
    says(Target::Scorekinole, "totals of the rounds");
    says(Target::Reference, "alternate");
    says(Target::Tourney, "summed");
    says(Target::Croki, "names");
    says(Target::DiscsCsv, "no count as evidence");
}

#[test]
fn files_of_the_wrong_kind_are_refused_by_every_reader() {
    for origin in Origin::ALL {
        for junk in ["", "\0\0\0\0", "[]", "{}", "null", "<html>", "PK\u{3}\u{4}"] {
            let stamp = Stamp { at: Timestamp::UNIX_EPOCH, author: "test" };
            let outcome = read(origin, junk.as_bytes(), "nca", stamp);
            let nothing = matches!(&outcome, Ok(plans) if plans.is_empty());
            assert!(nothing || matches!(outcome, Err(ImportError::Parse { .. })), "{} read {junk:?}", origin.name());
        }
    }
}
