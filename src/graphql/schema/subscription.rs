//! The type `Subscription`. Its fields are executed as those of a query, again and again
//! (`execute/subscriptions`), so its type information is that of query types.

use std::borrow::Cow;
use std::pin::Pin;

use async_graphql::registry::{MetaType, Registry};
use async_graphql::{Context, ID, Object, Response, SubscriptionType};
use futures::Stream;

use super::declared::declared;
use super::query::DocumentQueries;
use crate::error::Result;
use crate::graphql::scalars::types::PathScalar;
use crate::graphql::schema::types::changes::DocumentChange;

/// The fields of the type `Subscription` that the type `Query` does not have.
#[derive(Default)]
pub(crate) struct ChangeQueries;

#[Object]
impl ChangeQueries {
    /// Each change of the collection, of the document `id`, or of what is at or below `path`, in the order of commits: none is left out, and none is sent twice. Ends with the error `CHANGES_EXPIRED` if the log no longer has the next change.
    #[expect(
        unused_variables,
        clippy::unused_async,
        reason = "the derived types declare the schema alone"
    )]
    async fn changes(
        &self,
        #[graphql(default = "D", desc = "The collection that holds the documents.")]
        collection: String,
        #[graphql(desc = "The key of the document; by default all documents.")] id: Option<ID>,
        #[graphql(
            default_with = "Some(PathScalar::default())",
            desc = "The path in the document; the empty path is the whole document."
        )]
        path: Option<PathScalar>,
        #[graphql(
            desc = "The cursor of the last change that the client knows, or `Query.changesCursor`; by default changes are sent from now on."
        )]
        after: Option<String>,
    ) -> Result<DocumentChange> {
        declared()
    }
}

/// The root type of subscriptions.
#[derive(Default)]
pub(crate) struct SubscriptionRoot;

const DESCRIPTION: &str = "Sends data when it changes, over WebSocket (`graphql-transport-ws`), \
                           server-sent events or multipart responses. It needs the change log, \
                           which new stores have; `phyllo serve --change-retention 24h` switches it on.";
const DOCUMENT: &str = "The value at `path` in the document with the key `id`: now, and after commits that change it. A client \
                        that is slower than the commits gets only the newest state. Null while nothing is stored \
                        there.";
const DOCUMENTS: &str = "A page of documents, as `Query.documents` returns it: now, and after commits that change it. A client \
                         that is slower than the commits gets only the newest page.";

impl SubscriptionType for SubscriptionRoot {
    fn type_name() -> Cow<'static, str> {
        "Subscription".into()
    }

    fn create_type_info(registry: &mut Registry) -> String {
        registry.create_subscription_type::<Self, _>(|registry| {
            let mut queries = registry.create_fake_output_type::<DocumentQueries>();
            let mut changes = registry.create_fake_output_type::<ChangeQueries>();
            if let (
                MetaType::Object {
                    fields,
                    name,
                    description,
                    is_subscription,
                    rust_typename,
                    ..
                },
                MetaType::Object {
                    fields: change_fields,
                    ..
                },
            ) = (&mut queries, &mut changes)
            {
                let mut own = |name: &str, text: &str| {
                    let mut field = fields.shift_remove(name)?;
                    field.description = Some(text.to_owned());
                    Some((name.to_owned(), field))
                };
                let live = [own("document", DOCUMENT), own("documents", DOCUMENTS)];
                *fields = live.into_iter().flatten().collect();
                fields.append(change_fields);
                *name = Self::type_name().into_owned();
                *description = Some(DESCRIPTION.to_owned());
                *is_subscription = true;
                *rust_typename = Some(std::any::type_name::<Self>());
            }
            queries
        })
    }

    fn create_field_stream<'a>(
        &'a self,
        _: &'a Context<'_>,
    ) -> Option<Pin<Box<dyn Stream<Item = Response> + Send + 'a>>> {
        None
    }
}
