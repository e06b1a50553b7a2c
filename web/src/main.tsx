// The page at `/`: two tabs, Explore and GraphiQL. The address after `#/` says what is shown.
import { lazy, Suspense, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { setToken, useToken } from './api/session';
import { Explore } from './explore/Explore';
import { useRoute } from './route';
import './page.css';

/** GraphiQL is large, and is loaded when its tab is opened. */
const Editor = lazy(async () => {
  await editorStyle();
  return import('./graphiql/Editor.jsx');
});

function editorStyle(): Promise<unknown> {
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = document.documentElement.dataset.editorStyle ?? '';
  const loaded = new Promise((resolve, reject) => {
    link.addEventListener('load', resolve);
    link.addEventListener('error', () => reject(new Error('The style of GraphiQL could not be loaded.')));
  });
  document.head.append(link);
  return loaded;
}

function Page() {
  const route = useRoute();
  const token = useToken();
  const editing = route[0] === 'graphiql';
  // A tab that was opened stays, so that it is found again as it was left.
  const [explored, setExplored] = useState(!editing);
  const [edited, setEdited] = useState(editing);
  useEffect(() => (editing ? setEdited(true) : setExplored(true)), [editing]);
  return (
    <>
      <header className="bar">
        <strong>Phyllo</strong>
        <nav aria-label="Views">
          <a href="#/" aria-current={editing ? undefined : 'page'}>Explore</a>
          <a href="#/graphiql" aria-current={editing ? 'page' : undefined}>GraphiQL</a>
        </nav>
        <TokenField token={token} />
      </header>
      {(explored || !editing) && (
        <div className="view" hidden={editing}>
          <Explore key={token} route={editing ? [] : route} />
        </div>
      )}
      {(edited || editing) && (
        <div className="view" hidden={!editing}>
          <Suspense fallback={<p className="notice">Loading GraphiQL …</p>}>
            <Editor key={token} />
          </Suspense>
        </div>
      )}
    </>
  );
}

/** Requests use a new token once the field is left or Enter is pressed. */
function TokenField({ token }: { token: string }) {
  return (
    <form
      className="token"
      onSubmit={(event) => {
        event.preventDefault();
        setToken(String(new FormData(event.currentTarget).get('token') ?? '').trim());
      }}
    >
      <label>
        <span>Token</span>
        <input
          name="token"
          type="password"
          autoComplete="off"
          placeholder="if required"
          defaultValue={token}
          onBlur={(event) => setToken(event.currentTarget.value.trim())}
        />
      </label>
    </form>
  );
}

const root = document.getElementById('page');
if (root) createRoot(root).render(<Page />);
