//! Parts of requests, as axum reads them. One that cannot be read is answered as everything else is that goes wrong: with JSON.

use crate::access::problem;
use axum::extract::rejection::{PathRejection, QueryRejection, StringRejection};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::response::Response;
use serde::de::DeserializeOwned;

/// Parts of the path.
pub(crate) struct Path<T>(pub(crate) T);

/// Parameters behind the `?`.
pub(crate) struct Query<T>(pub(crate) T);

/// The body, which is text.
pub(crate) struct Text(pub(crate) String);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Response> {
        let read = axum::extract::Path::<T>::from_request_parts(parts, state).await;
        let refused = |why: PathRejection| problem(why.status(), why.body_text());
        Ok(Path(read.map_err(refused)?.0))
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Response> {
        let read = axum::extract::Query::<T>::from_request_parts(parts, state).await;
        let refused = |why: QueryRejection| problem(why.status(), why.body_text());
        Ok(Query(read.map_err(refused)?.0))
    }
}

impl<S: Send + Sync> FromRequest<S> for Text {
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        let refused = |why: StringRejection| problem(why.status(), why.body_text());
        Ok(Text(String::from_request(request, state).await.map_err(refused)?))
    }
}
