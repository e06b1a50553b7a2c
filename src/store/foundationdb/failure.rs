//! Maps FoundationDB's errors to the project's errors.

use std::path::Path;

use foundationdb::FdbError;

use crate::error::{Error, ErrorKind, Limit, Result};
use crate::key::Version;
use crate::limits::{
    CLUSTER_SNAPSHOT_TIME_MAX, CLUSTER_TRANSACTION_BYTES_MAX, KEY_BYTES_MAX, VALUE_BYTES_MAX,
};
use crate::store::PendingStamps;

// See <https://apple.github.io/foundationdb/api-error-codes.html>.
const TRANSACTION_TOO_OLD: i32 = 1007;
const NOT_COMMITTED: i32 = 1020;
const TRANSACTION_TIMED_OUT: i32 = 1031;
const ACCESSED_UNREADABLE: i32 = 1036;
const DATABASE_LOCKED: i32 = 1038;
const NO_CLUSTER_FILE_FOUND: i32 = 1515;
const TRANSACTION_TOO_LARGE: i32 = 2101;
const KEY_TOO_LARGE: i32 = 2102;
const VALUE_TOO_LARGE: i32 = 2103;
const PERMISSION_DENIED: i32 = 6000;
/// Codes from here on are errors of the client: it rejects the request itself.
const FIRST_OF_CLIENT: i32 = 2000;

/// Whether a commit that failed with this error certainly had no effect. The outcome after any
/// other error, including a timeout, is unknown.
pub(super) fn is_certain(error: FdbError) -> bool {
    error.is_retryable_not_committed() || error.code() >= FIRST_OF_CLIENT
}

/// Whether a snapshot read may succeed if it is repeated at the same version.
pub(super) fn is_passing(error: FdbError) -> bool {
    is_worth_another_try(error) && !is_too_old(error)
}

/// A locked cluster usually stays locked for longer than a request can wait.
fn is_worth_another_try(error: FdbError) -> bool {
    error.is_retryable_not_committed() && error.code() != DATABASE_LOCKED
}

pub(super) fn is_too_old(error: FdbError) -> bool {
    error.code() == TRANSACTION_TOO_OLD
}

/// The error of a transaction's body, or of a commit that had no effect.
pub(super) fn of_transaction(error: FdbError) -> Error {
    match error.code() {
        NOT_COMMITTED => Error::new(
            ErrorKind::Conflict,
            "other operations kept changing the data that this operation reads; try again",
        ),
        TRANSACTION_TOO_OLD => Error::new(
            ErrorKind::Conflict,
            format!(
                "the operation took longer than the {} seconds that FoundationDB allows for a \
                 transaction; do less in one operation, or try again",
                CLUSTER_SNAPSHOT_TIME_MAX.as_secs()
            ),
        ),
        _ if is_worth_another_try(error) => Error::new(
            ErrorKind::Conflict,
            format!("the FoundationDB cluster rejected the transaction ({error}); try again"),
        ),
        _ => other(error),
    }
}

/// The error of a snapshot read.
pub(super) fn of_snapshot(error: FdbError) -> Error {
    if is_too_old(error) {
        return too_old();
    }
    other(error)
}

/// The error of a snapshot that is older than the cluster allows.
pub(super) fn too_old() -> Error {
    Error::timeout(
        Some(Limit::of_time(
            "snapshotMilliseconds",
            CLUSTER_SNAPSHOT_TIME_MAX,
        )),
        format!(
            "the read took longer than the {} seconds for which FoundationDB keeps a snapshot; \
             request less at a time",
            CLUSTER_SNAPSHOT_TIME_MAX.as_secs()
        ),
    )
}

/// The error of an id that is a versionstamp of a later commit than the cluster has had.
pub(super) fn version_ahead(version: Version) -> Error {
    let needed = version.commit_number().saturating_add(1);
    Error::bad_input(format!(
        "a document has the versionstamp of the commit {version}, which is later than all commits \
         of this cluster, so documents appended here would precede it: first run \
         `advanceversion {needed}` in fdbcli"
    ))
}

/// The error of a transaction that exceeds the cluster's size limit.
pub(super) fn too_large(bytes: usize) -> Error {
    Error::too_large(
        Limit::new("transactionBytes", CLUSTER_TRANSACTION_BYTES_MAX),
        format!(
            "the operation makes a transaction of {bytes} bytes, including its conflict ranges; \
         FoundationDB's limit is {CLUSTER_TRANSACTION_BYTES_MAX} bytes"
        ),
    )
}

/// The error of a commit with an unknown outcome.
pub(super) fn of_unknown_commit(error: FdbError) -> Error {
    Error::unavailable(
        "the FoundationDB cluster did not say whether it committed",
        detail(error),
    )
}

/// The error of the client itself.
pub(super) fn of_client(error: FdbError) -> Error {
    Error::unavailable(
        format!("FoundationDB's client cannot be used: {error}"),
        detail(error),
    )
}

/// The error of opening a cluster.
pub(super) fn of_open(error: FdbError, cluster_file: Option<&str>) -> Error {
    let message = match cluster_file {
        Some(path) => format!("the FoundationDB cluster of {path} cannot be opened: {error}"),
        None => format!("the FoundationDB cluster of the default file cannot be opened: {error}"),
    };
    Error::unavailable(message, detail(error))
}

/// Checks the path of a cluster file and converts it for the client.
pub(super) fn check_cluster_file(path: &Path) -> Result<&str> {
    let cannot = |why: &dyn std::fmt::Display| {
        Error::unavailable(
            format!("the cluster file {} cannot be read: {why}", path.display()),
            "",
        )
    };
    std::fs::metadata(path).map_err(|error| cannot(&error))?;
    let text = path.to_str().filter(|text| !text.contains('\0'));
    text.ok_or_else(|| cannot(&"its name is not UTF-8"))
}

fn other(error: FdbError) -> Error {
    match error.code() {
        ACCESSED_UNREADABLE => PendingStamps::value_read(),
        TRANSACTION_TIMED_OUT => {
            Error::unavailable("the FoundationDB cluster does not answer", detail(error))
        }
        DATABASE_LOCKED => Error::unavailable(
            "the FoundationDB cluster is locked, as during a restore",
            detail(error),
        ),
        PERMISSION_DENIED => Error::unavailable(
            "the FoundationDB cluster does not trust this client: set FDB_TLS_CERTIFICATE_FILE and \
             FDB_TLS_KEY_FILE to a certificate that the cluster accepts and to its key",
            detail(error),
        ),
        NO_CLUSTER_FILE_FOUND => of_open(error, None),
        TRANSACTION_TOO_LARGE => Error::too_large(
            Limit::new("transactionBytes", CLUSTER_TRANSACTION_BYTES_MAX),
            format!(
                "the operation makes a transaction of more than {CLUSTER_TRANSACTION_BYTES_MAX} \
             bytes, which is FoundationDB's limit"
            ),
        ),
        KEY_TOO_LARGE => Error::too_large(Limit::new("keyBytes", KEY_BYTES_MAX), error.message()),
        VALUE_TOO_LARGE => {
            Error::too_large(Limit::new("valueBytes", VALUE_BYTES_MAX), error.message())
        }
        code if code >= FIRST_OF_CLIENT => Error::internal(detail(error)),
        _ => Error::unavailable(
            format!("the FoundationDB cluster cannot serve: {error}"),
            detail(error),
        ),
    }
}

fn detail(error: FdbError) -> String {
    format!("FoundationDB error {}: {error}", error.code())
}
