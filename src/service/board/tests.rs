use std::sync::atomic::AtomicU32;

use serde_json::Value;

use super::*;
use crate::capture::feed::{FeedError, Taken};
use crate::capture::sample::{self, Sample};
use crate::score::event::Setup;
use crate::service::hub::Listener;
use crate::service::new_match::NewMatch;
use crate::service::referee::Seat;
use crate::store::Store;

async fn bench(folder: &tempfile::TempDir) -> (Arc<Hub>, Referee, Store) {
    let store = Store::open(&folder.path().join("crokeye.db")).await.unwrap();
    let hub = Hub::new(1);
    let seat = Seat { board: "1".to_owned(), hub: Arc::clone(&hub), named: None, accept: false };
    let referee = Referee::start(store.clone(), vec![seat]).await.unwrap().0.remove(0);
    (hub, referee, store)
}

fn setup() -> Setup {
    NewMatch {
        sides: vec!["Ann".to_owned(), "Bob".to_owned()],
        rules: "nca".to_owned(),
        first: "A".to_owned(),
        colours: sample::SIDES.map(str::to_owned).to_vec(),
        ..NewMatch::default()
    }
    .setup()
    .unwrap()
}

fn label() -> Label {
    Label { id: "1".to_owned(), name: None }
}

fn wishes(open: Open, again: bool) -> Wishes {
    let eye = Eye::Finite { open, again, speed: 1000.0 };
    Wishes { name: "test".to_owned(), eye, look: Look::default() }
}

async fn until(listener: &mut Listener, test: impl Fn(&Value) -> bool) -> Value {
    let found = async {
        loop {
            let value: Value = serde_json::from_str(&listener.next().await.unwrap().json).unwrap();
            if test(&value) {
                return value;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), found).await.unwrap()
}

/// A source that crashes at its first frame and has none the next time.
struct Crash(bool);

impl Feed for Crash {
    fn next(&mut self) -> Result<Option<Taken>, FeedError> {
        assert!(!self.0, "meant to crash");
        Ok(None)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crashed_thread_starts_again_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (hub, referee, _) = bench(&folder).await;
    let mut listener = hub.listen(None);
    let opened = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&opened);
    let open: Open = Arc::new(move || match count.fetch_add(1, Ordering::Relaxed) {
        0 => Ok(Box::new(Crash(true))),
        1 => Err("the camera is away".to_owned()),
        _ => Ok(Box::new(Crash(false))),
    });
    let board = Board::start(label(), wishes(open, false), hub, referee).unwrap();
    let fault = until(&mut listener, |event| event["state"] == "restarting").await;
    assert_eq!(fault["reason"], "a fault in crokeye");
    let away = until(&mut listener, |event| event["state"] == "restarting").await;
    assert_eq!(away["reason"], "the camera is away");
    until(&mut listener, |event| event["state"] == "ended").await;
    assert_eq!((opened.load(Ordering::Relaxed), board.figures.read().restarts), (3, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sample_round_becomes_a_proposal_with_its_close_call_and_waits_for_a_decision() {
    let folder = tempfile::tempdir().unwrap();
    let (hub, referee, store) = bench(&folder).await;
    let number = referee.start_match(setup(), "Ann").await.unwrap().loaded.number;
    let mut listener = hub.listen(None);
    let open: Open = Arc::new(|| Ok(Box::new(Sample::open(1).map_err(|error| error.to_string())?)));
    let board = Board::start(label(), wishes(open, true), Arc::clone(&hub), referee).unwrap();
    let event = until(&mut listener, |event| event["because"]["event"] == "round_proposed").await;
    let proposal = &event["match"]["proposals"][0];
    assert_eq!(
        (&proposal["round"]["sides"][0]["total"], &proposal["round"]["sides"][1]["total"]),
        (&json!(55), &json!(70))
    );
    assert_eq!(proposal["round"]["sides"][1]["set_aside"], 1);
    assert!(proposal["review"][0].as_str().unwrap().contains("from the 15 line"), "{proposal}");
    until(&mut listener, |event| event["state"] == "waiting").await;
    let frames = board.figures.read().frames;
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(board.figures.read().frames, frames, "it plays on although nobody decided");
    let evidence = store.load(number).await.unwrap().game.open_proposals().next().unwrap().round.evidence.clone();
    let kinds: Vec<&str> = evidence.iter().map(|evidence| evidence.kind.as_str()).collect();
    assert_eq!(kinds, ["photo", "clip", "count"]);
    tokio::task::spawn_blocking(move || board.stop()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn another_source_is_watched_at_once_and_one_that_fails_can_be_changed_again() {
    let folder = tempfile::tempdir().unwrap();
    let (hub, referee, _) = bench(&folder).await;
    let mut listener = hub.listen(None);
    let named = |name: &str, open: Open| Wishes { name: name.to_owned(), ..wishes(open, false) };
    let board = Board::start(label(), named("over", Arc::new(|| Ok(Box::new(Crash(false))))), hub.clone(), referee);
    let board = board.unwrap();
    until(&mut listener, |event| event["state"] == "ended").await;
    assert!(board.look(None).is_none(), "a picture that never came");
    board.change(named("away", Arc::new(|| Err("the camera is away".to_owned()))));
    let away = until(&mut listener, |event| event["state"] == "restarting").await;
    assert_eq!(away["reason"], "the camera is away");
    let open: Open = Arc::new(|| Ok(Box::new(Sample::open(1).map_err(|error| error.to_string())?)));
    board.change(named("sample", open));
    until(&mut listener, |event| event["event"] == "settled").await;
    let (state, _) = hub.parts();
    assert_eq!(state["source"], "sample");
    let found = board.look(None).unwrap().unwrap();
    assert!(found.coverage > 0.5 && !found.board.rings.is_empty());
    let nowhere = Start { size_px: [100, 100], hole_px: [50.0, 50.0], line_px: vec![[1.0, 2.0]; 3] };
    assert!(board.look(Some(nowhere)).unwrap().unwrap_err().contains("point at 5"), "three points are enough");
    board.stop();
}
