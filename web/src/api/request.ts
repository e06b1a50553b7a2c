// Requests of the page: typed operations, one POST each.
import type { TypedDocumentString } from './generated';
import { formatJson, JsonText } from './json';
import { reportRefusal, token, withToken } from './session';

/** Beside this page, so that both can be served under a path prefix. */
const ENDPOINT = new URL('graphql', document.baseURI);

/** A value that does not fit the type of its collection. */
export interface Violation {
  /** A JSON Pointer. */
  place: string;
  /** What the type requires. */
  expected: string;
  /** The value, cut. */
  value?: string | null;
}

/** The first error of a response, with its code and limit (docs/errors.md). */
export class RequestError extends Error {
  constructor(
    message: string,
    readonly code: string,
    readonly limitName = '',
    /** That of the field; undefined if the request as a whole was rejected. */
    readonly path: readonly unknown[] | undefined = undefined,
    /** If the code is `TYPE_MISMATCH`. */
    readonly violations: readonly Violation[] = [],
  ) {
    super(message);
  }

  get atField(): boolean {
    return this.path !== undefined;
  }
}

/** The response is larger than the page is ready to read. */
export class ResponseTooLarge extends Error {
  constructor(readonly bytes: number) {
    super(`The value is larger than ${(bytes / 2 ** 20).toLocaleString('en')} MiB.`);
  }
}

/** The server cannot be reached, or the connection was lost before the response was complete. */
export class ConnectionLost extends Error {
  constructor(mutation: boolean) {
    super(`The connection to the server was lost.${mutation ? ' The change may be stored or not.' : ''}`);
  }
}

export interface RequestOptions {
  signal?: AbortSignal | undefined;
  /** A larger response is not read to its end. */
  maxBytes?: number;
}

/**
 * Numbers in JSON values are rounded: operations that select `value` use `requestText`. Throws a
 * `RequestError` if the response has an error: the page shows nothing by halves.
 */
export async function request<Data, Variables>(
  operation: TypedDocumentString<Data, Variables>,
  variables: Variables,
  options: RequestOptions = {},
): Promise<Data> {
  return (await send(operation, variables, options)).data;
}

/** The data, and the text of the response with the JSON values as they are stored. */
export async function requestText<Data, Variables>(
  operation: TypedDocumentString<Data, Variables>,
  variables: Variables,
  options: RequestOptions = {},
): Promise<{ data: Data; json: JsonText }> {
  const { data, text } = await send(operation, variables, options);
  return { data, json: new JsonText(text) };
}

interface Answer<Data> {
  data?: Data | null;
  errors?: { message: string; path?: unknown[]; extensions?: { code?: string; limitName?: string; violations?: Violation[] } }[];
}

/** The pause before a query is sent again. */
const PAUSE_MS = 500;

async function send<Data, Variables>(
  operation: TypedDocumentString<Data, Variables>,
  variables: Variables,
  options: RequestOptions,
): Promise<{ data: Data; text: string }> {
  const sender = token();
  const { text, status } = await deliver(operation.toString(), variables, options);
  const answer = parse<Data>(text, status);
  const [error] = answer.errors ?? [];
  if (error) {
    const { code = '', limitName, violations } = error.extensions ?? {};
    if (sender === token()) reportRefusal(code, error.path !== undefined);
    throw new RequestError(error.message, code, limitName, error.path, violations);
  }
  if (!answer.data) throw new RequestError('The response has no data.', '');
  return { data: answer.data, text };
}

/** The response. After a lost connection a query is sent a second time, and a mutation is not. */
async function deliver(
  query: string,
  variables: unknown,
  options: RequestOptions,
): Promise<{ text: string; status: number }> {
  const body = formatJson({ query, variables });
  const mutation = !/^\s*query\b/.test(query);
  for (let attempt = 1; ; attempt++) {
    try {
      return await post(body, options);
    } catch (error) {
      // What `fetch` throws when the connection fails, also while the body is read.
      if (!(error instanceof TypeError)) throw error;
      if (mutation || attempt === 2) throw new ConnectionLost(mutation);
    }
    await new Promise((resume) => setTimeout(resume, PAUSE_MS));
    options.signal?.throwIfAborted();
  }
}

async function post(body: string, { signal, maxBytes }: RequestOptions): Promise<{ text: string; status: number }> {
  const response = await fetch(ENDPOINT, {
    method: 'POST',
    headers: withToken({
      accept: 'application/graphql-response+json, application/json',
      'content-type': 'application/json',
    }),
    body,
    ...(signal && { signal }),
  });
  const text = maxBytes === undefined ? await response.text() : await textUpTo(response, maxBytes);
  return { text, status: response.status };
}

async function textUpTo(response: Response, maxBytes: number): Promise<string> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) return text + decoder.decode();
    bytes += value.length;
    if (bytes > maxBytes) {
      await reader?.cancel();
      throw new ResponseTooLarge(maxBytes);
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** Whether an access rule forbids the places that a field uses. Other fields can be allowed. */
export function isForbiddenByRules(error: unknown): boolean {
  return error instanceof RequestError && error.code === 'FORBIDDEN' && error.atField;
}

/** Whether the same request can succeed later. A code that is empty is that of no error of the server. */
export function mayPass(error: unknown): boolean {
  if (error instanceof RequestError) return ['', 'CONFLICT', 'TIMEOUT', 'UNAVAILABLE'].includes(error.code);
  return error instanceof ConnectionLost;
}

function parse<Data>(text: string, status: number): Answer<Data> {
  try {
    return JSON.parse(text) as Answer<Data>;
  } catch {
    throw new RequestError(`HTTP ${status}: ${text.slice(0, 500)}`, '');
  }
}
