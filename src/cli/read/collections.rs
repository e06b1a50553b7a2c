//! `phyllo collections` and `phyllo stats`

use serde_json::{Value, json};

use crate::cli::arguments::{CollectionsArguments, StatsArguments};
use crate::cli::connect::client::{Client, DataSource};
use crate::cli::connect::data::OperationVariables;
use crate::cli::connect::opening::StorePurpose;
use crate::cli::outcome::Done;
use crate::cli::terminal::output::Output;

const COLLECTIONS: &str = "{ collections { name count } }";

const STATS: &str = "{
  collections { name count indexes { name state indexed } type { state checked } }
  changesCursor
}";

/// Prints the collections that have documents.
pub(crate) async fn run(source: DataSource<'_>, arguments: CollectionsArguments) -> Done {
    let client = Client::open(source, StorePurpose::Read).await?;
    let data = client.execute(COLLECTIONS, OperationVariables::default());
    let mut collections = data.await?.parsed("collections")?;
    let mut output = Output::stdout();
    for collection in collections.as_array_mut().into_iter().flatten() {
        if collection["count"] == 0 {
            continue;
        }
        let line = if arguments.json {
            format!("{collection}\n")
        } else {
            let (name, count) = (text(&collection["name"]), &collection["count"]);
            format!("{name}\t{count}\n")
        };
        output.write(line.as_bytes())?;
    }
    output.finish()
}

/// Prints what each collection has.
pub(crate) async fn stats(source: DataSource<'_>, arguments: StatsArguments) -> Done {
    let client = Client::open(source, StorePurpose::Read).await?;
    let data = client.execute(STATS, OperationVariables::default()).await?;
    let collections = data.parsed("collections")?;
    let collections = collections.as_array().map(Vec::as_slice);
    let collections = collections.unwrap_or_default();
    let has_change_log = data.field("changesCursor")?.is_some();
    let mut output = Output::stdout();
    if arguments.json {
        let stats = json!({"collections": collections, "changeLog": has_change_log});
        output.write(format!("{stats}\n").as_bytes())?;
        return output.finish();
    }
    output.write(table(collections).as_bytes())?;
    let log = if has_change_log { "on" } else { "off" };
    output.write(format!("change log: {log}\n").as_bytes())?;
    output.finish()
}

/// A line for each collection, and one for all of them.
fn table(collections: &[Value]) -> String {
    let mut rows = vec![["COLLECTION", "DOCUMENTS", "INDEXES", "TYPE"].map(str::to_owned)];
    let (mut documents, mut all_indexes) = (0, 0);
    for collection in collections {
        let count = collection["count"].as_i64().unwrap_or_default();
        let indexes = collection["indexes"].as_array().map_or(0, Vec::len);
        documents += count;
        all_indexes += indexes;
        rows.push([
            text(&collection["name"]).escape_debug().to_string(),
            count.to_string(),
            states(&collection["indexes"], count),
            type_state(&collection["type"], count),
        ]);
    }
    rows.push([
        "total".to_owned(),
        documents.to_string(),
        all_indexes.to_string(),
        String::new(),
    ]);
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: [usize; 3] = std::array::from_fn(|column| width(column).unwrap_or(0));
    let mut table = String::new();
    for [name, documents, indexes, ty] in &rows {
        let [name_width, documents_width, indexes_width] = widths;
        let line = format!(
            "{name:name_width$}  {documents:>documents_width$}  {indexes:>indexes_width$}  {ty}"
        );
        table.push_str(line.trim_end());
        table.push('\n');
    }
    table
}

/// The number of indexes, and those that are not ready.
fn states(indexes: &Value, documents: i64) -> String {
    let indexes = indexes.as_array().map(Vec::as_slice).unwrap_or_default();
    let with = |state: &str| -> Vec<&Value> {
        let found = indexes.iter().filter(|it| it["state"] == state);
        found.collect()
    };
    let (building, failed) = (with("BUILDING"), with("FAILED").len());
    if building.is_empty() && failed == 0 {
        return indexes.len().to_string();
    }
    // They are built one after the other.
    let indexed = building.iter().filter_map(|it| it["indexed"].as_i64());
    let percent = percent(indexed.max(), documents);
    let (all, building) = (indexes.len(), building.len());
    format!("{all} ({building} building{percent}, {failed} failed)")
}

fn type_state(ty: &Value, documents: i64) -> String {
    let percent = if ty["state"] == "CHECKING" {
        percent(ty["checked"].as_i64(), documents)
    } else {
        String::new()
    };
    text(&ty["state"]).to_lowercase() + &percent
}

/// How much of the documents is processed. Empty if it is not known. Documents that were deleted since can be
/// among those that are processed.
fn percent(processed: Option<i64>, documents: i64) -> String {
    match processed {
        Some(processed) if documents > 0 => {
            format!(" {}%", processed.min(documents) * 100 / documents)
        }
        _ => String::new(),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn stats_are_a_table() {
        let collections = [
            json!({"name": "D", "count": 5, "indexes": [], "type": null}),
            json!({
                "name": "countries", "count": 40, "type": {"state": "ENFORCED", "checked": 40},
                "indexes": [
                    {"name": "a", "state": "READY", "indexed": null},
                    {"name": "b", "state": "BUILDING", "indexed": 31}
                ]
            }),
            json!({
                "name": "old", "count": 2, "type": {"state": "CHECKING", "checked": 3},
                "indexes": [{"name": "b", "state": "BUILDING", "indexed": null}]
            }),
        ];
        assert_eq!(
            super::table(&collections),
            "COLLECTION  DOCUMENTS                       INDEXES  TYPE\n\
             D                   5                             0\n\
             countries          40  2 (1 building 77%, 0 failed)  enforced\n\
             old                 2      1 (1 building, 0 failed)  checking 100%\n\
             total              47                             3\n"
        );
    }
}
