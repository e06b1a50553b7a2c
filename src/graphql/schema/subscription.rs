//! The type `Subscription`. Its fields are executed as those of a query, again and again
//! (`execute/subscriptions`), so its type information is that of query types.

use std::borrow::Cow;
use std::pin::Pin;

use async_graphql::registry::{MetaType, Registry};
use async_graphql::{
    Context, EmptyMutation, EmptySubscription, ID, Object, Request, Response, Schema,
    SubscriptionType, ValidationMode,
};
use futures::Stream;

use super::query::DocumentQueries;
use crate::database::FollowedChange;
use crate::error::Error;
use crate::graphql::objects::changes::DocumentChange;
use crate::graphql::scalars::types::PathScalar;
use crate::limits::Bounds;

/// The root type of an execution for one change, which is in the data of the request.
#[derive(Default)]
pub(crate) struct ChangeQueries;

#[Object]
impl ChangeQueries {
    /// Each change of the collection, of the document `id`, or of what is at or below `path`, in the order of commits: none is left out, and none is sent twice. Ends with the error `CHANGES_EXPIRED` if the log no longer has the next change.
    #[expect(
        unused_variables,
        clippy::unused_async,
        reason = "the arguments decided which changes are followed"
    )]
    async fn changes(
        &self,
        context: &Context<'_>,
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
    ) -> Result<DocumentChange, Error> {
        let change = context.data_opt::<FollowedChange>();
        let change = change.ok_or_else(|| Error::internal("`changes` without a change"))?;
        Ok(DocumentChange(change.clone()))
    }
}

/// The schema that executes `changes` for one change.
pub(crate) struct ChangeSchema(Schema<ChangeQueries, EmptyMutation, EmptySubscription>);

impl ChangeSchema {
    pub(crate) fn new(bounds: &Bounds) -> Self {
        let schema = Schema::build(ChangeQueries, EmptyMutation, EmptySubscription)
            .limit_recursive_depth(2 * bounds.query_levels)
            .validation_mode(ValidationMode::Fast)
            .finish();
        Self(schema)
    }

    pub(crate) async fn execute(&self, request: Request) -> Response {
        self.0.execute(request).await
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
