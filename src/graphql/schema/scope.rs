//! Which operations a server has.

/// The operations in the schema of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SchemaScope {
    /// All operations.
    #[default]
    Full,
    /// All operations except those that create or drop indexes or drop collections.
    WithoutAdmin,
    /// Only queries: there is no type `Mutation`.
    ReadOnly,
}

impl SchemaScope {
    /// The scope of a server that is `read_only`, or that allows administration (`admin`) or not.
    pub fn of(read_only: bool, admin: bool) -> Self {
        match (read_only, admin) {
            (true, _) => Self::ReadOnly,
            (false, true) => Self::Full,
            (false, false) => Self::WithoutAdmin,
        }
    }
}
