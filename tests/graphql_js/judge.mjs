// Judges texts with GraphQL.js. Each line of standard input is a JSON array of texts. The answer is
// a line with a JSON array of judgements: [error or null, literals]. The literals of a valid text
// are its values without variables and enum values in positions of type JSON: [text, JSON].
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { buildSchema, Kind, parse, validate, visit } from 'graphql';

const schema = buildSchema(readFileSync('schema.graphql', 'utf8'));

// The JSON of a literal, with its numbers as they are written; none if it has a variable or an enum.
function json(value) {
  switch (value.kind) {
    case Kind.NULL: return 'null';
    case Kind.INT: case Kind.FLOAT: return value.value;
    case Kind.BOOLEAN: case Kind.STRING: return JSON.stringify(value.value);
    case Kind.LIST: {
      const elements = value.values.map(json);
      return elements.includes(undefined) ? undefined : `[${elements.join(',')}]`;
    }
    case Kind.OBJECT: {
      const members = value.fields.map((field) => [field.name.value, json(field.value)]);
      if (members.some(([, member]) => member === undefined)) return undefined;
      return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${member}`).join(',')}}`;
    }
    default: return undefined;
  }
}

function literals(document, text) {
  const found = [];
  visit(document, {
    Argument({ value }) {
      const written = json(value);
      if (written !== undefined) found.push([text.slice(value.loc.start, value.loc.end), written]);
    },
  });
  return found;
}

// A message can quote half of a surrogate pair.
const rejected = (error) => [error.message.toWellFormed(), []];

function judge(text) {
  try {
    const document = parse(text);
    const [error] = validate(schema, document, undefined, { maxErrors: 1 });
    return error ? rejected(error) : [null, literals(document, text)];
  } catch (error) {
    // Validation throws for some directives at the root of a subscription.
    return rejected(error);
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(JSON.parse(line).map(judge))}\n`);
}
