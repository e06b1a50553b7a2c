//! Data that filters read, which used to be unlimited (finding 5).

use serde_json::json;

use super::super::client::{body, post};
use super::super::limits::Limits;
use super::super::server::alone;
use super::super::world::{list, store};
use super::{BOUNDED, Case, Expected};

/// Documents of a collection, and the bytes of each.
const DOCUMENTS: usize = 24;
const DOCUMENT_BYTES: usize = 1 << 20;

fn filled(limits: Limits) -> Case {
    let case = Case::new(limits);
    let client = &mut case.server.client();
    for id in 0..DOCUMENTS {
        // Strings, which are read quickly, and numbers, which use much memory.
        let numbers = list(DOCUMENT_BYTES / 64, |at| (at * 7).to_string());
        let text = "x".repeat(DOCUMENT_BYTES / 2);
        let document = format!("{{\"n\":{id},\"s\":\"{text}\",\"a\":{numbers}}}");
        store(client, "D", &id.to_string(), &document);
    }
    case
}

#[test]
fn data_read_by_filters_counts_as_held_memory() {
    let Some(_alone) = alone() else { return };
    let limits = Limits {
        held_bytes: 16 << 20,
        read_bytes: 64 << 20,
        steps: 50_000_000,
        ..Limits::LOW
    };
    let mut case = filled(limits);
    let nothing = Expected::RefusedOr(BOUNDED, json!({"documents": {"nodes": []}}));
    for filter in [
        "{at: \"$..*\", eq: -1}",
        "{not: {at: \"$..*\", exists: true}}",
    ] {
        let query = format!("{{ documents(where: {filter}) {{ nodes {{ key }} }} }}");
        let request = post(&body(&query, "{}"));
        case.check(&format!("12 times {filter}"), &vec![request; 12], &nothing);
    }
    case.end();
}

#[test]
fn filters_on_large_documents_work_for_any_page_size() {
    let Some(_alone) = alone() else { return };
    // The documents read for one page used to share a limit of 256 MiB, however few were held at a
    // time.
    let limits = Limits {
        body_bytes: 16 << 20,
        // The engine's cache holds the whole collection too.
        held_bytes: 512 << 20,
        read_bytes: 1 << 30,
        steps: 50_000_000,
        ..Limits::LOW
    };
    let mut case = Case::new(limits);
    let client = &mut case.server.client();
    for id in 0..DOCUMENTS {
        let text = "x".repeat(12 << 20);
        store(
            client,
            "D",
            &id.to_string(),
            &format!("{{\"n\":{id},\"s\":\"{text}\"}}"),
        );
    }
    let last = json!({"documents": {"nodes": [{"key": "23"}]}});
    for first in [1, 100] {
        let query = format!(
            "{{ documents(first: {first}, where: {{at: \"$[?@==23]\", exists: true}}) {{ nodes {{ key }} }} }}"
        );
        let name = format!("documents(first: {first})");
        case.check_query(&name, &query, "{}", &Expected::Data(last.clone()));
    }
    let update = "mutation { updateDocuments(where: {at: \"$[?@>=20]\", exists: true}, \
                  set: [{at: \"$.n\", value: 99}]) { matched changed } }";
    let updated = json!({"updateDocuments": {"matched": 4, "changed": 4}});
    case.check_write("updateDocuments", update, "{}", &Expected::Data(updated));
    case.end();
}
