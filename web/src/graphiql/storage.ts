// GraphiQL's memory: tabs, history, theme. Kept under our own prefix, because every GraphiQL
// that was ever served from the same host and port shares one `localStorage`, and another
// server's queries would be shown in place of our examples.
const PREFIX = 'phyllo:';

const ownKeys = () => Object.keys(localStorage).filter((key) => key.startsWith(PREFIX));

export const storage = {
  getItem: (key: string) => localStorage.getItem(PREFIX + key),
  setItem: (key: string, value: string) => localStorage.setItem(PREFIX + key, value),
  removeItem: (key: string) => localStorage.removeItem(PREFIX + key),
  clear: () => ownKeys().forEach((key) => localStorage.removeItem(key)),
  get length() {
    return ownKeys().length;
  },
};
