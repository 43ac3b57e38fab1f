//! The document of the API, OpenAPI 3.1, from what stands at the handlers; and a viewer for it that is built in.
//!
//! What belongs to every route is added here once: how one logs in, and which problems may be answered. Routes that mean the
//! first board, or the one of `?board=`, are described by those that name a board.

use std::sync::{Arc, LazyLock};

use axum::extract::Path;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde_json::Value;
use utoipa::openapi::path::{Operation, ParameterBuilder, ParameterIn};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{Components, ContentBuilder, Ref, RefOr, Required, ResponseBuilder};
use utoipa::{Modify, OpenApi};
use utoipa_swagger_ui::Config;

use super::error::{Answer, KINDS, Problem};
use super::guard::COOKIE;
use super::{audits, boards, connectors, counts, health, matches, schema, session, setup, statistics, streams};

/// Where it is served.
const PLACE: &str = "/api/v1/openapi.json";
/// Routes of a board that also stand without it, for the first one or that of `?board=`.
const SHORT: [&str; 3] = ["state", "events", "live"];

/// What browsers are told of the viewer: it styles its elements as it draws them, and draws icons from its own text.
const VIEWER_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; \
     base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
);

/// An overhead camera at a crokinole board counts each round; a person decides what is close.
///
/// Where no password is asked for everybody may do everything; then only this computer is listened to. Else a viewer sees
/// everything and a referee decides: with the cookie that `POST /api/v1/session` sets, or the password as a bearer token.
/// Commands name their `author`, and may carry `expected`, the revision that was seen: then they are refused should the match
/// have changed since. What was answered is on disk. Problems are `application/problem+json` with a stable `kind`.
#[derive(OpenApi)]
#[openapi(
    info(title = "crokeye", license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")),
    paths(
        boards::list,
        streams::state,
        streams::events,
        streams::live,
        streams::picture,
        streams::pictures,
        streams::overlay,
        streams::overlays,
        streams::top,
        streams::tops,
        boards::press,
        setup::cameras,
        setup::show,
        setup::choose,
        setup::calibration,
        setup::preview,
        counts::count,
        audits::list,
        audits::begin,
        audits::show,
        audits::delete,
        audits::add,
        audits::sheet,
        audits::no_sheet,
        audits::decide,
        audits::picture,
        audits::file,
        statistics::statistics,
        matches::list, matches::show, matches::start, matches::play, matches::record, matches::confirm, matches::dismiss,
        matches::correct, matches::void, matches::undo, matches::redo, matches::first, matches::finish, matches::export,
        matches::evidence, matches::rules, matches::rule_set,
        connectors::list, connectors::tables, connectors::start,
        session::who, session::log_in, session::log_out,
        health::alive, health::ready, health::metrics, document,
    ),
    components(schemas(schema::Problem)),
    security((), ("cookie" = []), ("bearer" = [])),
    modifiers(&Common),
    tags(
        (name = "boards", description = "What goes on at a board"),
        (name = "set-up", description = "Cameras, and what is chosen for a board"),
        (name = "counts", description = "Photos that are sent in"),
        (name = "audits", description = "Photos against a sheet of scores"),
        (name = "matches", description = "Matches, rounds, decisions, exports"),
        (name = "rules", description = "Published rule sets"),
        (name = "connectors", description = "Programs elsewhere that are told"),
        (name = "session", description = "Logging in"),
        (name = "health", description = "For those who keep watch over the program"),
    )
)]
struct Document;

static JSON: LazyLock<String> = LazyLock::new(|| Document::openapi().to_pretty_json().unwrap_or_default());

static VIEWER: LazyLock<Arc<Config<'static>>> = LazyLock::new(|| {
    let config = Config::from(PLACE).use_base_layout().display_request_duration(true).validator_url("none");
    Arc::new(config)
});

/// This document.
#[utoipa::path(
    get, path = "/api/v1/openapi.json", tag = "health",
    responses((status = 200, description = "OpenAPI 3.1", body = Value))
)]
pub async fn document() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], JSON.as_str())
}

/// The viewer's address ends in a slash, for what it is made of lies beside it.
pub async fn viewer_front() -> Redirect {
    Redirect::permanent("/api/docs/")
}

/// The first page of the viewer.
pub async fn viewer_page() -> Answer<Response> {
    viewer_file("")
}

/// What the viewer is made of.
pub async fn viewer(Path(name): Path<String>) -> Answer<Response> {
    viewer_file(&name)
}

fn viewer_file(name: &str) -> Answer<Response> {
    let file = utoipa_swagger_ui::serve(name, Arc::clone(&VIEWER)).map_err(|error| {
        tracing::error!(%error, name, "a file of the API's viewer");
        Problem::fault()
    })?;
    let file = file.ok_or_else(|| Problem::not_found("such file"))?;
    let mut response = ([(header::CONTENT_TYPE, file.content_type)], file.bytes.into_owned()).into_response();
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, VIEWER_POLICY);
    Ok(response)
}

/// What belongs to every route.
struct Common;

impl Modify for Common {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let components = document.components.get_or_insert_with(Components::new);
        let cookie = SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::new(COOKIE)));
        components.add_security_scheme("cookie", cookie);
        let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some("The password")).build();
        components.add_security_scheme("bearer", SecurityScheme::Http(bearer));
        let kinds = KINDS.iter().map(|(kind, _)| Value::from(*kind)).collect();
        name_kinds(components, kinds);
        for short in SHORT {
            let whole = document.paths.paths.get(&format!("/api/v1/boards/{{board}}/{short}")).cloned();
            let Some(mut item) = whole else { continue };
            if let Some(operation) = &mut item.get {
                of_any_board(operation, short);
            }
            document.paths.paths.insert(format!("/api/v1/{short}"), item);
        }
        for (path, item) in &mut document.paths.paths {
            for (operation, writes) in
                [(&mut item.get, false), (&mut item.post, true), (&mut item.put, true), (&mut item.delete, true)]
            {
                if let Some(operation) = operation {
                    add_problems(operation, path, writes);
                }
            }
        }
    }
}

/// A problem's kind is one of those there are.
fn name_kinds(components: &mut Components, kinds: Vec<Value>) {
    use utoipa::openapi::schema::Schema;
    let Some(RefOr::T(Schema::Object(problem))) = components.schemas.get_mut("Problem") else { return };
    if let Some(RefOr::T(Schema::Object(kind))) = problem.properties.get_mut("kind") {
        kind.enum_values = Some(kinds);
    }
}

/// The same for the board of `?board=`, or the first.
fn of_any_board(operation: &mut Operation, short: &str) {
    operation.operation_id = Some(format!("{short}_of_first_board"));
    let optional = ParameterBuilder::new()
        .name("board")
        .parameter_in(ParameterIn::Query)
        .required(Required::False)
        .description(Some("Id of the board; the first without it"))
        .schema(Some(utoipa::schema!(String)))
        .build();
    let parameters = operation.parameters.take().unwrap_or_default();
    let rest = parameters.into_iter().filter(|one| !matches!(one, RefOr::T(parameter) if parameter.name == "board"));
    operation.parameters = Some(std::iter::once(RefOr::T(optional)).chain(rest).collect());
}

/// Which problems a route may answer, by what guards it and what it takes.
fn add_problems(operation: &mut Operation, path: &str, writes: bool) {
    let mut statuses = vec![401, 403, 408, 429, 500, 503];
    if operation.parameters.as_ref().is_some_and(|parameters| !parameters.is_empty()) || path.contains("croki") {
        statuses.extend([400, 404]);
    }
    if writes {
        statuses.extend([400, 404, 409, 413, 422]);
    }
    if path.contains("/export/") {
        statuses.push(422);
    }
    if path.contains("/croki/") {
        statuses.push(502);
    }
    statuses.sort_unstable();
    statuses.dedup();
    for status in statuses {
        let kinds: Vec<&str> = KINDS.iter().filter(|(_, of)| *of == status).map(|(kind, _)| *kind).collect();
        let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
        let response =
            ResponseBuilder::new().description(kinds.join(", ")).content("application/problem+json", content).build();
        operation.responses.responses.entry(status.to_string()).or_insert(RefOr::T(response));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Addresses that are for people or for browsers, not for programs.
    const PAGES: [&str; 6] = ["/assets/{name}", "/api/docs", "/api/docs/", "/api/docs/{*name}", "/login", "/"];

    /// Routes as the router has them: what follows `.route(` is an address and its methods.
    fn routed() -> BTreeSet<(String, String)> {
        let code = include_str!("mod.rs");
        let mut found = BTreeSet::new();
        for part in code.split(".route(").skip(1) {
            let path = part.split('"').nth(1).unwrap();
            let mut depth = 1;
            let end = part.find(|c: char| {
                depth += i32::from(c == '(') - i32::from(c == ')');
                depth == 0
            });
            let methods = &part[..end.unwrap()];
            for method in ["get", "post", "put", "delete"] {
                let call = format!("{method}(");
                let named = methods
                    .match_indices(&call)
                    .any(|(at, _)| !methods[..at].ends_with(|c: char| c.is_alphanumeric() || c == ':' || c == '_'));
                if named {
                    found.insert((path.to_owned(), method.to_owned()));
                }
            }
        }
        found
    }

    #[test]
    fn the_document_and_the_router_name_the_same_routes() {
        let document: Value = serde_json::from_str(&JSON).unwrap();
        let mut described = BTreeSet::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            described.extend(item.as_object().unwrap().keys().map(|method| (path.clone(), method.clone())));
        }
        let is_page = |path: &str| {
            PAGES.contains(&path) || !path.starts_with("/api/") && !["/healthz", "/readyz", "/metrics"].contains(&path)
        };
        let routed: BTreeSet<_> = routed().into_iter().filter(|(path, _)| !is_page(path)).collect();
        assert!(routed.len() > 30, "{routed:?}");
        assert_eq!(described, routed);
    }

    #[test]
    fn operations_have_names_of_their_own_and_words_for_people() {
        let document: Value = serde_json::from_str(&JSON).unwrap();
        let mut names = BTreeSet::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                assert!(names.insert(operation["operationId"].as_str().unwrap().to_owned()), "{method} {path}");
                assert!(operation["summary"].as_str().is_some_and(|text| text.len() > 5), "{method} {path}");
                assert!(operation["tags"][0].is_string(), "{method} {path}");
            }
        }
        assert!(!JSON.contains("/root") && !JSON.contains("src/"));
    }

    #[test]
    fn the_document_is_the_one_that_was_looked_at() {
        insta::assert_snapshot!(JSON.as_str());
    }
}
