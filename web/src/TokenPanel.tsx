import { setToken, useAccess, useToken } from './api/session';

/** Asks for the token of the page: requests of both tabs send it. It is kept until the browser tab is closed. */
export function TokenPanel({ onDone }: { onDone: () => void }) {
  const token = useToken();
  const required = useAccess() === 'required';
  return (
    <form
      className="token"
      aria-label="Access"
      onSubmit={(event) => {
        event.preventDefault();
        setToken(String(new FormData(event.currentTarget).get('token') ?? '').trim());
        onDone();
      }}
    >
      <h2>{required ? 'This server requires a token' : 'Token'}</h2>
      {required && token !== '' && <p role="alert">The server did not accept the token. It may have been removed, or have a typing mistake.</p>}
      <p>
        {required && 'The operator of the server can give you one. '}
        Explore and GraphiQL send it with each request. It is kept in this browser tab until the tab is closed.
      </p>
      <label>
        Token <input name="token" type="password" autoComplete="off" required autoFocus defaultValue={token} />
      </label>
      <div className="buttons">
        <button type="submit" className="primary">Use the token</button>
        {token !== '' && <button type="button" onClick={() => (setToken(''), onDone())}>Forget it</button>}
        {!required && <button type="button" onClick={onDone}>Close</button>}
      </div>
    </form>
  );
}
