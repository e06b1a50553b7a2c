// Which argument of a query the cursor is in, for completion inside of strings.

export interface StringAt {
  /** `key` is that of a field of a type, the others are those of the untyped API. `jsonPath` is that of a filter or an order. */
  argument: 'collection' | 'id' | 'path' | 'key' | 'jsonPath';
  /** The field that has the argument. */
  field: string;
  /** What is typed in front of the cursor. */
  typed: string;
  /** Of the other arguments of the field; `D` is the default collection of the API. */
  collection: string;
  id: string | undefined;
}

const JSON_PATHS = ['at', 'by'];

/** Undefined if the cursor is not in a string of such an argument. */
export function stringAt(text: string, offset: number): StringAt | undefined {
  const before = text.slice(0, offset);
  const [, argument, typed] = /\b(collection|id|path|key|at|by)\s*:\s*"((?:[^"\\\n]|\\.)*)$/.exec(before) ?? [];
  if (argument === undefined || typed === undefined) return undefined;
  const begin = before.lastIndexOf('(');
  const end = text.indexOf(')', offset);
  const others = text.slice(begin, end < 0 ? undefined : end);
  return {
    argument: JSON_PATHS.includes(argument) ? 'jsonPath' : (argument as StringAt['argument']),
    field: /(\w+)\s*$/.exec(before.slice(0, Math.max(begin, 0)))?.[1] ?? '',
    typed,
    collection: valueOf('collection', others) ?? 'D',
    id: valueOf('id', others),
  };
}

function valueOf(argument: string, text: string): string | undefined {
  const [, literal] = new RegExp(String.raw`\b${argument}\s*:\s*("(?:[^"\\\n]|\\.)*")`).exec(text) ?? [];
  try {
    return literal === undefined ? undefined : String(JSON.parse(literal));
  } catch {
    return undefined;
  }
}
