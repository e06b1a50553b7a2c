//! A replica of a collection, which applies the patches of `changes` to plain JSON values.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::time::Duration;

use futures::StreamExt as _;
use phyllo::graphql::{Methods, RequestStats, ResponseStream, Started};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use super::support::{Client, NONE, parse};

/// The longest time that a change may take to arrive.
pub(crate) const ARRIVAL_TIME_MAX: Duration = Duration::from_secs(20);

/// Retention that no test exceeds.
const RETENTION: Duration = Duration::from_secs(3600);

impl Client {
    /// Sets the retention of the change log.
    pub(crate) async fn keep_changes(&self, retention: Duration) {
        let deadline = Instant::now() + Duration::from_secs(30);
        let set = self.database.set_change_retention(deadline, retention);
        set.await.expect("the retention is set");
    }

    /// Switches the change log on.
    pub(crate) async fn log_changes(&self) {
        self.keep_changes(RETENTION).await;
    }

    /// Starts a subscription.
    pub(crate) async fn start(&self, query: &str, variables: impl Display) -> Started {
        self.start_after(query, variables, None).await
    }

    /// Starts a subscription that resumes after a cursor that is not an argument.
    pub(crate) async fn start_after(
        &self,
        query: &str,
        variables: impl Display,
        after: Option<String>,
    ) -> Started {
        let body = format!(r#"{{"query":{},"variables":{variables}}}"#, json!(query));
        let request = self.request(body).expect("a request");
        let mut report = RequestStats::default();
        let graphql = &self.graphql;
        graphql
            .start(request, Methods::All, after, &mut report)
            .await
    }

    /// The responses of a subscription that is accepted.
    pub(crate) async fn subscribe(&self, query: &str) -> Responses {
        match self.start(query, NONE).await {
            Started::Responses(responses) => Responses(responses),
            Started::Refused(json) => panic!("{query}: {}", String::from_utf8_lossy(&json)),
        }
    }

    /// The code of the error with which a subscription is rejected.
    pub(crate) async fn rejected(&self, query: &str) -> String {
        match self.start(query, NONE).await {
            Started::Responses(_) => panic!("accepted: {query}"),
            Started::Refused(json) => {
                let response: Value = serde_json::from_slice(&json).expect("JSON");
                let code = response["errors"][0]["extensions"]["code"].as_str();
                code.expect("a code").to_owned()
            }
        }
    }
}

/// The responses of a subscription.
pub(crate) struct Responses(ResponseStream);

impl Responses {
    pub(crate) fn of(responses: ResponseStream) -> Self {
        Self(responses)
    }

    /// The next response.
    pub(crate) async fn next(&mut self) -> Value {
        self.response().await.0
    }

    /// The next response and its cursor.
    pub(crate) async fn response(&mut self) -> (Value, Option<String>) {
        let next = timeout(ARRIVAL_TIME_MAX, self.0.next()).await;
        let response = next.expect("a response arrives").expect("a response");
        let json = std::str::from_utf8(&response.json).expect("UTF-8");
        (parse(json), response.cursor)
    }

    /// The next response, parsed and as text, if it arrives within a time. None in it if the stream has ended.
    pub(crate) async fn within(&mut self, time: Duration) -> Option<Option<(Value, String)>> {
        let next = timeout(time, self.0.next()).await.ok()?;
        Some(next.map(|response| {
            let text = String::from_utf8(response.json.to_vec()).expect("UTF-8");
            (parse(&text), text)
        }))
    }

    /// Asserts that nothing arrives for some time.
    pub(crate) async fn assert_silent(&mut self) {
        let next = timeout(Duration::from_millis(300), self.0.next()).await;
        if let Ok(response) = next {
            panic!(
                "{:?}",
                response.map(|it| String::from_utf8_lossy(&it.json).into_owned())
            );
        }
    }

    /// Asserts that the subscription has ended.
    pub(crate) async fn assert_ended(&mut self) {
        let next = timeout(ARRIVAL_TIME_MAX, self.0.next()).await;
        assert!(next.expect("the stream ends").is_none());
    }
}

/// A replica of the collection `D`.
pub(crate) struct Replica {
    client: Client,
    responses: Responses,
    /// The documents, by their keys.
    pub(crate) documents: BTreeMap<String, Value>,
    /// The cursor after each change so far, in order, with the documents after it.
    history: Vec<(String, BTreeMap<String, Value>)>,
    /// The version of the last change.
    version: String,
}

const FIELDS: &str = "cursor version kind key patch resync paths document { key }";

impl Replica {
    /// A replica of an empty collection. Switches the change log on.
    pub(crate) async fn new(client: &Client) -> Self {
        client.log_changes().await;
        let query = format!("subscription {{ changes {{ {FIELDS} }} }}");
        let responses = client.subscribe(&query);
        Self {
            responses: responses.await,
            client: client.clone(),
            documents: BTreeMap::new(),
            history: Vec::new(),
            version: String::new(),
        }
    }

    /// Applies changes until the replica has these documents. A change that does not arrive fails
    /// the test.
    pub(crate) async fn reach(&mut self, documents: &BTreeMap<String, Value>) {
        while self.documents != *documents {
            let response = self.responses.next().await;
            self.apply(&response, documents);
        }
    }

    fn apply(&mut self, response: &Value, expected: &BTreeMap<String, Value>) {
        assert_eq!(response.get("errors"), None, "{response}");
        let change = &response["data"]["changes"];
        let version = change["version"].as_str().expect("a version");
        assert!(
            version >= self.version.as_str(),
            "{response} after {}",
            self.version
        );
        version.clone_into(&mut self.version);
        let cursor = change["cursor"].as_str().expect("a cursor");
        assert!(
            self.history.iter().all(|(earlier, _)| earlier != cursor),
            "twice: {response}"
        );
        apply(&mut self.documents, change, expected);
        self.history
            .push((cursor.to_owned(), self.documents.clone()));
    }

    /// Asserts that nothing else has changed, and that followers who resume after any of these
    /// `cursors` (numbers of changes) get the same changes.
    pub(crate) async fn finish(&mut self, cursors: impl Iterator<Item = usize>) {
        self.client.insert("end", "0").await;
        let mut last = self.documents.clone();
        last.insert("end".to_owned(), json!(0));
        // The edits of one operation can add up to nothing.
        while self.documents.len() < last.len() {
            let before = self.documents.clone();
            let response = self.responses.next().await;
            self.apply(&response, &last);
            assert!(
                self.documents == before || self.documents == last,
                "{response}"
            );
        }
        let count = self.history.len();
        for at in cursors.map(|at| at % count) {
            let (cursor, documents) = &self.history[at];
            let query = "subscription { changes(after: \"CURSOR\") { FIELDS } }";
            let query = query.replace("CURSOR", cursor).replace("FIELDS", FIELDS);
            let mut documents = documents.clone();
            let mut responses = self.client.subscribe(&query).await;
            for (cursor, expected) in &self.history[at + 1..] {
                let response = responses.next().await;
                let change = &response["data"]["changes"];
                assert_eq!(change["cursor"], json!(cursor), "{response}");
                apply(&mut documents, change, expected);
                assert_eq!(documents, *expected);
            }
        }
    }
}

/// Applies a change. Values that are not in the change are those of `expected`.
fn apply(
    documents: &mut BTreeMap<String, Value>,
    change: &Value,
    expected: &BTreeMap<String, Value>,
) {
    let kind = change["kind"].as_str().expect("a kind");
    if kind == "COLLECTION_DROPPED" {
        assert_eq!(change["key"], Value::Null);
        return documents.clear();
    }
    let key = change["key"].as_str().expect("a key").to_owned();
    let before = documents.get(&key);
    match kind {
        "DELETED" => {
            assert_eq!(change["patch"], Value::Null, "{change}");
            assert!(documents.remove(&key).is_some(), "{change}");
            return;
        }
        "CREATED" => assert!(before.is_none(), "{change}"),
        "UPDATED" => assert!(before.is_some(), "{change}"),
        other => panic!("{other}"),
    }
    if change["resync"] == json!(true) {
        assert_eq!(change["patch"], Value::Null);
        documents.insert(key.clone(), expected[&key].clone());
        return;
    }
    let before = before.cloned().unwrap_or_default();
    let mut after = before.clone();
    let patch: json_patch::Patch =
        serde_json::from_value(change["patch"].clone()).expect("a JSON Patch");
    json_patch::patch(&mut after, &patch).unwrap_or_else(|error| panic!("{error}: {change}"));
    assert_paths(change, &before, &after);
    documents.insert(key, after);
}

/// Asserts that a document is the same before and after a change, apart from the changed places.
fn assert_paths(change: &Value, before: &Value, after: &Value) {
    let (mut before, mut after) = (before.clone(), after.clone());
    for path in change["paths"].as_array().expect("paths") {
        let path = path.as_array().expect("a path in list form");
        if path.is_empty() {
            return;
        }
        // The same value at the place hides its difference. The keys of both objects agree then.
        for document in [&mut before, &mut after] {
            hide(document, path);
        }
    }
    assert_eq!(before, after, "{change}");
}

/// Removes the value at a path. Of the parent array, also what follows it.
fn hide(document: &mut Value, path: &[Value]) {
    let Some((last, above)) = path.split_last() else {
        return;
    };
    let mut at = document;
    for segment in above {
        let below = match segment {
            Value::String(name) => at.get_mut(name.as_str()),
            index => at.get_mut(usize::try_from(index.as_u64().expect("an index")).expect("fits")),
        };
        match below {
            Some(below) => at = below,
            None => return,
        }
    }
    match (at, last) {
        (Value::Object(members), Value::String(name)) => {
            members.remove(name);
        }
        (Value::Array(elements), index) => {
            let index = usize::try_from(index.as_u64().expect("an index")).expect("fits");
            if let Some(element) = elements.get_mut(index) {
                *element = Value::Null;
            }
            // An appended element is at the end.
            while elements.last().is_some_and(Value::is_null) {
                elements.pop();
            }
        }
        _ => {}
    }
}
