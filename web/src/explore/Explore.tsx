import { useCallback, useEffect, useRef, useState } from 'react';
import { learnAccess } from '../api/access';
import { useAccess, useEditable } from '../api/session';
import { useLoaded } from '../api/useLoaded';
import { hrefOf, type Route } from '../route';
import { CollectionView } from './collection/CollectionView';
import { DocumentView } from './document/DocumentView';
import { EmptyStore } from './EmptyStore';
import { Failure } from './Failure';
import { ImportPanel } from './import/ImportPanel';
import { useDroppedFiles } from './import/useDroppedFiles';
import { OpenCollection } from './OpenCollection';
import { factsOf, Overview } from './Overview';
import { shownName } from './place';
import { readCollections } from './readCollections';
import { DocumentSchema, useCollectionType } from './types/useCollectionType';

/** The collections, the documents of one of them, and one document. */
export function Explore({ route }: { route: Route }) {
  const { data: collections, error, reload } = useLoaded('collections', readCollections);
  const access = useAccess();
  useEffect(() => {
    if (access === 'unknown') void learnAccess();
  }, [access]);
  const onChanged = useCallback(() => reload(), [reload]);
  const [view, name, key, path = ''] = route;
  const named = view === 'c' && name !== undefined;
  const listed = named ? collections?.find((one) => one.name === name) : undefined;
  // Access rules can hide a collection from the list and allow some of its documents.
  const unlisted = named && collections !== undefined ? { name, count: null, indexes: [], type: null } : undefined;
  const chosen = listed ?? unlisted;
  const type = useCollectionType(listed);
  const editable = useEditable() === true;
  // The panel stays while its import runs.
  const running = useRef(false);
  const [asked, setAsked] = useState<{ files: readonly File[]; round: number }>();
  const ask = useCallback((files: readonly File[]) => {
    if (!running.current) setAsked((old) => ({ files, round: (old?.round ?? 0) + 1 }));
  }, []);
  const dragging = useDroppedFiles(ask);
  const wasEmpty = useRef(false);
  if (collections?.length === 0) wasEmpty.current = true;
  const onRunning = useCallback((now: boolean) => void (running.current = now), []);
  const onImport = editable ? () => ask([]) : undefined;
  if (access === 'required') return null;
  return (
    <div className={chosen ? 'explore chosen' : 'explore'}>
      <nav className="collections" aria-label="Collections">
        <h2>
          Collections <button type="button" onClick={reload}>Reload</button>
        </h2>
        {error && <Failure error={error} onRetry={reload} />}
        <ul>
          {collections?.map((one) => (
            <li key={one.name}>
              <a href={hrefOf('c', one.name)} aria-current={one.name === chosen?.name ? 'page' : undefined}>
                <bdi>{shownName(one.name)}</bdi> <span className="count">{one.count.toLocaleString('en')}</span>
                <small>{factsOf(one)}</small>
              </a>
            </li>
          ))}
        </ul>
        {onImport && collections && collections.length > 0 && <button type="button" onClick={onImport}>Import a file</button>}
        <OpenCollection />
      </nav>
      <main>
        {dragging && <p className="drop" role="status">Drop a file to import it.</p>}
        {asked && (
          <ImportPanel
            key={asked.round}
            files={asked.files}
            collection={chosen?.name ?? ''}
            onStored={reload}
            onRunning={onRunning}
            onClose={() => setAsked(undefined)}
          />
        )}
        {chosen === undefined && collections?.length === 0 && <EmptyStore onStored={reload} onImport={onImport} />}
        {chosen === undefined && collections && collections.length > 0 && <Overview collections={collections} opened={wasEmpty.current} />}
        {chosen && key !== undefined && (
          <DocumentSchema value={type.type?.schema}>
            <DocumentView key={JSON.stringify([name, key, path])} collection={chosen.name} id={key} path={path} />
          </DocumentSchema>
        )}
        {chosen && key === undefined && (
          <CollectionView key={chosen.name} collection={chosen} type={type} onChanged={onChanged} onImport={onImport} />
        )}
      </main>
    </div>
  );
}
