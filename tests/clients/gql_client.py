"""Python's gql on a server (first argument) and on the schema's text (second argument)."""

import asyncio
import sys

from gql import Client, gql
from gql.transport.exceptions import TransportQueryError
from gql.transport.requests import RequestsHTTPTransport
from gql.transport.websockets import WebsocketsTransport
from graphql import GraphQLError, print_schema
from graphql.utilities import lexicographic_sort_schema

url, schema_file = sys.argv[1:]
with open(schema_file, encoding="utf-8") as file:
    text = file.read()

QUERY = gql("""
query ($id: ID!, $path: Path) {
  document(id: $id, collection: "notes", path: $path) {
    id path kind version value
    document { id key collection }
  }
}
""")
NODES = gql("""
query ($ids: [ID!]!) {
  nodes(ids: $ids) { __typename id ... on Subdocument { path value } }
}
""")
PATCH = gql("""
mutation ($patch: JSON) {
  patchDocument(id: "42", collection: "notes", patch: $patch) {
    id subdocument(path: "/title") { id value }
  }
}
""")
DELETE = gql("""
mutation { deleteDocument(id: "42", collection: "notes", path: "/parts") { deletedId value } }
""")
COUNT = gql("""
subscription {
  document(id: "apples", collection: "notes", path: "/count") { id value }
}
""")
CHANGES = gql("""
subscription ($after: String) {
  changes(collection: "notes", id: "apples", path: "/count", after: $after) {
    cursor kind key paths patch
  }
}
""")
INCREMENT = gql("""
mutation {
  incrementDocument(id: "apples", collection: "notes", path: "/count") { value(path: "/count") }
}
""")


def use(session, title):
    """Reads, changes and deletes through a client that knows the schema."""
    read = session.execute(QUERY, variable_values={"id": "apples", "path": ["tags", 0]})
    document = read["document"]
    assert isinstance(document.pop("version"), str)
    assert document == {
        "id": "notes/apples#/tags/0",
        "path": ["tags", 0],
        "kind": "STRING",
        "value": "crisp",
        "document": {"id": "notes/apples", "key": "apples", "collection": "notes"},
    }, document

    ids = ["notes/42", "notes/apples#/count", "notes/nobody"]
    whole, count, nothing = session.execute(NODES, variable_values={"ids": ids})["nodes"]
    assert whole == {"__typename": "Document", "id": "notes/42"}
    assert count["value"] == 12345678901234567890123, "integers are exact"
    assert nothing is None

    patch = [
        {"op": "test", "path": "/title", "value": title},
        {"op": "replace", "path": "/title", "value": f"{title}, edited"},
    ]
    changed = session.execute(PATCH, variable_values={"patch": patch})
    part = {"id": "notes/42#/title", "value": f"{title}, edited"}
    assert changed["patchDocument"] == {"id": "notes/42", "subdocument": part}
    try:
        session.execute(PATCH, variable_values={"patch": patch})
    except TransportQueryError as error:
        assert error.errors[0]["extensions"]["code"] == "TEST_FAILED", error
    else:
        raise AssertionError("the title that was shown is no longer there")

    try:
        session.execute(gql("{ document(id: 1) { title } }"))
    except GraphQLError as error:
        assert "title" in error.message
    else:
        raise AssertionError("a part has no field of this name")


async def follow():
    """Follows a value and its changes while a mutation changes it, on one WebSocket."""
    transport = WebsocketsTransport(
        url=url.replace("http", "ws", 1),
        subprotocols=[WebsocketsTransport.GRAPHQLWS_SUBPROTOCOL],
    )
    async with Client(transport=transport, fetch_schema_from_transport=True) as session:
        cursor = (await session.execute(gql("{ changesCursor }")))["changesCursor"]
        values = session.subscribe(COUNT)
        count = (await anext(values))["document"]
        assert count == {"id": "notes/apples#/count", "value": 12345678901234567890123}
        for number in (1, 2):
            changed = (await session.execute(INCREMENT))["incrementDocument"]["value"]
            assert changed == count["value"] + number, changed
            shown = (await anext(values))["document"]
            assert shown == {"id": count["id"], "value": changed}, shown
        await values.aclose()

        # Both changes follow the cursor, and only the second one follows the first.
        changes = session.subscribe(CHANGES, variable_values={"after": cursor})
        first, second = [(await anext(changes))["changes"] for _ in range(2)]
        await changes.aclose()
        patch = [{"op": "replace", "path": "/count", "value": count["value"] + 1}]
        cursor = first.pop("cursor")
        expected = {"kind": "UPDATED", "key": "apples", "paths": [["count"]], "patch": patch}
        assert first == expected, first
        changes = session.subscribe(CHANGES, variable_values={"after": cursor})
        assert (await anext(changes))["changes"] == second
        await changes.aclose()

        try:
            await anext(session.subscribe(CHANGES, variable_values={"after": "no cursor"}))
        except TransportQueryError as error:
            assert error.errors[0]["extensions"]["code"] == "BAD_USER_INPUT", error
        else:
            raise AssertionError("this is no cursor")


transport = RequestsHTTPTransport(url=url)
introspected = Client(
    transport=transport,
    fetch_schema_from_transport=True,
    introspection_args={"specified_by_url": True, "input_object_one_of": True},
)
from_file = Client(transport=RequestsHTTPTransport(url=url), schema=text)
with introspected as session:
    use(session, "On quinces")
with from_file as session:
    use(session, "On quinces, edited")
    deleted = session.execute(DELETE)["deleteDocument"]
    assert deleted == {"deletedId": "notes/42#/parts", "value": {}}, deleted

seen = print_schema(lexicographic_sort_schema(introspected.schema))
told = print_schema(lexicographic_sort_schema(from_file.schema))
assert told == seen, "introspection shows another schema than the file"

asyncio.run(follow())
