import { hrefOf } from '../../route';
import { trailOf, type PathInput } from '../place';
import type { DocumentPlace } from './edit';

/** The path of a part, with links to the places above it. */
export function PathTrail({ at: { collection, id }, path }: { at: DocumentPlace; path: PathInput }) {
  const trail = trailOf(path);
  return (
    <nav className="path-trail" aria-label="Path">
      <ol>
        {trail.map(({ name, text }, index) => (
          <li key={text}>
            <a
              href={text === '' ? hrefOf('c', collection, id) : hrefOf('c', collection, id, text)}
              aria-current={index === trail.length - 1 ? 'page' : undefined}
            >
              <bdi>{name}</bdi>
            </a>
          </li>
        ))}
      </ol>
    </nav>
  );
}
