mod support;

/// As in the server.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
use phyllo::graphql::*;
fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let directory = tempfile::tempdir().unwrap();
    runtime.block_on(async {
        let db = support::database(directory.path()).await;
        support::store_document(&db, 40, &support::document(40)).await;
        support::store_document(&db, 10000, &support::document(10000)).await;
        let g = GraphQl::new(db.clone());
        let which = std::env::var("WHICH").unwrap_or_default();
        let (body, n) = match which.as_str() {
            "whole" => (r#"{"query":"{ document(id: 10000) { value } }"}"#.to_string(), 500),
            "hundred" => {
                let paths: String = (0..100).map(|at| format!("p{at}: document(id: 10000, path: [\\\"record{:07}\\\"]) {{ value }} ", at * 25)).collect();
                (format!("{{\"query\":\"{{ {paths} }}\"}}"), 2000)
            }
            _ => (r#"{"query":"query($id: ID!) { document(id: $id, path: \"/record0000003\") { value } }","variables":{"id":40}}"#.replace("\\\"/", "\\\"/").to_string(), 100000),
        };
        let body = bytes::Bytes::from(body);
        for round in 0..4 {
        let t = std::time::Instant::now();
        for _ in 0..n {
            let r = Request::from_json(&body).unwrap();
            let a = g.answer(r, Methods::All).await;
            if let Answer::Executed(b) = &a { std::hint::black_box(b); } else { panic!("{a:?}") }
        }
        println!("{which} {round}: {:.2} us", t.elapsed().as_secs_f64() * 1e6 / n as f64);
        }
    });
}
