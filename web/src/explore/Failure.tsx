import { RequestError } from '../api/request';

/** An error in words. The codes are those of docs/errors.md. */
export function Failure({ error }: { error: Error }) {
  const code = error instanceof RequestError ? error.code : '';
  return (
    <p className="failure" role="alert">
      {code === 'UNAUTHENTICATED' ? 'This server requires a token. Enter it at the top of the page.' : error.message}
      {code !== '' && <code>{code}</code>}
    </p>
  );
}
