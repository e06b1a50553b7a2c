import { hrefOf } from '../route';
import { shownName } from './place';
import { indexState } from './indexState';
import type { ListedCollection, ListedIndex } from './readCollections';
import { Title } from './Title';

const STATES: Record<NonNullable<ListedCollection['type']>['state'], string> = {
  ENFORCED: 'all documents fit',
  CHECKING: 'being checked',
  FAILED: 'some documents do not fit',
};

interface Props {
  collections: readonly ListedCollection[];
  /** Whether the user has opened it, and not the page. */
  opened: boolean;
}

/** All collections with their documents, types and indexes, from the list that is read already. */
export function Overview({ collections, opened }: Props) {
  const documents = collections.reduce((sum, { count }) => sum + count, 0);
  return (
    <section className="overview">
      {opened ? <Title name="Collections" /> : <h1>Collections</h1>}
      <p className="about">{counted(collections.length, 'collection')} with {counted(documents, 'document')}.</p>
      <div className="frame" tabIndex={0} role="region" aria-label="All collections">
        <table>
          <thead>
            <tr>
              <th scope="col">Collection</th>
              <th scope="col" className="amount">Documents</th>
              <th scope="col">Type</th>
              <th scope="col">Indexes</th>
            </tr>
          </thead>
          <tbody>
            {collections.map(({ name, count, indexes, type }) => (
              <tr key={name}>
                <th scope="row"><a href={hrefOf('c', name)}><bdi>{shownName(name)}</bdi></a></th>
                <td className="amount">{count.toLocaleString('en')}</td>
                <td>{type ? <span className={`badge state-${type.state.toLowerCase()}`}>{STATES[type.state]}</span> : <i>none</i>}</td>
                <td>{indexes.length === 0 ? <i>none</i> : indexes.map((index) => named(index, count)).join(', ')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

const named = (index: ListedIndex, count: number) => (index.state === 'READY' ? index.name : `${index.name} (${indexState({ ...index, error: null }, count)})`);

const counted = (count: number, one: string, more = `${one}s`) => `${count.toLocaleString('en')} ${count === 1 ? one : more}`;

/** What a collection has, in a line. */
export function factsOf({ indexes, type }: ListedCollection): string {
  return [type && 'typed', indexes.length > 0 && counted(indexes.length, 'index', 'indexes')].filter(Boolean).join(' · ');
}
