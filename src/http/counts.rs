//! A photo is sent in and counted.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequest, Query, Request, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::App;
use super::error::{Answer, Problem};
use super::guard::forget;
use crate::count::report::Report;
use crate::count::{Options, SideColours};
use crate::service::counter::Place;

/// What may be said of a photo.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Wanted {
    /// 1: the overlay as PNG instead of the count.
    overlay: u8,
    /// Colours of side a and b, with a comma.
    sides: Option<String>,
    /// 20s taken off, side a and b, with a comma.
    set_aside: Option<String>,
}

/// Counts a photo: `crokeye.count/1`, or a picture of it.
#[utoipa::path(
    post, path = "/api/v1/counts", tag = "counts",
    params(
        ("overlay" = Option<u8>, Query, description = "1: a picture of the count instead"),
        ("sides" = Option<String>, Query, description = "Colours of side a and b, such as `black,natural`"),
        ("set_aside" = Option<String>, Query, description = "20s taken off, side a and b, such as `2,1`")
    ),
    request_body(content = Vec<u8>, content_type = "image/jpeg", description = "A photo: JPEG, PNG or WebP"),
    responses(
        (status = 200, description = "The count", content((Report = "application/json"), (Vec<u8> = "image/png")))
    )
)]
pub async fn count(
    State(app): State<Arc<App>>,
    wanted: Result<Query<Wanted>, QueryRejection>,
    request: Request,
) -> Answer<Response> {
    let Query(wanted) =
        wanted.map_err(|_| Problem::bad_request("say overlay=1, sides=COLOUR,COLOUR or set_aside=NUMBER,NUMBER"))?;
    let options = options(&wanted)?;
    let (place, bytes) = photo(&app, request).await?;
    let counted = app.counter.count(place, "photo".to_owned(), bytes.to_vec(), options, wanted.overlay == 1).await?;
    Ok(match counted.overlay {
        Some(png) => ([(header::CONTENT_TYPE, "image/png")], png).into_response(),
        None => Json(counted.report).into_response(),
    })
}

/// A place in the queue, then the photo that is sent.
pub async fn photo(app: &App, request: Request) -> Answer<(Place, Bytes)> {
    let place = match app.counter.place() {
        Ok(place) => place,
        Err(error) => {
            forget(request).await;
            return Err(error.into());
        }
    };
    Ok((place, Bytes::from_request(request, &()).await?))
}

fn options(wanted: &Wanted) -> Answer<Options> {
    let mut options = Options::default();
    if let Some(sides) = &wanted.sides {
        let (a, b) = pair(sides)?;
        let named = SideColours::named(a, b).map_err(|error| Problem::bad_request(error.to_string()))?;
        options.sides = Some(named);
    }
    if let Some(aside) = &wanted.set_aside {
        let (a, b) = pair(aside)?;
        let number = |text: &str| {
            let number = text.parse().ok().filter(|number| *number <= 24);
            number.ok_or_else(|| Problem::bad_request("set_aside is two numbers from 0 to 24"))
        };
        options.set_aside = [number(a)?, number(b)?];
    }
    Ok(options)
}

fn pair(text: &str) -> Answer<(&str, &str)> {
    let (a, b) = text.split_once(',').ok_or_else(|| Problem::bad_request("say two values with a comma between"))?;
    Ok((a.trim(), b.trim()))
}
