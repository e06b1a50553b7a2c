//! `phyllo check`

use std::path::Path;

use crate::cli::arguments::CheckArguments;
use crate::cli::arguments::location::StoreLocation;
use crate::cli::connect::access::DatabaseAccess;
use crate::cli::connect::opening::StorePurpose;
use crate::cli::outcome::{Done, Ended};
use crate::cli::read::names;
use crate::cli::terminal::output::Output;
use crate::database::{Finding, Severity, Summary};
use crate::document::json::write_string;
use crate::error::Result;
use crate::key::{hex, tuple_text};
use crate::store::{EmbeddedReader, FILE_NAME};

pub(crate) async fn run(store: &StoreLocation, check: CheckArguments) -> Done {
    let pages = match (store, &check.collection) {
        (StoreLocation::Directory(directory), None) => damaged_pages(directory)?,
        _ => None,
    };
    let access = DatabaseAccess::open(store, StorePurpose::Read).await?;
    if let Some(collection) = &check.collection {
        names::check(&access, collection).await?;
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
    let mut findings = access.check(check.collection.as_deref()).await?;
    let mut summary = loop {
        match findings.next().await? {
            Ok(finding) if check.json => output.write(&finding_json(&finding))?,
            Ok(finding) => output.write(finding_text(&finding).as_bytes())?,
            Err(summary) => break summary,
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

fn finding_text(finding: &Finding) -> String {
    let Finding { message, key, .. } = finding;
    let severity = match finding.severity {
        Severity::Fault => "fault",
        Severity::Unverified => "unverified",
        Severity::Information => "information",
    };
    format!(
        "{severity}: {message}: {} [{}]\n",
        tuple_text(key),
        hex(key)
    )
}

fn finding_json(finding: &Finding) -> Vec<u8> {
    let severity = match finding.severity {
        Severity::Fault => "FAULT",
        Severity::Unverified => "UNVERIFIED",
        Severity::Information => "INFORMATION",
    };
    let (tuple, hex) = (tuple_text(&finding.key), hex(&finding.key));
    let members = [
        ("severity", severity),
        ("code", &finding.code),
        ("message", &finding.message),
        ("tuple", &tuple),
        ("key", &hex),
    ];
    object_json(&members)
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
