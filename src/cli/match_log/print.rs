//! Matches for people: tables, and one line after each step.

use comfy_table::{Cell, CellAlignment, Table};
use crokeye::score::event::{Event, Record};
use crokeye::score::export::json::view;
use crokeye::score::format::Party;
use crokeye::score::game::{Match, Proposal, Round, Status};
use crokeye::score::stats::{self, Statistics};
use crokeye::score::tally::{SideEntry, SideScore};
use crokeye::store::{Listed, Loaded};
use serde_json::{Value, json};

use super::Common;
use crate::cli::out::{outln, table};
use crokeye::score::notation::seat_word;

/// A new match, with the defaults that were taken.
pub fn created(common: &Common, loaded: &Loaded) {
    if common.json {
        return print_json(loaded);
    }
    outln!("Match {}: {}", loaded.number, title(&loaded.game));
    let taken = &loaded.game.setup().defaults_taken;
    if !taken.is_empty() {
        outln!(
            "{} is silent about these, so the match takes (choose others with --set):",
            loaded.game.setup().rules_name
        );
        for taken in taken {
            outln!("  {} = {}  ({})", taken.parameter, taken.value, taken.reason);
        }
    }
    outln!("{}", standing_line(&loaded.game));
}

/// What a command did.
pub fn step(common: &Common, loaded: &Loaded, records: &[Record]) {
    if common.json {
        return print_json(loaded);
    }
    for record in records {
        outln!("{}", sentence(&loaded.game, record));
    }
    outln!("Match {}: {}", loaded.number, standing_line(&loaded.game));
    for notice in loaded.game.notices() {
        outln!("Note: {notice}.");
    }
}

/// A proposal from a count.
pub fn proposed(common: &Common, loaded: &Loaded, accepted: bool) {
    if common.json {
        return print_json(loaded);
    }
    if accepted {
        outln!("The count was taken as round {}.", loaded.game.rounds().len());
    } else if let Some(proposal) = loaded.game.proposals().last() {
        outln!("{}", proposal_line(&loaded.game, proposal));
        outln!(
            "`crokeye match accept {}` takes it (with --a or --b to change it), `dismiss` rejects it.",
            loaded.number
        );
    }
    outln!("Match {}: {}", loaded.number, standing_line(&loaded.game));
}

/// The whole match.
pub fn game(common: &Common, loaded: &Loaded) {
    if common.json {
        return print_json(loaded);
    }
    let game = &loaded.game;
    outln!("Match {}: {}", loaded.number, title(game));
    if game.rounds().is_empty() {
        outln!("No rounds yet.");
    } else {
        outln!("{}", rounds_table(game));
    }
    for proposal in game.open_proposals() {
        outln!("{}", proposal_line(game, proposal));
    }
    outln!("{}", standing_line(game));
    for notice in game.notices() {
        outln!("Note: {notice}.");
    }
}

/// Every step of a match.
pub fn log(common: &Common, records: &[Record]) {
    for record in records {
        if common.json {
            outln!("{}", json!(record));
            continue;
        }
        let time = record.at.strftime("%Y-%m-%d %H:%M:%S");
        let what = match serde_json::to_value(&record.event) {
            Ok(Value::Object(mut fields)) => {
                fields.remove("event");
                if matches!(record.event, Event::MatchCreated(_)) {
                    fields.retain(|name, _| ["rules_name", "format", "choices", "first"].contains(&name.as_str()));
                }
                Value::Object(fields).to_string()
            }
            _ => String::new(),
        };
        outln!("{:>4}  {time}  {:<12}  {:<18} {what}", record.revision, record.author, record.event.name());
    }
}

/// Matches in lines.
pub fn list(common: &Common, listed: &[Listed]) {
    if common.json {
        for line in listed {
            outln!("{}", json!(line));
        }
        return;
    }
    if listed.is_empty() {
        outln!("No matches yet. `crokeye match new Ann Bob` starts one.");
        return;
    }
    let mut table = table();
    table.set_header(["no", "played", "sides", "rules", "points", "rounds", "state", "id"]);
    for line in listed {
        let summary = &line.summary;
        let points: Vec<String> = summary.points.iter().map(u64::to_string).collect();
        let state = match (summary.state.as_str(), summary.winner) {
            ("over", Some(winner)) => format!("{winner} won"),
            ("over", None) => "no winner".to_owned(),
            ("shoot_out_due", _) => "shoot-out due".to_owned(),
            (other, _) => other.to_owned(),
        };
        let state = if summary.proposals > 0 { format!("{state}, {} proposed", summary.proposals) } else { state };
        let id = line.id.to_string();
        table.add_row([
            line.number.to_string(),
            summary.played_at.strftime("%Y-%m-%d %H:%M").to_string(),
            summary.sides.join(" v "),
            summary.rules.clone(),
            points.join("-"),
            summary.rounds.to_string(),
            state,
            id[id.len() - 8..].to_owned(),
        ]);
    }
    outln!("{table}");
}

/// Statistics in tables.
pub fn statistics(common: &Common, statistics: &Statistics) {
    if common.json {
        outln!("{}", stats::view(statistics));
        return;
    }
    let number = |value: Option<f64>| value.map(|value| format!("{value:.2}")).unwrap_or("-".to_owned());
    let mut players = table();
    players.set_header([
        "player",
        "matches w-d-l",
        "rounds w-d-l",
        "points",
        "per round",
        "total/round",
        "best",
        "20s/round",
        "20 15 10 5 out %",
        "with last shot",
    ]);
    for stats in &statistics.players {
        let shares = stats.zone_shares().map(|shares| shares.map(|share| format!("{:.0}", 100.0 * share)).join(" "));
        players.add_row([
            stats.name.clone(),
            tally(&stats.matches),
            tally(&stats.rounds),
            stats.points.to_string(),
            number(stats.points_per_round()),
            number(stats.total_per_round()),
            stats.best_total.map(|best| best.to_string()).unwrap_or("-".to_owned()),
            number(stats.twenties_per_round()),
            shares.unwrap_or("-".to_owned()),
            tally(&stats.with_last_shot),
        ]);
    }
    outln!("{} match(es). Averages are over the rounds in which the number is known.", statistics.matches);
    outln!("{players}");
    if statistics.head_to_head.is_empty() {
        return;
    }
    let mut pairs = table();
    pairs.set_header(["player", "against", "matches w-d-l", "rounds w-d-l", "points"]);
    for pair in &statistics.head_to_head {
        pairs.add_row([
            pair.player.clone(),
            pair.opponent.clone(),
            tally(&pair.matches),
            tally(&pair.rounds),
            format!("{}-{}", pair.points_for, pair.points_against),
        ]);
    }
    outln!("{pairs}");
}

fn tally(tally: &crokeye::score::stats::Tally) -> String {
    format!("{}-{}-{}", tally.won, tally.drawn, tally.lost)
}

/// A match as one line of JSON.
pub fn print_json(loaded: &Loaded) {
    outln!("{}", with_handles(loaded));
}

/// The public view, with the handles under which the store knows the match.
pub fn with_handles(loaded: &Loaded) -> Value {
    let mut value = view(&loaded.game);
    value["number"] = json!(loaded.number);
    value["id"] = json!(loaded.id);
    value
}

fn title(game: &Match) -> String {
    let sides: Vec<String> = game.format().parties().iter().map(|party| side_word(game, *party)).collect();
    let event = game.setup().context.event.as_ref().map(|event| format!(", {event}")).unwrap_or_default();
    let format = game.format().name().replace('_', " ");
    format!("{}  ({}, {format}{event})", sides.join(" v "), game.setup().rules_name)
}

fn side_word(game: &Match, party: Party) -> String {
    let colour = game.setup().sides.get(party.index()).and_then(|side| side.colour.as_ref());
    let colour = colour.map(|colour| format!(" ({colour})")).unwrap_or_default();
    format!("{party}: {}{colour}", game.name(party))
}

fn standing_line(game: &Match) -> String {
    let parties = game.format().parties();
    let points: Vec<String> = parties.iter().map(|party| game.standing().points[party.index()].to_string()).collect();
    let points = points.join("-");
    let counted = game.standing().counted;
    let rounds = if counted == 1 { "1 round".to_owned() } else { format!("{counted} rounds") };
    match game.status() {
        Status::Open => {
            let next = game.next_first();
            let party = game.format().party_at(next);
            let players = game.setup().sides.get(party.index()).map(|side| side.players.as_slice()).unwrap_or_default();
            let player =
                players.get(game.format().player_at(next)).map(|player| player.name.as_str()).unwrap_or_default();
            format!("{points} after {rounds}; {player} ({}) starts the next", seat_word(game.format(), next))
        }
        Status::ShootOutDue => format!("{points} after {rounds}; a shoot-out decides (`finish --shoot-out SIDE`)"),
        Status::Over { winner: Some(winner), how } => {
            format!("{points} after {rounds}; {} won, {}", game.name(winner), how.words())
        }
        Status::Over { winner: None, how } => format!("{points} after {rounds}; no winner, {}", how.words()),
    }
}

fn rounds_table(game: &Match) -> Table {
    let mut table = table();
    let mut header = vec!["round".to_owned(), "first".to_owned(), "last".to_owned()];
    for party in game.format().parties() {
        header.push(format!("{party} {}", game.name(*party)));
        header.push("20s".to_owned());
        header.push("pts".to_owned());
    }
    header.push(String::new());
    table.set_header(header);
    let counted: Vec<u32> = game.counted().map(|(number, _)| number).collect();
    for (number, round) in (1u32..).zip(game.rounds()) {
        let mut row = vec![
            Cell::new(number).set_alignment(CellAlignment::Right),
            Cell::new(seat_word(game.format(), round.first)),
            Cell::new(seat_word(game.format(), round.last)),
        ];
        let counts = counted.binary_search(&number).is_ok();
        let points = game.points_of(round);
        for (party, side) in game.format().parties().iter().zip(&round.sides) {
            let number = |value: Option<u32>| value.map(|value| value.to_string()).unwrap_or("-".to_owned());
            row.push(Cell::new(score_words(side)));
            row.push(Cell::new(number(side.twenties())));
            row.push(Cell::new(if counts { points[party.index()].to_string() } else { "-".to_owned() }));
        }
        row.push(Cell::new(round_notes(round, counts)));
        table.add_row(row);
    }
    table
}

fn round_notes(round: &Round, counts: bool) -> String {
    let mut notes = Vec::new();
    match &round.void {
        Some(void) => notes.push(format!("void: {} ({})", void.reason, void.author)),
        None if !counts => notes.push("after the end, does not count".to_owned()),
        None => {}
    }
    for amendment in &round.amendments {
        notes.push(format!("corrected: {} ({})", amendment.reason, amendment.author));
    }
    for oddity in &round.odd {
        let word = serde_json::to_value(oddity).ok();
        notes.push(word.as_ref().and_then(Value::as_str).unwrap_or_default().replace('_', " "));
    }
    for evidence in &round.evidence {
        notes.push(format!("{} {}", evidence.kind, &evidence.sha256.get(..8).unwrap_or_default()));
    }
    notes.join("\n")
}

fn score_words(score: &SideScore) -> String {
    match score {
        SideScore::Zones { zones, set_aside } => {
            let mut parts = Vec::new();
            for (name, count) in
                [("20", zones.twenty + set_aside), ("15", zones.fifteen), ("10", zones.ten), ("5", zones.five)]
            {
                if count > 0 {
                    parts.push(format!("{count}x{name}"));
                }
            }
            let total = score.total().unwrap_or_default();
            if parts.is_empty() { total.to_string() } else { format!("{total} = {}", parts.join(" ")) }
        }
        SideScore::Total { total, .. } => total.to_string(),
        SideScore::Points { total: Some(total), .. } => total.to_string(),
        SideScore::Points { total: None, .. } => "-".to_owned(),
    }
}

fn proposal_line(game: &Match, proposal: &Proposal) -> String {
    let sides: Vec<String> = game
        .format()
        .parties()
        .iter()
        .zip(&proposal.round.sides)
        .map(|(party, side)| format!("{party} {}", entry_words(side)))
        .collect();
    let mut line = format!("Proposal {}: {}", proposal.number, sides.join(", "));
    for (what, reasons) in [("cannot be taken as it is", &proposal.held), ("please look", &proposal.review)] {
        if !reasons.is_empty() {
            line.push_str(&format!("\n  {what}: {}", reasons.join("; ")));
        }
    }
    line
}

fn entry_words(entry: &SideEntry) -> String {
    let sum = entry.zones.map(|zones| {
        let board = [(20, zones.twenty), (15, zones.fifteen), (10, zones.ten), (5, zones.five)];
        let board = board.iter().fold(0i64, |sum, (value, count)| sum.saturating_add(count.saturating_mul(*value)));
        board.saturating_add(entry.set_aside.unwrap_or(0).saturating_mul(20))
    });
    sum.or(entry.total).map(|total| total.to_string()).unwrap_or("-".to_owned())
}

fn sentence(game: &Match, record: &Record) -> String {
    let number = record.revision;
    match &record.event {
        Event::RoundRecorded { sides, .. } => {
            let round = game.rounds().last();
            let points = round.map(|round| game.points_of(round)).unwrap_or_default();
            let parts: Vec<String> = game
                .format()
                .parties()
                .iter()
                .zip(sides)
                .map(|(party, side)| {
                    format!("{} {} -> {}", game.name(*party), score_words(side), points[party.index()])
                })
                .collect();
            format!("Round {}: {}  [step {number}]", game.rounds().len(), parts.join(", "))
        }
        Event::RoundCorrected { round, .. } => format!("Round {round} is corrected.  [step {number}]"),
        Event::RoundVoided { round, .. } => format!("Round {round} is void.  [step {number}]"),
        Event::Undone { of } => format!("Step {of} is taken back; `redo` does it again.  [step {number}]"),
        Event::Redone { of } => format!("Step {of} holds again.  [step {number}]"),
        Event::ProposalDismissed { proposal, .. } => format!("Proposal {proposal} is rejected.  [step {number}]"),
        Event::FirstSet { seat } => {
            format!("{} starts the next round.  [step {number}]", seat_word(game.format(), *seat))
        }
        Event::SideRenamed { side, .. } => {
            format!("From now on {}.  [step {number}]", side_word(game, *side))
        }
        Event::EvidenceAttached { round, evidence } => {
            format!("A {} hangs on round {round}.  [step {number}]", evidence.kind)
        }
        Event::MatchFinished { .. } => format!("The match is ended by hand.  [step {number}]"),
        Event::RoundProposed { .. } => format!("A round is proposed.  [step {number}]"),
        Event::MatchCreated(_) => format!("The match is started.  [step {number}]"),
    }
}
