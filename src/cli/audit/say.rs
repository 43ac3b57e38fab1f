//! What an audit says: a bar while it counts, and the outcome.

use std::io::{self, IsTerminal};
use std::time::Duration;

use anyhow::Result;
use crokeye::audit::compare::{Conventions, Twenties, Verdict};
use crokeye::audit::output::tables::sentence;
use crokeye::audit::{Audit, Item};
use crokeye::count::report::{SideTotal, Status};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use super::results::Folder;
use super::{AuditArgs, Passed};
use crate::cli::out::outln;

/// Rows of one kind that are listed before the report has to be asked.
const MOST_LINES: usize = 40;

/// A bar with rate, time left, and what was counted so far.
pub(super) struct Progress {
    bar: ProgressBar,
    counted: usize,
    review: usize,
    failed: usize,
    known: usize,
}

impl Progress {
    /// A bar for so many photos; hidden where nobody would see it.
    pub fn new(photos: usize, quiet: bool) -> Self {
        let bar =
            if quiet || !io::stderr().is_terminal() { ProgressBar::hidden() } else { ProgressBar::new(photos as u64) };
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len}  {per_sec}  {eta} left  {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(Duration::from_millis(500));
        Self { bar, counted: 0, review: 0, failed: 0, known: 0 }
    }

    /// One more is done; None says that it was known from before.
    pub fn done(&mut self, status: Option<Status>) {
        *match status {
            None => &mut self.known,
            Some(Status::Counted) => &mut self.counted,
            Some(Status::Review) => &mut self.review,
            Some(Status::NoBoard | Status::Error) => &mut self.failed,
        } += 1;
        let Self { counted, review, failed, known, .. } = self;
        self.bar.set_message(format!("{counted} counted, {review} review, {failed} failed, {known} known"));
        self.bar.inc(1);
    }

    /// All are done.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Tells the outcome.
pub(super) fn summary(args: &AuditArgs, folder: &Folder, passed: &Passed) -> Result<()> {
    let audit = &passed.audit;
    if args.json {
        outln!("{}", as_json(folder, passed));
        return Ok(());
    }
    if args.quiet {
        return Ok(());
    }
    outln!("{}", headline(audit));
    let Conventions { twenties, sides_fixed, in_order, exchanged } = audit.conventions;
    if let Some(read) = twenties_read(twenties) {
        outln!("{read}");
    }
    if audit.has_sheet && !sides_fixed {
        outln!(
            "The sheet keeps no order of its sides ({in_order} clear rows fit as a and b, {exchanged} the other way \
             round): either order was taken."
        );
    }
    let of = |verdicts: &[Verdict]| -> Vec<&Item> {
        audit.items.iter().filter(|item| verdicts.contains(&item.audit.comparison.verdict)).collect()
    };
    lines("The picture disagrees with the sheet", of(&[Verdict::Disagrees]).into_iter().map(against));
    let look = of(&[Verdict::Doubtful, Verdict::Open]).into_iter().map(|item| {
        let doubts = open(item);
        if doubts.is_empty() { against(item) } else { format!("{}: {doubts}", against(item)) }
    });
    lines("Not clear, and not as the sheet says", look);
    let alone = of(&[Verdict::Unclaimed]);
    if audit.has_sheet {
        lines("Pictures without a row in the sheet", alone.iter().map(|item| item.report.source.clone()));
    } else {
        let review = alone.into_iter().filter(|item| item.report.status == Status::Review);
        lines("To be looked at", review.map(|item| format!("{}: {}", item.report.source, open(item))));
    }
    lines("No board", of(&[Verdict::NoBoard]).into_iter().map(|item| item.report.source.clone()));
    let unreadable = of(&[Verdict::Unreadable]).into_iter();
    let reason = |item: &Item| item.report.error.clone().unwrap_or_default();
    lines("Cannot be read", unreadable.map(|item| format!("{}: {}", item.report.source, reason(item))));
    let same = |group: Vec<&Item>| group.iter().map(|item| item.report.source.as_str()).collect::<Vec<_>>().join(", ");
    lines("The same board twice", audit.doubles().into_iter().map(same));
    let left_out = audit.items.iter().filter(|item| item.audit.left_out).map(|item| item.report.source.clone());
    lines("Not judged with the other photos: another place, camera, board or set of discs", left_out);
    lines("Rows of the sheet without a picture", audit.unmatched.iter().map(|(row, why)| format!("row {row}: {why}")));
    lines("Rows that cannot be used", audit.faults.iter().map(|fault| format!("row {}: {}", fault.row, fault.reason)));
    if !audit.unused.is_empty() {
        outln!("Columns not used: {}.", audit.unused.join(", "));
    }
    outln!("Report: {}", folder.path().join("report.html").display());
    Ok(())
}

/// How the sheet's 20s are read, where it is not the usual way.
fn twenties_read(twenties: Twenties) -> Option<&'static str> {
    match twenties {
        Twenties::All => None,
        Twenties::Aside => Some("The sheet's 20s are read as those taken off the board."),
        Twenties::Apart => Some("The sheet's totals are read without the round's 20s, which stand beside them."),
        Twenties::Beside => {
            Some("The sheet's 20s are read as those taken off the board, which its totals do not hold.")
        }
    }
}

fn headline(audit: &Audit) -> String {
    let tally = audit.tally();
    let look = tally.doubtful + tally.open + tally.unclaimed_open;
    let failed = tally.no_board + tally.unreadable;
    let close = format!("{} of {} discs too close to call", tally.close_discs, tally.discs);
    let all = format!("{} {}", tally.pictures, if tally.pictures == 1 { "picture" } else { "pictures" });
    if audit.has_sheet {
        let (agree, disagree, alone) = (tally.agree, tally.disagree, tally.unclaimed);
        let alone = if alone > 0 { format!(", {alone} without a row") } else { String::new() };
        format!("{all}: {agree} agree, {disagree} disagree, {look} to look at{alone}, {failed} not counted; {close}.")
    } else {
        let counted = tally.unclaimed;
        format!("{all}: {counted} counted, {look} to look at, {failed} not counted; {close}.")
    }
}

fn lines(title: &str, lines: impl Iterator<Item = String>) {
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        return;
    }
    outln!("{title}:");
    lines.iter().take(MOST_LINES).for_each(|line| outln!("  {line}"));
    if lines.len() > MOST_LINES {
        outln!("  and {} more: see the report", lines.len() - MOST_LINES);
    }
}

/// `x.jpg (row 12): black 40, natural 25; the sheet has 45 and 25`.
fn against(item: &Item) -> String {
    let comparison = &item.audit.comparison;
    let row = item.audit.row.map_or(String::new(), |row| format!(" (row {row})"));
    let (counted, claimed) = (comparison.counted.unwrap_or_default(), comparison.claimed.unwrap_or_default());
    let name = |index: usize| item.report.sides.get(index).map_or("?", SideTotal::name);
    let mut line = format!(
        "{}{row}: {} {}, {} {}; the sheet has {} and {}",
        item.report.source,
        name(0),
        counted[0],
        name(1),
        counted[1],
        claimed[0],
        claimed[1]
    );
    for remark in &comparison.remarks {
        line.push_str(&format!(" ({})", sentence(remark)));
    }
    line
}

fn open(item: &Item) -> String {
    let doubts: Vec<String> = item.report.review.iter().map(|doubt| doubt.sentence(&item.report.sides)).collect();
    doubts.join("; ")
}

fn as_json(folder: &Folder, passed: &Passed) -> Value {
    let audit = &passed.audit;
    let brief = |item: &Item| {
        let comparison = &item.audit.comparison;
        json!({ "picture": item.report.source, "row": item.audit.row, "verdict": comparison.verdict,
            "counted": comparison.counted, "claimed": comparison.claimed, "remarks": comparison.remarks })
    };
    let of = |verdicts: &[Verdict]| -> Vec<Value> {
        let items = audit.items.iter().filter(|item| verdicts.contains(&item.audit.comparison.verdict));
        items.map(brief).collect()
    };
    let why = |item: &Item| item.report.error.clone().unwrap_or_else(|| open(item));
    let failed = audit.items.iter().filter(|item| item.report.sides.is_empty());
    let not_counted: Vec<Value> = failed
        .map(|item| {
            json!({ "picture": item.report.source, "row": item.audit.row, "verdict": item.audit.comparison.verdict,
                "reason": why(item) })
        })
        .collect();
    json!({
        "schema": "crokeye.audit/1",
        "out": folder.path(),
        "counted_now": passed.counted,
        "tally": audit.tally(),
        "disagree": of(&[Verdict::Disagrees]),
        "open": of(&[Verdict::Doubtful, Verdict::Open]),
        "not_counted": not_counted,
        "pictures_without_row": if audit.has_sheet { of(&[Verdict::Unclaimed]) } else { Vec::new() },
        "left_out_of_pool": audit.items.iter().filter(|item| item.audit.left_out).map(|item| &item.report.source).collect::<Vec<_>>(),
        "doubles": audit.doubles().iter().map(|group| group.iter().map(|item| &item.report.source).collect()).collect::<Vec<Vec<_>>>(),
        "rows_without_picture": audit.unmatched.iter().map(|(row, why)| json!({ "row": row, "reason": why })).collect::<Vec<_>>(),
        "unusable_rows": audit.faults.iter().map(|f| json!({ "row": f.row, "reason": f.reason })).collect::<Vec<_>>(),
        "unused_columns": audit.unused,
        "conventions": audit.conventions,
    })
}
