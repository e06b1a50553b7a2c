//! The schema of this subgraph, which a gateway composes into its own (Apollo Federation, subgraph
//! specification 2.5).

use bytes::Bytes;

use crate::document::json::write_string;

/// The text of the subgraph schema, encoded as a JSON string that all responses share.
#[derive(Clone)]
pub(crate) struct SubgraphSdl(Bytes);

impl SubgraphSdl {
    pub(crate) fn new(sdl: &str) -> Self {
        let mut json = Vec::with_capacity(2 * sdl.len());
        write_string(&mut json, sdl);
        Self(json.into())
    }

    /// The text as JSON.
    pub(crate) fn json(&self) -> &[u8] {
        &self.0
    }
}
