// Requests of the page: typed operations, one POST each.
import type { TypedDocumentString } from './generated';
import { formatJson, parseJson } from './json';
import { withToken } from './session';

/** Beside this page, so that both can be served under a path prefix. */
const ENDPOINT = new URL('graphql', document.baseURI);

/** The first error of a response, with its code (docs/errors.md). */
export class RequestError extends Error {
  constructor(
    message: string,
    readonly code: string,
  ) {
    super(message);
  }
}

interface Answer<Data> {
  data?: Data | null;
  errors?: { message: string; extensions?: { code?: string } }[];
}

/** Throws a `RequestError` if the response has an error: the page shows nothing by halves. */
export async function request<Data, Variables>(
  operation: TypedDocumentString<Data, Variables>,
  variables: Variables,
  signal?: AbortSignal,
): Promise<Data> {
  const response = await fetch(ENDPOINT, {
    method: 'POST',
    headers: withToken({
      accept: 'application/graphql-response+json, application/json',
      'content-type': 'application/json',
    }),
    body: formatJson({ query: operation.toString(), variables }),
    ...(signal && { signal }),
  });
  const answer = read<Data>(await response.text(), response.status);
  const [error] = answer.errors ?? [];
  if (error) throw new RequestError(error.message, error.extensions?.code ?? '');
  if (!answer.data) throw new RequestError('The response has no data.', '');
  return answer.data;
}

function read<Data>(text: string, status: number): Answer<Data> {
  try {
    return parseJson(text) as Answer<Data>;
  } catch {
    throw new RequestError(`HTTP ${status}: ${text.slice(0, 500)}`, '');
  }
}
