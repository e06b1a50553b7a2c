import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildSchema, introspectionFromSchema, parse, validate } from 'graphql';
import { requiredSelection, typedExamples } from './typedExamples';
import { rootFieldsOf, type TypedCollection, type TypedField } from './typedSchema';

const schema = buildSchema(`
  type Query {
    document(id: ID!): String
    country(key: ID!): Country
    countries(where: CountryFilter, orderBy: [CountryOrderBy!], first: Int, after: String): CountryConnection!
  }
  type Mutation {
    createCountry(country: CountryInput!, key: ID): Country!
    updateCountry(key: ID!, patch: CountryPatch!): Country!
    deleteCountry(key: ID!): Deletion!
  }
  type Deletion { deleted: Boolean! }
  type Country {
    id: ID! key: ID! version: String! document: String!
    name: Name! region: Region! area: Float borders(first: Int): [String!] languages(first: Int): [Entry!] open: JSON
  }
  type Name { common: String! official: String }
  type Entry { key: String! value: String! }
  enum Region { Asia Europe }
  scalar JSON
  type CountryConnection { nodes: [Country]! pageInfo: PageInfo! plan: Plan! }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type Plan { index: String scanned: Int! returned: Int! }
  input CountryFilter { region: RegionFilter }
  input RegionFilter { eq: Region }
  input CountryOrderBy { key: Order area: Order }
  enum Order { ASC DESC }
  input CountryInput { name: NameInput! region: Region! }
  input NameInput { common: String! }
  input CountryPatch { region: Region }
`);

const scalar = (name: string, type: string, more: Partial<TypedField> = {}): TypedField => ({
  name, type, args: [], list: false, required: false, values: [], fields: undefined, composite: false, ...more,
});
const inside = [scalar('common', 'String', { required: true }), scalar('official', 'String')];
const entry = [scalar('key', 'String', { required: true }), scalar('value', 'String', { required: true })];
const country: TypedCollection = {
  type: 'Country',
  one: 'country',
  many: 'countries',
  fields: [
    scalar('id', 'ID', { required: true }),
    scalar('key', 'ID', { required: true }),
    scalar('document', 'String', { required: true }),
    scalar('name', 'Name', { required: true, composite: true, fields: inside }),
    scalar('region', 'Region', { required: true, values: ['Asia', 'Europe'] }),
    scalar('area', 'Float'),
    scalar('borders', 'String', { list: true, args: ['first'] }),
    scalar('languages', 'Entry', { list: true, args: ['first'], composite: true, fields: entry }),
    scalar('open', 'JSON'),
  ],
};
const document = { key: 'a"b', values: new Map([['region', '"Asia"']]), required: '{"name":{"common":"A"},"region":"Asia"}' };

test('the examples are valid for the schema', () => {
  const examples = typedExamples(country, document, 40);
  const names = examples.map(({ query }) => {
    const parsed = parse(query);
    assert.deepEqual(validate(schema, parsed), [], query);
    return parsed.definitions.map((one) => 'name' in one && one.name?.value).join();
  });
  assert.deepEqual(names, ['Country', 'Countries', 'UpdateCountry', 'CreateCountry']);
});

test('values are those of the document, and no value of any size is selected', () => {
  const [one, find, update, create] = typedExamples(country, document, 40);
  assert.match(one?.query ?? '', /country\(key: "a\\"b"\)[^]*languages\(first: 3\) \{\n {6}key\n {6}value\n/);
  assert.doesNotMatch(one?.query ?? '', /^ *(open|document)\b/m);
  assert.match(find?.query ?? '', /where: \{ region: \{ eq: Asia \} \}[^]*area: DESC/);
  assert.match(update?.query ?? '', /patch: \{ region: Asia \}/);
  assert.deepEqual(JSON.parse(create?.variables ?? ''), { country: { name: { common: 'A' }, region: 'Asia' } });
});

test('in a large collection, nothing has to be examined without an index', () => {
  const [, find] = typedExamples(country, document, 400_000);
  assert.doesNotMatch(find?.query ?? '', /where|DESC/);
});

test('without a value or what is required, nothing is changed', () => {
  assert.equal(typedExamples(country, { key: '1', values: new Map(), required: undefined }, 1).length, 2);
});

test('what the type requires is selected, and nothing else', () => {
  assert.equal(requiredSelection(country.fields), 'name { common } region');
  assert.equal(requiredSelection([scalar('deep', 'Deep', { required: true, composite: true })]), undefined);
  assert.equal(requiredSelection([scalar('id', 'ID', { required: true })]), undefined);
});

test('the fields of a type are found in the schema', () => {
  const introspected = introspectionFromSchema(schema).__schema.types.find(({ name }) => name === 'Query');
  const fields = introspected?.kind === 'OBJECT' ? introspected.fields : [];
  assert.deepEqual(rootFieldsOf(fields as unknown as Parameters<typeof rootFieldsOf>[0]), [
    { type: 'Country', one: 'country', many: 'countries' },
  ]);
});
