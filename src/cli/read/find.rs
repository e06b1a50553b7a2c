//! `phyllo find`

use crate::cli::arguments::find::Find;
use crate::cli::arguments::parse::WrittenPath;
use crate::cli::connect::client::{Client, DataSource};
use crate::cli::connect::data::{OperationData, OperationVariables, check_json};
use crate::cli::connect::opening::StorePurpose;
use crate::cli::connect::raw_json::RawJson;
use crate::cli::outcome::{Done, Ended};
use crate::cli::read::names;
use crate::cli::terminal::output::{Output, on_one_line};
use crate::document::json::write_string;
use crate::error::Result;
use crate::limits::FOUND_AT_A_TIME;

const FIND: &str = "query Find(
  $collection: String!, $where: DocumentFilter!, $orderBy: [DocumentOrder!], $first: Int!,
  $after: String, $scanLimit: Int, $whole: Boolean!, $columns: [Path!]!
) {
  documents(
    collection: $collection, where: $where, orderBy: $orderBy, first: $first, after: $after,
    scanLimit: $scanLimit
  ) {
    nodes { key value @include(if: $whole) values(paths: $columns) @skip(if: $whole) }
    pageInfo { hasNextPage endCursor }
  }
}";

/// Prints the documents that match, a page at a time.
pub(crate) async fn run(source: DataSource<'_>, arguments: Find) -> Done {
    check_json(&arguments.filter).map_err(|error| Ended::Misused(error.at("the filter")))?;
    let client = Client::open(source, StorePurpose::Read).await?;
    let collection = &arguments.collection.name;
    let mut output = Output::stdout();
    let mut left = arguments.limit.unwrap_or(usize::MAX);
    let mut after = None;
    let mut is_empty = true;
    while left > 0 {
        let first = left.min(FOUND_AT_A_TIME);
        let variables = variables_of(&client, &arguments, first, after.as_deref());
        let data = client.execute(FIND, variables).await?;
        let (lines, count) = lines(&data, !arguments.column.is_empty())?;
        output.write(&lines)?;
        // The next page can take long.
        output.flush()?;
        is_empty &= count == 0;
        left = left.saturating_sub(count);
        after = next_page(&data)?;
        if after.is_none() {
            break;
        }
    }
    output.finish()?;
    if is_empty {
        names::check(&client, collection).await?;
    }
    Ok(())
}

fn variables_of(
    client: &Client,
    arguments: &Find,
    first: usize,
    after: Option<&str>,
) -> OperationVariables {
    let columns: Vec<String> = arguments.column.iter().map(WrittenPath::json).collect();
    let whole = if columns.is_empty() { "true" } else { "false" };
    let mut variables = OperationVariables::of_collection(&arguments.collection.name)
        .json("where", &arguments.filter)
        .json("first", &first.to_string())
        .json("whole", whole)
        .json("columns", &format!("[{}]", columns.join(",")));
    if !arguments.order.is_empty() {
        let orders: Vec<String> = arguments
            .order
            .iter()
            .map(|order| order_input(order))
            .collect();
        variables = variables.json("orderBy", &format!("[{}]", orders.join(",")));
    }
    if let Some(after) = after {
        variables = variables.string("after", after);
    }
    match arguments.scan_limit {
        Some(limit) => variables.json("scanLimit", &limit.to_string()),
        // What the operator asks for is not limited.
        None if client.is_of_operator() => variables.json("scanLimit", &i32::MAX.to_string()),
        None => variables,
    }
}

/// The element of `orderBy`.
fn order_input(order: &str) -> String {
    let (path, descending) = match order.strip_suffix(" desc") {
        Some(path) => (path, true),
        None => (order.strip_suffix(" asc").unwrap_or(order), false),
    };
    let mut by = Vec::new();
    write_string(&mut by, path.trim());
    let by = String::from_utf8_lossy(&by);
    format!("{{\"by\":{by},\"descending\":{descending}}}")
}

/// The lines of a page, and the number of documents.
fn lines(data: &OperationData, has_columns: bool) -> Result<(Vec<u8>, usize)> {
    let mut lines = Vec::new();
    let page = data.field("documents")?;
    let nodes = page.map(|page| page.member("nodes")).transpose()?.flatten();
    let nodes = nodes.map(RawJson::elements).transpose()?;
    let nodes = nodes.unwrap_or_default();
    for node in &nodes {
        let key = node.member("key")?.map_or("null", RawJson::text);
        if has_columns {
            write_text(&mut lines, key);
            let values = node.member("values")?;
            let values = values.map(RawJson::elements).transpose()?;
            for value in values.unwrap_or_default() {
                lines.push(b'\t');
                write_text(&mut lines, value.text());
            }
        } else {
            let value = node.member("value")?.map_or("null", RawJson::text);
            lines.extend_from_slice(format!("{{\"id\":{key},\"document\":{value}}}").as_bytes());
        }
        lines.push(b'\n');
    }
    Ok((lines, nodes.len()))
}

/// Writes a string as its text, null as nothing, and another value as JSON.
fn write_text(line: &mut Vec<u8>, json: &str) {
    match serde_json::from_str::<String>(json) {
        Ok(text) => line.extend_from_slice(on_one_line(&text).as_bytes()),
        Err(_) if json == "null" => {}
        Err(_) => line.extend_from_slice(json.as_bytes()),
    }
}

/// The cursor after which the next page begins. `None` if there is none.
fn next_page(data: &OperationData) -> Result<Option<String>> {
    let page = data.field("documents")?;
    let info = page
        .map(|page| page.member("pageInfo"))
        .transpose()?
        .flatten();
    let Some(info) = info else {
        return Ok(None);
    };
    if info.member("hasNextPage")?.map(RawJson::text) != Some("true") {
        return Ok(None);
    }
    let cursor = info.member("endCursor")?;
    Ok(cursor.and_then(|cursor| serde_json::from_str(cursor.text()).ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_read() {
        for (order, expected) in [
            ("$.a", r#"{"by":"$.a","descending":false}"#),
            ("$.a asc", r#"{"by":"$.a","descending":false}"#),
            (
                "$['a desc'] desc",
                r#"{"by":"$['a desc']","descending":true}"#,
            ),
        ] {
            assert_eq!(order_input(order), expected);
        }
    }
}
