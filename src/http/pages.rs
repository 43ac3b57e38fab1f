//! Pages and what they are made of, all built into the program.
//!
//! A page is HTML with `{{keys}}`; the words come from `text.json`, in the language of `?lang=`, of the cookie that this
//! leaves, or of the browser. Modules read the same words.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::error::{Answer, Problem};

macro_rules! asset {
    ($name:literal) => {
        include_str!(concat!("../../assets/serve/", $name))
    };
}

/// Files that pages ask for, with their media types.
const ASSETS: &[(&str, &str, &str)] = &[
    ("style.css", "text/css; charset=utf-8", asset!("style.css")),
    ("text.json", "application/json", asset!("text.json")),
    ("french.json", "application/json", include_str!("../../assets/french.json")),
    ("icon.svg", "image/svg+xml", asset!("icon.svg")),
    ("common.js", "text/javascript; charset=utf-8", asset!("common.js")),
    ("board.js", "text/javascript; charset=utf-8", asset!("board.js")),
    ("proposal.js", "text/javascript; charset=utf-8", asset!("proposal.js")),
    ("plots.js", "text/javascript; charset=utf-8", asset!("plots.js")),
    ("scoreboard.js", "text/javascript; charset=utf-8", asset!("scoreboard.js")),
    ("referee.js", "text/javascript; charset=utf-8", asset!("referee.js")),
    ("history.js", "text/javascript; charset=utf-8", asset!("history.js")),
    ("audit.js", "text/javascript; charset=utf-8", asset!("audit.js")),
    ("login.js", "text/javascript; charset=utf-8", asset!("login.js")),
];

/// What stands around every page.
const FRAME: &str = asset!("frame.html");

/// The languages, the first one where none of them is asked for.
const LANGUAGES: [&str; 2] = ["en", "fr"];

/// Words by language and key.
static TEXT: LazyLock<BTreeMap<String, BTreeMap<String, String>>> =
    LazyLock::new(|| serde_json::from_str(asset!("text.json")).unwrap_or_default());

/// What a page may be asked.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Wanted {
    lang: Option<String>,
}

type Asked = Result<Query<Wanted>, QueryRejection>;

/// The scoreboard.
pub async fn scoreboard(asked: Asked, headers: HeaderMap) -> Response {
    page("scoreboard", asset!("scoreboard.html"), asked, &headers)
}

/// The scoreboard for a stream: nothing behind it.
pub async fn overlay(asked: Asked, headers: HeaderMap) -> Response {
    page("overlay", asset!("overlay.html"), asked, &headers)
}

/// The referee's page.
pub async fn referee(asked: Asked, headers: HeaderMap) -> Response {
    page("referee", asset!("referee.html"), asked, &headers)
}

/// Matches that were played.
pub async fn history(asked: Asked, headers: HeaderMap) -> Response {
    page("history", asset!("history.html"), asked, &headers)
}

/// Photos against a sheet of scores.
pub async fn audit(asked: Asked, headers: HeaderMap) -> Response {
    page("audit", asset!("audit.html"), asked, &headers)
}

/// Where one logs in.
pub async fn login(asked: Asked, headers: HeaderMap) -> Response {
    page("login", asset!("login.html"), asked, &headers)
}

/// A file that pages ask for.
pub async fn asset(Path(name): Path<String>) -> Answer<impl IntoResponse> {
    let found = ASSETS.iter().find(|(known, ..)| *known == name);
    let (_, media_type, text) = found.ok_or_else(|| Problem::not_found("such file"))?;
    Ok(([(header::CONTENT_TYPE, *media_type), (header::CACHE_CONTROL, "no-cache")], *text))
}

fn page(name: &str, body: &str, asked: Asked, headers: &HeaderMap) -> Response {
    let chosen = asked.ok().and_then(|Query(wanted)| known(&wanted.lang.unwrap_or_default()));
    let language = chosen.or_else(|| cookie(headers)).or_else(|| preferred(headers)).unwrap_or(LANGUAGES[0]);
    let html = filled(&FRAME.replace("{{@body}}", body), name, language);
    let mut response = ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], html).into_response();
    let kept = chosen.and_then(|language| {
        HeaderValue::from_str(&format!("lang={language}; SameSite=Strict; Path=/; Max-Age=31536000")).ok()
    });
    if let Some(kept) = kept {
        response.headers_mut().append(header::SET_COOKIE, kept);
    }
    response
}

/// The page in a language. A key without words shows itself: a test sees to it that there is none.
fn filled(html: &str, name: &str, language: &str) -> String {
    let mut out = String::with_capacity(html.len() * 2);
    let mut rest = html;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((key, next)) = after.split_once("}}") else { break };
        out.push_str(before);
        match key {
            "@language" => out.push_str(language),
            "@page" => out.push_str(name),
            "@title" => out.push_str(word(language, name)),
            key => out.push_str(word(language, key)),
        }
        rest = next;
    }
    out.push_str(rest);
    out
}

fn word<'a>(language: &str, key: &'a str) -> &'a str {
    let words: Option<&'static BTreeMap<String, String>> = TEXT.get(language);
    words.and_then(|words| words.get(key)).map_or(key, String::as_str)
}

fn known(language: &str) -> Option<&'static str> {
    LANGUAGES.into_iter().find(|known| *known == language)
}

fn cookie(headers: &HeaderMap) -> Option<&'static str> {
    let cookies = headers.get(header::COOKIE)?.to_str().ok()?.split(';');
    cookies.filter_map(|cookie| cookie.trim().strip_prefix("lang=")).find_map(known)
}

/// The first language of the browser's list that there is; browsers send it in the order of preference.
fn preferred(headers: &HeaderMap) -> Option<&'static str> {
    let list = headers.get(header::ACCEPT_LANGUAGE)?.to_str().ok()?;
    list.split(',').filter_map(|entry| entry.split([';', '-']).next()).map(str::trim).find_map(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_languages_have_the_same_words_and_pages_ask_for_no_other() {
        let keys = |language: &str| TEXT[language].keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys("en"), keys("fr"));
        assert!(TEXT.values().flat_map(BTreeMap::values).all(|word| !word.trim().is_empty()));
        let pages = [
            ("scoreboard", asset!("scoreboard.html")),
            ("overlay", asset!("overlay.html")),
            ("referee", asset!("referee.html")),
            ("history", asset!("history.html")),
            ("audit", asset!("audit.html")),
            ("login", asset!("login.html")),
        ];
        for (name, body) in pages {
            for part in FRAME.replace("{{@body}}", body).split("{{").skip(1) {
                let key = part.split("}}").next().unwrap().replace("@title", name);
                assert!(key.starts_with('@') || TEXT["en"].contains_key(&key), "{name}: {key}");
            }
        }
        for (name, _, script) in ASSETS.iter().filter(|(name, ..)| name.ends_with(".js")) {
            let calls = script.match_indices("t(\"").filter(|(at, _)| !script[..*at].ends_with(char::is_alphanumeric));
            for key in calls.filter_map(|(at, call)| script[at + call.len()..].split('"').next()) {
                assert!(TEXT["en"].contains_key(key), "{name}: {key}");
            }
        }
    }

    #[test]
    fn the_language_is_the_first_that_is_known() {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT_LANGUAGE, HeaderValue::from_static("de-CH, fr-CH;q=0.9, en;q=0.8"));
        assert_eq!(preferred(&headers), Some("fr"));
        assert_eq!(
            filled("<p lang={{@language}}>{{undo}}</p>{{", "x", "fr"),
            format!("<p lang=fr>{}</p>{{{{", TEXT["fr"]["undo"])
        );
    }
}
