// Requests to Phyllo, with the user's token.
import { createClient } from 'graphql-ws';

const URL_OF_PHYLLO = import.meta.env.VITE_PHYLLO ?? 'http://127.0.0.1:8080/graphql';

/** The token of the user who has signed in. Without one, the rules for `anyone` hold. */
let token: string | undefined;

const subscriptions = createClient({
  url: URL_OF_PHYLLO.replace(/^http/, 'ws'),
  connectionParams: () => (token ? { Authorization: `Bearer ${token}` } : {}),
  shouldRetry: () => true,
});

/** Uses this token in requests, and in subscriptions from now on. */
export function useToken(issued: string | undefined): void {
  token = issued;
  subscriptions.terminate(); // the client connects again, with the new token
}

/** Executes a query or a mutation. Throws the message of the first error. */
export async function request<Data>(query: string, variables: object = {}): Promise<Data> {
  const response = await fetch(URL_OF_PHYLLO, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token ? { authorization: `Bearer ${token}` } : {}),
    },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = await response.json();
  if (errors) throw new Error(errors[0].message);
  return data;
}

/** Calls `show` with each result of a subscription. */
export function subscribe<Data>(query: string, variables: Record<string, unknown>, show: (data: Data) => void): void {
  subscriptions.subscribe<Data>({ query, variables }, {
    next: ({ data, errors }) => {
      if (errors) console.error(errors[0].message);
      if (data) show(data);
    },
    error: (error) => console.error(error),
    complete: () => {},
  });
}
