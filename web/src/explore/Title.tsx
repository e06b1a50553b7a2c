import { useEffect, useRef } from 'react';
import { shownName } from './place';

/**
 * The heading of a view. If the link that opened the view has gone with the one before, the focus would be nowhere: then
 * it is here, so that the next key continues from the beginning of the view.
 */
export function Title({ name }: { name: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
  }, []);
  return <h1 ref={heading} tabIndex={-1}><bdi>{shownName(name)}</bdi></h1>;
}
