import { useMemo, useState } from 'react';
import { useEditable } from '../../api/session';
import { isForbiddenByRules } from '../../api/request';
import { hrefOf } from '../../route';
import { Failure } from '../Failure';
import { LiveStatus } from '../LiveStatus';
import { useLive } from '../useLive';
import { shownName, type Path } from '../place';
import { EditNotice } from './EditNotice';
import { PathSearch } from './PathSearch';
import { TreeGrid } from './TreeGrid';
import { useEdits } from './useEdits';
import { useTree } from './useTree';

/** One document, of which only opened levels are read. */
export function DocumentView({ collection, id }: { collection: string; id: string }) {
  const control = useTree(collection, id);
  const { tree, loaded, error, cursor, refresh, reload } = control;
  const at = useMemo(() => ({ collection, id }), [collection, id]);
  const edits = useEdits(at, refresh);
  const [searching, setSearching] = useState(false);
  const live = useLive(at, cursor, {
    onChanges: (changes) => void refresh(changes.flatMap(({ paths }) => paths as Path[])),
    onExpired: reload,
  });
  const editable = useEditable() === true;
  return (
    <section className="document">
      <header className="heading">
        <a href={hrefOf('c', collection)} className="back">← <bdi>{shownName(collection)}</bdi></a>
        <h1><bdi>{shownName(id)}</bdi></h1>
        {loaded && <LiveStatus state={live} />}
        <button type="button" aria-expanded={searching} onClick={() => setSearching(!searching)}>JSONPath</button>
      </header>
      {searching && <PathSearch at={at} />}
      {error && <Failure error={error} />}
      {isForbiddenByRules(error) && <p className="about">Parts of the document can be allowed. JSONPath, above, reads one by its path.</p>}
      {loaded && tree.root === null && <p className="notice">There is no document with this key.</p>}
      {tree.root && <TreeGrid at={at} control={control} edits={edits} editable={editable} />}
      <EditNotice edits={edits} />
    </section>
  );
}
