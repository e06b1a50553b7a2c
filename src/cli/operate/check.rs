//! `phyllo check`

use std::path::Path;

use form_urlencoded::Serializer;
use serde_json::Value;

use crate::cli::arguments::CheckArguments;
use crate::cli::arguments::location::StoreLocation;
use crate::cli::connect::client::Client;
use crate::cli::connect::opening::StorePurpose;
use crate::cli::connect::reply::{error_of, other_version};
use crate::cli::outcome::{Done, Ended, failed};
use crate::cli::read::names;
use crate::cli::terminal::output::Output;
use crate::database::Summary;
use crate::document::json::write_string;
use crate::error::Result;
use crate::server::local::operator_routes::CHECK;
use crate::store::{EmbeddedReader, FILE_NAME};

pub(crate) async fn run(store: &StoreLocation, check: CheckArguments) -> Done {
    let pages = match (store, &check.collection) {
        (StoreLocation::Directory(directory), None) => damaged_pages(directory)?,
        _ => None,
    };
    let client = Client::open_store(store, StorePurpose::Read).await?;
    if let Some(collection) = &check.collection {
        names::check(&client, collection).await?;
    }
    let mut output = Output::stdout();
    if let Some((file, message)) = &pages {
        let line = if check.json {
            pages_json(file, message)
        } else {
            format!("fault: {message}: {file}\n").into_bytes()
        };
        output.write(&line)?;
        // Reading a damaged page can fail.
        output.flush()?;
    }
    let mut lines = client.get(&path(check.collection.as_deref())).await?;
    let mut summary = loop {
        let Some(line) = lines.line().await? else {
            return Err(failed("the check ended before its summary").into());
        };
        let parsed: Value =
            serde_json::from_slice(&line).map_err(|error| other_version(&error.to_string()))?;
        if let Some(summary) = summary(&parsed) {
            break summary?;
        }
        if check.json {
            output.write(&line)?;
            output.write(b"\n")?;
        } else {
            output.write(finding_text(&parsed).as_bytes())?;
        }
    };
    summary.faults += u64::from(pages.is_some());
    let report = if check.json {
        summary_json(&summary)
    } else {
        summary_text(&summary)
    };
    output.write(report.as_bytes())?;
    output.finish()?;
    if summary.faults > 0 || summary.not_verified > 0 {
        return Err(Ended::Told);
    }
    Ok(())
}

/// The file of a store that no server has open and whose pages are damaged, and what is wrong.
fn damaged_pages(directory: &Path) -> Result<Option<(String, String)>> {
    let file = directory.join(FILE_NAME);
    if !file.exists() {
        return Ok(None);
    }
    let wrong = EmbeddedReader::verify_pages(directory)?;
    Ok(wrong.map(|wrong| (file.display().to_string(), wrong)))
}

fn path(collection: Option<&str>) -> String {
    let mut query = Serializer::new(String::new());
    query.extend_pairs(collection.map(|collection| ("collection", collection)));
    format!("{CHECK}?{}", query.finish())
}

/// The summary, or why the check failed. `None` if the line is a finding.
fn summary(line: &Value) -> Option<Result<Summary>> {
    if let Value::Object(_) = &line["error"] {
        return Some(Err(error_of(&line["error"])));
    }
    let numbers = line.get("summary")?;
    let names = Summary::default().numbers();
    let numbers = names.map(|(name, _)| numbers[name].as_u64().unwrap_or_default());
    Some(Ok(Summary::from_numbers(numbers)))
}

fn finding_text(finding: &Value) -> String {
    let text = |name: &str| finding[name].as_str().unwrap_or_default();
    format!(
        "{}: {}: {} [{}]\n",
        text("severity").to_lowercase(),
        text("message"),
        text("tuple"),
        text("key")
    )
}

fn pages_json(file: &str, message: &str) -> Vec<u8> {
    object_json(&[
        ("severity", "FAULT"),
        ("code", "DAMAGED_PAGE"),
        ("message", message),
        ("file", file),
    ])
}

fn object_json(members: &[(&str, &str)]) -> Vec<u8> {
    let mut line = Vec::new();
    for (name, value) in members {
        line.push(if line.is_empty() { b'{' } else { b',' });
        write_string(&mut line, name);
        line.push(b':');
        write_string(&mut line, value);
    }
    line.extend_from_slice(b"}\n");
    line
}

fn summary_text(summary: &Summary) -> String {
    let Summary {
        documents,
        not_adopted,
        foreign,
        leaves,
        pairs,
        bytes,
        faults,
        not_verified,
    } = summary;
    let seen = format!("{documents} documents, {leaves} leaves, {pairs} pairs, {bytes} bytes");
    let others = match not_adopted + foreign {
        0 => String::new(),
        _ => format!(
            "; of other programs: {not_adopted} documents not adopted, and {foreign} others"
        ),
    };
    let mut judged = match faults {
        0 if *not_verified > 0 => "no faults".to_owned(),
        0 => "sound".to_owned(),
        1 => "1 fault".to_owned(),
        faults => format!("{faults} faults"),
    };
    if *not_verified > 0 {
        judged = format!("{judged}, {not_verified} not verified");
    }
    format!("{seen}{others}; {judged}\n")
}

fn summary_json(summary: &Summary) -> String {
    let numbers = summary.numbers();
    let members = numbers.map(|(name, number)| format!("\"{name}\":{number}"));
    format!("{{\"summary\":{{{}}}}}\n", members.join(","))
}
