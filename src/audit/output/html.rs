//! `report.html`: one file that opens without a network, in English and French.
//!
//! The page holds each picture's public count and its small pictures; a script of its own draws lines, discs and values
//! over them, and lets the auditor decide. Written picture by picture, so that memory does not grow with the season.

use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::json;

use super::OutputError;
use crate::audit::{Audit, Item, picture};

const PAGE: &str = include_str!("../../../assets/audit/report.html");
const STYLE: &str = include_str!("../../../assets/audit/report.css");
const SCRIPT: &str = include_str!("../../../assets/audit/report.js");
/// The count's sentences in French: patterns and what is said instead.
const FRENCH: &str = include_str!("../../../assets/french.json");

/// Gives the bytes of a picture's file by the item and the end of the name, where it exists.
pub type Pictures<'a> = dyn FnMut(&Item, &str) -> io::Result<Option<Vec<u8>>> + 'a;

/// Writes the page. `pictures` gives the bytes of a picture's file by the item and the end of the name, where it exists.
///
/// # Errors
/// The writer's, or that of `pictures`.
pub fn write(audit: &Audit, pictures: &mut Pictures<'_>, mut out: impl Write) -> Result<(), OutputError> {
    let (head, rest) = PAGE.split_once("/*style*/").unwrap_or((PAGE, ""));
    let (middle, rest) = rest.split_once("<!--data-->").unwrap_or((rest, ""));
    let (before_script, tail) = rest.split_once("/*script*/").unwrap_or((rest, ""));
    write!(out, "{head}{STYLE}{middle}")?;
    let summary = json!({
        "schema": "crokeye.audit/1",
        "version": env!("CARGO_PKG_VERSION"),
        "tally": audit.tally(),
        "has_sheet": audit.has_sheet,
        "conventions": audit.conventions,
        "unmatched": audit.unmatched,
        "faults": audit.faults.iter().map(|fault| (fault.row, &fault.reason)).collect::<Vec<_>>(),
        "unused": audit.unused,
    });
    data(&mut out, "audit", "", &summary)?;
    data(&mut out, "french", "", &serde_json::from_str::<serde_json::Value>(FRENCH)?)?;
    for item in audit.ranked() {
        data(&mut out, "", "item", &Shown { item, key: &item.audit.key, needs_eyes: item.needs_eyes() })?;
        for name in picture::names(&item.report, item.grade()) {
            if let Some(bytes) = pictures(item, &name)? {
                let plain = name.replace("-fine", "");
                let id = format!("{}-{}", item.audit.key, plain.trim_end_matches(".jpg"));
                writeln!(out, "<script type=\"text/plain\" id=\"{id}\">{}</script>", STANDARD.encode(bytes))?;
            }
        }
    }
    write!(out, "{before_script}{SCRIPT}{tail}")?;
    Ok(out.flush()?)
}

#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    item: &'a Item,
    key: &'a str,
    needs_eyes: bool,
}

/// JSON in a page: a name with a tag in it must not end the element.
fn data(out: &mut impl Write, id: &str, class: &str, value: &impl Serialize) -> Result<(), OutputError> {
    let text = serde_json::to_string(value)?.replace('<', "\\u003c");
    Ok(writeln!(out, "<script type=\"application/json\" id=\"{id}\" class=\"{class}\">{text}</script>")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_its_three_places() {
        for place in ["/*style*/", "<!--data-->", "/*script*/"] {
            assert_eq!(PAGE.matches(place).count(), 1, "{place}");
        }
        for text in [STYLE, SCRIPT] {
            assert!(!text.contains("http://") || text.contains("www.w3.org"), "nothing is loaded from elsewhere");
            assert!(!text.contains("</script"));
        }
    }

    #[test]
    fn a_name_cannot_end_its_element() {
        let mut out = Vec::new();
        data(&mut out, "x", "", &"</script><b>").unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.matches("</script>").count(), 1);
        assert!(!text.contains("<b>"));
    }
}
