//! The connectors against receivers that acknowledge, refuse, are away and come back: webhooks, a laptop that speaks
//! croki.nl's API, a real MQTT broker. `scripts/setup.sh --test` installs the broker.

#[path = "support/broker.rs"]
mod broker;
#[path = "support/receiver.rs"]
mod receiver;
#[path = "support/server.rs"]
#[allow(dead_code, reason = "this test uses only a part of the client")]
mod server;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use broker::Broker;
use crokeye::score::event::{Command, RoundEntry, Source};
use crokeye::score::tally::SideEntry;
use crokeye::service::connectors::settings::{Croki, Mqtt, Secret, Settings, Webhook};
use crokeye::service::connectors::state::{Doing, Fate};
use crokeye::service::connectors::{ConnectorError, Connectors, Place};
use crokeye::service::hub::{Hub, Part};
use crokeye::service::new_match::NewMatch;
use crokeye::service::referee::{Referee, Seat};
use crokeye::store::Store;
use receiver::Receiver;
use rumqttc::{AsyncClient, Event, MqttOptions, Packet, QoS};
use serde_json::{Value, json};
use server::Server;
use tokio::sync::watch;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// A service without a board: a store, a hub, a referee, and connectors.
struct Service {
    hub: Arc<Hub>,
    referee: Referee,
    connectors: Connectors,
    stop: watch::Sender<bool>,
}

impl Service {
    async fn start(folder: &tempfile::TempDir, settings: &Settings) -> Self {
        let store = Store::open(&folder.path().join("crokeye.db")).await.unwrap();
        let hub = Hub::new(7);
        let seat = Seat { board: "1".to_owned(), hub: Arc::clone(&hub), named: None, accept: false };
        let (mut referees, _) = Referee::start(store.clone(), vec![seat]).await.unwrap();
        let (stop, closing) = watch::channel(false);
        let places = vec![Place { id: "1".to_owned(), hub: Arc::clone(&hub) }];
        let connectors = Connectors::start(settings, places, &store, &closing).await.unwrap();
        Self { hub, referee: referees.remove(0), connectors, stop }
    }

    /// Ends it, as the program ends.
    async fn end(self) {
        self.stop.send_replace(true);
        tokio::time::timeout(PATIENCE, self.connectors.ended())
            .await
            .expect("the connectors end when they are asked to");
    }

    async fn begin(&self, refs: &[(&str, &str)]) -> i64 {
        let refs = refs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let wanted = NewMatch {
            sides: vec!["Ann".to_owned(), "Bob".to_owned()],
            rules: "nk-nl".to_owned(),
            first: "A".to_owned(),
            refs,
            ..NewMatch::default()
        };
        self.referee.start_match(wanted.setup().unwrap(), "Ann").await.unwrap().loaded.number
    }

    async fn act(&self, number: i64, command: Command) {
        self.referee.act(number, None, command, "Ann").await.unwrap();
    }

    async fn round(&self, number: i64, totals: [i64; 2]) {
        self.act(number, Command::Record { round: round(totals) }).await;
    }
}

fn sides(totals: [i64; 2]) -> Vec<SideEntry> {
    totals.map(|total| SideEntry { total: Some(total), twenties: Some(0), ..SideEntry::default() }).to_vec()
}

fn round(totals: [i64; 2]) -> RoundEntry {
    RoundEntry { sides: sides(totals), first: None, last: None, source: Source::Person, evidence: Vec::new() }
}

fn correct(round: u32, totals: [i64; 2]) -> Command {
    Command::Correct { round, sides: Some(sides(totals)), first: None, last: None, reason: "it touched".to_owned() }
}

fn hook(url: String, events: &[&str], secret: Option<&str>) -> Settings {
    let webhook = Webhook {
        name: "hall".to_owned(),
        url,
        events: events.iter().map(|event| (*event).to_owned()).collect(),
        secret: secret.map(|secret| Secret::Text(secret.to_owned())),
    };
    Settings { webhook: vec![webhook], ..Settings::default() }
}

/// Waits until something holds.
async fn until<T>(what: &str, mut holds: impl FnMut() -> Option<T>) -> T {
    let waited = tokio::time::timeout(PATIENCE, async {
        loop {
            if let Some(found) = holds() {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    waited.await.unwrap_or_else(|_| panic!("{what} did not come"))
}

#[tokio::test]
async fn steps_of_a_match_are_sent_signed_and_in_order() {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::start().await);
    let service = Service::start(&folder, &hook(receiver.url("/hook"), &["match"], Some("whsec_aHVzaA=="))).await;
    let number = service.begin(&[]).await;
    service.round(number, [60, 45]).await;
    service.act(number, correct(1, [55, 45])).await;
    service.act(number, Command::Undo { of: None }).await;
    let sent = receiver.until(4).await;
    let types: Vec<&str> = sent.iter().map(|request| request.body["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["match.match_created", "match.round_recorded", "match.round_corrected", "match.undone"]);
    let totals: Vec<&Value> =
        sent.iter().map(|request| &request.body["data"]["match"]["rounds"][0]["sides"][0]["total"]).collect();
    assert_eq!(totals, [&Value::Null, &json!(60), &json!(55), &json!(60)]);
    assert_eq!(sent[1].body["data"]["author"], "Ann");
    for request in &sent {
        assert_eq!(request.header("webhook-id"), request.body["id"].as_str().unwrap());
        assert_eq!(request.header("content-type"), "application/json");
        assert!(request.is_signed_with(b"hush") && !request.is_signed_with(b"rush"));
    }
    let state = until("an idle connector", || service.connectors.states().pop().filter(|state| state.delivered == 4));
    assert_eq!((state.await.state, service.connectors.states()[0].failures), (Doing::Works, 0));
    service.end().await;
}

#[tokio::test]
async fn what_happens_at_the_board_is_sent_where_it_is_asked_for() {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::start().await);
    let service = Service::start(&folder, &hook(receiver.url("/"), &["twenty", "match.round_recorded"], None)).await;
    let number = service.begin(&[]).await;
    service.hub.tell(&json!({ "schema": "crokeye.event/1", "event": "disc", "change": "placed" }), None);
    service.hub.tell(&json!({ "schema": "crokeye.event/1", "event": "twenty", "side": "a" }), None);
    service.round(number, [60, 45]).await;
    let sent = receiver.until(2).await;
    assert_eq!((&sent[0].body["type"], &sent[0].body["board"]), (&json!("twenty"), &json!("1")));
    assert_eq!(sent[0].body["data"]["side"], "a");
    assert_eq!(sent[1].body["type"], "match.round_recorded");
    assert!(sent.iter().all(|request| request.signature().is_none()));
    service.end().await;
}

#[tokio::test]
async fn a_receiver_that_fails_is_tried_again_with_the_same_id_and_a_new_time() {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::start().await);
    receiver.answer_first(&[500, 302]);
    let service = Service::start(&folder, &hook(receiver.url("/"), &["match"], Some("hush"))).await;
    let mut listener = service.hub.listen(None);
    let number = service.begin(&[]).await;
    service.round(number, [60, 45]).await;
    let sent = receiver.until(4).await;
    let ids: Vec<&str> = sent.iter().map(|request| request.header("webhook-id")).collect();
    assert!(ids[0] == ids[1] && ids[1] == ids[2] && ids[2] != ids[3], "{ids:?}");
    assert!(sent.iter().all(|request| request.path == "/"), "a redirect was followed");
    assert!(sent.iter().all(|request| request.is_signed_with(b"hush")));
    // Who listens is told that it fails, and that it works again.
    let mut states = Vec::new();
    while states.last() != Some(&json!("works")) {
        let message = tokio::time::timeout(PATIENCE, listener.next()).await.unwrap().unwrap();
        let message: Value = serde_json::from_str(&message.json).unwrap();
        if message["event"] == "connector" {
            states.push(message["connector"]["state"].clone());
        }
    }
    assert_eq!(states[0], "fails");
    let state: Value = serde_json::from_str(&service.hub.snapshot().json).unwrap();
    assert_eq!(state["connectors"][0]["name"], "hall");
    service.end().await;
}

#[tokio::test]
async fn what_was_not_acknowledged_is_sent_by_the_next_run() {
    let folder = tempfile::tempdir().unwrap();
    let nobody = "http://127.0.0.1:1/".to_owned();
    let service = Service::start(&folder, &hook(nobody, &["match"], None)).await;
    let number = service.begin(&[]).await;
    service.round(number, [60, 45]).await;
    until("a failure", || (service.connectors.states()[0].state == Doing::Fails).then_some(())).await;
    // A dead receiver holds nobody up.
    assert_eq!(service.referee.play().borrow().number, Some(number));
    service.end().await;
    let receiver = Receiver::start().await;
    let service = Service::start(&folder, &hook(receiver.url("/"), &["match"], None)).await;
    let sent = receiver.until(2).await;
    assert_eq!(sent[1].body["type"], "match.round_recorded");
    service.round(number, [20, 45]).await;
    assert_eq!(receiver.until(3).await[2].body["data"]["match"]["rounds_counted"], 2);
    service.end().await;
    // Nothing is sent twice, and a hook of another name is not told what is past.
    let mut other = hook(receiver.url("/"), &["match"], None);
    other.webhook.push(Webhook { name: "late".to_owned(), ..other.webhook[0].clone() });
    let service = Service::start(&folder, &other).await;
    service.round(number, [20, 45]).await;
    let sent = receiver.until(5).await;
    assert_eq!(sent[3].body["id"], sent[4].body["id"]);
    service.end().await;
}

#[tokio::test]
async fn a_slow_receiver_loses_no_step_and_holds_up_nobody() {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::start().await);
    receiver.take_ms(30);
    let service = Service::start(&folder, &hook(receiver.url("/"), &["match", "twenty"], None)).await;
    let number = service.begin(&[]).await;
    // Far more than may wait for one who listens.
    let began = std::time::Instant::now();
    for side in 0..2_000 {
        service.hub.tell(&json!({ "event": "twenty", "side": side }), None);
    }
    for step in 0..6 {
        service.act(number, Command::SetFirst { seat: crokeye::score::Seat(step % 2) }).await;
    }
    assert!(began.elapsed() < Duration::from_secs(10));
    let steps = || {
        let sent = receiver.sent();
        let steps: Vec<u64> = sent.iter().filter_map(|request| request.body["data"]["step"].as_u64()).collect();
        (steps.len() == 7).then_some(steps)
    };
    assert_eq!(until("every step", steps).await, [1, 2, 3, 4, 5, 6, 7]);
    service.end().await;
}

#[tokio::test]
async fn settings_that_cannot_work_are_refused_with_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("crokeye.db")).await.unwrap();
    let (_stop, closing) = watch::channel(false);
    let refused = async |settings: &Settings| {
        Connectors::start(settings, Vec::new(), &store, &closing).await.map(drop).unwrap_err().to_string()
    };
    for (settings, what) in [
        (hook("ftp://x/".to_owned(), &["match"], None), "http://"),
        (hook("hall".to_owned(), &["match"], None), "no address"),
        (hook("http://x/".to_owned(), &["rounds"], None), "no kind of event"),
        (hook("http://x/".to_owned(), &["match"], Some("whsec_?")), "base64"),
        (hook("http://x/".to_owned(), &["match"], Some(" ")), "secret: it is empty"),
    ] {
        let error = refused(&settings).await;
        assert!(error.contains("[[webhook]] \"hall\"") && error.contains(what), "{error}");
    }
    let mut twice = hook("http://x/".to_owned(), &["match"], None);
    twice.webhook.push(twice.webhook[0].clone());
    assert_eq!(refused(&twice).await, ConnectorError::Twice("hall".to_owned()).to_string());
    let croki = Croki {
        url: "http://x/".to_owned(),
        api_key: Secret::Env { env: "CROKEYE_TEST_NOT_SET".to_owned() },
        source: "crokeye".to_owned(),
    };
    assert!(refused(&Settings { croki: Some(croki), ..Settings::default() }).await.contains("CROKEYE_TEST_NOT_SET"));
    for mqtt in ["host = \"x\"\nprefix = \"a/#\"", "host = \" \"", "host = \"x\"\npassword = \"y\""] {
        let settings: Settings = toml::from_str(&format!("[mqtt]\n{mqtt}")).unwrap();
        assert!(refused(&settings).await.starts_with("[mqtt]: "), "{mqtt}");
    }
}

fn croki(receiver: &Receiver) -> Settings {
    let api_key = Secret::Text("table-key".to_owned());
    Settings {
        croki: Some(Croki { url: receiver.url(""), api_key, source: "table-cam-4".to_owned() }),
        ..Settings::default()
    }
}

/// What the laptop was told, as `pa` of each set and whether it was complete.
fn told(receiver: &Receiver) -> Vec<(Vec<Option<u64>>, bool)> {
    let sent = receiver.sent();
    let scores = sent.iter().filter(|request| request.path == "/api/ingest_score");
    scores
        .map(|request| {
            let sets = request.body["sets"].as_array().unwrap();
            (sets.iter().map(|set| set["pa"].as_u64()).collect(), request.body["complete"].as_bool().unwrap())
        })
        .collect()
}

#[tokio::test]
async fn a_score_is_sent_when_confirmed_corrected_and_undone_until_it_is_acknowledged_across_a_restart() {
    let (folder, laptop) = (tempfile::tempdir().unwrap(), Receiver::start().await);
    let service = Service::start(&folder, &croki(&laptop)).await;
    let unknown = service.begin(&[]).await;
    service.round(unknown, [60, 45]).await;
    let number = service.begin(&[("croki.match_code", "MD55")]).await;
    service.round(number, [60, 45]).await;
    until("the first set", || (told(&laptop).len() == 1).then_some(())).await;
    let first = laptop.sent()[0].clone();
    assert_eq!((first.header("x-api-key"), &first.body["source"]), ("table-key", &json!("table-cam-4")));
    assert_eq!((&first.body["match_code"], &first.body["sets"][0]["pb"]), (&json!("MD55"), &json!(45)));
    service.act(number, correct(1, [55, 45])).await;
    until("the correction", || (told(&laptop).len() == 2).then_some(())).await;
    service.act(number, Command::Undo { of: None }).await;
    until("the undo", || (told(&laptop).len() == 3).then_some(())).await;
    // A step that changes no set is none of its concern.
    service.act(number, Command::SetFirst { seat: crokeye::score::Seat(1) }).await;
    let none = [None, None, None];
    let with = |first| [&[first][..], &none].concat();
    assert_eq!(told(&laptop), [(with(Some(60)), false), (with(Some(55)), false), (with(Some(60)), false)]);

    // It goes away, and comes back at the next run.
    laptop.answer_first(&[503; 100]);
    for totals in [[20, 45], [30, 45], [40, 45]] {
        service.round(number, totals).await;
    }
    let fate =
        || service.connectors.states()[0].matches.iter().find(|sent| sent.number == number).map(|sent| sent.state);
    until("a failure", || (fate() == Some(Fate::Waits)).then_some(())).await;
    service.end().await;
    laptop.answer_first(&[]);
    let service = Service::start(&folder, &croki(&laptop)).await;
    let complete = || told(&laptop).pop().filter(|(_, complete)| *complete);
    let (sets, _) = until("the whole match", complete).await;
    assert_eq!(sets, [Some(60), Some(20), Some(30), Some(40)]);
    until("an acknowledgement", || (service.connectors.states()[0].state == Doing::Works).then_some(())).await;
    service.end().await;
}

#[tokio::test]
async fn a_match_that_the_laptop_refuses_holds_up_no_other_and_says_why() {
    let (folder, laptop) = (tempfile::tempdir().unwrap(), Receiver::start().await);
    laptop.refuse("NOPE", 404, "no such match");
    let service = Service::start(&folder, &croki(&laptop)).await;
    let refused = service.begin(&[("croki.match_code", "NOPE")]).await;
    service.round(refused, [60, 45]).await;
    let good = service.begin(&[("croki.match_id", "17")]).await;
    service.round(good, [60, 45]).await;
    let of = |number: i64| service.connectors.states()[0].matches.iter().find(|sent| sent.number == number).cloned();
    until("the good one", || of(good).filter(|sent| sent.state == Fate::Sent)).await;
    let waits = until("the refused one", || of(refused).filter(|sent| sent.state == Fate::Waits)).await;
    assert!(waits.reason.unwrap().contains("no such match"));
    // What cannot be sent as it is says so, and waits for nothing.
    let unfit = service.begin(&[("croki.table", "4")]).await;
    service.round(unfit, [60, 45]).await;
    let unfit = until("the unfit one", || of(unfit).filter(|sent| sent.state == Fate::Unfit)).await;
    assert!(unfit.reason.unwrap().contains("croki.round"));
    service.end().await;
}

#[tokio::test]
async fn tables_are_listed_as_the_laptop_has_them() {
    let (folder, laptop) = (tempfile::tempdir().unwrap(), Receiver::start().await);
    let service = Service::start(&folder, &croki(&laptop)).await;
    let asked = service.connectors.laptop().unwrap();
    let tables = asked.tables(Some(2)).await.unwrap();
    assert_eq!((tables[0].table, tables[0].team_a.name.as_str(), tables[0].round), (Some(4), "Ann", Some(2)));
    assert_eq!(tables[1].team_b.name, "", "a bye has nobody");
    assert_eq!(laptop.sent()[0].header("x-api-key"), "table-key");
    laptop.answer_first(&[500, 200]);
    assert!(asked.tables(None).await.is_err());
    service.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_tells_those_whom_its_configuration_names() {
    let (hook, laptop) = (Receiver::start().await, Receiver::start().await);
    let text = format!(
        "[[board]]\nsource = 'sample'\nspeed = 20.0\n[[webhook]]\nname = 'hall'\nurl = '{}'\nevents = ['match', 'round']\n\
         secret = 'hush'\n[croki]\nurl = '{}'\napi_key = {{ file = 'key' }}\n",
        hook.url("/hook"),
        laptop.url("/")
    );
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("key"), "table-key\n").unwrap();
    let server = tokio::task::spawn_blocking(move || Server::configured_in(folder, &text, &[])).await.unwrap();
    let types = || hook.sent().iter().map(|sent| sent.body["type"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    // The match was there before the receiver was known.
    for kind in ["match.round_proposed", "round"] {
        until(kind, || types().contains(&kind.to_owned()).then_some(())).await;
    }
    assert!(hook.sent().iter().all(|sent| sent.is_signed_with(b"hush")));
    let checked = tokio::task::spawn_blocking(move || {
        let tables = server.get("/api/v1/croki/tables?round=2").json();
        assert_eq!(tables["matches"][0]["team_a"]["name"], "Ann");
        let started = server.post("/api/v1/croki/matches", &json!({ "table": 4, "author": "Eve" }));
        assert_eq!((started.status, &started.json()["rules"]["name"]), (201, &json!("nk-nl")), "{}", started.text());
        assert_eq!(started.json()["refs"]["croki.match_code"], "MD55");
        for (choice, status) in [(json!({}), 400), (json!({ "table": 77 }), 404)] {
            assert_eq!(server.post("/api/v1/croki/matches", &choice).status, status);
        }
        let round = json!({ "sides": [{ "total": 60, "twenties": 1 }, { "total": 45, "twenties": 0 }] });
        assert_eq!(server.post("/api/v1/matches/last/rounds", &round).status, 200);
        server
    });
    let server = checked.await.unwrap();
    let scored = || laptop.sent().into_iter().find(|sent| sent.path == "/api/ingest_score");
    let score = until("the score", scored).await;
    assert_eq!((score.header("x-api-key"), &score.body["sets"][0]["ta"]), ("table-key", &json!(1)));
    tokio::task::spawn_blocking(move || {
        let state = server.get("/api/v1/state").json();
        let names: Vec<&Value> = state["connectors"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
        assert_eq!(names, ["hall", "croki.nl"]);
        assert_eq!(server.get("/api/v1/connectors").json()["connectors"][0]["state"], "works");
        let metrics = server.get("/metrics").text();
        assert!(metrics.contains("crokeye_connector_up{kind=\"webhook\",name=\"hall\"} 1"), "{metrics}");
    })
    .await
    .unwrap();
}

fn mqtt(port: u16, password: &str) -> Settings {
    let mqtt = Mqtt {
        host: "127.0.0.1".to_owned(),
        port: Some(port),
        tls: false,
        user: Some(Broker::USER.to_owned()),
        password: Some(Secret::Text(password.to_owned())),
        prefix: "hall/crokeye".to_owned(),
        discovery: "homeassistant".to_owned(),
    };
    Settings { mqtt: Some(mqtt), ..Settings::default() }
}

/// One who listens at the broker.
struct Home {
    connection: rumqttc::EventLoop,
    retained: BTreeMap<String, String>,
    _client: AsyncClient,
}

impl Home {
    async fn listen(port: u16) -> Self {
        let mut options = MqttOptions::new("home", "127.0.0.1", port);
        options.set_credentials(Broker::USER, Broker::PASSWORD).set_max_packet_size(1 << 20, 1 << 20);
        let (client, connection) = AsyncClient::new(options, 10);
        client.subscribe("#", QoS::AtLeastOnce).await.unwrap();
        Self { connection, retained: BTreeMap::new(), _client: client }
    }

    /// The next message that fits: its topic and what it says.
    async fn until(&mut self, what: &str, fits: impl Fn(&str, &Value) -> bool) -> Value {
        let waited = tokio::time::timeout(PATIENCE, async {
            loop {
                let Event::Incoming(Packet::Publish(told)) = self.connection.poll().await.unwrap() else { continue };
                let text = String::from_utf8(told.payload.to_vec()).unwrap();
                let value = serde_json::from_str(&text).unwrap_or(Value::String(text.clone()));
                self.retained.insert(told.topic.clone(), text);
                if fits(&told.topic, &value) {
                    return value;
                }
            }
        });
        waited.await.unwrap_or_else(|_| panic!("{what} did not come: {:?}", self.retained))
    }

    async fn status(&mut self, expected: &str) {
        self.until(expected, |topic, value| topic == "hall/crokeye/status" && value == expected).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_home_is_told_of_boards_scores_and_events_and_whether_we_are_there() {
    if !broker::is_there() {
        return;
    }
    let mut broker = Broker::start();
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(&folder, &mqtt(broker.port, Broker::PASSWORD)).await;
    until("a connection", || (service.connectors.states()[0].state == Doing::Works).then_some(())).await;

    // Who comes later is told what is retained.
    let mut home = Home::listen(broker.port).await;
    home.status("online").await;
    home.until("the score", |topic, _| topic == "hall/crokeye/1/score").await;
    home.until("the last thing announced", |topic, _| topic.ends_with("/event/config")).await;
    let points = "homeassistant/sensor/hall_crokeye_1/points_a/config";
    let config: Value = serde_json::from_str(&home.retained[points]).unwrap();
    assert_eq!(config["state_topic"], "hall/crokeye/1/score");
    assert_eq!(config["availability_topic"], "hall/crokeye/status");

    let number = service.begin(&[]).await;
    service.round(number, [60, 45]).await;
    let of_score = |topic: &str, value: &Value| topic == "hall/crokeye/1/score" && value["rounds"] == 1;
    let score = home.until("the score of a round", of_score).await;
    assert_eq!(
        (&score["a"]["name"], &score["a"]["points"], &score["b"]["points"]),
        (&json!("Ann"), &json!(2), &json!(0))
    );
    let recorded = |topic: &str, value: &Value| topic.ends_with("/1/event") && value["event_type"] == "round_recorded";
    assert_eq!(home.until("the event", recorded).await["author"], "Ann");
    service.hub.tell(
        &json!({ "event": "clearing" }),
        Some((Part::Board, json!({ "state": "watching", "clearing": true, "standing": { "phase": "over" } }))),
    );
    let clearing = |topic: &str, value: &Value| topic.ends_with("/1/board") && value["clearing"] == true;
    assert_eq!(home.until("the board being cleared", clearing).await["phase"], "over");

    // A broker that comes back knows nothing any more: it is told everything again.
    broker.stop();
    until("a failure", || (service.connectors.states()[0].state == Doing::Fails).then_some(())).await;
    broker.begin();
    until("a new connection", || (service.connectors.states()[0].state == Doing::Works).then_some(())).await;
    let mut home = Home::listen(broker.port).await;
    home.until("the score", |topic, value| topic == "hall/crokeye/1/score" && value["rounds"] == 1).await;
    service.end().await;
    home.status("offline").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_knows_another_password_says_so_and_a_lost_program_is_told_by_its_last_will() {
    if !broker::is_there() {
        return;
    }
    let broker = Broker::start();
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(&folder, &mqtt(broker.port, "guess")).await;
    let reason = until("a refusal", || service.connectors.states()[0].reason.clone()).await;
    assert!(reason.starts_with("the broker refuses"), "{reason}");
    service.end().await;

    // A program that dies says nothing: its runtime is dropped, its connection ends.
    let (port, other) = (broker.port, tempfile::tempdir().unwrap());
    let program = std::thread::spawn(move || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let service = Service::start(&other, &mqtt(port, Broker::PASSWORD)).await;
            until("a connection", || (service.connectors.states()[0].state == Doing::Works).then_some(())).await;
            tokio::time::sleep(Duration::from_millis(500)).await;
            // Dropped in order it would take its leave.
            std::mem::forget(service);
        });
        runtime.shutdown_background();
    });
    let mut home = Home::listen(port).await;
    home.status("online").await;
    home.status("offline").await;
    program.join().unwrap();
}
