//! Executes pages of docs/ over HTTP. Each `graphql` block of a page is sent to a server, in order,
//! and the response is compared with the `json` block after it.

mod exchange;
mod served;
mod versions;

pub(crate) use exchange::Exchange;
use serde_json::Value;
pub(crate) use served::Served;
use versions::Versions;

/// Sends operations of a page, in order, and compares every response with the page. The page omits
/// the locations of errors in the query.
///
/// # Errors
/// The first different response, and its position.
pub(crate) async fn walk(served: &Served, exchanges: &[Exchange]) -> Result<(), String> {
    let mut versions = Versions::default();
    for exchange in exchanges {
        let variables = versions.as_served(&exchange.variables);
        let mut response = served.ask(&exchange.query, &variables).await;
        let errors = response.get_mut("errors").and_then(Value::as_array_mut);
        for error in errors.into_iter().flatten() {
            if let Some(error) = error.as_object_mut() {
                error.remove("locations");
            }
        }
        let compared = versions.compare(&exchange.response, &response);
        compared.map_err(|wrong| format!("{}: {wrong}", exchange.place))?;
    }
    versions.assert_order();
    Ok(())
}
