//! Pages and what they are made of, all built into the program.
//!
//! A page is HTML with `{{keys}}`; the words come from `text.json`, in the language of `?lang=`, of the cookie that this
//! leaves, or of the browser. Modules read the same words.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::App;
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
    ("boards.js", "text/javascript; charset=utf-8", asset!("boards.js")),
    ("connectors.js", "text/javascript; charset=utf-8", asset!("connectors.js")),
    ("referee.js", "text/javascript; charset=utf-8", asset!("referee.js")),
    ("history.js", "text/javascript; charset=utf-8", asset!("history.js")),
    ("setup.js", "text/javascript; charset=utf-8", asset!("setup.js")),
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
    board: Option<String>,
}

type Asked = Result<Query<Wanted>, QueryRejection>;
type Service = State<Arc<App>>;

/// The scoreboard.
pub async fn scoreboard(app: Service, asked: Asked, headers: HeaderMap) -> Answer<Response> {
    page("scoreboard", asset!("scoreboard.html"), &app, asked, &headers)
}

/// The scoreboard for a stream: nothing behind it.
pub async fn overlay(app: Service, asked: Asked, headers: HeaderMap) -> Answer<Response> {
    page("overlay", asset!("overlay.html"), &app, asked, &headers)
}

/// All boards at a glance.
pub async fn boards(app: Service, asked: Asked, headers: HeaderMap) -> Answer<Response> {
    page("boards", asset!("boards.html"), &app, asked, &headers)
}

/// The referee's page.
pub async fn referee(app: Service, asked: Asked, headers: HeaderMap) -> Answer<Response> {
    page("referee", asset!("referee.html"), &app, asked, &headers)
}

/// Matches that were played.
pub async fn history(app: Service, asked: Asked, headers: HeaderMap) -> Answer<Response> {
    page("history", asset!("history.html"), &app, asked, &headers)
}

/// Photos against a sheet of scores.
pub async fn audit(app: Service, asked: Asked, headers: HeaderMap) -> Answer<Response> {
    page("audit", asset!("audit.html"), &app, asked, &headers)
}

/// Camera, board, colours, trays and match.
pub async fn setup(app: Service, asked: Asked, headers: HeaderMap) -> Answer<Response> {
    page("setup", asset!("setup.html"), &app, asked, &headers)
}

/// Where one logs in.
pub async fn login(app: Service, asked: Asked, headers: HeaderMap) -> Answer<Response> {
    page("login", asset!("login.html"), &app, asked, &headers)
}

/// A file that pages ask for.
pub async fn asset(Path(name): Path<String>) -> Answer<impl IntoResponse> {
    let found = ASSETS.iter().find(|(known, ..)| *known == name);
    let (_, media_type, text) = found.ok_or_else(|| Problem::not_found("such file"))?;
    Ok(([(header::CONTENT_TYPE, *media_type), (header::CACHE_CONTROL, "no-cache")], *text))
}

fn page(name: &'static str, body: &str, app: &App, asked: Asked, headers: &HeaderMap) -> Answer<Response> {
    let Wanted { lang, board } = asked.map(|Query(wanted)| wanted).unwrap_or_default();
    let table = app.hall.find(board.as_deref()).ok_or_else(|| Problem::not_found("such board"))?;
    let chosen = known(&lang.unwrap_or_default());
    let language = chosen.or_else(|| cookie(headers)).or_else(|| preferred(headers)).unwrap_or(LANGUAGES[0]);
    let about =
        About { name, language, board: &table.label.id, named: board.is_some(), boards: app.hall.tables().len() };
    let html = about.filled(&FRAME.replace("{{@body}}", body));
    let mut response = ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], html).into_response();
    let kept = chosen.and_then(|language| {
        HeaderValue::from_str(&format!("lang={language}; SameSite=Strict; Path=/; Max-Age=31536000")).ok()
    });
    if let Some(kept) = kept {
        response.headers_mut().append(header::SET_COOKIE, kept);
    }
    Ok(response)
}

/// What a page is about.
struct About<'a> {
    name: &'static str,
    language: &'static str,
    /// Id of the board.
    board: &'a str,
    /// Was the board asked for? Then links of the page ask for it too.
    named: bool,
    /// How many boards there are.
    boards: usize,
}

impl About<'_> {
    /// The page in its language. A key without words shows itself: a test sees to it that there is none.
    fn filled(&self, html: &str) -> String {
        let mut out = String::with_capacity(html.len() * 2);
        let mut rest = html;
        while let Some((before, after)) = rest.split_once("{{") {
            let Some((key, next)) = after.split_once("}}") else { break };
            out.push_str(before);
            match key {
                "@language" => out.push_str(self.language),
                "@page" => out.push_str(self.name),
                "@title" => out.push_str(word(self.language, self.name)),
                "@board" => out.push_str(self.board),
                "@boards" => out.push_str(&self.boards.to_string()),
                "@at" if self.named => out.push_str(&format!("?board={}", self.board)),
                "@query" if self.named => out.push_str(&format!("board={}&amp;", self.board)),
                "@at" | "@query" => {}
                key => out.push_str(word(self.language, key)),
            }
            rest = next;
        }
        out.push_str(rest);
        out
    }
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
            ("boards", asset!("boards.html")),
            ("referee", asset!("referee.html")),
            ("history", asset!("history.html")),
            ("audit", asset!("audit.html")),
            ("setup", asset!("setup.html")),
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

    fn about(named: bool) -> About<'static> {
        About { name: "referee", language: "fr", board: "hall-2", named, boards: 3 }
    }

    #[test]
    fn links_keep_the_board_that_was_asked_for() {
        let html = "<a href=\"/referee{{@at}}\"><a href=\"?{{@query}}lang=en\">";
        assert_eq!(
            about(true).filled(html),
            "<a href=\"/referee?board=hall-2\"><a href=\"?board=hall-2&amp;lang=en\">"
        );
        assert_eq!(about(false).filled(html), "<a href=\"/referee\"><a href=\"?lang=en\">");
    }

    #[test]
    fn the_language_is_the_first_that_is_known() {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT_LANGUAGE, HeaderValue::from_static("de-CH, fr-CH;q=0.9, en;q=0.8"));
        assert_eq!(preferred(&headers), Some("fr"));
        assert_eq!(
            about(true).filled("<p lang={{@language}}>{{undo}}</p>{{"),
            format!("<p lang=fr>{}</p>{{{{", TEXT["fr"]["undo"])
        );
    }
}
