//! Tests of parsing schemas.

use super::{parsed, refusal, refuses};
use crate::document::path::Segment;
use crate::document::regexp::Regexp;
use crate::limits::TYPE_PROBLEMS_MAX;
use crate::types::{Additional, CollectionType, Format, Kinds, OnDelete, Shape, ShapeKind};

fn property<'t>(of: &'t CollectionType, name: &str) -> &'t Shape {
    let place = [Segment::Key(name.to_owned())];
    of.shape_at(&place).expect("the property has a shape")
}

#[test]
fn a_schema_becomes_shapes_with_all_its_keywords() {
    let of = parsed(
        r##"{
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Product",
        "description": "What is sold.",
        "x-graphql": {"name": "Item", "plural": "Items"},
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 1, "maxLength": 80, "pattern": "^[A-Z]"},
            "sku": {"type": "string", "format": "uuid", "x-graphql": {"name": "stockUnit"}},
            "price": {"type": ["number", "null"], "minimum": 0, "exclusiveMaximum": 1e6, "multipleOf": 0.01},
            "size": {"enum": ["S", "M", "L", "M"], "deprecated": true},
            "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 9},
            "names": {"type": "object", "additionalProperties": {"type": "string"}},
            "category": {"type": "string", "x-reference": {"collection": "categories", "as": "ofCategory",
                "inverse": "products", "exists": true, "onDelete": "restrict"}},
            "replaces": {"type": ["integer", "null"], "x-reference": {"collection": "products",
                "as": "replaced", "onDelete": "nullify", "chain": "allReplaced"}},
            "parts": {"type": "array", "items": {"$ref": "#"}},
            "open": true,
            "any": {"type": ["string", "array"]}
        },
        "required": ["name", "price"],
        "additionalProperties": false
    }"##,
    );
    let root = of.root();
    assert_eq!(root.title.as_deref(), Some("Product"));
    assert_eq!(root.description.as_deref(), Some("What is sold."));
    assert_eq!(root.graphql_name.as_deref(), Some("Item"));
    assert_eq!(root.graphql_plural.as_deref(), Some("Items"));
    let ShapeKind::Object(object) = root.kind() else {
        panic!("{root:?}");
    };
    assert_eq!(object.additional, Additional::Forbidden);
    let required: Vec<&str> = object
        .properties
        .iter()
        .filter(|it| it.required)
        .map(|it| &*it.name)
        .collect();
    assert_eq!(required, ["name", "price"]);
    assert_eq!(object.properties.len(), 11);
    assert_eq!(
        &*object.property("sku").expect("a property").field,
        "stockUnit"
    );

    let ShapeKind::String(name) = property(&of, "name").kind() else {
        panic!("no string");
    };
    assert_eq!((name.length_min, name.length_max), (1, Some(80)));
    assert_eq!(name.pattern.as_ref().map(Regexp::text), Some("^[A-Z]"));
    let ShapeKind::String(sku) = property(&of, "sku").kind() else {
        panic!("no string");
    };
    assert_eq!(sku.format, Some(Format::Uuid));

    let price = property(&of, "price");
    assert!(price.is_nullable());
    let ShapeKind::Number(bounds) = price.kind() else {
        panic!("no number");
    };
    assert!(bounds.minimum.is_some() && bounds.exclusive_maximum.is_some());
    assert!(bounds.maximum.is_none() && bounds.multiple_of.is_some());

    let size = property(&of, "size");
    let sizes = size.constraints.enumeration.as_ref().expect("an enum");
    assert!(size.deprecated && matches!(size.kind(), ShapeKind::String(_)));
    assert_eq!(sizes.values().len(), 3, "equal values are one");

    let ShapeKind::Array(tags) = property(&of, "tags").kind() else {
        panic!("no array");
    };
    assert_eq!((tags.items_min, tags.items_max), (1, Some(9)));

    let category = property(&of, "category").reference.as_ref().expect("one");
    assert_eq!(
        (&*category.collection, &*category.field),
        ("categories", "ofCategory")
    );
    assert_eq!(category.inverse.as_deref(), Some("products"));
    assert!(category.exists && category.on_delete == OnDelete::Restrict);
    let replaces = property(&of, "replaces").reference.as_ref().expect("one");
    assert_eq!(replaces.chain.as_deref(), Some("allReplaced"));

    // `$ref` alone is the shape that it refers to.
    let parts = [Segment::Key("parts".to_owned()), Segment::Index(7)];
    assert!(std::ptr::eq(of.shape_at(&parts).expect("a shape"), root));
    assert!(of.shape_at(&[&parts[..], &parts[..]].concat()).is_some());
    assert!(property(&of, "open").constraints.accepts_everything());
    assert!(matches!(property(&of, "any").kind(), ShapeKind::Any));
    assert_eq!(
        property(&of, "any").constraints.kinds,
        Kinds::STRING.with(Kinds::ARRAY)
    );
    assert!(of.text().contains("\"What is sold.\""), "the text is kept");
}

#[test]
fn a_reference_beside_a_description_has_the_constraints_of_its_definition() {
    let of = parsed(
        r##"{"$defs": {
            "first": {"$ref": "#/$defs/second~1name", "title": "First"},
            "second/name": {"type": "string", "title": "Second", "description": "A text."}},
        "type": "object", "properties": {
            "a": {"$ref": "#/$defs/first", "deprecated": true},
            "b": {"$ref": "#/$defs/second~1name"},
            "c": {"$ref": "#/$defs/second%7E1name"}}}"##,
    );
    let (a, b) = (property(&of, "a"), property(&of, "b"));
    assert!(matches!(a.kind(), ShapeKind::String(_)) && a.deprecated && !b.deprecated);
    assert_eq!(a.definition, b.definition);
    assert_eq!(b.title.as_deref(), Some("Second"));
    assert_eq!(b.definition_name.as_deref(), Some("second/name"));
    assert_eq!(a.description.as_deref(), Some("A text."));
    assert!(std::ptr::eq(b, property(&of, "c")));
}

#[test]
fn other_keywords_are_refused_with_what_to_write_instead() {
    for (keyword, instead) in [
        ("anyOf", "list the kinds in `type`"),
        ("oneOf", "list the kinds in `type`"),
        ("allOf", "into this one"),
        ("not", "describe what the values are"),
        ("if", "cannot depend on its value"),
        ("uniqueItems", "store a set as an object"),
        ("patternProperties", "`additionalProperties`"),
        ("default", "nothing fills it in"),
        ("nullable", "add \"null\" to `type`"),
        ("$id", "the name of the collection"),
        ("$defs", "the `$defs` of the whole schema"),
        ("definitions", "write `$defs`"),
        ("requird", "write `required`, if that is meant"),
        (
            "additionalPropertys",
            "write `additionalProperties`, if that is meant",
        ),
        ("x-other", "remove it"),
    ] {
        let text = format!(r#"{{"properties": {{"a/b": {{"{keyword}": []}}}}}}"#);
        refuses(&text, &format!("/properties/a~1b/{keyword}"), instead);
    }
}

#[test]
fn keywords_without_a_meaning_are_refused_at_their_place() {
    for (text, pointer, words) in [
        ("[]", "", "a schema is an object"),
        ("false", "", "`false` is no schema here"),
        (
            r#"{"$schema": "http://json-schema.org/draft-07/schema#"}"#,
            "/$schema",
            "2020-12",
        ),
        (r#"{"type": "text"}"#, "/type", "write \"object\""),
        (r#"{"type": []}"#, "/type", "the list is empty"),
        (
            r#"{"type": "string", "minimum": 1}"#,
            "/minimum",
            "does not have \"integer\"",
        ),
        (
            r#"{"type": "array", "properties": {}}"#,
            "/properties",
            "does not have \"object\"",
        ),
        (
            r#"{"properties": []}"#,
            "/properties",
            "it is not an object",
        ),
        (
            r#"{"properties": {"a": {"required": true}}}"#,
            "/properties/a/required",
            "belongs to the object",
        ),
        (r#"{"required": [1]}"#, "/required", "not a list of names"),
        (
            r#"{"required": ["b"], "additionalProperties": false}"#,
            "/required",
            "\"b\"",
        ),
        (r#"{"items": false}"#, "/items", "\"maxItems\": 0"),
        (
            r#"{"prefixItems": [{"type": "string"}, {"type": "null"}]}"#,
            "/prefixItems",
            "one schema",
        ),
        (
            r#"{"prefixItems": [{"type": "string"}]}"#,
            "/prefixItems",
            "one schema",
        ),
    ] {
        refuses(text, pointer, words);
    }
}

#[test]
fn constraints_without_a_meaning_are_refused_at_their_place() {
    for (text, pointer, words) in [
        (
            r#"{"prefixItems": [{"type": "string"}], "maxItems": 1, "items": {"oneOf": []}}"#,
            "/items/oneOf",
            "a type cannot have this keyword",
        ),
        (r#"{"minLength": -1}"#, "/minLength", "an integer from 0"),
        (r#"{"maxItems": 1.5}"#, "/maxItems", "an integer from 0"),
        (r#"{"minimum": "1"}"#, "/minimum", "it is not a number"),
        (r#"{"multipleOf": 0}"#, "/multipleOf", "greater than 0"),
        (r#"{"enum": []}"#, "/enum", "the list is empty"),
        (r#"{"enum": {}}"#, "/enum", "it is not a list"),
        (r#"{"enum": [{}]}"#, "/enum", "objects and arrays"),
        (r#"{"const": [1]}"#, "/const", "objects and arrays"),
        (r#"{"enum": [1], "const": 1}"#, "/enum", "`const` says"),
        (
            r#"{"type": "string", "enum": ["a", 1]}"#,
            "/enum",
            "1 is not of the `type`",
        ),
        (r#"{"pattern": "\\d+"}"#, "/pattern", "write [0-9] for \\d"),
        (r#"{"pattern": 1}"#, "/pattern", "it is not a string"),
        (
            r#"{"format": "ipv4"}"#,
            "/format",
            "date-time, date, uuid, email, uri",
        ),
        (r#"{"title": 1}"#, "/title", "it is not a string"),
        (
            r#"{"deprecated": "yes"}"#,
            "/deprecated",
            "`true` or `false`",
        ),
    ] {
        refuses(text, pointer, words);
    }
}

#[test]
fn references_and_names_without_a_meaning_are_refused_at_their_place() {
    for (text, pointer, words) in [
        (
            r#"{"items": {"$ref": "other.json"}}"#,
            "/items/$ref",
            "#/$defs/NAME",
        ),
        (
            r##"{"items": {"$ref": "#/$defs/a/items"}}"##,
            "/items/$ref",
            "#/$defs/NAME",
        ),
        (
            r##"{"items": {"$ref": "#/$defs/a~2"}}"##,
            "/items/$ref",
            "#/$defs/NAME",
        ),
        (
            r##"{"items": {"$ref": "#/$defs/a"}}"##,
            "/items/$ref",
            "no member \"a\"",
        ),
        (
            r##"{"items": {"$ref": "#", "type": "object"}}"##,
            "/items/type",
            "beside `$ref`",
        ),
        (
            r##"{"$defs": {"a/b": true}, "items": {"$ref": "#/$defs/a%2Fb"}}"##,
            "/items/$ref",
            "#/$defs/NAME",
        ),
        (r##"{"$ref": "#"}"##, "", "in a circle"),
        (
            r##"{"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}"##,
            "/$defs/a",
            "in a circle",
        ),
        (
            r#"{"x-graphql": {"title": "A"}}"#,
            "/x-graphql/title",
            "its members are name, plural",
        ),
        (
            r#"{"x-graphql": {"name": "a-b"}}"#,
            "/x-graphql/name",
            "no name of GraphQL",
        ),
        (
            r#"{"items": {"x-graphql": {"plural": "As"}}}"#,
            "/items/x-graphql/plural",
            "its members are name",
        ),
    ] {
        refuses(text, pointer, words);
    }
}

#[test]
fn references_to_documents_are_checked() {
    let check = |reference: &str, pointer: &str, words: &str| {
        let text = format!(r#"{{"properties": {{"a": {reference}}}}}"#);
        refuses(&text, &format!("/properties/a{pointer}"), words);
    };
    check(
        r#"{"type": "string", "x-reference": {"as": "b"}}"#,
        "/x-reference",
        "no `collection`",
    );
    check(
        r#"{"type": "string", "x-reference": {"collection": "c"}}"#,
        "/x-reference",
        "no `as`",
    );
    check(
        r#"{"type": "string", "x-reference": 1}"#,
        "/x-reference",
        "it is not an object",
    );
    check(
        r#"{"type": "string", "x-reference": {"collection": "c", "as": "b", "onDelete": "keep"}}"#,
        "/x-reference/onDelete",
        "\"cascade\"",
    );
    check(
        r#"{"type": "string", "x-reference": {"collection": "c", "as": "b", "onDelete": "nullify"}}"#,
        "",
        "needs \"null\"",
    );
    check(
        r#"{"type": "string", "x-reference": {"collection": "c", "as": "b", "chain": "d"}}"#,
        "/x-reference/chain",
        "\"products\"",
    );
    check(
        r#"{"type": "number", "x-reference": {"collection": "c", "as": "b"}}"#,
        "",
        "makes the value a key",
    );
    check(
        r#"{"x-reference": {"collection": "c", "as": "b"}}"#,
        "",
        "makes the value a key",
    );
}

#[test]
fn fields_have_different_names_of_graphql() {
    let object =
        |properties: &str| format!(r#"{{"type": "object", "properties": {{{properties}}}}}"#);
    for (properties, words) in [
        (r#""a-b": true"#, "\"a-b\" is no name of GraphQL"),
        (r#""__a": true"#, "\"__a\" is no name of GraphQL"),
        (r#""id": {"type": "string"}"#, "a second field \"id\""),
        (
            r#""a": {"type": "string"}, "b": {"type": "string", "x-graphql": {"name": "a"}}"#,
            "a second field \"a\"",
        ),
        (
            r#""a": {"type": "string"}, "b": {"type": "string", "x-reference": {"collection": "c", "as": "a"}}"#,
            "a second field \"a\"",
        ),
    ] {
        let message = refusal(&object(properties));
        assert!(message.contains(words), "{properties}: {message}");
    }
    parsed(&object(
        r#""a-b": {"type": "string", "x-graphql": {"name": "ab"}}"#,
    ));
    // A name that the type of the document has already is free inside the document.
    parsed(&object(
        r#""a": {"type": "object", "properties": {"id": {"type": "string"}}}"#,
    ));
    // The document may be described by a definition.
    let definition = object(r#""id": {"type": "string"}"#);
    let message = refusal(&format!(
        r##"{{"$ref": "#/$defs/a", "$defs": {{"a": {definition}}}}}"##
    ));
    assert!(message.contains("a second field \"id\""), "{message}");
    // Members of several kinds of values are no fields.
    parsed(r#"{"type": ["object", "array"], "properties": {"a-b": true}}"#);
}

#[test]
fn text_that_is_no_json_is_refused() {
    for (text, words) in [
        ("{", "the schema of the collection \"products\""),
        (
            r#"{"type": "string", "type": "null"}"#,
            "two members named \"type\"",
        ),
        (
            r#"{"minimum": 1e999}"#,
            "the schema of the collection \"products\"",
        ),
    ] {
        let message = refusal(text);
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn the_first_problems_are_listed_and_the_others_counted() {
    let keywords: Vec<String> = (0..50_000).map(|at| format!(r#""k{at}":1"#)).collect();
    let message = refusal(&format!("{{{}}}", keywords.join(",")));
    let listed = message.matches("a type cannot have this keyword").count();
    assert_eq!(listed, TYPE_PROBLEMS_MAX);
    let more = 50_000 - TYPE_PROBLEMS_MAX;
    assert!(
        message.ends_with(&format!("and {more} more problems")),
        "{message}"
    );
    // The message is short also if the names are long.
    let message = refusal(&format!(r#"{{"{}": 1}}"#, "k".repeat(1 << 19)));
    assert!(message.len() < 1_000, "{}", message.len());
    let name = "k".repeat(1 << 18);
    let message = refusal(&format!(r#"{{"{name}": 1, "{name}": 2}}"#));
    assert!(message.len() < 1_000, "{}", message.len());
}

#[test]
fn the_schema_of_the_page_about_types_is_accepted() {
    let page = include_str!("../../../docs/types.md");
    let begin = page.find("{\n  \"$schema\"").expect("an example");
    let end = begin + page[begin..].find("```").expect("its end");
    let of = parsed(&page[begin..end]);
    let size = property(&of, "size");
    assert_eq!(size.definition_name.as_deref(), Some("size"));
}
