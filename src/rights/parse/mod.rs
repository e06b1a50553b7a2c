//! Parses a file of rules. Every error has the line and the column.

mod filter;
mod table;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::action::{Action, Actions};
use super::claim::{ClaimName, ClaimTest};
use super::rule::{IdPattern, Rule, TokenPattern, Who};
use super::template::Template;
use crate::document::id::DocumentId;
use crate::document::leaf::Leaf;
use crate::document::path::{Path, Segment, Token};
use crate::error::{Error, Limit, Result};
use crate::limits::{RULES_BYTES_MAX, RULES_MAX};
use table::{GivenValue, ParseError, Table};

/// The members of a rule.
const MEMBERS: [&str; 7] = [
    "who",
    "actions",
    "collection",
    "id",
    "path",
    "where",
    "operations",
];

/// What the error says if something else is in place of a rule.
const BEGINNING: &str = "each rule begins with `[[allow]]`";

/// What a rule's `collection` is to cover every collection.
const EVERY_COLLECTION: &str = "*";

/// The rules of a file, in their order.
///
/// # Errors
/// As `Rules::parse`.
pub(super) fn rules(text: &str) -> Result<Vec<Rule>> {
    if text.len() > RULES_BYTES_MAX {
        return Err(Error::too_large(
            Limit::new("rulesBytes", RULES_BYTES_MAX),
            format!(
                "the rules have {} bytes; the limit is {RULES_BYTES_MAX}",
                text.len()
            ),
        ));
    }
    let parsed = DeTable::parse(text).map_err(ParseError::from);
    parsed
        .and_then(|file| rules_of(text, &file))
        .map_err(|error| error.located(text))
}

fn rules_of(text: &str, file: &Spanned<DeTable<'_>>) -> Result<Vec<Rule>, ParseError> {
    let file = Table::of_file(file);
    file.only("the file", &["allow"])?;
    let Some(allow) = file.member("allow") else {
        return Ok(Vec::new());
    };
    let rules = allow.list(BEGINNING)?;
    if rules.len() > RULES_MAX {
        let error = Error::too_large(
            Limit::new("rules", RULES_MAX),
            format!("there are {} rules; the limit is {RULES_MAX}", rules.len()),
        );
        return Err(allow.wrap(error));
    }
    rules.iter().map(|rule| rule_of(text, rule)).collect()
}

fn rule_of(text: &str, given: &GivenValue<'_>) -> Result<Rule, ParseError> {
    let given = given.table(BEGINNING)?;
    given.only("a rule", &MEMBERS)?;
    let path = given.member("path").map(|path| path_pattern(&path));
    let operations = given.member("operations").map(|it| operations(&it));
    let rule = Rule {
        line: table::position(text, given.begin()).0,
        who: who(&given.required("who")?)?,
        actions: actions(&given.required("actions")?)?,
        collection: collection(&given.required("collection")?)?,
        id: given.member("id").map(|id| id_pattern(&id)).transpose()?,
        path: path.transpose()?.unwrap_or_default(),
        filter: given
            .member("where")
            .map(|it| filter::parse(&it))
            .transpose()?,
        listed_only: operations.transpose()?.unwrap_or_default(),
    };
    check_members(&given, &rule)?;
    Ok(rule)
}

/// Checks that the actions of a rule can be limited by its members. Otherwise the rule would allow nothing.
fn check_members(given: &Table<'_>, rule: &Rule) -> Result<(), ParseError> {
    const WHOLE: [(Action, &[&str], &str); 4] = [
        (
            Action::List,
            &["id"],
            "finds documents of a whole collection",
        ),
        (Action::Create, &["path"], "stores a whole document"),
        (
            Action::Delete,
            &["path"],
            "deletes a whole document. To delete a part of it is to write",
        ),
        (
            Action::Index,
            &["id", "path", "where"],
            "is about a whole collection",
        ),
    ];
    let limits = |name: &&&str| **name != "path" || !rule.path.is_empty();
    for (action, names, why) in WHOLE.iter().filter(|(it, ..)| rule.actions.has(*it)) {
        for name in names.iter().filter(limits) {
            if let Some(member) = given.member(name) {
                let message = format!("a rule with `{name}` cannot allow `{action}`, which {why}");
                return Err(member.error(message));
            }
        }
    }
    Ok(())
}

fn who(given: &GivenValue<'_>) -> Result<Who, ParseError> {
    const WHAT: &str = "`who` is \"anyone\", \"user\", { token = \"NAME\" }, { claim = \"NAME\", eq = … } or \
                        { claim = \"NAME\", contains = … }";
    let table = match given.value {
        DeValue::String(text) => match &**text {
            "anyone" => return Ok(Who::Anyone),
            "user" => return Ok(Who::User),
            _ => return Err(given.error(WHAT)),
        },
        DeValue::Table(_) => given.table(WHAT)?,
        _ => return Err(given.error(WHAT)),
    };
    table.only("`who`", &["token", "claim", "eq", "contains"])?;
    let [token, claim, equal, contains] =
        ["token", "claim", "eq", "contains"].map(|name| table.member(name));
    match (token, claim, equal, contains) {
        (Some(token), None, None, None) => Ok(Who::Token(token.string()?.into())),
        (None, Some(claim), Some(equal), None) => Ok(Who::Claim(
            claim_name(&claim)?,
            ClaimTest::Equal(equal.tree()?),
        )),
        (None, Some(claim), None, Some(contains)) => Ok(Who::Claim(
            claim_name(&claim)?,
            ClaimTest::Contains(contains.tree()?),
        )),
        _ => Err(given.error(WHAT)),
    }
}

fn claim_name(given: &GivenValue<'_>) -> Result<ClaimName, ParseError> {
    ClaimName::parse(given.string()?).map_err(|why| given.error(why))
}

fn actions(given: &GivenValue<'_>) -> Result<Actions, ParseError> {
    let mut actions = Actions::default();
    let names = given.list("`actions` is a list of actions")?;
    for name in names {
        let Some(action) = Action::named(name.string()?) else {
            let all = Action::ALL.map(Action::name).join(", ");
            return Err(name.error(format!("the actions are {all}")));
        };
        if !actions.add(action) {
            return Err(name.error(format!("the action {action} is there twice")));
        }
    }
    if actions == Actions::default() {
        return Err(given.error("`actions` is empty, so the rule allows nothing"));
    }
    Ok(actions)
}

fn collection(given: &GivenValue<'_>) -> Result<Option<Template>, ParseError> {
    match given.string()? {
        EVERY_COLLECTION => Ok(None),
        "" => Err(given.error("the collection's name is empty")),
        _ => template(given).map(Some),
    }
}

fn template(given: &GivenValue<'_>) -> Result<Template, ParseError> {
    Template::parse(given.string()?).map_err(|why| given.error(why))
}

fn id_pattern(given: &GivenValue<'_>) -> Result<IdPattern, ParseError> {
    match template(given)? {
        Template::Literal(text) => {
            let id = DocumentId::parse(&text).map_err(|error| given.wrap(error))?;
            Ok(IdPattern::Exact(id))
        }
        claim @ Template::Claim { .. } => Ok(IdPattern::Claim(claim)),
    }
}

/// The tokens of a path: a JSON Pointer, or a list of names and indexes.
fn path_pattern(given: &GivenValue<'_>) -> Result<Vec<TokenPattern>, ParseError> {
    let DeValue::String(pointer) = given.value else {
        let tokens = given.list("`path` is a JSON Pointer, or a list of names and indexes")?;
        return tokens.iter().map(list_token).collect();
    };
    let path = Path::pointer(pointer).map_err(|error| given.wrap(error))?;
    let pattern = |token: &Token| match token {
        Token::Segment(Segment::Key(name)) => name_pattern(name, given),
        exact => Ok(TokenPattern::Exact(exact.clone())),
    };
    path.tokens().iter().map(pattern).collect()
}

fn list_token(given: &GivenValue<'_>) -> Result<TokenPattern, ParseError> {
    if let DeValue::Integer(_) = given.value {
        let Leaf::Integer(index @ 0..) = given.integer()? else {
            return Err(given.error("an index of a rule counts from the first element, which is 0"));
        };
        let index = Segment::Index(index.unsigned_abs());
        return Ok(TokenPattern::Exact(Token::Segment(index)));
    }
    name_pattern(given.string()?, given)
}

fn name_pattern(name: &str, given: &GivenValue<'_>) -> Result<TokenPattern, ParseError> {
    Ok(
        match Template::parse(name).map_err(|why| given.error(why))? {
            Template::Literal(name) => {
                TokenPattern::Exact(Token::Segment(Segment::Key(name.into())))
            }
            claim @ Template::Claim { .. } => TokenPattern::Claim(claim),
        },
    )
}

fn operations(given: &GivenValue<'_>) -> Result<bool, ParseError> {
    match given.string()? {
        "listed" => Ok(true),
        _ => {
            Err(given
                .error("`operations` is \"listed\"; without it the rule allows all operations"))
        }
    }
}
