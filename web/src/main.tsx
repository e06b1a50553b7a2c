// The page at `/`: two tabs, Explore and GraphiQL. The address after `#/` says what is shown.
import { lazy, Suspense, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { forgetConnection } from './api/changes';
import { useAccess, useToken } from './api/session';
import { Explore } from './explore/Explore';
import { hrefOf, useRoute } from './route';
import { titleOf } from './title';
import { TokenPanel } from './TokenPanel';

/** GraphiQL is large, and is loaded when its tab is opened. */
const Editor = lazy(async () => {
  await editorStyle();
  return import('./graphiql/Editor');
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
  const access = useAccess();
  const required = access === 'required';
  const [asking, setAsking] = useState(false);
  const editing = route[0] === 'graphiql';
  // A tab that was opened stays, so that it is found again as it was left.
  const [explored, setExplored] = useState(!editing);
  const [edited, setEdited] = useState(editing);
  const [place, setPlace] = useState(editing ? [] : route);
  useEffect(() => (editing ? setEdited(true) : setExplored(true)), [editing]);
  useEffect(() => forgetConnection, [token]);
  useEffect(() => void (document.title = titleOf(route)), [route]);
  if (!editing && place !== route) setPlace(route);
  return (
    <>
      <header className="bar">
        <strong>Phyllo</strong>
        <nav aria-label="Views">
          <a href={hrefOf(...(editing ? place : []))} aria-current={editing ? undefined : 'page'}>Explore</a>
          <a href="#/graphiql" aria-current={editing ? 'page' : undefined}>GraphiQL</a>
        </nav>
        {access === 'read-only' && <span className="badge">Read-only</span>}
        <button type="button" aria-expanded={asking || required} onClick={() => setAsking(!asking)}>
          {token === '' ? 'Token' : 'Token ✓'}
        </button>
      </header>
      {(asking || required) && <TokenPanel key={token} onDone={() => setAsking(false)} />}
      {(explored || !editing) && (
        <div className="view" hidden={editing}>
          <Explore key={token} route={place} />
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

const root = document.getElementById('page');
if (root) createRoot(root).render(<Page />);
