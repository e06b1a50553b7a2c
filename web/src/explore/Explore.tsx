import { CollectionsDocument } from '../api/generated';
import { request } from '../api/request';
import { useLoaded } from '../api/useLoaded';
import { hrefOf, type Route } from '../route';
import { CollectionView } from './CollectionView';
import { Failure } from './Failure';
import { Tree } from './Tree';
import { shownName } from './place';

/** The collections, the documents of one of them, and one document. */
export function Explore({ route }: { route: Route }) {
  const { data, error, reload } = useLoaded('collections', (signal) => request(CollectionsDocument, {}, signal));
  const [view, name, key] = route;
  const chosen = view === 'c' && name !== undefined ? data?.collections.find((one) => one.name === name) : undefined;
  return (
    <div className="explore">
      <nav className="collections" aria-label="Collections">
        <h2>
          Collections <button type="button" onClick={reload}>Reload</button>
        </h2>
        {error && <Failure error={error} />}
        {data?.collections.length === 0 && (
          <p>The store is empty. <code>phyllo sample</code> stores sample data.</p>
        )}
        <ul>
          {data?.collections.map(({ name, count }) => (
            <li key={name}>
              <a href={hrefOf('c', name)} aria-current={name === chosen?.name ? 'page' : undefined}>
                <bdi>{shownName(name)}</bdi> <span className="count">{count.toLocaleString('en')}</span>
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <main>
        {chosen === undefined && data && !error && <p className="notice">Choose a collection.</p>}
        {chosen && key !== undefined && <Tree key={`${name}/${key}`} collection={chosen.name} id={key} />}
        {chosen && key === undefined && <CollectionView key={chosen.name} collection={chosen} />}
      </main>
    </div>
  );
}
