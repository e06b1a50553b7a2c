// One GraphQL request over HTTP.

/** Beside this page, so that both can be served under a path prefix. */
const ENDPOINT = new URL('graphql', document.baseURI);

/** A fetcher for GraphiQL: the answer of the server, also when it is an error. */
export async function post(request, options) {
  const response = await fetch(ENDPOINT, {
    method: 'POST',
    headers: {
      accept: 'application/graphql-response+json, application/json',
      'content-type': 'application/json',
      ...options?.headers,
    },
    body: JSON.stringify({ ...request, operationName: operationName(request) }),
  });
  const text = await response.text();
  try {
    return parse(text);
  } catch {
    throw new Error(`HTTP ${response.status} ${response.statusText}: ${text.slice(0, 1000)}`);
  }
}

/**
 * GraphiQL notices the name of an operation a moment after the text has changed, and would
 * send the last tab's name if one is quick. A name that the text does not hold is left out.
 */
function operationName({ query, operationName: name }) {
  return name && new RegExp(`\\b${name}\\b`).test(query) ? name : undefined;
}

/**
 * JSON with every number as the server wrote it. Phyllo's integers are exact and JavaScript's
 * are not past 2^53, so a number that would print differently is kept as its source text.
 * A browser that cannot do that yet shows the nearest double.
 */
function parse(text) {
  if (!JSON.rawJSON) {
    return JSON.parse(text);
  }
  return JSON.parse(text, (_key, value, context) =>
    typeof value === 'number' && String(value) !== context.source ? JSON.rawJSON(context.source) : value,
  );
}
