import { RootDocument } from '../api/generated';
import { request } from '../api/request';
import { useLoaded } from '../api/useLoaded';
import { hrefOf } from '../route';
import { Failure } from './Failure';
import { Node } from './Node';
import { shownName } from './place';
import { readShort } from './values';

/** One document, of which only opened levels are read. */
export function Tree({ collection, id }: { collection: string; id: string }) {
  const { data, error } = useLoaded(`${collection}/${id}`, async (signal) => {
    const { document } = await request(RootDocument, { collection, id }, signal);
    return { document, values: document ? await readShort([document], signal) : new Map<string, string>() };
  });
  return (
    <section className="document">
      <p><a href={hrefOf('c', collection)}>← <bdi>{shownName(collection)}</bdi></a></p>
      <h1><bdi>{shownName(id)}</bdi></h1>
      {error && <Failure error={error} />}
      {data?.document === null && <p>There is no such document.</p>}
      {data?.document && (
        <ul className="tree" aria-label="Document">
          <Node collection={collection} id={id} place={data.document} value={data.values.get(data.document.id)} opened />
        </ul>
      )}
    </section>
  );
}
