//! stub
use crate::database::Database;
use crate::error::Result;
/// stub
pub async fn serve_local(
    _d: &std::path::Path,
    _db: Database,
    stop: impl Future<Output = ()>,
) -> Result<()> {
    stop.await;
    Ok(())
}
