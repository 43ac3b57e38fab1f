//! The API over a real socket: every kind of problem is answered by some request, and what floods, dawdles or forges is
//! refused while others are served.

#[path = "support/server.rs"]
#[allow(dead_code, reason = "this test uses only a part of the client")]
mod server;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use server::{Answer, Server};
use tungstenite::Message;

const SAMPLE: &[u8] = include_bytes!("../samples/cherry-twenty.jpg");

/// Kinds that no request can bring about: a fault of the program itself, and an answer that takes a minute.
const BY_NO_REQUEST: [&str; 2] = ["fault", "timeout"];

/// What a request is expected to be told.
struct Case<'a> {
    kind: &'a str,
    method: &'a str,
    path: &'a str,
    headers: &'a [(&'a str, &'a str)],
    body: &'a [u8],
}

const fn case<'a>(kind: &'a str, method: &'a str, path: &'a str, body: &'a [u8]) -> Case<'a> {
    Case { kind, method, path, headers: &[], body }
}

/// Kinds and statuses as the document names them.
fn kinds(server: &Server, headers: &[(&str, &str)]) -> BTreeSet<String> {
    let document = server.send("GET", "/api/v1/openapi.json", headers, b"").json();
    let kinds = &document["components"]["schemas"]["Problem"]["properties"]["kind"]["enum"];
    kinds.as_array().unwrap().iter().map(|kind| kind.as_str().unwrap().to_owned()).collect()
}

/// A problem that is one, and whose status is the one that the document has for the route.
fn told(answer: &Answer, case: &Case, document: &Value) -> String {
    assert_eq!(answer.header("content-type"), Some("application/problem+json"), "{}: {}", case.path, answer.text());
    let problem = answer.json();
    assert_eq!(problem["status"], answer.status, "{problem}");
    assert!(problem["detail"].as_str().is_some_and(|text| text.len() > 5), "{problem}");
    let item = described(document, case.path).map(|item| &item[case.method.to_lowercase()]);
    if let Some(operation) = item.filter(|operation| operation.is_object()) {
        let known = operation["responses"][answer.status.to_string()].is_object();
        assert!(known, "{} {} answers {}, the document does not say so", case.method, case.path, answer.status);
    }
    problem["kind"].as_str().unwrap().to_owned()
}

/// What the document says of an address.
fn described<'a>(document: &'a Value, path: &str) -> Option<&'a Value> {
    let path = path.split('?').next().unwrap();
    let parts: Vec<&str> = path.split('/').collect();
    document["paths"].as_object().unwrap().iter().find_map(|(template, item)| {
        let fits = |(part, wanted): (&&str, &str)| wanted.starts_with('{') || *part == wanted;
        let all = template.split('/').count() == parts.len() && parts.iter().zip(template.split('/')).all(fits);
        all.then_some(item)
    })
}

#[test]
fn every_kind_of_problem_is_answered_by_some_request_as_the_document_says() {
    let boards = "[[board]]\nsource = 'sample'\nspeed = 20.0\n[[board]]\nid = 'two'\nsource = 'sample'\nspeed = 0.1\n\
                  [croki]\nurl = 'http://127.0.0.1:1/'\napi_key = 'key'\n";
    let server = Server::configured(boards, &[]);
    let proposed = server.until_proposed();
    let document = server.get("/api/v1/openapi.json").json();
    let mut left = kinds(&server, &[]);
    for kind in BY_NO_REQUEST {
        assert!(left.remove(kind), "{kind}");
    }
    let forged: &[(&str, &str)] = &[("Origin", "http://evil.example")];
    let audit = server.post("/api/v1/audits", &json!({})).json()["id"].as_str().unwrap().to_owned();
    let sheet = format!("/api/v1/audits/{audit}/sheet?name=scores.xlsx");
    let cases = [
        case("bad_request", "POST", "/api/v1/matches", b"{"),
        case("not_found", "GET", "/api/v1/matches/77", b""),
        case("not_found", "GET", "/api/v1/boards/nope/state", b""),
        case("method", "DELETE", "/api/v1/matches/1", b""),
        case("conflict", "POST", "/api/v1/matches/1/undo", br#"{"expected": 99}"#),
        case("played_elsewhere", "POST", "/api/v1/matches/2/play", b""),
        case("too_large", "POST", "/api/v1/matches", &[b' '; 100_000]),
        case("refused", "POST", "/api/v1/matches/1/rounds/9/void", br#"{"reason": "x"}"#),
        case("not_a_photo", "POST", "/api/v1/counts", b"<script>"),
        case("not_a_sheet", "PUT", &sheet, b"PK\x03\x04broken"),
        case("not_exported", "GET", "/api/v1/matches/1/export/croki", b""),
        case("upstream", "GET", "/api/v1/croki/tables", b""),
        case("upstream", "POST", "/api/v1/croki/matches", br#"{"table": 4}"#),
        case("bad_request", "POST", "/api/v1/croki/matches", b"{}"),
        case("bad_request", "GET", "/api/v1/croki/tables?round=x", b""),
        Case { headers: forged, ..case("foreign_origin", "POST", "/api/v1/matches/1/undo", b"{}") },
    ];
    for case in &cases {
        let answer = server.send(case.method, case.path, case.headers, case.body);
        assert_eq!(told(&answer, case, &document), case.kind, "{} {}", case.method, case.path);
        left.remove(case.kind);
    }

    // Too many photos at once.
    let answers: Vec<Answer> = std::thread::scope(|scope| {
        let sent: Vec<_> =
            (0..14).map(|_| scope.spawn(|| server.send("POST", "/api/v1/counts", &[], SAMPLE))).collect();
        sent.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let busy = answers.iter().find(|answer| answer.status == 429).expect("one of 14 photos at once is refused");
    left.remove(&told(busy, &case("busy", "POST", "/api/v1/counts", b""), &document));

    // A document whose file was changed behind the program's back is not given out.
    let photo = &proposed["proposals"][0]["round"]["evidence"][0]["sha256"];
    let path = format!("/api/v1/matches/1/evidence/{}", photo.as_str().unwrap());
    assert_eq!(server.get(&path).status, 200);
    server.spoil(photo.as_str().unwrap());
    left.remove(&told(&server.get(&path), &case("unavailable", "GET", &path, b""), &document));

    // Who is asked for a password.
    let folder = tempfile::tempdir().unwrap();
    let hash = |password: &str| {
        let made = server::crokeye(&["serve", "--hash-password"], format!("{password}\n").as_bytes());
        String::from_utf8(made.stdout).unwrap()
    };
    let file = folder.path().join("passwords");
    std::fs::write(&file, format!("{}{}", hash("hammer time"), hash("just looking").replace("referee", "viewer")))
        .unwrap();
    let guarded = Server::idle(&["--password-file", file.to_str().unwrap()]);
    let (viewer, wrong): (&[_], &[_]) =
        (&[("Authorization", "Bearer just looking")], &[("Authorization", "Bearer guess")]);
    for case in [
        case("log_in", "GET", "/api/v1/state", b""),
        case("log_in", "GET", "/api/v1/connectors", b""),
        case("log_in", "GET", "/api/v1/openapi.json", b""),
        Case { headers: viewer, ..case("forbidden", "POST", "/api/v1/matches/1/undo", b"") },
        Case { headers: viewer, ..case("forbidden", "GET", "/api/v1/croki/tables", b"") },
        Case { headers: wrong, ..case("wrong_password", "GET", "/api/v1/state", b"") },
        case("wrong_password", "POST", "/api/v1/session", br#"{"password": "guess"}"#),
    ] {
        let answer = guarded.send(case.method, case.path, case.headers, case.body);
        assert_eq!(told(&answer, &case, &document), case.kind, "{} {}", case.method, case.path);
        left.remove(case.kind);
    }
    let guess = || guarded.send("GET", "/api/v1/state", wrong, b"");
    let braked = (0..7).map(|_| guess()).find(|answer| answer.status == 429).expect("guessing is braked");
    assert!(braked.header("retry-after").is_some());
    left.remove(&told(&braked, &case("slow_down", "GET", "/api/v1/state", b""), &document));
    assert!(left.is_empty(), "no request is answered {left:?}");
}

#[test]
fn every_described_address_is_there_and_answers_in_a_described_way() {
    let server = Server::start(&[]);
    let proposed = server.until_proposed();
    let document = server.get("/api/v1/openapi.json").json();
    let photo = proposed["proposals"][0]["round"]["evidence"][0]["sha256"].as_str().unwrap();
    let values = BTreeMap::from([
        ("id", "1"),
        ("board", "1"),
        ("proposal", "2"),
        ("round", "1"),
        ("format", "json"),
        ("sha256", photo),
        ("name", "nca"),
        ("key", "look"),
        ("file", "report.html"),
    ]);
    let mut asked = 0;
    for (template, item) in document["paths"].as_object().unwrap() {
        let mut path = template.clone();
        for (name, value) in &values {
            path = path.replace(&format!("{{{name}}}"), value);
        }
        assert!(!path.contains('{'), "{path}");
        for (method, operation) in item.as_object().unwrap() {
            // Streams do not end: they have tests of their own.
            if path.ends_with("/events") || path.ends_with(".mjpeg") {
                continue;
            }
            let answer = server.send(&method.to_uppercase(), &path, &[], b"");
            let known = operation["responses"][answer.status.to_string()].is_object();
            assert!(known && answer.status < 500, "{method} {path}: {} {}", answer.status, answer.text());
            let media_type = answer.header("content-type").unwrap().split(';').next().unwrap().to_owned();
            let described = &operation["responses"][answer.status.to_string()]["content"];
            assert!(described[&media_type].is_object(), "{method} {path}: {} {media_type}", answer.status);
            if answer.status == 404 {
                assert!(
                    template.contains("croki") || template.contains("audits"),
                    "{method} {path}: {}",
                    answer.text()
                );
            }
            asked += 1;
        }
    }
    assert!(asked > 30, "{asked}");
    let viewer = server.get("/api/docs/");
    assert!(viewer.status == 200 && viewer.text().contains("swagger-ui"), "{}", viewer.text());
    assert!(viewer.header("content-security-policy").unwrap().starts_with("default-src 'none'; script-src 'self';"));
    assert_eq!(server.get("/api/docs").header("location"), Some("/api/docs/"));
    for file in ["swagger-ui.css", "swagger-ui-bundle.js", "swagger-initializer.js"] {
        assert_eq!(server.get(&format!("/api/docs/{file}")).status, 200, "{file}");
    }
    assert!(server.get("/api/docs/swagger-initializer.js").text().contains("/api/v1/openapi.json"));
    assert_eq!(server.get("/api/docs/..%2f..%2fCargo.toml").status, 404);
}

#[test]
fn who_dawdles_or_floods_is_left_and_others_are_served() {
    let server = Server::start(&[]);
    server.until_proposed();
    let open = || TcpStream::connect(&server.address).unwrap();
    // Heads that never end, a byte now and then; bodies that never come.
    let began = Instant::now();
    let slow: Vec<TcpStream> = (0..50)
        .map(|i| {
            let mut stream = open();
            let head: &[u8] = if i % 2 == 0 { b"GET / HTTP/1.1\r\nHost: " } else { b"" };
            stream.write_all(head).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            stream
        })
        .collect();
    // Who listens and reads nothing, and who sends what nobody asked for.
    let mut deaf: Vec<_> = (0..100).map(|_| server.socket("/api/v1/live", None).unwrap()).collect();
    let mut loud = server.socket("/api/v1/live", None).unwrap();
    let flood = Message::text("x".repeat(1_000));
    let spent = (0..20_000).take_while(|_| loud.send(flood.clone()).is_ok()).count();
    let mut huge = server.socket("/api/v1/live", None).unwrap();
    let _ = huge.send(Message::text("x".repeat(1 << 20)));
    let ended = (0..200).any(|_| huge.read().is_err());
    assert!(ended, "a message of a mebibyte is taken");
    for seat in ["A", "B"].iter().cycle().take(20) {
        let asked = Instant::now();
        assert_eq!(server.post("/api/v1/matches/1/first", &json!({ "seat": seat })).status, 200);
        assert!(asked.elapsed() < Duration::from_secs(10), "{spent} messages of one keep another waiting");
    }
    assert!(deaf.iter_mut().all(|socket| socket.read().is_ok()), "who is slow to read is still connected");
    for mut stream in slow {
        let mut bytes = Vec::new();
        let ended = stream.read_to_end(&mut bytes);
        assert!(ended.is_ok(), "a head that never ends is waited for: {ended:?}");
    }
    assert!(began.elapsed() < Duration::from_secs(90), "{:?}", began.elapsed());
    assert_eq!(server.get("/healthz").status, 200);
}

#[test]
fn an_answer_that_is_not_fetched_and_a_body_that_breaks_off_harm_nobody() {
    let server = Server::idle(&[]);
    for length in ["1000", "99999999999", "-1", "1e3", "0x10"] {
        let mut stream = TcpStream::connect(&server.address).unwrap();
        let host = &server.address;
        write!(stream, "POST /api/v1/matches HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n\r\n{{").unwrap();
        drop(stream);
    }
    let mut both = TcpStream::connect(&server.address).unwrap();
    let host = &server.address;
    // Two lengths: nothing after the head is taken for a request of its own.
    write!(
        both,
        "POST /api/v1/matches/1/undo HTTP/1.1\r\nHost: {host}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\
         Connection: close\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n"
    )
    .unwrap();
    both.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut text = String::new();
    let _ = both.read_to_string(&mut text);
    assert!(text.matches("HTTP/1.1 ").count() <= 1, "{text}");
    for target in ["*", "http://evil.example/api/v1/state", "/api/v1/state%", "/%ff", "/api/v1/matches/%ff"] {
        let answer = server.send("GET", target, &[], b"");
        assert!(answer.status < 500, "{target}: {} {}", answer.status, answer.text());
    }
    assert_eq!(server.get("/healthz").status, 200);
}
