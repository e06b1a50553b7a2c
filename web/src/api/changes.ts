// What changes in a collection or a document, as it changes. All followers share one WebSocket.
import { createClient, type Client } from 'graphql-ws';
import { ChangesDocument, type ChangesSubscription } from './generated';
import { reportRefusal, withToken } from './session';

export type Change = ChangesSubscription['changes'];

/**
 * `expired`: the log does not have all changes since the cursor, so what is shown must be read again.
 * `forbidden`: no access rule allows to follow them.
 */
export type LiveState = 'connecting' | 'live' | 'lost' | 'expired' | 'forbidden' | 'off';

interface Follower {
  collection: string;
  id: string | null;
  /** `changesCursor` of the query that read what is shown. */
  after: string;
  onChange: (change: Change) => void;
  onState: (state: LiveState) => void;
}

const SOCKET = new URL(new URL('graphql', document.baseURI).href.replace(/^http/, 'ws'));
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
const PING_MS = 10_000;
const PONG_MS = 5_000;

let shared: Client | undefined;
let connected = false;

/** Errors after which subscribing again gives the same error. */
const STATES: Record<string, LiveState> = {
  BAD_USER_INPUT: 'off',
  CHANGES_EXPIRED: 'expired',
  FORBIDDEN: 'forbidden',
};

/** Calls `onChange` for each change after the cursor, also after a lost connection. Returns how to stop. */
export function follow({ collection, id, after, onChange, onState }: Follower): () => void {
  const client = (shared ??= connect());
  let cursor = after;
  let pause = FIRST_PAUSE_MS;
  let unsubscribe = () => {};
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;

  const stopListening = client.on('connected', () => onState('live'));
  if (connected) onState('live');
  const again = () => {
    if (stopped) return;
    onState('lost');
    timer = setTimeout(start, pause);
    pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
  };
  const start = () => {
    const variables = { collection, id, after: cursor };
    unsubscribe = client.subscribe<ChangesSubscription>(
      { query: ChangesDocument.toString(), variables },
      {
        next({ data, errors }) {
          const code = errors?.[0]?.extensions?.['code'];
          if (code !== undefined) onState(STATES[String(code)] ?? 'off');
          if (!data) return;
          cursor = data.changes.cursor;
          pause = FIRST_PAUSE_MS;
          onChange(data.changes);
        },
        error(error) {
          if (stopped) return;
          const code = codeOf(error);
          const state = STATES[code];
          if (state) onState(state);
          else if (code === 'UNAUTHENTICATED') reportRefusal(code, false);
          else again();
        },
        complete: again,
      },
    );
  };
  start();
  return () => {
    stopped = true;
    clearTimeout(timer);
    stopListening();
    unsubscribe();
  };
}

/** Followers that a new token asks for use a new connection: the token belongs to the connection. */
export function forgetConnection(): void {
  void shared?.dispose();
  shared = undefined;
  connected = false;
}

/** It never retries by itself: `follow` resumes after the last change that it has seen. */
function connect(): Client {
  let dead: ReturnType<typeof setTimeout> | undefined;
  const client = createClient({
    url: SOCKET.href,
    connectionParams: () => withToken(),
    retryAttempts: 0,
    lazyCloseTimeout: 1_000,
    keepAlive: PING_MS,
    on: {
      ping: (received) => {
        if (!received) dead = setTimeout(() => client.terminate(), PONG_MS);
      },
      pong: (received) => {
        if (received) clearTimeout(dead);
      },
      connected: () => void (connected = true),
      closed() {
        connected = false;
        clearTimeout(dead);
      },
    },
  });
  return client;
}

/** The code of the first error, or that for the code with which the connection was closed. */
function codeOf(error: unknown): string {
  if (Array.isArray(error)) return String(error[0]?.extensions?.code ?? '');
  const closed = (error as { code?: unknown } | null)?.code;
  return closed === 4401 || closed === 4403 ? 'UNAUTHENTICATED' : '';
}
