//! `crokeye serve` over a real socket: every route, every refusal, log-in, forged origins, hostile uploads, the end.

#[path = "support/server.rs"]
#[allow(dead_code, reason = "this test uses only a part of the client")]
mod server;

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};
use server::{Answer, Server};

const SAMPLE: &[u8] = include_bytes!("../samples/cherry-twenty.jpg");

/// A problem of this status and kind, and nothing in it that is nobody's business.
fn problem(answer: &Answer, status: u16, kind: &str) {
    assert_eq!(answer.status, status, "{}", answer.text());
    assert_eq!(answer.header("content-type"), Some("application/problem+json"), "{}", answer.text());
    assert_eq!(answer.json()["kind"], kind);
    for secret in ["/tmp", "src/", ".rs", "sqlite", "SELECT", "panicked", "stack", ".db"] {
        assert!(!answer.text().contains(secret), "{secret}: {}", answer.text());
    }
}

#[test]
fn every_address_answers_in_its_media_type_with_what_protects_it() {
    let server = Server::start(&[]);
    server.until_proposed();
    for (path, media_type) in [
        ("/", "text/html; charset=utf-8"),
        ("/overlay", "text/html; charset=utf-8"),
        ("/referee", "text/html; charset=utf-8"),
        ("/history", "text/html; charset=utf-8"),
        ("/boards", "text/html; charset=utf-8"),
        ("/login", "text/html; charset=utf-8"),
        ("/assets/style.css", "text/css; charset=utf-8"),
        ("/assets/common.js", "text/javascript; charset=utf-8"),
        ("/assets/text.json", "application/json"),
        ("/healthz", "text/plain; charset=utf-8"),
        ("/readyz", "text/plain; charset=utf-8"),
        ("/metrics", "text/plain; version=0.0.4; charset=utf-8"),
        ("/api/v1/session", "application/json"),
        ("/api/v1/state", "application/json"),
        ("/api/v1/boards", "application/json"),
        ("/api/v1/boards/1/state", "application/json"),
        ("/api/v1/matches", "application/json"),
        ("/api/v1/matches/1", "application/json"),
        ("/api/v1/matches/last", "application/json"),
        ("/api/v1/matches/1/export/json", "application/json"),
        ("/api/v1/matches/1/export/rounds-csv", "text/csv; charset=utf-8"),
        ("/api/v1/rules", "application/json"),
        ("/api/v1/rules/nca", "application/json"),
        ("/api/v1/boards/1/picture.jpg", "image/jpeg"),
    ] {
        let answer = server.get(path);
        assert_eq!((answer.status, answer.header("content-type")), (200, Some(media_type)), "{path}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert!(answer.header("content-security-policy").unwrap().starts_with("default-src 'none'"), "{path}");
    }
    assert!(server.get("/metrics").text().contains("crokeye_rounds_total{board=\"1\"} 1"));
    assert!(server.get("/?lang=fr").text().contains("<html lang=\"fr\">"));
    assert!(server.get("/referee").text().contains("<html lang=\"en\">"));

    for path in ["/nope", "/assets/nope", "/api/v1/matches/77", "/api/v1/matches/1/export/nope", "/api/v1/rules/nope"] {
        problem(&server.get(path), 404, "not_found");
    }
    for path in ["/api/v1/boards/2/picture.jpg", "/api/v1/boards/2/picture.mjpeg", "/api/v1/matches/1/evidence/00"] {
        problem(&server.get(path), 404, "not_found");
    }
    problem(&server.send("DELETE", "/api/v1/matches/1", &[], b""), 405, "method");
    problem(&server.get("/api/v1/live"), 400, "bad_request");
    problem(&server.get("/api/v1/matches?limit=many"), 400, "bad_request");
    problem(&server.post("/api/v1/session", &json!({ "password": "x" })), 400, "bad_request");
    problem(&server.post("/api/v1/boards/1/keys/nope", &json!({})), 404, "not_found");
    assert_eq!(server.post("/api/v1/boards/1/keys/look", &json!({})).status, 200);
}

#[test]
fn a_proposed_round_is_confirmed_corrected_undone_voided_and_exported() {
    let server = Server::start(&[]);
    let proposed = server.until_proposed();
    let revision = proposed["revision"].as_u64().unwrap();
    let proposal = proposed["proposals"][0]["number"].as_u64().unwrap();
    let confirm = format!("/api/v1/matches/1/proposals/{proposal}/confirm");
    problem(&server.post(&confirm, &json!({ "expected": revision - 1 })), 409, "conflict");
    let thirteen = json!({ "zones": { "5": 13 } });
    problem(&server.post(&confirm, &json!({ "sides": [thirteen, { "total": 0 }] })), 422, "refused");
    problem(&server.post("/api/v1/matches/1/proposals/99/confirm", &json!({})), 422, "refused");
    problem(&server.post("/api/v1/matches/1/proposals/x/confirm", &json!({})), 404, "not_found");
    problem(&server.send("POST", &confirm, &[], b"{"), 400, "bad_request");

    // What shows it: the photo, and the count that says which disc is close.
    let evidence = proposed["proposals"][0]["round"]["evidence"].as_array().unwrap().clone();
    let of =
        |kind: &str| evidence.iter().find(|one| one["kind"] == kind).unwrap()["sha256"].as_str().unwrap().to_owned();
    let photo = server.get(&format!("/api/v1/matches/1/evidence/{}", of("photo")));
    assert!(photo.body.starts_with(&[0xff, 0xd8]) && photo.header("content-type") == Some("image/jpeg"));
    let count = server.get(&format!("/api/v1/matches/1/evidence/{}", of("count"))).json();
    assert_eq!(count["discs"].as_array().unwrap().iter().filter(|disc| disc["close"] == true).count(), 1);
    let clip = server.get(&format!("/api/v1/matches/1/evidence/{}", of("clip")));
    assert_eq!(clip.header("content-disposition"), Some("attachment"));

    // The close call goes the other way: 60 for Ann.
    let sides = json!([{ "zones": { "15": 2, "10": 3, "0": 1 }, "set_aside": 0 }, { "total": 70, "twenties": 1 }]);
    let done = server.post(&confirm, &json!({ "author": "Carol\n", "expected": revision, "sides": sides }));
    assert_eq!(done.status, 200, "{}", done.text());
    assert_eq!(done.json()["rounds"][0]["sides"][0]["total"], 60);
    assert_eq!(done.json()["rounds"][0]["author"], "Carol");

    let correct =
        json!({ "author": "Dan", "sides": [{ "total": 55 }, { "total": 70 }], "reason": "it touched the line" });
    let corrected = server.post("/api/v1/matches/1/rounds/1/correct", &correct).json();
    assert_eq!(
        (&corrected["rounds"][0]["sides"][0]["total"], &corrected["rounds"][0]["amendments"][0]["author"]),
        (&json!(55), &json!("Dan"))
    );
    problem(&server.post("/api/v1/matches/1/rounds/1/correct", &json!({ "sides": [] })), 400, "bad_request");
    let undone = server.post("/api/v1/matches/1/undo", &json!({ "of": corrected["undoable"] })).json();
    assert_eq!(undone["rounds"][0]["sides"][0]["total"], 60);
    assert_eq!(server.post("/api/v1/matches/1/redo", &json!({})).json()["rounds"][0]["sides"][0]["total"], 55);
    problem(&server.post("/api/v1/matches/1/undo", &json!({ "of": 2 })), 422, "refused");
    let voided = server.post("/api/v1/matches/1/rounds/1/void", &json!({ "reason": "bumped", "author": "Eve" })).json();
    assert_eq!(voided["rounds"][0]["void"]["reason"], "bumped");
    problem(&server.post("/api/v1/matches/1/rounds/9/void", &json!({ "reason": "x" })), 422, "refused");

    let added = json!({ "sides": [{ "total": 40 }, { "total": 35 }], "author": "Eve" });
    assert_eq!(server.post("/api/v1/matches/1/rounds", &added).json()["sides"][0]["points"], 2);
    problem(&server.post("/api/v1/matches/1/rounds", &json!({})), 400, "bad_request");
    assert_eq!(server.post("/api/v1/matches/1/first", &json!({ "seat": "B" })).json()["next_first"]["side"], "b");
    problem(&server.post("/api/v1/matches/1/first", &json!({ "seat": "Q" })), 400, "bad_request");
    let finish = json!({ "finish": { "how": "forfeit", "by": "b" }, "reason": "left" });
    assert_eq!(server.post("/api/v1/matches/1/finish", &finish).json()["status"]["state"], "over");

    let log: Vec<Value> = server.get("/api/v1/matches/1").json()["log"].as_array().unwrap().clone();
    let authors: Vec<&str> = log.iter().map(|record| record["author"].as_str().unwrap()).collect();
    assert_eq!(authors[..4], ["sample", "camera", "Carol", "Dan"]);
    for format in ["cmn", "scorekinole", "reference", "tourney", "rounds-csv", "discs-csv", "json"] {
        let export = server.get(&format!("/api/v1/matches/1/export/{format}"));
        assert!(export.status == 200 && !export.body.is_empty(), "{format}: {}", export.text());
        assert!(export.header("content-disposition").unwrap().contains(&format!("match-1.{format}.")), "{format}");
    }
    problem(&server.get("/api/v1/matches/1/export/croki"), 422, "not_exported");

    let new =
        json!({ "sides": ["Fay/Gus", "Hal/Ida"], "rules": "wcc", "colours": ["black", "white"], "author": "Eve" });
    let started = server.post("/api/v1/matches", &new);
    assert_eq!((started.status, &started.json()["number"]), (201, &json!(2)));
    assert_eq!(server.get("/api/v1/state").json()["match"]["number"], 2);
    for wrong in [json!({}), json!({ "sides": ["A", "B"], "colour": 1 }), json!([]), json!(null)] {
        problem(&server.post("/api/v1/matches", &wrong), 400, "bad_request");
    }
    for wrong in
        [json!({ "sides": ["A"] }), json!({ "sides": ["A", "B"], "rules": "nope" }), json!({ "sides": ["", "B"] })]
    {
        problem(&server.post("/api/v1/matches", &wrong), 422, "refused");
    }
    assert_eq!(server.post("/api/v1/matches/1/play", &json!({})).json()["number"], 1);
}

#[test]
fn events_are_told_and_resumed_and_foreign_pages_hear_nothing() {
    let server = Server::start(&[]);
    server.until_proposed();
    let mut first = server.stream("/api/v1/events", &[]);
    let (_, snapshot) = first.event();
    assert_eq!(snapshot["event"], "snapshot");
    server.post("/api/v1/matches/1/first", &json!({ "seat": "B", "author": "Ann" }));
    let (seen, event) = loop {
        let (id, event) = first.event();
        if event["event"] == "match" {
            break (id, event);
        }
    };
    assert_eq!((&event["because"]["event"], &event["because"]["author"]), (&json!("first_set"), &json!("Ann")));
    drop(first);
    server.post("/api/v1/matches/1/first", &json!({ "seat": "A", "author": "Bob" }));
    let (_, next) = server.stream("/api/v1/events", &[("Last-Event-ID", &seen)]).event();
    assert_eq!(next["because"]["author"], "Bob");
    let (_, all) = server.stream("/api/v1/events", &[("Last-Event-ID", "0-5")]).event();
    assert_eq!(all["event"], "snapshot");

    let mut socket = server.socket(&format!("/api/v1/live?last={seen}"), None).unwrap();
    let message: Value = serde_json::from_str(socket.read().unwrap().to_text().unwrap()).unwrap();
    assert_eq!(message["data"]["because"]["author"], "Bob");
    assert!(message["id"].as_str().unwrap().contains('-'));
    let own = format!("http://{}", server.address);
    assert!(server.socket("/api/v1/live", Some(&own)).is_ok());
    for forged in ["http://evil.example", "null", "http://127.0.0.1:1"] {
        assert!(server.socket("/api/v1/live", Some(forged)).is_err(), "{forged}");
        let answer = server.send("POST", "/api/v1/matches/1/undo", &[("Origin", forged)], b"");
        problem(&answer, 403, "foreign_origin");
    }
    problem(&server.send("POST", "/api/v1/counts", &[("Sec-Fetch-Site", "cross-site")], SAMPLE), 403, "foreign_origin");
    problem(&server.send("GET", "/api/v1/state", &[("Host", "evil.example")], b""), 403, "foreign_origin");

    let mut pictures = server.stream("/api/v1/boards/1/picture.mjpeg", &[]);
    assert_eq!(pictures.line(), "--crokeye-picture");
    assert_eq!(pictures.line(), "Content-Type: image/jpeg");
}

#[test]
fn a_photo_is_counted_and_what_is_none_or_too_large_or_too_much_is_refused() {
    let server = Server::idle(&[]);
    let count = server.send("POST", "/api/v1/counts?set_aside=1,0", &[], SAMPLE);
    assert_eq!((count.status, &count.json()["schema"]), (200, &json!("crokeye.count/1")), "{}", count.text());
    assert_eq!(count.json()["sides"][0]["set_aside"], 1);
    let overlay = server.send("POST", "/api/v1/counts?overlay=1", &[], SAMPLE);
    assert!(overlay.body.starts_with(b"\x89PNG") && overlay.header("content-type") == Some("image/png"));
    for query in ["overlay=x", "sides=black", "sides=black,plaid", "set_aside=1,99", "nope=1"] {
        problem(&server.send("POST", &format!("/api/v1/counts?{query}"), &[], SAMPLE), 400, "bad_request");
    }
    problem(&server.send("POST", "/api/v1/counts", &[], b""), 422, "not_a_photo");
    problem(&server.send("POST", "/api/v1/counts", &[], b"<script>"), 422, "not_a_photo");
    problem(&server.send("POST", "/api/v1/counts", &[], &SAMPLE[..5_000]), 422, "not_a_photo");
    // A picture that says it has 10,000 megapixels, in a few bytes.
    let mut bomb = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\x01\x86\xa0\0\x01\x86\xa0\x08\x02\0\0\0".to_vec();
    bomb.extend(0x9c40_5b29u32.to_be_bytes());
    let answer = server.send("POST", "/api/v1/counts", &[], &bomb);
    assert!(matches!(answer.status, 413 | 422), "{}", answer.text());
    problem(&server.send("POST", "/api/v1/counts", &[], &vec![0; 41 << 20]), 413, "too_large");
    problem(&server.send("POST", "/api/v1/matches", &[], &vec![b' '; 100_000]), 413, "too_large");

    let answers: Vec<Answer> = std::thread::scope(|scope| {
        let sent: Vec<_> =
            (0..14).map(|_| scope.spawn(|| server.send("POST", "/api/v1/counts", &[], SAMPLE))).collect();
        sent.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let of = |status: u16| answers.iter().filter(|answer| answer.status == status).count();
    assert!(of(200) >= 5 && of(429) >= 1 && of(200) + of(429) == 14, "{} counted, {} refused", of(200), of(429));
    let busy = answers.iter().find(|answer| answer.status == 429).unwrap();
    problem(busy, 429, "busy");
    assert!(busy.header("retry-after").is_some());
}

#[test]
fn an_address_that_sends_photos_without_end_is_told_to_wait() {
    let server = Server::idle(&[]);
    let answers: Vec<Answer> = (0..140).map(|_| server.send("POST", "/api/v1/counts", &[], b"no photo")).collect();
    assert!(answers[..100].iter().all(|answer| answer.status == 422));
    let told = answers.iter().find(|answer| answer.status == 429).expect("nobody is told to wait");
    problem(told, 429, "slow_down");
    assert!(told.text().contains("photos"), "{}", told.text());
    let secs: u64 = told.header("retry-after").unwrap().parse().unwrap();
    std::thread::sleep(Duration::from_secs(secs));
    problem(&server.send("POST", "/api/v1/counts", &[], b"no photo"), 422, "not_a_photo");
}

#[test]
fn tricks_with_paths_and_heads_lead_nowhere() {
    let server = Server::idle(&[]);
    for path in [
        "/assets/../../Cargo.toml",
        "/assets/..%2f..%2fCargo.toml",
        "/assets/%2e%2e/%2e%2e/etc/passwd",
        "/api/v1/matches/1/evidence/..%2f..%2fcrokeye.db",
        "/api/v1/matches/%00/export/json",
        "/api/v1/matches/1%27%20OR%201=1",
        "/api/v1/rules/..%2fdefaults",
        "//etc/passwd",
    ] {
        problem(&server.get(path), 404, "not_found");
    }
    let many: Vec<(String, String)> = (0..200).map(|i| (format!("X-{i}"), "x".to_owned())).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(server.send("GET", "/", &many, b"").status, 431);
    let long = "x".repeat(200_000);
    assert!(matches!(server.send("GET", "/", &[("X-Long", &long)], b"").status, 0 | 431));
    assert!(matches!(server.send("GET", &format!("/{long}"), &[], b"").status, 0 | 414 | 431));
    // Nonsense on the wire ends its own connection and nothing else.
    TcpStream::connect(&server.address).unwrap().write_all(b"\x16\x03\x01\x00\xff GET\r\n\r\n\r\n").unwrap();
    assert_eq!(server.get("/healthz").status, 200);
}

#[test]
fn beyond_this_computer_a_password_is_asked_for_and_roles_are_kept() {
    let refused = server::crokeye(&["serve", "--listen", "0.0.0.0", "--port", "0"], b"");
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--password-file"));
    let folder = tempfile::tempdir().unwrap();
    let line = |password: &str| {
        let made = server::crokeye(&["serve", "--hash-password"], format!("{password}\n").as_bytes());
        String::from_utf8(made.stdout).unwrap()
    };
    let (file, referee) = (folder.path().join("passwords"), line("hammer time"));
    assert!(!referee.contains("hammer") && referee.starts_with("referee:$argon2id$"));
    std::fs::write(&file, format!("{referee}{}", line("just looking").replace("referee", "viewer"))).unwrap();
    assert_eq!(server::crokeye(&["serve", "--hash-password"], b"short\n").status.code(), Some(2));
    let server = Server::idle(&["--listen", "0.0.0.0", "--password-file", file.to_str().unwrap()]);

    problem(&server.get("/api/v1/state"), 401, "log_in");
    problem(&server.get("/metrics"), 401, "log_in");
    problem(&server.post("/api/v1/matches/1/undo", &json!({})), 401, "log_in");
    assert!(server.socket("/api/v1/live", None).is_err());
    let page = server.get("/referee");
    assert_eq!((page.status, page.header("location")), (303, Some("/login?to=/referee")));
    assert_eq!((server.get("/healthz").status, server.get("/login").status), (200, 200));
    assert_eq!(server.get("/api/v1/session").json(), json!({ "role": null, "password": true }));

    let log_in = |password: &str| server.post("/api/v1/session", &json!({ "password": password }));
    let cookie = |answer: &Answer| {
        let cookie = answer.header("set-cookie").unwrap().to_owned();
        assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
        cookie.split(';').next().unwrap().to_owned()
    };
    let viewer = cookie(&log_in("just looking"));
    let as_viewer = [("Cookie", viewer.as_str())];
    assert_eq!(server.send("GET", "/api/v1/state", &as_viewer, b"").status, 200);
    problem(&server.send("POST", "/api/v1/matches/1/undo", &as_viewer, b""), 403, "forbidden");
    problem(&server.send("POST", "/api/v1/counts", &as_viewer, SAMPLE), 403, "forbidden");
    let referee = cookie(&log_in("hammer time"));
    let as_referee = [("Cookie", referee.as_str())];
    let first = br#"{"seat":"B"}"#;
    assert_eq!(server.send("POST", "/api/v1/matches/1/first", &as_referee, first).status, 200);
    let forged = [("Cookie", referee.as_str()), ("Origin", "http://evil.example")];
    problem(&server.send("POST", "/api/v1/matches/1/undo", &forged, b""), 403, "foreign_origin");
    let token = [("Authorization", "Bearer hammer time")];
    assert_eq!(server.send("POST", "/api/v1/matches/1/first", &token, first).status, 200);
    assert_eq!(server.send("DELETE", "/api/v1/session", &as_referee, b"").status, 200);
    problem(&server.send("GET", "/api/v1/state", &as_referee, b""), 401, "log_in");
    problem(&server.send("GET", "/api/v1/state", &[("Cookie", "crokeye=00")], b""), 401, "log_in");

    let guesses: Vec<u16> = (0..7).map(|_| log_in("guess").status).collect();
    assert_eq!(guesses[..5], [401; 5]);
    let braked = log_in("hammer time");
    problem(&braked, 429, "slow_down");
    assert!(braked.header("retry-after").is_some());
}

const TWO: &str = "[[board]]\nsource = 'sample'\nspeed = 20\n\
                   [[board]]\nid = 'hall'\nname = 'Table <2>'\nsource = 'sample'\nspeed = 20\n";

#[test]
fn two_boards_have_matches_events_pictures_and_figures_of_their_own() {
    let mut server = Server::configured(TWO, &[]);
    let first = server.until_proposed();
    let second = server.until_proposed_at("/api/v1/boards/hall/state");
    assert_eq!((&first["number"], &second["number"]), (&json!(1), &json!(2)));
    for path in ["/api/v1/state?board=hall", "/api/v1/boards/hall/state"] {
        let state = server.get(path).json();
        assert_eq!((&state["board"]["id"], &state["board"]["name"]), (&json!("hall"), &json!("Table <2>")), "{path}");
    }
    let boards = server.get("/api/v1/boards").json()["boards"].clone();
    let seen: Vec<_> = boards.as_array().unwrap().iter().map(|one| (&one["id"], &one["match"]["number"])).collect();
    assert_eq!(seen, [(&json!("1"), &json!(1)), (&json!("hall"), &json!(2))]);
    assert_eq!((&boards[1]["match"]["proposals"], &boards[1]["board"]["state"]), (&json!(1), &json!("waiting")));
    assert!(boards[1]["board"]["count"]["sides"][0]["total"].is_number() && boards[1]["board"]["board"].is_null());

    // A match is played at one board.
    problem(&server.post("/api/v1/matches/2/play", &json!({})), 409, "played_elsewhere");
    problem(&server.post("/api/v1/matches/1/play?board=hall", &json!({})), 409, "played_elsewhere");
    problem(&server.get("/api/v1/boards/9/state"), 404, "not_found");
    problem(&server.get("/api/v1/state?board=9"), 404, "not_found");
    problem(&server.get("/?board=9"), 404, "not_found");

    // A command about a match is told at the board that plays it, and there alone.
    let mut one = server.stream("/api/v1/events", &[]);
    let mut two = server.stream("/api/v1/boards/hall/events", &[]);
    assert_eq!(
        (one.event().1["match"]["number"].clone(), two.event().1["match"]["number"].clone()),
        (json!(1), json!(2))
    );
    server.post("/api/v1/matches/2/first", &json!({ "seat": "B", "author": "Ann" }));
    server.post("/api/v1/matches/1/first", &json!({ "seat": "B", "author": "Bob" }));
    assert_eq!(two.event().1["because"]["author"], "Ann");
    assert_eq!(one.event().1["because"]["author"], "Bob");
    let mut socket = server.socket("/api/v1/live?board=hall", None).unwrap();
    let snapshot: Value = serde_json::from_str(socket.read().unwrap().to_text().unwrap()).unwrap();
    assert_eq!(snapshot["data"]["board"]["id"], "hall");

    let page = server.get("/referee?board=hall").text();
    assert!(page.contains("data-board=\"hall\" data-boards=\"2\"") && page.contains("/history?board=hall"), "{page}");
    assert_eq!(server.get("/boards").status, 200);
    assert!(server.get("/api/v1/boards/hall/picture.jpg").body.starts_with(&[0xff, 0xd8]));
    assert_eq!(server.post("/api/v1/boards/hall/keys/look", &json!({})).status, 200);
    let metrics = server.get("/metrics").text();
    for line in [
        "crokeye_rounds_total{board=\"1\"} 1",
        "crokeye_rounds_total{board=\"hall\"} 1",
        "crokeye_close_calls_total{board=\"hall\"} 1",
        "crokeye_last_frame_age_seconds{board=\"hall\"} ",
        "crokeye_stage_seconds_count{board=\"hall\",stage=\"judge\"} ",
    ] {
        assert!(metrics.contains(line), "{line}\n{metrics}");
    }
    for stage in ["decode", "register", "detect", "judge"] {
        let sum = format!("crokeye_stage_seconds_sum{{board=\"hall\",stage=\"{stage}\"}} ");
        let value: f64 = metrics.split(&sum).nth(1).and_then(|rest| rest.lines().next()?.parse().ok()).unwrap();
        assert!(value > 0.0, "{stage}");
    }
    assert_eq!(server.get("/readyz").status, 200);

    // Each board goes on with its own match, also where it is not the newest.
    let new = json!({ "sides": ["Fay", "Gus"], "author": "Eve" });
    assert_eq!(server.post("/api/v1/matches?board=hall", &new).json()["number"], 3);
    assert_eq!(server.post("/api/v1/matches/2/play?board=hall", &json!({})).json()["number"], 2);
    server.kill();
    let again = server.again_configured(TWO);
    let numbers =
        ["1", "hall"].map(|id| again.get(&format!("/api/v1/boards/{id}/state")).json()["match"]["number"].clone());
    assert_eq!(numbers, [json!(1), json!(2)]);
}

#[test]
fn a_public_scoreboard_is_seen_by_all_and_decided_by_referees() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("passwords");
    std::fs::write(&file, server::crokeye(&["serve", "--hash-password"], b"hammer time\n").stdout).unwrap();
    let server = Server::idle(&["--password-file", file.to_str().unwrap(), "--public-scoreboard"]);
    for path in ["/", "/overlay", "/boards", "/api/v1/state", "/api/v1/boards", "/api/v1/boards/1/state"] {
        assert_eq!(server.get(path).status, 200, "{path}");
    }
    assert!(server.socket("/api/v1/live", None).is_ok());
    for path in ["/api/v1/matches", "/metrics", "/api/v1/boards/1/picture.jpg"] {
        problem(&server.get(path), 401, "log_in");
    }
    problem(&server.post("/api/v1/matches/1/undo", &json!({})), 401, "log_in");
    assert_eq!(server.get("/referee?board=1").header("location"), Some("/login?to=/referee%3Fboard%3D1"));
}

#[test]
fn the_configuration_is_shown_with_where_it_comes_from_and_refused_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hall.toml");
    let run = |text: &str, command: &str, arguments: &[&str]| {
        std::fs::write(&path, text).unwrap();
        server::crokeye(&[&[command, "--config", path.to_str().unwrap()], arguments].concat(), b"")
    };
    let shown = run("port = 9000\n[[board]]\nsource = 'rtsp://me:secret@cam/1'\n", "config", &["--fps", "15"]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    let value =
        |key: &str| shown.lines().find(|line| line.starts_with(key)).unwrap_or_else(|| panic!("{key}\n{shown}"));
    assert!(value("port = 9000").ends_with("hall.toml"));
    assert!(value("listen = \"127.0.0.1\"").ends_with("# default"));
    assert!(value("fps = 15.0").ends_with("# --fps"));
    assert!(!shown.contains("secret"), "{shown}");
    let example = server::crokeye(&["config", "--example"], b"");
    assert!(String::from_utf8_lossy(&example.stdout).contains("[[board]]"));
    for (text, said) in [("prot = 1", "prot"), ("[[board]]\nsource = '0'\n[[board]]\n", "board 2 has no source")] {
        for command in ["config", "serve"] {
            let refused = run(text, command, &[]);
            let error = String::from_utf8_lossy(&refused.stderr).into_owned();
            assert!(refused.status.code() == Some(2) && error.contains(said) && error.contains("error:"), "{error}");
        }
    }
}

#[test]
fn killed_after_a_confirmation_it_goes_on_with_the_match_and_asked_to_end_it_ends() {
    let mut server = Server::start(&[]);
    let proposal = server.until_proposed()["proposals"][0]["number"].as_u64().unwrap();
    let done = server.post(&format!("/api/v1/matches/1/proposals/{proposal}/confirm"), &json!({ "author": "Ann" }));
    assert_eq!(done.status, 200);
    server.kill();
    let mut again = server.again();
    let game = again.get("/api/v1/state").json()["match"].clone();
    assert_eq!((&game["number"], &game["rounds"][0]["sides"][1]["total"]), (&json!(1), &json!(70)));
    let mut stream = again.stream("/api/v1/events", &[]);
    stream.event();
    let status = again.terminate(Duration::from_secs(10));
    assert_eq!(status.and_then(|status| status.code()), Some(0));
}

#[test]
fn an_audit_is_filled_decided_downloaded_and_deleted() {
    let server = Server::idle(&[]);
    let begun = server.post("/api/v1/audits", &json!({}));
    assert_eq!((begun.status, &begun.json()["schema"]), (201, &json!("crokeye.audit/1")), "{}", begun.text());
    let audit = format!("/api/v1/audits/{}", begun.json()["id"].as_str().unwrap());
    let added = server.send("POST", &format!("{audit}/photos?name=night%2Fone.jpg"), &[], SAMPLE);
    assert_eq!((added.status, &added.json()["source"]), (201, &json!("night/one.jpg")), "{}", added.text());
    let one = added.json();
    let broken = server.send("POST", &format!("{audit}/photos?name=two.jpg"), &[], b"no photo").json();
    assert_eq!((&broken["status"], &broken["audit"]["verdict"]), (&json!("error"), &json!("unreadable")));
    assert!(server.get("/api/v1/audits").json()["audits"].as_array().unwrap().iter().any(|one| one["pictures"] == 2));

    let (a, b) = (one["sides"][0]["total"].as_u64().unwrap(), one["sides"][1]["total"].as_u64().unwrap());
    let sheet = format!("picture,a,b\none.jpg,{a},{}\nlost.jpg,1,2\n", b + 5);
    let held = server.send("PUT", &format!("{audit}/sheet?name=scores.csv"), &[], sheet.as_bytes()).json();
    assert_eq!((&held["sheet"], &held["rows_without_picture"][0]["row"]), (&json!("scores.csv"), &json!(3)));
    assert_eq!(held["tally"]["agree"], 0);
    problem(&server.send("PUT", &format!("{audit}/sheet"), &[], b"nothing,of,use\n1,2,3\n"), 422, "not_a_sheet");
    problem(&server.send("PUT", &format!("{audit}/sheet?columns=x"), &[], sheet.as_bytes()), 400, "bad_request");

    let sha256 = one["audit"]["sha256"].as_str().unwrap();
    let missed = json!({ "author": "Dan", "sha256": sha256, "decision": "missed", "side": "b", "value": 5 });
    let decided = server.post(&format!("{audit}/decisions"), &missed).json();
    assert_eq!((&decided["tally"]["agree"], &decided["tally"]["decided"]), (&json!(1), &json!(1)), "{decided}");
    let none = json!({ "sha256": "f00d", "decision": "accept" });
    problem(&server.post(&format!("{audit}/decisions"), &none), 404, "not_found");
    let seven = json!({ "sha256": sha256, "decision": "missed", "side": "b", "value": 7 });
    problem(&server.post(&format!("{audit}/decisions"), &seven), 400, "bad_request");
    problem(&server.post(&format!("{audit}/decisions"), &json!({})), 400, "bad_request");

    let shown = one["audit"]["shows"][0].as_str().unwrap();
    let picture = server.get(&format!("{audit}/pictures/{sha256}/{shown}"));
    assert!(picture.body.starts_with(&[0xff, 0xd8]) && picture.header("content-type") == Some("image/jpeg"));
    for trick in ["..%2fjournal.jsonl", "nope.jpg", ".."] {
        assert_eq!(server.get(&format!("{audit}/pictures/{sha256}/{trick}")).status, 404, "{trick}");
    }
    for (name, start) in [
        ("report.html", &b"<!doctype html>"[..]),
        ("results.csv", b"picture,"),
        ("discs.csv", b"picture,"),
        ("results.xlsx", b"PK"),
        ("results.jsonl", b"{"),
        ("decisions.json", b"{"),
    ] {
        let file = server.get(&format!("{audit}/{name}"));
        assert!(
            file.status == 200 && file.body.to_ascii_lowercase().starts_with(&start.to_ascii_lowercase()),
            "{name}"
        );
        assert!(file.header("content-disposition").unwrap().starts_with("attachment"), "{name}");
    }
    assert!(server.get(&format!("{audit}/report.html")).text().contains("Dan"));
    problem(&server.get(&format!("{audit}/nope")), 404, "not_found");
    assert_eq!(server.send("DELETE", &format!("{audit}/sheet"), &[], b"").json()["sheet"], Value::Null);
    assert_eq!(server.send("DELETE", &audit, &[], b"").status, 200);
    for gone in [server.get(&audit), server.send("DELETE", &audit, &[], b"")] {
        problem(&gone, 404, "not_found");
    }
    problem(&server.send("POST", &format!("{audit}/photos?name=x.jpg"), &[], SAMPLE), 404, "not_found");
    for wrong in [json!({ "pool": "nope" }), json!({ "sides": ["plaid", "black"] }), json!({ "nope": 1 })] {
        problem(&server.post("/api/v1/audits", &wrong), 400, "bad_request");
    }
    let opened = (0..9).map(|_| server.post("/api/v1/audits", &json!({}))).find(|answer| answer.status != 201);
    problem(&opened.unwrap(), 429, "busy");
}

#[test]
fn the_count_is_shown_on_its_picture_and_from_above_and_comes_as_a_stream() {
    let server = Server::start(&[]);
    server.until_proposed();
    for name in ["overlay", "top"] {
        let picture = server.get(&format!("/api/v1/boards/1/{name}.jpg"));
        assert!(picture.body.starts_with(&[0xff, 0xd8]), "{name}: {}", picture.status);
        let mut stream = server.stream(&format!("/api/v1/boards/1/{name}.mjpeg?fps=5"), &[]);
        assert_eq!(stream.line(), "--crokeye-picture");
        assert_eq!(stream.line(), "Content-Type: image/jpeg");
        problem(&server.get(&format!("/api/v1/boards/1/{name}.mjpeg?fps=0")), 400, "bad_request");
        problem(&server.get(&format!("/api/v1/boards/7/{name}.jpg")), 404, "not_found");
    }
    let statistics = server.get("/api/v1/statistics").json();
    assert_eq!((&statistics["schema"], &statistics["matches"]), (&json!("crokeye.stats/1"), &json!(1)));
    assert_eq!(statistics["players"][0]["series"].as_array().unwrap().len(), 1);
}

#[test]
fn a_board_is_set_up_and_what_cannot_be_is_refused_and_changes_nothing() {
    let server = Server::start(&[]);
    server.until_proposed();
    let setup = "/api/v1/boards/1/setup";
    assert!(server.get("/api/v1/cameras").json()["cameras"].is_array());
    let before = server.get(setup).json();
    assert_eq!((&before["source"], &before["chosen"]["source"]), (&json!("sample"), &Value::Null));
    let size = before["size_px"].clone();
    for wrong in [
        json!({ "source": "/etc/passwd" }),
        json!({ "source": "http://127.0.0.1:9/video" }),
        json!({ "size": "many" }),
        json!({ "fps": 0 }),
        json!({ "colours": ["plaid", "black"] }),
        json!({ "trays": [{ "x": 0, "y": 0, "width": 99999, "height": 5 }, null] }),
        json!({ "start": { "size_px": size, "hole_px": [1, 1], "line_px": [[1, 2]] } }),
    ] {
        problem(&server.post(setup, &wrong), 422, "refused");
    }
    problem(&server.post(setup, &json!({ "source": 3 })), 400, "bad_request");
    problem(&server.post("/api/v1/boards/7/setup", &json!({})), 404, "not_found");
    assert_eq!(server.get(setup).json()["chosen"], before["chosen"]);

    // Where the board is: looked at, then kept over a restart.
    let found = server.post("/api/v1/boards/1/calibration", &json!({ "start": null })).json();
    let (h, ring) = (&found["board"]["homography"], found["board"]["rings"][0]["inner_mm"].as_f64().unwrap());
    let at = |x: f64, y: f64| {
        let row = |i: usize| [x, y, 1.0].iter().enumerate().map(|(j, v)| h[i][j].as_f64().unwrap() * v).sum::<f64>();
        json!([row(0) / row(2), row(1) / row(2)])
    };
    let line: Vec<Value> = (0..8).map(|i| f64::from(i) * 0.785).map(|a| at(ring * a.cos(), ring * a.sin())).collect();
    let start = json!({ "size_px": size, "hole_px": at(0.0, 0.0), "line_px": line });
    let there = server.post("/api/v1/boards/1/calibration", &json!({ "start": start }));
    assert!(there.json()["residual_px"].as_f64().unwrap() < 1.0, "{}", there.text());
    let small: Vec<Value> = (0..8).map(|i| f64::from(i) * 0.785).map(|a| at(60.0 * a.cos(), 60.0 * a.sin())).collect();
    let wrong = json!({ "start": { "size_px": size, "hole_px": at(0.0, 0.0), "line_px": small } });
    problem(&server.post("/api/v1/boards/1/calibration", &wrong), 422, "refused");
    let tray = json!({ "x": 1, "y": 2, "width": 30, "height": 40 });
    let chosen = json!({ "start": start, "trays": [tray, null], "colours": ["red", "black"], "author": "Ann" });
    assert_eq!(server.post(setup, &chosen).json()["chosen"]["trays"][0], tray);
    assert_eq!(server.get("/api/v1/boards/1/calibration").json()["start"], start);
    let server = server.again();
    let kept = server.get(setup).json();
    assert_eq!((&kept["chosen"]["start"], &kept["chosen"]["colours"][0]), (&start, &json!("red")));
    let back = json!({ "start": null, "colours": null, "trays": [null, null] });
    assert_eq!(server.post(setup, &back).json()["chosen"], before["chosen"]);
}
