import { useMemo, useState } from 'react';
import { useEditable } from '../../api/session';
import { isForbiddenByRules } from '../../api/request';
import { hrefOf } from '../../route';
import { Failure } from '../Failure';
import { LiveStatus } from '../LiveStatus';
import { Title } from '../Title';
import { useLive } from '../useLive';
import { pathOfText, shownName, type Path, type PathInput } from '../place';
import type { DocumentPlace } from './edit';
import { EditNotice } from './EditNotice';
import { EmptyPart } from './EmptyPart';
import { OpenPart } from './OpenPart';
import { PathSearch } from './PathSearch';
import { PathTrail } from './PathTrail';
import { TreeGrid } from './TreeGrid';
import { useEdits } from './useEdits';
import { useTree } from './useTree';

/** A document, or the part of it at `path`, which is the text of an address. */
export function DocumentView({ collection, id, path: text }: { collection: string; id: string; path: string }) {
  const at = useMemo(() => ({ collection, id }), [collection, id]);
  const path = useMemo(() => pathOfText(text), [text]);
  return (
    <section className="document">
      {path === undefined ? (
        <>
          <Heading at={at} />
          <p className="about">The address has no valid path.</p>
          <OpenPart at={at} path={text} />
        </>
      ) : (
        <Part at={at} path={path} text={text} />
      )}
    </section>
  );
}

function Heading({ at: { collection, id }, children }: { at: DocumentPlace; children?: React.ReactNode }) {
  return (
    <header className="heading">
      <a href={hrefOf('c', collection)} className="back">← <bdi>{shownName(collection)}</bdi></a>
      <Title name={id} />
      {children}
    </header>
  );
}

/** Only levels that are opened are read. */
function Part({ at, path, text }: { at: DocumentPlace; path: PathInput; text: string }) {
  const control = useTree(at.collection, at.id, path);
  const { tree, loaded, error, cursor, refresh, reload } = control;
  const edits = useEdits(at, refresh);
  const [searching, setSearching] = useState(false);
  const live = useLive(at, cursor, {
    onChanges: (changes) => void refresh(changes.flatMap(({ paths }) => paths as Path[])),
    onExpired: reload,
  });
  const editable = useEditable();
  const forbidden = isForbiddenByRules(error) && tree.root === null;
  return (
    <>
      <Heading at={at}>
        {loaded && <LiveStatus state={live} />}
        {!forbidden && (
          <button type="button" aria-expanded={searching} onClick={() => setSearching(!searching)}>JSONPath</button>
        )}
      </Heading>
      {path.length > 0 && <PathTrail at={at} path={path} />}
      {searching && !forbidden && <PathSearch at={at} path={path} />}
      {error && <div><Failure error={error} onRetry={reload} /></div>}
      {forbidden && (
        <>
          <p className="about">Parts of the document can be allowed. If you know the path of one, it opens alone.</p>
          <OpenPart at={at} path={text} />
        </>
      )}
      {loaded && tree.root === null && path.length === 0 && <p className="notice">There is no document with this key.</p>}
      {loaded && tree.root === null && path.length > 0 && <EmptyPart path={path} edits={edits} editable={editable === true} />}
      {tree.root && <TreeGrid at={at} control={control} edits={edits} editable={editable === true} />}
      <EditNotice edits={edits} />
    </>
  );
}
