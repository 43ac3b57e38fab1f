use std::str::FromStr;

use super::*;
use crate::count::Options;
use crate::count::testing::overhead;
use crate::score::tally::SideEntry;
use crate::service::gather::Shown;
use crate::service::new_match::NewMatch;

fn setup() -> Setup {
    NewMatch {
        sides: vec!["Ann".to_owned(), "Bob".to_owned()],
        rules: "nca".to_owned(),
        first: "A".to_owned(),
        ..NewMatch::default()
    }
    .setup()
    .unwrap()
}

/// A round of two black discs, 15 and 10.
fn round(number: u32) -> Gathered {
    let count = overhead(&[(50.0, 0.0), (150.0, 0.0)]).count(&Options::default()).report;
    Gathered { round: number, shown: Some(Shown { photo: vec![number as u8; 9], clip: vec![1; 9], count }) }
}

async fn desk(folder: &tempfile::TempDir, accept: bool) -> (Referee, Arc<Hub>, Store) {
    let store = Store::open(&folder.path().join("crokeye.db")).await.unwrap();
    let hub = Hub::new(1);
    let seat = Seat { board: "1".to_owned(), hub: Arc::clone(&hub), named: None, accept };
    let (mut referees, _) = Referee::start(store.clone(), vec![seat]).await.unwrap();
    (referees.remove(0), hub, store)
}

async fn propose(referee: &Referee, gathered: Gathered) {
    let referee = referee.clone();
    tokio::task::spawn_blocking(move || referee.propose_blocking(gathered)).await.unwrap();
}

fn totals(done: &Done) -> Vec<Option<u32>> {
    done.loaded.game.rounds().iter().map(|round| round.sides[0].total()).collect()
}

#[tokio::test]
async fn a_round_is_proposed_edited_confirmed_undone_and_voided_with_author_and_reason() {
    let folder = tempfile::tempdir().unwrap();
    let (referee, hub, store) = desk(&folder, false).await;
    let number = referee.start_match(setup(), "Ann").await.unwrap().loaded.number;
    assert!(referee.play().borrow().wants_round);
    propose(&referee, round(1)).await;
    let mut play = referee.play();
    play.wait_for(|play| !play.wants_round).await.unwrap();
    let proposal = store.load(number).await.unwrap().game.open_proposals().next().unwrap().number;

    let sides = Some(vec![SideEntry::of_total(30), SideEntry::of_total(0)]);
    let done = referee.act(number, None, Command::Accept { proposal, sides, reason: None }, "Ann").await.unwrap();
    assert_eq!(totals(&done), [Some(30)]);
    assert!(referee.play().borrow().wants_round);
    let undone = referee.act(number, None, Command::Undo { of: None }, "Bob").await.unwrap();
    assert!(undone.loaded.game.rounds().is_empty() && undone.loaded.game.open_proposals().count() == 1);
    referee.act(number, None, Command::Accept { proposal, sides: None, reason: None }, "Ann").await.unwrap();
    let void = Command::Void { round: 1, reason: "the board was bumped".to_owned() };
    let voided = referee.act(number, None, void, "Carol").await.unwrap();
    let void = voided.loaded.game.rounds()[0].void.clone().unwrap();
    assert_eq!((void.author.as_str(), void.reason.as_str()), ("Carol", "the board was bumped"));
    // The photo is kept, and what was told last is where the match stands.
    let kept = &voided.loaded.game.rounds()[0].evidence[0];
    assert_eq!(store.fetch(&kept.sha256).await.unwrap(), vec![1; 9]);
    let state: Value = serde_json::from_str(&hub.snapshot().json).unwrap();
    assert_eq!(state["match"]["rounds"][0]["void"]["author"], "Carol");
}

#[tokio::test]
async fn a_stale_order_is_refused_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (referee, _, store) = desk(&folder, false).await;
    let number = referee.start_match(setup(), "Ann").await.unwrap().loaded.number;
    propose(&referee, round(1)).await;
    let stale = Command::Undo { of: None };
    let refused = referee.act(number, Some(1), stale, "Bob").await.unwrap_err();
    assert!(matches!(refused, OrderError::Store(StoreError::Conflict { expected: 1, found: 2 })), "{refused}");
    assert_eq!(store.load(number).await.unwrap().game.revision(), 2);
}

#[tokio::test]
async fn a_clear_round_is_taken_at_once_where_asked_and_the_newest_open_match_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let (referee, _, store) = desk(&folder, true).await;
    let number = referee.start_match(setup(), "Ann").await.unwrap().loaded.number;
    let mut clear = round(1);
    let shown = clear.shown.as_mut().unwrap();
    (shown.count.status, shown.count.review) = (crate::count::report::Status::Counted, Vec::new());
    propose(&referee, clear).await;
    // Orders are taken in turn: the answer to the next one comes after the proposal.
    referee.play_match(number).await.unwrap();
    assert_eq!(store.load(number).await.unwrap().game.rounds().len(), 1);
    let again = Referee::start(store, seats(&["1"])).await.unwrap().0.remove(0);
    assert_eq!(again.play().borrow().number, Some(number));
}

fn seats(boards: &[&str]) -> Vec<Seat> {
    let seat = |board: &&str| Seat { board: (*board).to_owned(), hub: Hub::new(9), named: None, accept: false };
    boards.iter().map(seat).collect()
}

#[tokio::test]
async fn boards_play_matches_of_their_own_and_go_on_with_them_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("crokeye.db")).await.unwrap();
    let (referees, task) = Referee::start(store.clone(), seats(&["1", "hall"])).await.unwrap();
    let [one, two] = &referees[..] else { panic!("two boards") };
    let first = one.start_match(setup(), "Ann").await.unwrap().loaded.number;
    let second = two.start_match(setup(), "Ann").await.unwrap().loaded.number;
    let refused = one.play_match(second).await.unwrap_err();
    assert!(matches!(&refused, OrderError::Elsewhere { board, .. } if board == "hall"), "{refused}");
    // A command reaches the board that plays the match, whoever is asked.
    let seat = crate::score::notation::SeatName::from_str("B").unwrap().seat(crate::score::Format::Singles).unwrap();
    one.act(second, None, Command::SetFirst { seat }, "Ann").await.unwrap();
    assert_eq!(two.play().borrow().number, Some(second));
    propose(two, round(1)).await;
    two.play().wait_for(|play| !play.wants_round).await.unwrap();
    assert_eq!(store.load(second).await.unwrap().game.open_proposals().count(), 1);
    assert_eq!(store.load(first).await.unwrap().game.open_proposals().count(), 0);
    drop(referees);
    task.await.unwrap();
    let (again, _) = Referee::start(store.clone(), seats(&["1", "hall", "new"])).await.unwrap();
    let numbers: Vec<_> = again.iter().map(|referee| referee.play().borrow().number).collect();
    assert_eq!(numbers, [Some(first), Some(second), None]);
    let mut twice = seats(&["1", "hall"]);
    twice.iter_mut().for_each(|seat| seat.named = Some(first));
    assert!(matches!(Referee::start(store, twice).await, Err(OrderError::Elsewhere { .. })));
}

#[tokio::test]
async fn without_a_match_a_round_is_told_and_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (referee, hub, _) = desk(&folder, false).await;
    let mut listener = hub.listen(None);
    listener.next().await.unwrap();
    propose(&referee, round(1)).await;
    let message = listener.next().await.unwrap();
    assert!(message.json.contains("not_proposed"), "{}", message.json);
    assert!(referee.play_match(77).await.is_err());
}
