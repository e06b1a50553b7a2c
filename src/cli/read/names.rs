//! Suggestions for misspelled collection names.

use form_urlencoded::Serializer;
use serde_json::Value;

use crate::cli::connect::client::Client;
use crate::cli::outcome::{Done, Ended};
use crate::error::{Error, ErrorKind, Result};
use crate::server::local::operator_routes::NAMES;

/// The maximum number of suggestions.
const TOLD_MAX: usize = 3;

/// Fails if the collection does not exist, and suggests the most similar names. At a URL, where the caller may see only
/// some of the collections, nothing is checked.
pub(crate) async fn check(client: &Client, collection: &str) -> Done {
    if !client.is_of_operator() {
        return Ok(());
    }
    match other_names(client, collection).await? {
        Some(names) => Err(Ended::Misused(nowhere(collection, &names))),
        None => Ok(()),
    }
}

/// The names of the existing collections if `collection` does not exist.
async fn other_names(client: &Client, collection: &str) -> Result<Option<Vec<String>>> {
    let query = Serializer::new(String::new())
        .append_pair("collection", collection)
        .finish();
    let reply = client
        .get(&format!("{NAMES}?{query}"))
        .await?
        .whole()
        .await?;
    let reply: Value = serde_json::from_slice(&reply).unwrap_or_default();
    Ok(reply["names"].as_array().map(|names| {
        let names = names.iter().filter_map(Value::as_str);
        names.map(str::to_owned).collect()
    }))
}

fn nowhere(collection: &str, names: &[String]) -> Error {
    let nearest = nearest(collection, names);
    let hint = match (&nearest[..], names) {
        ([], []) => "there are no collections".to_owned(),
        ([], _) => "`phyllo collections` lists the existing ones".to_owned(),
        (nearest, _) => {
            let quoted: Vec<String> = nearest.iter().map(|name| format!("{name:?}")).collect();
            format!("did you mean {}?", quoted.join(" or "))
        }
    };
    Error::new(
        ErrorKind::NotFound,
        format!("there is no collection {collection:?}; {hint}"),
    )
}

/// The names that differ in few characters or only in case, the most similar first.
fn nearest<'n>(collection: &str, names: &'n [String]) -> Vec<&'n str> {
    let distance_max = (collection.chars().count() / 3).max(1);
    let lower = collection.to_lowercase();
    let mut near: Vec<(usize, &str)> = names
        .iter()
        .map(|name| {
            let distance = strsim::damerau_levenshtein(&lower, &name.to_lowercase());
            (distance, &**name)
        })
        .filter(|(distance, _)| *distance <= distance_max)
        .collect();
    near.sort_unstable();
    let near = near.into_iter().take(TOLD_MAX);
    near.map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_similar_names_are_suggested() {
        let names = ["D", "logs", "dogs", "countries", "Countries-old", "l"].map(str::to_owned);
        for (arguments, expected) in [
            ("lgos", &["logs"][..]),
            ("ogs", &["dogs", "logs"]),
            ("LOGS", &["logs", "dogs"]),
            ("contries", &["countries"]),
            ("d", &["D", "l"]),
            ("planets", &[]),
        ] {
            assert_eq!(nearest(arguments, &names), expected, "{arguments}");
        }
        let hint = |names: &[String]| nowhere("x", names).message().to_owned();
        assert_eq!(
            hint(&[]),
            "there is no collection \"x\"; there are no collections"
        );
        assert!(
            hint(&["countries".to_owned()])
                .ends_with("`phyllo collections` lists the existing ones")
        );
        assert!(hint(&["y".to_owned()]).ends_with("did you mean \"y\"?"));
    }
}
