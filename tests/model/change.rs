//! One change of one document.

use serde_json::{Value, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Insert,
    Replace,
    Merge,
    Patch,
    Increment,
    Delete,
}

#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) kind: Kind,
    pub(crate) id: i64,
    /// In list form.
    pub(crate) path: Vec<Value>,
    /// Whether the path is sent as a JSON Pointer.
    pub(crate) as_pointer: bool,
    /// Whether `replaceDocument` and `incrementDocument` create missing parents.
    pub(crate) create_parents: bool,
    /// The document, the patch, or the number to add.
    pub(crate) document: Value,
}

impl Change {
    pub(crate) fn written_path(&self) -> Value {
        if self.as_pointer {
            json!(pointer(&self.path))
        } else {
            json!(self.path)
        }
    }
}

pub(crate) fn pointer(path: &[Value]) -> String {
    let token = |segment: &Value| match segment {
        Value::String(key) => format!("/{}", key.replace('~', "~0").replace('/', "~1")),
        index => format!("/{index}"),
    };
    path.iter().map(token).collect()
}
