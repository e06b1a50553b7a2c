// How a place in a document is written.

export type Segment = string | number;
export type Path = readonly Segment[];

/** A JSON Pointer (RFC 6901). */
export function pointerOf(path: Path): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** A normalized JSONPath (RFC 9535 §2.7), with `.name` where the name allows it. */
export function jsonPathOf(path: Path): string {
  return `$${path.map(stepOf).join('')}`;
}

function stepOf(step: Segment): string {
  if (typeof step === 'number') return `[${step}]`;
  return /^[A-Za-z_][A-Za-z_0-9]*$/.test(step) ? `.${step}` : `['${quoted(step)}']`;
}

function quoted(name: string): string {
  const escaped = name.replaceAll('\\', '\\\\').replaceAll("'", "\\'");
  return escaped.replaceAll(/[\u0000-\u001f]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A query that reads the place, for GraphiQL and for clients. */
export function queryOf(collection: string, key: string, path: Path): string {
  const place = [
    `id: ${JSON.stringify(key)}`,
    `collection: ${JSON.stringify(collection)}`,
    `path: ${JSON.stringify(path)}`,
  ];
  return `query Place {\n  document(${place.join(', ')}) {\n    id\n    version\n    kind\n    value\n  }\n}\n`;
}

/** The name of a member as it is shown: invisible characters are written as escapes. */
export function shownName(step: Segment): string {
  if (typeof step === 'number') return String(step);
  if (step === '') return '""';
  return step.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) => {
    const code = char.codePointAt(0) ?? 0;
    return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}
