//! Why changes cannot be followed.

use crate::error::{Error, ErrorKind};

pub(super) fn log_is_off() -> Error {
    Error::bad_input(
        "the change log of this store is off: switch it on with `phyllo serve --change-retention \
         24h`; the setting belongs to the store",
    )
}

pub(super) fn expired() -> Error {
    Error::new(
        ErrorKind::ChangesExpired,
        "the change log no longer has all changes after this position: read the current state and \
         `changesCursor`, and follow from there",
    )
}

pub(super) fn other_history() -> Error {
    Error::new(
        ErrorKind::ChangesExpired,
        "the cursor belongs to another history of the store, for example to one from before a \
         backup was restored: read the current state and `changesCursor`, and follow from there",
    )
}
