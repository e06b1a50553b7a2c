import type { LiveState } from '../api/changes';

const SAID: Record<LiveState, string> = {
  connecting: 'Connecting …',
  live: 'Live',
  lost: 'Connection lost. Reconnecting …',
  expired: 'Reading again …',
  forbidden: 'Not live: the access rules do not allow it',
  off: 'Not live: the change log is off',
};

/** Whether what is shown changes with the store. */
export function LiveStatus({ state }: { state: LiveState }) {
  return <span className={`live-status ${state}`} role="status">{SAID[state]}</span>;
}
