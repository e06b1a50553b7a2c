//! Builds a schema of the library from type definitions.
//!
//! The schema answers introspection, validates documents and prints itself. It resolves no field of
//! its types: operations are executed from plans.

use async_graphql::dynamic::{
    Enum, EnumItem, Field, FieldFuture, InputObject, InputValue, Interface, InterfaceField, Object,
    ResolverContext, Scalar, Schema, SchemaBuilder, Subscription, SubscriptionField,
    SubscriptionFieldFuture, Type as LibraryType, TypeRef, Union,
};
use async_graphql::parser::types::{
    BaseType, ConstDirective, EnumValueDefinition, FieldDefinition, InputValueDefinition, Type,
    TypeDefinition, TypeKind,
};
use async_graphql::{Positioned, Value};
use futures::stream::{self, Stream};

use super::annotations::{
    DEPRECATED, ONE_OF, SPECIFIED_BY, has, invocations, string_argument, with_annotations,
    with_deprecation, with_description,
};
use super::schema_source::SchemaSource;
use crate::error::{Error, Result};

/// What the type of the subscriptions is in the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subscriptions {
    /// The root type of subscriptions.
    Root,
    /// An object type. Otherwise the library prints no subscriptions in the text of a subgraph.
    Object,
}

/// A builder of a schema with these types.
///
/// # Errors
/// `BAD_USER_INPUT`: a field of a subscription root has a directive other than `@deprecated`.
pub(crate) fn builder(
    source: &SchemaSource,
    subscriptions: Subscriptions,
) -> Result<SchemaBuilder> {
    let root = |name| source.contains(name).then_some(name);
    let subscription = match subscriptions {
        Subscriptions::Root => root("Subscription"),
        Subscriptions::Object => None,
    };
    let mut builder = Schema::build("Query", root("Mutation"), subscription);
    for definition in source.types() {
        let name = definition.name.node.as_str();
        builder = match &definition.kind {
            TypeKind::Object(object) if subscription == Some(name) => {
                builder.register(subscription_type(definition, &object.fields)?)
            }
            _ => builder.register(registered(definition)),
        };
    }
    Ok(builder)
}

/// Builds the schema.
///
/// # Errors
/// `BAD_USER_INPUT`: the types do not form a schema.
pub(crate) fn finish(builder: SchemaBuilder) -> Result<Schema> {
    let finished = builder.finish();
    finished.map_err(|error| Error::bad_input(format!("the types form no schema: {error}")))
}

fn registered(definition: &TypeDefinition) -> LibraryType {
    let name = definition.name.node.as_str();
    match &definition.kind {
        TypeKind::Scalar => {
            with_annotations!(scalar(name, &definition.directives), definition).into()
        }
        TypeKind::Object(object) => {
            let mut of = with_annotations!(Object::new(name), definition);
            for interface in &object.implements {
                of = of.implement(interface.node.as_str());
            }
            let fields = object.fields.iter();
            let of = fields.fold(of, |of, it| of.field(field(&it.node)));
            of.into()
        }
        TypeKind::Interface(interface) => {
            let mut of = with_annotations!(Interface::new(name), definition);
            for implemented in &interface.implements {
                of = of.implement(implemented.node.as_str());
            }
            let fields = interface.fields.iter();
            let of = fields.fold(of, |of, it| of.field(interface_field(&it.node)));
            of.into()
        }
        TypeKind::Union(union) => {
            let members = union.members.iter();
            let of = with_annotations!(Union::new(name), definition);
            let of = members.fold(of, |of, member| of.possible_type(member.node.as_str()));
            of.into()
        }
        TypeKind::Enum(values) => {
            let values = values.values.iter().map(|value| enum_value(&value.node));
            with_annotations!(Enum::new(name), definition)
                .items(values)
                .into()
        }
        TypeKind::InputObject(input) => {
            let of = with_annotations!(InputObject::new(name), definition);
            let of = if has(&definition.directives, ONE_OF) {
                of.oneof()
            } else {
                of
            };
            let fields = input.fields.iter();
            let of = fields.fold(of, |of, it| of.field(input_value(&it.node)));
            of.into()
        }
    }
}

fn scalar(name: &str, directives: &[Positioned<ConstDirective>]) -> Scalar {
    let scalar = Scalar::new(name);
    match string_argument(directives, SPECIFIED_BY, "url") {
        Some(url) => scalar.specified_by_url(url),
        None => scalar,
    }
}

fn subscription_type(
    definition: &TypeDefinition,
    fields: &[Positioned<FieldDefinition>],
) -> Result<Subscription> {
    let of = Subscription::new(definition.name.node.as_str());
    let of = with_description!(of, definition);
    let mut directives = definition.directives.iter();
    let mut of_fields = fields.iter().flat_map(|field| &field.node.directives);
    if directives.next().is_some() || of_fields.any(|it| it.node.name.node != DEPRECATED) {
        return Err(Error::bad_input(
            "subscriptions cannot have directives other than @deprecated",
        ));
    }
    let fields = fields.iter();
    Ok(fields.fold(of, |of, it| of.field(subscription_field(&it.node))))
}

fn field(definition: &FieldDefinition) -> Field {
    let name = definition.name.node.as_str();
    let field = Field::new(name, type_ref(&definition.ty.node), not_resolved);
    let arguments = definition.arguments.iter();
    let field = arguments.fold(field, |field, it| field.argument(input_value(&it.node)));
    with_deprecation!(with_annotations!(field, definition), definition)
}

fn interface_field(definition: &FieldDefinition) -> InterfaceField {
    let name = definition.name.node.as_str();
    let field = InterfaceField::new(name, type_ref(&definition.ty.node));
    let arguments = definition.arguments.iter();
    let field = arguments.fold(field, |field, it| field.argument(input_value(&it.node)));
    with_deprecation!(with_annotations!(field, definition), definition)
}

fn subscription_field(definition: &FieldDefinition) -> SubscriptionField {
    let name = definition.name.node.as_str();
    let ty = type_ref(&definition.ty.node);
    let field = SubscriptionField::new(name, ty, |_| {
        SubscriptionFieldFuture::new(async { Ok(no_events()) })
    });
    let field = with_description!(field, definition);
    let arguments = definition.arguments.iter();
    let field = arguments.fold(field, |field, it| field.argument(input_value(&it.node)));
    with_deprecation!(field, definition)
}

fn input_value(definition: &InputValueDefinition) -> InputValue {
    let name = definition.name.node.as_str();
    let value = InputValue::new(name, type_ref(&definition.ty.node));
    let value = match &definition.default_value {
        Some(default) => value.default_value(default.node.clone()),
        None => value,
    };
    with_deprecation!(with_annotations!(value, definition), definition)
}

fn enum_value(definition: &EnumValueDefinition) -> EnumItem {
    let value = EnumItem::new(definition.value.node.as_str());
    with_deprecation!(with_annotations!(value, definition), definition)
}

fn type_ref(ty: &Type) -> TypeRef {
    let base = match &ty.base {
        BaseType::Named(name) => TypeRef::named(name.as_str()),
        BaseType::List(element) => TypeRef::List(Box::new(type_ref(element))),
    };
    if ty.nullable {
        base
    } else {
        TypeRef::NonNull(Box::new(base))
    }
}

/// The resolver of every field. The library calls it for no request.
fn not_resolved(_: ResolverContext<'_>) -> FieldFuture<'_> {
    FieldFuture::new(async {
        let error = async_graphql::Error::new("internal: the field is executed from a plan");
        Err::<Option<Value>, _>(error)
    })
}

fn no_events() -> impl Stream<Item = async_graphql::Result<Value>> {
    stream::empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A schema with every kind of definition, in the order in which the library prints it.
    const EVERYTHING: &str = r#"
        type Cat implements Named {
            name: String!
        }

        """
        Which pets.
        """
        input Choice @oneOf {
            kind: Kind
            """
            The name.
            """
            name: String @deprecated(reason: "use kind")
        }

        enum Kind {
            OLD
            """
            Not old.
            """
            NEW @deprecated
        }

        interface Named {
            name: String!
        }

        union Pet = Cat

        """
        The queries.
        """
        type Query {
            """
            A pet.
            """
            pet(choice: Choice, first: Int! = 10, names: [[String!]]! = [["a"]]): [Pet]! @cost(weight: 2)
            url: Url @deprecated(reason: "no longer")
        }

        type Subscription {
            """
            Pets.
            """
            pets(kind: Kind = NEW): Pet @deprecated
        }

        scalar Url @specifiedBy(url: "https://example.org")
        "#;

    fn built(definitions: &str) -> Result<Schema> {
        let source = SchemaSource::default().extended(definitions)?;
        builder(&source, Subscriptions::Root).and_then(finish)
    }

    #[test]
    fn every_part_of_a_definition_is_in_the_schema() {
        let options = async_graphql::SDLExportOptions::new().include_specified_by();
        let printed = built(EVERYTHING)
            .expect("a schema")
            .sdl_with_options(options);
        let (definitions, _) = printed.split_once("\"\"\"\nMarks").expect("directives");
        let lines = |text: &str| -> Vec<String> {
            let lines = text.trim().lines();
            lines.map(|line| line.trim().to_owned()).collect()
        };
        assert_eq!(lines(definitions), lines(EVERYTHING));
    }

    #[test]
    fn definitions_that_form_no_schema_are_rejected() {
        for (text, why) in [
            ("type Mutation { a: Int }", "\"Query\" not found"),
            ("type Query { a: Unknown }", "\"Unknown\" not found"),
            (
                "type Query { a(b: Query): Int }",
                "must accept a input type",
            ),
            ("scalar Query", "query root must be an object"),
            (
                "type Query { a: Int } type Subscription { a: Int @cost }",
                "other than @deprecated",
            ),
            ("type Query { a: Int } scalar Int", "already exists"),
        ] {
            let error = built(text).expect_err(text);
            assert_eq!(error.kind().code(), "BAD_USER_INPUT", "{text}");
            assert!(error.to_string().contains(why), "{text}: {error}");
        }
    }
}
