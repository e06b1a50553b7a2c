//! Phyllo
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
#[tokio::main]
async fn main() {
    let dir = std::env::args().nth(1).unwrap();
    let store =
        phyllo::store::Embedded::open(std::path::Path::new(&dir), Default::default(), |p| {
            eprintln!("{p}")
        })
        .unwrap();
    let db = phyllo::database::Database::open(
        std::sync::Arc::new(store),
        tokio::time::Instant::now() + std::time::Duration::from_secs(10),
    )
    .await
    .unwrap();
    let mut o = phyllo::server::ServeOptions::on("127.0.0.1:8081".parse().unwrap());
    o.directory = Some(dir.into());
    phyllo::server::serve(db, o).await.unwrap();
}
