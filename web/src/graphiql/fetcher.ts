// GraphQL requests: queries and mutations over HTTP, subscriptions over a WebSocket.
import { Kind, parse, type ExecutionResult, type OperationDefinitionNode } from 'graphql';
import { createClient } from 'graphql-ws';
import type { Fetcher, FetcherOpts, FetcherParams, FetcherReturnType } from '@graphiql/toolkit';
import { reportRefusal, withToken } from '../api/session';

/** Beside this page, so that both can be served under a path prefix. */
const ENDPOINT = new URL('graphql', document.baseURI);
const SOCKET = new URL(ENDPOINT.href.replace(/^http/, 'ws'));

type Request = FetcherParams & { operationName?: string | undefined };

interface Observer {
  next: (response: unknown) => void;
  error: (error: { message: string }) => void;
  complete: () => void;
}

/** A fetcher for GraphiQL: the response of the server, or the responses to a subscription. */
export const fetcher: Fetcher = (request, options) => {
  const operation = operationOf(request);
  const named = { ...request, operationName: operation?.name?.value };
  return operation?.operation === 'subscription' ? subscription(named, options) : post(named, options);
};

/** The answer of the server, also when it is an error. */
async function post(request: Request, options: FetcherOpts | undefined): Promise<ExecutionResult> {
  const response = await fetch(ENDPOINT, {
    method: 'POST',
    headers: withToken({
      accept: 'application/graphql-response+json, application/json',
      'content-type': 'application/json',
      ...options?.headers,
    }),
    body: JSON.stringify(request),
  });
  const text = await response.text();
  try {
    const answer = JSON.parse(text, exactNumber as (key: string, value: unknown) => unknown) as ExecutionResult;
    answer.errors?.forEach(({ extensions, path }) => reportRefusal(String(extensions?.['code'] ?? ''), path !== undefined));
    return answer;
  } catch {
    throw new Error(`HTTP ${response.status} ${response.statusText}: ${text.slice(0, 1000)}`);
  }
}

/**
 * An observable of the responses. It has its own connection, because the headers, which can hold a
 * token, are the parameters of a connection. It does not connect again by itself: a subscription
 * that went on would hide that changes in between are missing.
 */
function subscription(request: Request, options: FetcherOpts | undefined): FetcherReturnType {
  return {
    subscribe(observer: Observer) {
      const client = createClient({
        url: SOCKET.href,
        connectionParams: withToken(options?.headers as Record<string, string> | undefined),
        jsonMessageReviver: exactNumber as (key: string, value: unknown) => unknown,
        retryAttempts: 0,
      });
      const unsubscribe = client.subscribe(request as { query: string }, {
        next: (response) => observer.next(response),
        error(error) {
          // The errors of a subscription that was rejected are shown as those of a query.
          if (Array.isArray(error)) {
            observer.next({ errors: error });
            observer.complete();
          } else {
            observer.error({ message: describe(error) });
          }
        },
        complete: () => observer.complete(),
      });
      return { unsubscribe };
    },
  } as FetcherReturnType;
}

/** Why a connection ended. GraphiQL would show the stack of an `Error`. */
function describe(error: unknown): string {
  const { code, reason, message } = error as { code?: number; reason?: string; message?: string };
  return code ? `The connection was closed with code ${code}${reason ? `: ${reason}` : ''}` : (message ?? '');
}

/**
 * The operation to execute. GraphiQL notices its name a moment after the text has changed, and would
 * send the last tab's name if one is quick, so the only operation of a text is executed whatever its
 * name. Undefined if the text does not parse, or has several operations and none of this name: the
 * server says so.
 */
function operationOf({ query, operationName }: FetcherParams): OperationDefinitionNode | undefined {
  try {
    const operations = parse(query).definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
    const named = operations.find(({ name }) => name?.value === operationName);
    return named ?? (operations.length === 1 ? operations[0] : undefined);
  } catch {
    return undefined;
  }
}

/**
 * Revives JSON with every number as the server wrote it. Phyllo's integers are exact and
 * JavaScript's are not past 2^53, so a number that would print differently is kept as its source
 * text. A browser that cannot do that yet shows the nearest double.
 */
function exactNumber(_key: string, value: unknown, context?: { source: string }): unknown {
  const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown };
  const exact = typeof value !== 'number' || !rawJSON || !context || String(value) === context.source;
  return exact ? value : rawJSON(context.source);
}
