//! A multimap with concurrent additions.

use serde_json::json;

use crate::pages::Served;

cases!(
    threads [
        concurrent_additions_to_one_key_are_all_stored_once,
    ]
);

const CLIENTS: usize = 8;
const CLASSES: usize = 40;

async fn concurrent_additions_to_one_key_are_all_stored_once() {
    let served = Served::on(super::empty_store().await).await;
    let add = r#"mutation($class: JSON) {
        mergeDocument(collection: "students", id: "jones", patch: $class) { key }
    }"#;
    let clients = (0..CLIENTS).map(|client| {
        let served = served.clone();
        tokio::spawn(async move {
            // Two clients add each class.
            for class in (0..CLASSES).filter(|class| (class + client) % (CLIENTS / 2) == 0) {
                let name = format!("class {class}");
                let patch = json!({"classes": {&name: &name}});
                served.data(add, &json!({"class": patch})).await;
            }
        })
    });
    let clients: Vec<_> = clients.collect();
    for client in clients {
        client.await.expect("a client that did not fail");
    }
    let query = r#"{ document(collection: "students", id: "jones") { value(path: "/classes") } }"#;
    let data = served.data(query, &json!({})).await;
    let all: serde_json::Map<_, _> = (0..CLASSES)
        .map(|class| format!("class {class}"))
        .map(|name| (name.clone(), json!(name)))
        .collect();
    assert_eq!(data["document"]["value"], json!(all));
    served.assert_sound().await;
}
