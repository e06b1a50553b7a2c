//! `phyllo rules`

use std::fs;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::json;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::cli::arguments::rules::{ExplainArguments, RulesArguments, RulesCommand};
use crate::cli::outcome::{Done, Ended, failed};
use crate::cli::terminal::output::Output;
use crate::database::Database;
use crate::document::leaf::Leaf;
use crate::document::path::Segment;
use crate::document::tree::Tree;
use crate::error::{Error, Result};
use crate::graphql::{
    GraphQl, GraphQlOptions, GraphQlResponse, Methods, OperationList, Request, RequestStats,
    RulesInForce,
};
use crate::limits::OPEN_TIME_MAX;
use crate::rights::{Explanation, Principal, Rules};
use crate::server::read_claims;
use crate::store::Embedded;

/// The id by which a listed operation is sent.
const LISTED_ID: &str = "explained";

pub(crate) async fn run(arguments: RulesArguments) -> Done {
    match arguments.command {
        RulesCommand::Check { file } => check(&file),
        RulesCommand::Explain(arguments) => explain(arguments).await,
    }
}

fn check(file: &Path) -> Done {
    let rules = read_rules(file)?;
    let count = rules.len();
    let noun = if count == 1 { "rule" } else { "rules" };
    let mut output = Output::stdout();
    output.write(format!("{}: {count} {noun}\n", file.display()).as_bytes())?;
    output.finish()
}

fn read_rules(file: &Path) -> Result<Rules> {
    let rules = Rules::parse(&read(file)?);
    rules.map_err(|error| error.at(file.display()))
}

fn read(file: &Path) -> Result<String> {
    let text = fs::read_to_string(file);
    text.map_err(|error| failed(format!("{} cannot be read: {error}", file.display())))
}

async fn explain(arguments: ExplainArguments) -> Done {
    let rules = Arc::new(read_rules(&arguments.rules)?.recording());
    let principal = principal(&arguments)?;
    let request = Request {
        principal: principal.clone(),
        ..request(&arguments)?
    };
    let list = if arguments.listed {
        let manifest = json!({ LISTED_ID: arguments.query }).to_string();
        OperationList::read(&[manifest])?
    } else {
        OperationList::default()
    };
    if let Some(error) = execute(rules.clone(), list, request).await? {
        return Err(error.into());
    }
    let places = rules.recorded();
    let mut output = Output::stdout();
    if places.is_empty() {
        output.write(b"allowed: the operation uses no place of a document\n")?;
    }
    let explanations = rules.explain(&principal, arguments.listed, &places);
    for explanation in &explanations {
        output.write(format!("{explanation}\n").as_bytes())?;
    }
    output.finish()?;
    if explanations.iter().all(Explanation::is_covered) {
        Ok(())
    } else {
        Err(Ended::Told)
    }
}

fn principal(arguments: &ExplainArguments) -> Result<Principal> {
    if let Some(name) = &arguments.as_token {
        let name = name.as_str().into();
        return Ok(Principal::Token { name });
    }
    let Some(file) = &arguments.claims else {
        return Ok(Principal::Anonymous);
    };
    let claims = read_claims(&read(file)?);
    let claims = claims.map_err(|why| {
        Error::bad_input(format!(
            "{}: claims that are not accepted: {why}",
            file.display()
        ))
    })?;
    let claims = Arc::new(claims);
    Ok(Principal::User { claims })
}

fn request(arguments: &ExplainArguments) -> Result<Request> {
    let name = arguments.operation_name.as_deref();
    let (member, query) = if arguments.listed {
        ("documentId", LISTED_ID)
    } else {
        ("query", &*arguments.query)
    };
    let (query, name) = (json!(query), json!(name));
    let variables = arguments.variables.as_deref().unwrap_or("{}");
    let body =
        format!("{{\"{member}\":{query},\"operationName\":{name},\"variables\":{variables}}}");
    Request::from_json(&Bytes::from(body))
}

/// Executes an operation on an empty store. Returns the error of an operation that is invalid.
async fn execute(
    rules: Arc<Rules>,
    list: OperationList,
    request: Request,
) -> Result<Option<Error>> {
    let store = Arc::new(Embedded::in_memory()?);
    let database = Database::open(store, Instant::now() + OPEN_TIME_MAX).await?;
    let options = GraphQlOptions {
        rules: Some(RulesInForce::new(watch::channel(rules).1)),
        ..GraphQlOptions::default()
    };
    let graphql = GraphQl::with_options(database, options);
    // An invalid operation is refused below, with the same reason.
    let _invalid = graphql.list_operations(Arc::new(list)).await;
    let mut report = RequestStats::default();
    match graphql
        .answer_and_report(request, Methods::All, &mut report)
        .await
    {
        GraphQlResponse::Executed(_) => Ok(None),
        GraphQlResponse::Refused(json)
        | GraphQlResponse::MutationRefused(json)
        | GraphQlResponse::Forbidden(json) => {
            let message = message(&String::from_utf8_lossy(&json));
            Ok(Some(Error::bad_input(format!(
                "the operation is refused: {message}"
            ))))
        }
    }
}

/// The message of the first error of a response.
fn message(response: &str) -> String {
    let key = |name: &str| Segment::Key(name.to_owned());
    let place = [key("errors"), Segment::Index(0), key("message")];
    let tree = Tree::from_json(response).ok();
    match tree.as_ref().and_then(|tree| tree.at(&place)) {
        Some(Tree::Leaf(Leaf::String(message))) => message.to_string(),
        _ => response.to_owned(),
    }
}
