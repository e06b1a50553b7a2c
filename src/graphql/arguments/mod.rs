//! The arguments of fields: pages, groups, filters, and the values of mutations.

pub(crate) mod aggregate_request;
pub(crate) mod children_request;
pub(crate) mod documents_request;
pub(crate) mod filter_input;
pub(crate) mod json_argument;
pub(crate) mod page_arguments;
pub(crate) mod place_input;
pub(crate) mod required;
pub(crate) mod timestamp;
pub(crate) mod typed_children;
pub(crate) mod update_lists;
