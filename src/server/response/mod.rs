//! Responses: media types, bodies, conditional requests.

pub(crate) mod conditional;
pub(crate) mod json;
pub(crate) mod media;
pub(crate) mod response_body;
